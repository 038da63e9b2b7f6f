"""Accuracies over folds and seeds: rows of tables, lines of figures, and their text."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from setwise.evaluation import adjusted_for_many, chance_of_difference, corrected_chance
from setwise_paper.spec import Published
from setwise_paper.support import BoolArray, duration, printable

if TYPE_CHECKING:
    from setwise_paper.study import StudyResult

NOTHING = "–"  # noqa: RUF001 (an en dash, meant)


Result: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class AccuracyRow:
    """One row of a table of accuracies, over all folds and seeds."""

    name: str
    mean: float
    std: float
    low: float
    high: float
    n_folds: int
    n_probes: int
    fit_seconds: float | None = None
    probe_seconds: float | None = None
    published: Published | None = None
    p_value: float | None = None  # of no difference from the first row, by `p_values`

    @classmethod
    def of(
        cls,
        name: str,
        results: Sequence[Mapping[str, Any]],
        published: Published | None,
        *,
        is_timed: bool = True,
        p_value: float | None = None,
    ) -> AccuracyRow:
        """The row of the results of one method, each of a fold and seed."""
        accuracies = np.array([accuracy_of(result) for result in results])
        times = {
            what: float(np.median([result[what] for result in results]))
            for what in ("fit_seconds", "probe_seconds")
            if is_timed
        }
        return cls(
            name=name,
            mean=float(accuracies.mean()),
            std=float(accuracies.std()),
            low=float(accuracies.min()),
            high=float(accuracies.max()),
            n_folds=len(accuracies),
            n_probes=sum(len(result["truth"]) for result in results),
            published=published,
            p_value=p_value,
            **times,
        )

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's, in points; None where the paper has no such figure."""
        if self.published is None or self.published.mean is None:
            return None
        return self.mean - self.published.mean

    @property
    def standard_error(self) -> float:
        """Of our mean."""
        return float(self.std / max(self.n_folds, 1) ** 0.5)

    def numbers(self) -> dict[str, Any]:
        """The row in types that JSON knows."""
        published = self.published
        return asdict(self) | {
            "difference": self.difference,
            "published": None if published is None else published.model_dump(exclude_none=True),
        }


@dataclass(frozen=True)
class Curve:
    """A line of a figure: ``mean`` and ``std`` at each ``x``."""

    name: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]


def accuracy_of(result: Mapping[str, Any]) -> float:
    """Percent of the probes that got their label."""
    return float(100.0 * np.mean(_is_right(result)))


def curve_of(name: str, points: Mapping[float, Sequence[float]]) -> Curve:
    """Mean and standard deviation of the accuracies at each place."""
    x = sorted(points)
    return Curve(
        name=name,
        x=tuple(float(at) for at in x),
        mean=tuple(float(np.mean(points[at])) for at in x),
        std=tuple(float(np.std(points[at])) for at in x),
    )


def accuracy_cells(row: AccuracyRow) -> tuple[str, ...]:
    """Name, the paper's accuracy, ours, their difference, p, and times; empty if unknown."""
    published = row.published
    return (
        row.name,
        "" if published is None else mean_text(published.mean, published.std),
        mean_text(row.mean, row.std if row.n_folds > 1 else None),
        "" if row.difference is None else f"{row.difference:+.2f}",
        "" if row.p_value is None else p_text(row.p_value),
        "" if row.fit_seconds is None else duration(row.fit_seconds),
        "" if row.probe_seconds is None else duration(row.probe_seconds),
    )


def p_text(value: float | None) -> str:
    """A p value in two digits."""
    return NOTHING if value is None else "< 0.001" if value < 0.001 else f"{value:.2g}"


def p_values(results: Mapping[str, Mapping[Any, Result]]) -> dict[str, float | None]:
    """How likely a difference from the first method at least as large is by chance.

    Where both were judged on three folds or more, by the corrected resampled t-test of Nadeau
    and Bengio (2003), as folds share gallery sets; else by McNemar's exact test on the probes.
    Holm's correction is for all methods of the table. The first has no value.
    """
    first, *others = results
    raw = {name: _p_value(results[first], results[name]) for name in others}
    known = [name for name in others if raw[name] is not None]
    adjusted = adjusted_for_many([raw[name] or 0.0 for name in known])
    return dict.fromkeys(results) | dict(zip(known, adjusted.tolist(), strict=True))


