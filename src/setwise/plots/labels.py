"""Names in pictures: any script, no mathematics, and none on top of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from sklearn.isotonic import isotonic_regression

from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.plots.style import GREY, INK, LIGHT, OURS, PALETTE, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Name, seconds per probe, accuracy, and the low and high end of its interval.
Point: TypeAlias = tuple[str, float, float, float, float]

_LONGEST_NAME = 28
_SIZE, _SMALLEST_SIZE = 8.5, 5.0
# Height of a line of text, as a multiple of the size of its letters.
_LINE = 1.35
# Asked in this order for characters that matplotlib's own font lacks.
_WIDE_FONTS = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "PingFang SC"),
    *("Hiragino Sans", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Arial Unicode MS"),
)


@dataclass(frozen=True)
class EndLabel:
    """A label at the right of the axes, its point in data coordinates, and a second text."""

    x: float
    y: float
    text: str
    colour: str = INK
    more: str = ""
    more_colour: str = GREY


def one_line(name: object, longest: int = _LONGEST_NAME) -> str:
    """A name that can be drawn: short, on one line, of printable characters."""
    line = " ".join(str(name).split())
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def fonts_for(texts: Iterable[str]) -> tuple[list[str], set[int]]:
    """Fonts that can draw the texts, as far as installed, and the characters they have."""
    from matplotlib.font_manager import fontManager, get_font

    family, path_of = ["DejaVu Sans"], {font.name: font.fname for font in fontManager.ttflist}
    known = set(get_font(path_of[family[0]]).get_charmap())
    needed = set(map(ord, "".join(texts)))
    for font in _WIDE_FONTS:
        if font in path_of and not known >= needed:
            family.append(font)
            known |= set(get_font(path_of[font]).get_charmap())
    return family, known


def plain(*texts: str) -> dict[str, Any]:
    """Settings that draw the texts as they are: no mathematics, and letters of any script."""
    return {"parse_math": False, "family": fonts_for(texts)[0]}


def label_ends(axes: Axes, labels: Sequence[EndLabel], *, left: float = 1.03) -> None:
    """Write labels in a column at the right, each as near to its point as others allow.

    The limits of the axes should be final. Letters get smaller where axes are low. The column
    starts at ``left``, as a share of the width of the axes.
    """
    ordered = sorted(labels, key=lambda label: -label.y)
    places = [_place(axes, label.x, label.y) for label in ordered]
    points = axes.get_window_extent().height / axes.figure.dpi * 72
    size = float(np.clip(points / (_LINE * max(len(labels) - 1, 1)), _SMALLEST_SIZE, _SIZE))
    gap = min(size * _LINE / points, 1.0 / max(len(labels) - 1, 1))
    style = plain(*(label.text + label.more for label in labels))
    heights = spread(np.array([y for _, y in places]), gap)
    for height, i in zip(heights, untangled(places, left, heights), strict=True):
        _write_end(axes, ordered[i], (left, float(height)), {"size": size, **style})


def spread(heights: FloatArray, gap: float) -> FloatArray:
    """Falling heights in [0, 1], moved as little as possible to lie ``gap`` apart."""
    steps = gap * np.arange(len(heights))
    places = isotonic_regression(heights + steps, increasing=False) - steps
    # Push what stands out at either end back in.
    places = np.minimum(places, 1.0 - steps)
    return np.maximum(places, steps[::-1])


def untangled(
    points: Sequence[tuple[float, float]], left: float, places: FloatArray
) -> list[int]:
    """The point for each height at ``left``, chosen so that no two lines between them cross."""
    order = list(range(len(points)))

    def cross(upper: int, lower: int) -> bool:
        """Whether, where both lines are, the one that ends above is below the other."""
        (x0, y0), (x1, y1) = points[order[upper]], points[order[lower]]
        x = max(x0, x1)
        above = y0 + (places[upper] - y0) * (x - x0) / (left - x0)
        below = y1 + (places[lower] - y1) * (x - x1) / (left - x1)
        return bool(above < below - 1e-9)

    pairs = [(i, j) for j in range(len(order)) for i in range(j)]
    # Each exchange makes the lines shorter together, so that few are needed.
    for _ in range(len(pairs)):
        crossing = [pair for pair in pairs if cross(*pair)]
        if not crossing:
            break
        i, j = crossing[0]
        order[i], order[j] = order[j], order[i]
    return order


def _place(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Of a point, as shares of the width and the height of the axes."""
    across, up = axes.transAxes.inverted().transform(axes.transData.transform((x, y)))
    return float(across), float(up)


