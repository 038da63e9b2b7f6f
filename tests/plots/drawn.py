"""What a test asks of a picture: its texts, which of them lie on each other, its colours."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

# Machado, Oliveira and Fernandes (2009), on linear RGB.
SEEN_BY = {
    "all": np.eye(3),
    "protanopes": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopes": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopes": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def linear(colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


def contrast(colour, paper):
    low, high = sorted((luminance(colour), luminance(paper)))
    return (high + 0.05) / (low + 0.05)


def least_difference(colours, reader):
    """Between any two colours, in CIELAB, for a kind of colour vision."""
    colour = pytest.importorskip("skimage.color")
    seen = [np.clip(SEEN_BY[reader] @ linear(one), 0, 1) for one in colours]
    rgb = [np.where(s <= 0.0031308, s * 12.92, 1.055 * s ** (1 / 2.4) - 0.055) for s in seen]
    lab = [colour.rgb2lab(one[None, None])[0, 0] for one in rgb]
    return min(np.linalg.norm(one - other) for one, other in combinations(lab, 2))


def a_curve(name, mean, std=None, x=None):
    n = len(mean)
    return SimpleNamespace(
        name=name,
        x=tuple(range(1, n + 1)) if x is None else x,
        mean=mean,
        std=(0.0,) * n if std is None else std,
    )


def lines_of(axes):
    """Lines with data of their own, by label."""
    return {line.get_label(): line for line in axes.lines if line.get_label()[0] != "_"}


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def letters(text, renderer):
    """The box of a text, without the line that ties it to a point."""
    from matplotlib.text import Text

    return Text.get_window_extent(text, renderer)


def clashes(axes):
    """Pairs of texts on or beside the axes whose letters meet, once all is in its place."""
    figure = axes.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    labels = [axes.xaxis.label, axes.yaxis.label]
    shown = [t for t in [*axes.texts, *ticks, *labels] if t.get_text() and t.get_visible()]
    # Boxes include ascent and descent that letters rarely use, so let them touch.
    boxes = [(t.get_text(), letters(t, renderer).padded(-1.5)) for t in shown]
    return [
        (one, other)
        for i, (one, box) in enumerate(boxes)
        for other, beside in boxes[:i]
        if box.overlaps(beside)
    ]


def outside(axes):
    """Texts that the picture cuts off."""
    figure = axes.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    width, height = figure.bbox.width, figure.bbox.height
    boxes = [(text.get_text(), letters(text, renderer)) for text in axes.texts]
    return [
        text
        for text, box in boxes
        if box.x0 < -1 or box.y0 < -4 or box.x1 > width + 1 or box.y1 > height + 4
    ]