def _p_value(one: Mapping[Any, Result], other: Mapping[Any, Result]) -> float | None:
    pairs = [(one[fold], other[fold]) for fold in one if fold in other]
    if not pairs:
        return None
    if len(pairs) < 3:
        right = [
            np.concatenate([_is_right(r) for r in side]) for side in zip(*pairs, strict=True)
        ]
        return chance_of_difference(*right)
    apart = np.array([accuracy_of(a) - accuracy_of(b) for a, b in pairs]) / 100.0
    n_probes = float(np.mean([len(a["truth"]) for a, _ in pairs]))
    n_gallery = float(np.mean([a["n_gallery"] for a, _ in pairs]))
    return corrected_chance(apart, n_probes / n_gallery)


def _is_right(result: Result) -> BoolArray:
    return np.array(result["answers"][""]) == np.array(result["truth"])


def mean_text(mean: float | None, std: float | None = None) -> str:
    """A mean and its deviation, as far as they are known."""
    if mean is None:
        return ""
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


def accuracy(value: float | None) -> str:
    """An accuracy in percent."""
    return NOTHING if value is None or math.isnan(value) else f"{value:.2f}"


def signed(value: float | None) -> str:
    """A difference, with its sign."""
    if value is None or math.isnan(value):
        return NOTHING
    rounded = round(value, 2)
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""  # noqa: RUF001 (a minus)
    return f"{sign}{abs(rounded):.2f}"


def seconds(value: float | None) -> str:
    """A duration, or a dash where none was taken."""
    return NOTHING if value is None or math.isnan(value) else duration(value)


def tolerance(row: AccuracyRow) -> float:
    """How far ours and the paper's mean may differ by chance: both standard errors together."""
    published = row.published.std if row.published is not None else None
    return row.standard_error + (published or 0.0) / max(row.n_folds, 1) ** 0.5


def agreement(row: AccuracyRow) -> str:
    """Whether ours is ``"above"``, ``"below"`` or ``"within"`` what chance allows."""
    difference = row.difference
    if difference is None or math.isnan(difference):
        return ""
    if abs(difference) <= tolerance(row) + 1e-9:
        return "within"
    return "above" if difference > 0 else "below"


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of words."""

    shows: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def heading(self) -> str:
        """What it shows and what it is about, on one line."""
        return f"{self.shows}: {self.title}" if self.shows else self.title

    def to_markdown(self) -> str:
        """The heading and the table for a Markdown page; names in them cannot be more."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        cells = (tuple(_as_text(cell) for cell in line) for line in lines)
        table = "\n".join(f"| {' | '.join(line)} |" for line in cells)
        return f"**{_as_text(self.heading)}**\n\n{table}"


def _as_text(name: str) -> str:
    """A name that Markdown shows as it is: no HTML, no marks, no cells of its own."""
    text = html.escape(printable(" ".join(name.split())), quote=False)
    for mark in r"\`*[]|":
        text = text.replace(mark, f"\\{mark}")
    return text


def numbers(result: StudyResult, *, with_times: bool = True) -> dict[str, Any]:
    """Everything but pictures and explanations, in types that JSON knows."""
    content: dict[str, Any] = {
        "title": result.study.title,
        "is_complete": result.is_complete,
        "experiments": {one.experiment.name: one.numbers() for one in result.sections},
        "failures": [asdict(failure) for failure in result.failures],
    }
    if not with_times:
        timeless: dict[str, Any] = _without_times(content)
        return timeless
    return content | {
        "n_items": result.n_items,
        "n_finished": result.n_finished,
        "warnings": dict(result.warnings),
        "versions": dict(result.versions),
        "machine": result.machine,
        "data": dict(result.data_notes),
    }


def _without_times(content: Any) -> Any:
    """The content without what depends on the machine and on what else it did."""
    if isinstance(content, dict):
        kept = [key for key in content if not str(key).endswith("_seconds")]
        return {key: _without_times(content[key]) for key in kept}
    if isinstance(content, list | tuple):
        return [_without_times(one) for one in content]
    return content