def _write_end(
    axes: Axes, label: EndLabel, place: tuple[float, float], style: dict[str, Any]
) -> None:
    x, y = _place(axes, label.x, label.y)
    leader: dict[str, Any] = {"color": LIGHT, "linewidth": 0.7, "clip_on": False, "zorder": 0.6}
    ends = [x, place[0] - 0.008], [y, place[1]]
    axes.plot(*ends, **leader, transform=axes.transAxes, label=f"_leader of {label.text}")
    text = axes.text(
        *place, label.text, transform=axes.transAxes, va="center", color=label.colour, **style
    )
    if label.more:
        beside: dict[str, Any] = {"xycoords": text, "textcoords": "offset points", **style}
        beside |= {"va": "center", "color": label.more_colour, "annotation_clip": False}
        axes.annotate(label.more, xy=(1.0, 0.5), xytext=(6, 0), **beside)


def plot_accuracy_time(axes: Axes, points: Sequence[Point]) -> Axes:
    """Draw methods by accuracy and seconds per probe; the upper left corner is best.

    A point is (name, seconds per probe, accuracy, low, high), the last three as shares of 1.
    CVC is drawn in red. Axes should be about 0.2 inches high for each name.

    Examples
    --------
    >>> from setwise.plots import new_figure, plot_accuracy_time
    >>> axes = new_figure(6, 3).add_subplot()
    >>> points = [("CVC", 0.1, 0.95, 0.9, 0.98), ("mean cosine", 1e-4, 0.8, 0.7, 0.88)]
    >>> plot_accuracy_time(axes, points) is axes
    True
    """
    numbers = np.array([point[1:] for point in points], dtype=float).reshape(-1, 4)
    _check(points, numbers)
    labels = []
    for (name, *_), (seconds, *shares) in zip(points, numbers, strict=True):
        colour = OURS if str(name).startswith("CVC") else PALETTE[0]
        accuracy, low, high = (100 * share for share in shares)
        milliseconds = 1e3 * seconds
        axes.plot([milliseconds] * 2, [low, high], color=colour, alpha=0.25, linewidth=1.5)
        axes.plot(milliseconds, accuracy, "o", color=colour, markersize=6)
        text = f"{one_line(name)}  {accuracy:.1f}"
        labels.append(EndLabel(milliseconds, accuracy, text, colour))
    axes.set(xscale="log", xlabel="milliseconds per probe", ylabel="% of the probe sets right")
    tidy(axes)
    _plain_times(axes)
    _limit_shares(axes)
    label_ends(axes, labels, left=1.06)
    return axes


def _check(points: Sequence[Point], numbers: FloatArray) -> None:
    if not len(points):
        reject("plot_accuracy_time: points is empty. Expected at least one point to draw.")
    is_wrong = ~np.isfinite(numbers).all(axis=1) | ~(numbers[:, 0] > 0)
    if is_wrong.any():
        wrong = int(is_wrong.argmax())
        seconds, accuracy = numbers[wrong, :2]
        reject(
            f"plot_accuracy_time: {points[wrong][0]} takes {seconds:g} seconds per probe and "
            f"has an accuracy of {accuracy:g}. Expected finite numbers, more than 0 seconds."
        )


def _limit_shares(axes: Axes) -> None:
    """Limits and ticks that end where percentages do, with room for a point on the border."""
    low, high = axes.get_ylim()
    room = 0.03 * (high - low)
    low, high = max(low, -room), min(high, 100 + room)
    ticks = [tick for tick in axes.get_yticks() if max(low, 0) <= tick <= min(high, 100)]
    axes.set_yticks(ticks)
    axes.set_ylim(low, high)


def _plain_times(axes: Axes) -> None:
    """Ticks at 1, 10, 100, ..., and in between where these alone would be few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axes.dataLim.intervalx
    if high / low < 3:
        axes.set_xlim(low / 2, high * 2)
    steps = (1.0,) if high / low > 300 else (1.0, 2.0, 5.0)
    axes.xaxis.set_major_locator(LogLocator(subs=steps))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: f"{tick:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
