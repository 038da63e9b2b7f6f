"""Paper to draw an answer on, measured in inches from its upper left corner.

Nothing goes through pyplot: no window opens, and no setting of the caller changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.extras import require
from setwise.plots.labels import fonts_for
from setwise.plots.style import INK, LIGHT
from setwise.report.thumbnails import as_pixels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WIDTH", "Sheet"]

WIDTH, _HEIGHT = 11.0, 16.0
_DOTS_PER_INCH = 120


@dataclass(frozen=True)
class Sheet:
    """A figure that is cut off below what is drawn."""

    figure: Figure

    @classmethod
    def empty(cls) -> Sheet:
        """A sheet with nothing on it."""
        require("matplotlib", "plot")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(WIDTH, _HEIGHT), dpi=_DOTS_PER_INCH, facecolor="white")
        FigureCanvasAgg(figure)
        return cls(figure)

    def write(self, x: float, y: float, text: str, **style: Any) -> Any:
        """Write text as it is, whatever its script: no mathematics in it."""
        style = {"size": 9, "color": INK, "va": "baseline", **style}
        family, known = _fonts("".join(sorted({c for c in text if not c.isascii()})))
        drawable = "".join(c if c.isascii() or ord(c) in known else "□" for c in text)
        place = x / WIDTH, 1 - y / _HEIGHT
        return self.figure.text(*place, drawable, family=family, parse_math=False, **style)

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle; ``x`` and ``y`` are of its upper left corner."""
        from matplotlib.patches import Rectangle

        corner = x / WIDTH, 1 - (y + height) / _HEIGHT
        sides = width / WIDTH, height / _HEIGHT
        self.figure.add_artist(Rectangle(corner, *sides, facecolor=colour, linewidth=0))

    def image(self, x: float, y: float, side: float, image: Any, frame: str = "") -> None:
        """The middle of an image as a square, or a grey square where there is none."""
        box = x / WIDTH, 1 - (y + side) / _HEIGHT, side / WIDTH, side / _HEIGHT
        axes = self.figure.add_axes(box, facecolor=LIGHT, xticks=[], yticks=[])
        axes.spines[:].set(visible=bool(frame), color=frame or LIGHT, linewidth=3)
        if image is None:
            return
        height, width = image.shape[:2]
        axes.imshow(as_pixels(image), cmap="gray", vmin=0, vmax=255)
        half = min(height, width) / 2
        axes.set_xlim((width - 1) / 2 - half, (width - 1) / 2 + half)
        axes.set_ylim((height - 1) / 2 + half, (height - 1) / 2 - half)

    def save(self, path: Path, height: float) -> None:
        """Save as much of it as was drawn on."""
        from matplotlib.transforms import Bbox

        drawn = Bbox.from_extents(0, _HEIGHT - height, WIDTH, _HEIGHT)
        self.figure.savefig(path, facecolor="white", bbox_inches=drawn)


@cache
def _fonts(letters: str) -> tuple[list[str], set[int]]:
    """Fonts that can draw these letters; looking into fonts takes longer than drawing."""
    return fonts_for([letters])
