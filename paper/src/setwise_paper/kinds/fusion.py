"""Accuracy by fusion (Table 1), and by the number of dimensionalities (Figs. 6 to 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from setwise_paper.accuracy import AccuracyRow, Curve, accuracy_cells, accuracy_of, curve_of
from setwise_paper.figures.curves import plot_dimensions
from setwise_paper.figures.svg import picture
from setwise_paper.kinds.base import PicturesOf, Section, Words
from setwise_paper.kinds.classify import OnFolds
from setwise_paper.plan import Finished, Planned, Planner, Result
from setwise_paper.spec import Method


class Fusion(OnFolds):
    """One CVC, its votes fused in several ways."""

    kind: Literal["fusion"] = "fusion"
    method: Method

    @model_validator(mode="after")
    def _has_fusions(self) -> Fusion:
        if not self.method.fusions:
            msg = "method.fusions is empty: name at least one of mode, sum, coefficient, none"
            raise ValueError(msg)
        return self

    def plan(self, planner: Planner) -> Iterator[Planned]:
        """The method on every fold; it is asked for all fusions at once."""
        return self.plan_folds((self.method,), planner)

    def summarise(self, finished: Sequence[Finished]) -> FusionSection:
        """A row and a curve per fusion."""
        results = [result for _, result in finished]
        rows, curves = [], []
        for fusion in self.method.fusions:
            largest = sorted({d for result in results for d in _dims(result, fusion)})
            by_dim = {
                float(d): [_up_to(d, result, fusion) for result in results] for d in largest
            }
            published = self.published.get(fusion)
            everything = by_dim[max(by_dim)]
            rows.append(AccuracyRow.of(fusion, everything, published, is_timed=False))
            points = {d: [accuracy_of(one) for one in fused] for d, fused in by_dim.items()}
            curves.append(curve_of(fusion, points))
        return FusionSection(self, tuple(rows), tuple(curves))


def _dims(result: Result, fusion: str) -> list[int]:
    """The dimensionalities of a fold: there are fewer where its sets are small."""
    named = (name.split("@") for name in result["answers"])
    return sorted(int(largest) for kind, largest in named if kind == fusion)


def _up_to(largest: int, result: Result, fusion: str) -> Result:
    """The answers of members up to a dimensionality; all of them where a fold has no more."""
    there = max(d for d in _dims(result, fusion) if d <= largest)
    return {**result, "answers": {"": result["answers"][f"{fusion}@{there}"]}}


@dataclass(frozen=True)
class FusionSection(Section):
    """Accuracy by fusion, and by the number of dimensionalities that are fused."""

    experiment: Fusion
    rows: tuple[AccuracyRow, ...]
    curves: tuple[Curve, ...]

    template: ClassVar[str] = "sections/fusion.html.jinja"

    def tabulate(self) -> Iterator[Words]:
        """The accuracies of all dimensionalities, and by the largest that is fused."""
        columns = ("fusion", "paper", "ours", "difference", "p", "fit", "a probe")
        yield self.experiment.title, columns, [accuracy_cells(row) for row in self.rows]
        places = sorted({x for curve in self.curves for x in curve.x})
        if len(places) > 1:
            by_place = [dict(zip(curve.x, curve.mean, strict=True)) for curve in self.curves]
            yield (
                "Accuracy by the largest dimensionality that is fused",
                ("fusion", *(f"{place:g}" for place in places)),
                [
                    (curve.name, *(f"{of[x]:.1f}" if x in of else "" for x in places))
                    for curve, of in zip(self.curves, by_place, strict=True)
                ],
            )

    def for_template(self, pictures_of: PicturesOf) -> Mapping[str, Any]:
        """The figure."""
        curves = [curve for curve in self.curves if curve.x]
        figure = picture(
            (8.2, 4.0),
            f"{self.experiment.title}: accuracy by the largest dimensionality that is fused",
            lambda axes: plot_dimensions(axes, curves, self.experiment.published),
            is_drawn=bool(curves),
        )
        return {"curves": figure}

    def accuracies(self) -> Iterator[tuple[str, AccuracyRow]]:
        """All rows."""
        return ((f"CVC, {row.name} fusion", row) for row in self.rows)
