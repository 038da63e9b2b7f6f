"""Accuracy with outliers in the gallery or in the probes (Fig. 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from setwise_paper.accuracy import Curve, accuracy_of, curve_of, mean_text
from setwise_paper.figures.curves import plot_outliers
from setwise_paper.figures.svg import picture
from setwise_paper.kinds.base import PicturesOf, Section, Words
from setwise_paper.kinds.classify import ClassifyItem, OnFolds, Outliers
from setwise_paper.plan import Finished, Planned, Planner
from setwise_paper.spec import Count, OneLabelEach


class Robustness(OnFolds):
    """Methods on sets that hold more and more images of others."""

    kind: Literal["robustness"] = "robustness"
    methods: OneLabelEach
    n_outliers: Annotated[tuple[Count, ...], Field(min_length=1)] = (1, 2, 3)

    def plan(self, planner: Planner) -> Iterator[Planned]:
        """The methods on every fold: clean, and with each number of outliers on each side."""
        yield from self.plan_folds(self.methods, planner)
        for into in ("gallery", "probes"):
            for n in self.n_outliers:
                yield from self.plan_folds(self.methods, planner, Outliers(into=into, n=n))

    def summarise(self, finished: Sequence[Finished]) -> RobustnessSection:
        """The curves of both sides."""
        gallery, probes = (self._side(into, finished) for into in ("gallery", "probes"))
        return RobustnessSection(
            self, gallery.curves, probes.curves, gallery.shares, probes.shares
        )

    def _side(self, into: str, finished: Sequence[Finished]) -> Side:
        accuracies: dict[str, dict[float, list[float]]] = {}
        shares: dict[float, list[float]] = {0.0: [0.0]}
        for planned, result in finished:
            outliers = planned.item.outliers if isinstance(planned.item, ClassifyItem) else None
            if outliers is not None and outliers.into != into:
                continue
            n = 0.0 if outliers is None else float(outliers.n)
            of_method = accuracies.setdefault(planned.label, {})
            of_method.setdefault(n, []).append(accuracy_of(result))
            shares.setdefault(n, []).append(result["outlier_share"])
        labels = [one.label for one in self.methods if one.label in accuracies]
        return Side(
            into,
            tuple(curve_of(label, accuracies[label]) for label in labels),
            tuple(float(np.mean(shares[n])) for n in sorted(shares)),
        )


@dataclass(frozen=True)
class Side:
    """The gallery or the probes: a curve per method, and percent of outliers at each ``x``."""

    name: str
    curves: tuple[Curve, ...]
    shares: tuple[float, ...]

    @property
    def title(self) -> str:
        """What the report calls it."""
        return f"Outliers in the {self.name}"

    @property
    def columns(self) -> list[tuple[float, float]]:
        """Images taken of each set, and outliers in percent, as far as they are known."""
        x = sorted({x for curve in self.curves for x in curve.x})
        return list(zip(x, self.shares, strict=False))


@dataclass(frozen=True)
class RobustnessSection(Section):
    """Accuracy against outliers."""

    experiment: Robustness
    gallery: tuple[Curve, ...]
    probes: tuple[Curve, ...]
    gallery_share: tuple[float, ...]
    probes_share: tuple[float, ...]

    template: ClassVar[str] = "sections/robustness.html.jinja"

    def sides(self) -> list[Side]:
        """Gallery and probes, as far as anything is known of them."""
        both = (
            Side("gallery", self.gallery, self.gallery_share),
            Side("probes", self.probes, self.probes_share),
        )
        return [side for side in both if side.curves]

    def published(self, side: Side) -> dict[float, float]:
        """What the paper reports for CVC, by ``x``: it is filed under such as ``gallery 2``."""
        reported = {
            x: self.experiment.published.get(f"{side.name} {x:g}") for x, _ in side.columns
        }
        return {x: one.mean for x, one in reported.items() if one and one.mean is not None}

    def tabulate(self) -> Iterator[Words]:
        """A table per side."""
        for side in self.sides():
            columns = [
                f"{share:.0f} % outliers" if share else "clean" for _, share in side.columns
            ]
            rows = [(curve.name, *_cells(curve, side)) for curve in side.curves]
            paper = self.published(side)
            if paper:
                cells = (mean_text(paper.get(x)) for x, _ in side.columns)
                rows.append(("the paper's CVC", *cells))
            yield f"{self.experiment.title}: {side.name}", ("method", *columns), rows

    def for_template(self, pictures_of: PicturesOf) -> Mapping[str, Any]:
        """The sides, each with its figure and what the paper reports."""
        return {
            "sides": [(side, self.figure(side), self.published(side)) for side in self.sides()]
        }

    def figure(self, side: Side) -> Any:
        """Accuracy by the number of outliers; the paper's are marked at its own setting."""
        curves = side.curves
        ours = [curve.name for curve in curves if curve.name.startswith("CVC")]
        as_in_paper = [name for name in ours if "paper" in name] or ours
        paper = self.published(side)
        published = {name: list(paper.items()) for name in as_in_paper[:1] if paper}
        shares = side.shares if len(side.shares) == len(curves[0].x) else None
        return picture(
            (8.2, 3.8),
            f"{self.experiment.title}: accuracy by the number of outliers in the {side.name}",
            lambda axes: plot_outliers(axes, curves, shares, published=published),
        )


def _cells(curve: Curve, side: Side) -> list[str]:
    """The means of a curve in the columns of its side; empty where it has none."""
    known = {
        x: mean_text(mean, std)
        for x, mean, std in zip(curve.x, curve.mean, curve.std, strict=True)
    }
    return [known.get(x, "") for x, _ in side.columns]
