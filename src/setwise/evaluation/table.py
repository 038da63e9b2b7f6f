"""Result of a comparison, as a table with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.progress import duration
from setwise._support.text import printable
from setwise._support.types import BoolArray, FloatArray
from setwise.evaluation.significance import (
    accuracy_interval,
    adjusted_for_many,
    chance_of_difference,
    corrected_chance,
    corrected_interval,
)
from setwise.plots.labels import Point, plain
from setwise.plots.labels import plot_accuracy_time as draw_accuracy_time
from setwise.plots.style import GREY, INK, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class MethodResult:
    """One method on all probes.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.evaluation import MethodResult
    >>> MethodResult("mine", is_right=np.array([True, False, True, True])).accuracy
    0.75
    """

    name: str
    is_right: BoolArray  # of each probe; of repeated splits one after the other
    fit_seconds: float = 0.0  # wall-clock time
    seconds_per_probe: float = 0.0
    error: str | None = None  # reason of a failure, which makes the other values meaningless
    n_splits: int = 1  # of equally many probes each

    @property
    def accuracy(self) -> float:
        """Share of the probes with the right label."""
        return float(self.is_right.mean())

    @property
    def accuracies(self) -> FloatArray:
        """The accuracy of each split."""
        return self.is_right.reshape(self.n_splits, -1).mean(axis=1)


class Comparison:
    """Methods on the same probes, the most accurate first. Print it, or read it.

    Attributes
    ----------
    results : tuple of MethodResult
        Successful ones by falling accuracy, faster ones first among equals.
    failed : tuple of MethodResult
    n_splits : int
        How often sets were dealt to gallery and probes.
    intervals : dict of str to (float, float)
        Of each accuracy: the exact binomial one, or that of the corrected resampled t.
    p_values : dict of str to float
        Of the difference to the best: exact McNemar test, or the corrected resampled t-test of
        repeated splits; with Holm's correction.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.evaluation import Comparison, MethodResult
    >>> Comparison([MethodResult("ours", np.array([True, False]))], confidence=0.95)
    Comparison of 1 methods; best: ours
    """

    def __init__(
        self, results: Sequence[MethodResult], confidence: float, *, ratio: float = 1.0
    ) -> None:
        """``ratio`` is the number of probes per gallery set, for repeated splits."""
        good = [result for result in results if result.error is None]
        self.confidence = confidence
        good.sort(key=lambda result: (-result.accuracy, result.seconds_per_probe))
        self.results = tuple(good)
        self.failed = tuple(result for result in results if result.error is not None)
        self.n_splits = good[0].n_splits if good else 1
        self._ratio = ratio
        self.intervals = {one.name: self._interval(one) for one in self.results}
        best, others = self.results[:1], self.results[1:]
        raw = [self._chance(best[0], one) for one in others]
        adjusted = [*(1.0 for _ in best), *adjusted_for_many(raw).tolist()]
        names = [one.name for one in self.results]
        self.p_values = dict(zip(names, adjusted, strict=True))

    def _interval(self, one: MethodResult) -> tuple[float, float]:
        if self.n_splits == 1:
            return accuracy_interval(one.is_right, self.confidence)
        return corrected_interval(one.accuracies, self._ratio, self.confidence)

    def _chance(self, one: MethodResult, other: MethodResult) -> float:
        if self.n_splits == 1:
            return chance_of_difference(one.is_right, other.is_right)
        return corrected_chance(one.accuracies - other.accuracies, self._ratio)

    def __getitem__(self, name: str) -> MethodResult:
        return {result.name: result for result in (*self.results, *self.failed)}[name]

    def __iter__(self) -> Iterator[MethodResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def best(self) -> str | None:
        """The most accurate method; None if all failed."""
        return self.results[0].name if self.results else None

    @property
    def not_told_apart(self) -> tuple[str, ...]:
        """Methods that are not significantly worse than the best."""
        level = 1.0 - self.confidence
        names = [result.name for result in self.results[1:]]
        return tuple(name for name in names if self.p_values[name] >= level)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings; one row per method in ``["methods"]``."""
        tied = self.not_told_apart
        methods = [
            {
                "method": one.name,
                "accuracy": one.accuracy,
                **dict(zip(("low", "high"), self.intervals[one.name], strict=True)),
                "p_value": self.p_values[one.name],
                "differs_from_best": one.name != self.best and one.name not in tied,
                "fit_seconds": one.fit_seconds,
                "seconds_per_probe": one.seconds_per_probe,
            }
            for one in self.results
        ]
        return {
            "confidence": self.confidence,
            "n_splits": self.n_splits,
            "n_probes": self._n_probes,
            "best": self.best,
            "methods": methods,
            "failed": {result.name: result.error for result in self.failed},
        }

    @property
    def _n_probes(self) -> int:
        """Probes of a split."""
        return len(self.results[0].is_right) // self.n_splits if self.results else 0

    def summary(self) -> str:
        """A sentence: the best method, and those not significantly worse."""
        if not self.results:
            return "No method succeeded."
        n_probes = f"these {self._n_probes} probes"
        if self.n_splits > 1:
            n_probes = f"{self.n_splits} splits of {self._n_probes} probes each"
        tied = self.not_told_apart
        text = f"Best on {n_probes}: {self.best}. "
        if tied:
            # Names have commas of their own.
            text += f"Not significantly different from it: {'; '.join(tied)}."
        elif len(self.results) > 1:
            text += "All others are significantly worse."
        return text.strip()

    def _rows(self) -> list[tuple[str, ...]]:
        percent = f"{100 * self.confidence:g} %"
        header = ("method", "% right", f"{percent} interval", "p", "fit", "per probe")
        rows: list[tuple[str, ...]] = [header]
        for result in self.results:
            name, (low, high) = result.name, self.intervals[result.name]
            p_value = "best" if name == self.best else f"{self.p_values[name]:.2g}"
            interval = f"{100 * low:.1f} - {100 * high:.1f}"
            times = (duration(result.fit_seconds), duration(result.seconds_per_probe))
            rows.append((name, f"{100 * result.accuracy:.1f}", interval, p_value, *times))
        return rows

    def __str__(self) -> str:
        lines = [f"{result.name}: failed, {result.error}" for result in self.failed]
        return "\n".join([aligned(self._rows(), str.rjust), *lines, "", self.summary()])

    def __repr__(self) -> str:
        return f"Comparison of {len(self.results)} methods; best: {self.best}"

    def _repr_html_(self) -> str:
        header, *rows = self._rows()
        level = 1.0 - self.confidence
        parts = ["<table><tr>", *(f"<th>{escape(cell)}</th>" for cell in header), "</tr>"]
        for row in rows:
            # Bold: the best, and all that may be as good.
            weight = "bold" if self.p_values[row[0]] >= level else "normal"
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
            parts.append(f'<tr style="font-weight:{weight}">{cells}</tr>')
        failed = "".join(
            f"<p>{escape(result.name)}: failed, {escape(str(result.error))}</p>"
            for result in self.failed
        )
        return "".join([*parts, "</table>", failed, f"<p>{escape(self.summary())}</p>"])

    def plot(self, path: str | Path | None = None) -> Figure:
        """Accuracy against time; needs the extra ``plot``. See :func:`plot_accuracy_time`."""
        points = [
            (one.name, one.seconds_per_probe, one.accuracy, *self.intervals[one.name])
            for one in self.results
        ]
        return plot_accuracy_time(points, path, note=f"bars: {self.confidence:.0%} intervals")


