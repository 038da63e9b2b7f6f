"""The page a tree of cuts is drawn on: its size, and how classes are called and coloured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise.plots.labels import fonts_for, one_line
from setwise.plots.style import GREY, INK, OTHER, PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from setwise.classify.explanation import Explanation

__all__ = ["SIZE_INCHES", "Box", "Page", "probe_clusters"]

# Left, bottom, width and height of a panel, as shares of the figure.
Box: TypeAlias = tuple[float, float, float, float]
SIZE_INCHES = (14.0, 9.2)
_LONGEST_NAME = 16


@dataclass(frozen=True)
class Page:
    """The figure, and how each class is called and coloured on all of its panels."""

    figure: Figure
    explanation: Explanation
    names: list[str]
    colours: list[str]
    family: list[str]
    answer: int

    @classmethod
    def of(cls, figure: Figure, explanation: Explanation) -> Page:
        """The page of one explanation: which names and colours its classes get."""
        n_classes = len(explanation.classes)
        colours = [OTHER] * n_classes
        # Few classes keep their colours from probe to probe; of many, the likely ones have one.
        ranked = np.argsort(-explanation.probabilities, kind="stable")
        order = range(n_classes) if n_classes <= len(PALETTE) else ranked
        for code, colour in zip(order, PALETTE, strict=False):
            colours[int(code)] = colour
        family, names = _drawable([str(label) for label in explanation.classes])
        answer = int(np.flatnonzero(explanation.classes == explanation.label)[0])
        return cls(figure, explanation, names, colours, family, answer)

    def panel(self, box: Box, title: str, note: str = "", *, hang: float = 0.0) -> Any:
        """Axes without frame or ticks, under a title and a line that says how to read them.

        ``hang`` is how far the title stands out to the left, as a share of the figure.
        """
        ax = self.figure.add_axes(box, facecolor="none")
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        above = {"transform": ax.transAxes, "va": "bottom", "clip_on": False}
        left, height = -hang / box[2], box[3] * SIZE_INCHES[1] * 72
        self.write(ax, left, 1 + 20 / height, title, size=10.5, weight="bold", **above)
        self.write(ax, left, 1 + 8 / height, note, size=7.5, color=GREY, **above)
        return ax

    def write(self, ax: Any, x: float, y: float, text: str, **style: Any) -> Any:
        """Put down text as it is: no mathematics in it, and letters from any script."""
        style = {"size": 8.5, "color": INK, "va": "center", **style}
        return ax.text(x, y, text, family=self.family, parse_math=False, **style)


def probe_clusters(why: Explanation, most: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """The clusters that hold most of the probe, numbered as the leaves of the tree.

    Returns their numbers from 0, the shares of classes and probe in them, and the rest.
    """
    probe = why.class_cluster[-1]
    with_probe = np.flatnonzero(probe > 0)
    numbers = np.sort(np.argsort(-probe[with_probe], kind="stable")[:most])
    shown = why.class_cluster[:, with_probe[numbers]]
    return numbers, shown, why.class_cluster.sum(axis=1) - shown.sum(axis=1)


def _drawable(names: list[str]) -> tuple[list[str], list[str]]:
    """Fonts that can draw the names, and the names: short, on one line, of known letters."""
    short = [one_line(name, _LONGEST_NAME) for name in names]
    family, known = fonts_for(short)
    return family, ["".join(c if ord(c) in known else "□" for c in name) for name in short]
