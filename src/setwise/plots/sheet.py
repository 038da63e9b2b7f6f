"""Paper to draw an answer on, measured in inches from its upper left corner.

Nothing goes through pyplot: no window opens, and no setting of the caller changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise.plots.labels import fonts_for, one_line
from setwise.plots.style import INK, LIGHT

WIDTH, _HEIGHT = 11.0, 30.0
_DOTS_PER_INCH = 120


@dataclass(frozen=True)
class Sheet:
    """Axes as large as the paper, which is cut off below what is drawn."""

    axes: Any
    width: float = WIDTH

    @classmethod
    def empty(cls, width: float = WIDTH, figure: Any = None) -> Sheet:
        """A sheet with nothing on it, as a new figure or on one that is empty."""
        require("matplotlib", "plot")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        if figure is None:
            figure = Figure()
            FigureCanvasAgg(figure)
        figure.set(figwidth=width, figheight=_HEIGHT, dpi=_DOTS_PER_INCH, facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(_HEIGHT, 0))
        axes.set_axis_off()
        return cls(axes, width)

    def write(self, x: float, y: float, text: str, **style: Any) -> Any:
        """Write text of any script, without mathematics."""
        style = {"size": 9, "color": INK, "va": "baseline", **style}
        family, known = _fonts("".join(sorted({c for c in text if not c.isascii()})))
        drawable = "".join(c if c.isascii() or ord(c) in known else "□" for c in text)
        return self.axes.text(x, y, drawable, family=family, parse_math=False, **style)

    def write_short(self, x: float, y: float, text: str, room: float, **style: Any) -> None:
        """Write as much of a text as ``room`` inches hold, and dots for the rest."""
        n_letters = len(text)
        shown = self.write(x, y, one_line(text, n_letters), **style)
        while n_letters > 2 and (excess := self.width_of(shown) / room) > 1:
            n_letters = max(min(int(n_letters / excess), n_letters - 1), 2)
            shown.remove()
            shown = self.write(x, y, one_line(text, n_letters), **style)

    def width_of(self, text: Any) -> float:
        """Inches from the first to the last letter of what :meth:`write` returned."""
        figure = self.axes.figure
        return float(text.get_window_extent(figure.canvas.get_renderer()).width / figure.dpi)

    def rectangle(
        self, x: float, y: float, width: float, height: float, colour: str, **style: Any
    ) -> None:
        """A rectangle; ``x`` and ``y`` are of its upper left corner."""
        from matplotlib.patches import Rectangle

        style = {"facecolor": colour, "linewidth": 0, "zorder": 2, **style}
        self.axes.add_patch(Rectangle((x, y), width, height, **style))

    def image(self, x: float, y: float, side: float, image: Any, frame: str = "") -> None:
        """The middle of an image as a square, or a grey square where there is none."""
        if image is None:
            self.rectangle(x, y, side, side, LIGHT)
        else:
            place = {"extent": (x, x + side, y + side, y), "aspect": "auto", "zorder": 1}
            self.axes.imshow(_square(as_pixels(image)), "gray", vmin=0, vmax=255, **place)
            self.axes.set(xlim=(0, self.width), ylim=(_HEIGHT, 0))  # images change them
        if frame:
            self.rectangle(x, y, side, side, "none", edgecolor=frame, linewidth=3)

    def cut_below(self, height: float, path: Path | None = None) -> Any:
        """Cut the paper off, save it to ``path`` if given, and return the figure."""
        figure = self.axes.figure
        figure.set_size_inches(self.width, height)
        self.axes.set_ylim(height, 0)
        if path is not None:
            figure.savefig(path, dpi=_DOTS_PER_INCH, facecolor="white")
        return figure


def _square(image: Any) -> Any:
    height, width = image.shape[:2]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    return image[top : top + side, left : left + side]


@cache
def _fonts(letters: str) -> tuple[list[str], set[int]]:
    """Fonts that can draw these letters, kept: reading fonts takes longer than drawing."""
    return fonts_for([letters])


def as_pixels(image: npt.NDArray[Any], *, is_many: bool = False) -> npt.NDArray[np.uint8]:
    """Bytes of one image, or of many, of any numbers, in one or three channels."""
    values = np.asarray(image)
    if values.ndim - is_many == 3 and values.shape[-1] != 3:
        # One channel, an alpha channel, or something that only its maker can show.
        values = values[..., :3] if values.shape[-1] == 4 else values.mean(axis=-1)
    if values.dtype == np.uint8:
        return values
    values = np.nan_to_num(values.astype(np.float64))
    low, high = float(values.min(initial=0)), float(values.max(initial=0))
    if low < 0 or high > 255:
        values = (values - low) / (high - low)
        high = 1.0
    return np.rint(values * (255 if high <= 1 else 1)).astype(np.uint8)
