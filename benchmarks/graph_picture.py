"""The graph of sets as a picture: a hundred made objects, grouped without labels.

    python benchmarks/graph_picture.py [docs/pictures/graph.jpg]

Each disc is a set: views of one rendered object. Lines join the nearest sets. Rings have the
colours of the groups that were found; sets of no group have none.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from PIL import Image, ImageDraw

from rendering import make_object_views
from setwise import CVC, SetBatch, SetClusters
from setwise.evaluation import GroupScores

N_CLASSES, N_OBJECTS, SIDE, N_ROUNDS = 10, 11, 96, 300
NIGHT, DIM = "#10151c", "#aab4c0"
COLOURS = (
    *("#6fa8ff", "#ffb347", "#3fd6c6", "#c09bff", "#ff8f70", "#9be15d", "#f7d154"),
    *("#ff9bd2", "#7fd3ff", "#d6a77a", "#5fe0a0", "#b8c4ff", "#ffd9a0", "#d0f0c0"),
)


def apart(points: np.ndarray, distance: float) -> np.ndarray:
    """Points moved until none is nearer to another one than a distance."""
    moved = points.copy()
    for _ in range(N_ROUNDS):
        way = moved[:, None] - moved[None]
        length = np.linalg.norm(way, axis=2) + 1e-9
        push = np.clip(distance - length, 0.0, None)
        np.fill_diagonal(push, 0.0)
        moved += 0.3 * (push[..., None] * way / length[..., None]).sum(axis=1)
    return moved


def disc(image: np.ndarray, ring: str | None) -> np.ndarray:
    """A round photograph with a ring."""
    large = Image.fromarray(image).resize((4 * SIDE, 4 * SIDE), Image.Resampling.LANCZOS)
    mask = Image.new("L", large.size)
    ImageDraw.Draw(mask).ellipse((12, 12, 4 * SIDE - 12, 4 * SIDE - 12), fill=255)
    found = Image.new("RGBA", large.size)
    found.paste(large, mask=mask)
    edge = {"outline": ring or "#5b6675", "width": 18 if ring else 8}
    ImageDraw.Draw(found).ellipse((4, 4, 4 * SIDE - 4, 4 * SIDE - 4), **edge)
    return np.asarray(found.resize((SIDE, SIDE), Image.Resampling.LANCZOS))


def draw_lines(axes: Axes, found: SetClusters, points: np.ndarray) -> None:
    """A line for each pair of near sets, in the colour of their group."""
    near = found.graph_.neighbours().tocoo()
    upper = near.row < near.col
    first, second, weight = near.row[upper], near.col[upper], near.data[upper]
    one, other = found.labels_[first], found.labels_[second]
    is_one = (one == other) & (one >= 0)
    colours = [
        to_rgba(COLOURS[g % len(COLOURS)] if same else DIM, (0.85 if same else 0.4) * w)
        for g, same, w in zip(one, is_one, weight, strict=True)
    ]
    lines = np.stack([points[first], points[second]], axis=1)
    for width, faint in ((7.0, 0.16), (1.6, 1.0)):  # a glow below each line
        tint = [(*colour[:3], faint * colour[3]) for colour in colours]
        axes.add_collection(LineCollection(list(lines), colors=tint, linewidths=width))


def draw(sets: SetBatch, found: SetClusters) -> Figure:
    """The picture."""
    points = found.graph_.layout()
    points = (points - points.mean(axis=0)) / np.ptp(points, axis=0) * (16, 10)
    points = apart(points, 0.93)
    figure = Figure(figsize=(16, 10), facecolor=NIGHT)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    draw_lines(axes, found, points)
    half, faces = 0.44, sets.images.reshape(len(sets), -1, *sets.images.shape[1:])
    for (x, y), group, views in zip(points, found.labels_, faces, strict=True):
        ring = COLOURS[group % len(COLOURS)] if group >= 0 else None
        shown = disc(views[2 * len(views) // 3], ring)
        axes.imshow(shown, extent=(x - half, x + half, y - half, y + half), zorder=3)
    low, high = points.min(axis=0) - 0.8, points.max(axis=0) + 0.8
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    return figure


def main() -> None:
    """Render, group and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "picture", nargs="?", type=Path, default=Path("docs/pictures/graph.jpg")
    )
    target = parser.parse_args().picture
    sets = make_object_views(N_CLASSES, N_OBJECTS, size=64, colour=True, noise=0.0)
    how = CVC.for_images(features="pixels,edges").describe()
    found = SetClusters(description=how).fit(sets)
    scores = GroupScores.of(sets.labels, found.labels_)
    print(f"{found.n_clusters_} groups; precision {scores.precision:.2f}, F {scores.f:.2f}")
    page = io.BytesIO()
    draw(sets, found).savefig(page, dpi=110, facecolor=NIGHT)
    target.parent.mkdir(parents=True, exist_ok=True)
    Image.open(page).convert("RGB").save(target, quality=88)
    print(f"Picture: {target}")


if __name__ == "__main__":
    main()