def aligned(rows: list[tuple[str, ...]], justify: Callable[[str, int], str] = str.ljust) -> str:
    """Rows as lines of aligned columns, the first one to the left."""
    shown = [[printable(cell) for cell in row] for row in rows]
    first, *widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join([row[0].ljust(first), *map(justify, row[1:], widths)]).rstrip()
        for row in shown
    )


def plot_accuracy_time(
    points: Sequence[Point],
    path: str | Path | None = None,
    *,
    title: str = "Accuracy against time",
    note: str = "",
) -> Figure:
    """Draw methods by accuracy and seconds per probe; the upper left corner is best.

    ``points`` are tuples of name, seconds per probe, and accuracy with its bounds, as shares.
    The suffix of ``path`` selects the format; ``title`` and ``note`` stand above and below. See
    :func:`setwise.plots.plot_accuracy_time` for axes of your own.

    Examples
    --------
    >>> from setwise.evaluation import plot_accuracy_time
    >>> len(plot_accuracy_time([("CVC", 0.1, 0.95, 0.9, 0.98)], title="One method").axes)
    1
    """
    figure = new_figure(9.5, max(4.0, 0.23 * len(points) + 1.6))
    figure.set_facecolor("white")
    draw_accuracy_time(figure.subplots(), points)
    left = {"x": 0.01, "ha": "left", **plain(title, note)}
    figure.suptitle(title, **left, size=12, weight="bold", color=INK)
    figure.supxlabel(note, **left, size=8, color=GREY)
    if path is not None:
        figure.savefig(Path(path), dpi=150, facecolor="white")
    return figure
