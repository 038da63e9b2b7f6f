"""Rendered objects: views of one object, and other objects of its class, class by class.

python benchmarks/object_views.py [docs/object_views.png] [--classes 8] [--grey] [--seed 0]
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rendering import make_object_views
from setwise import SetBatch

VIEWS = (0, 2, 9, 14, 23, 25, 27, 29)  # of the 41, from above to the side
SIDE = 27
N_OBJECTS = 7
SIZE = 64


def sheet(sets: SetBatch) -> tuple[np.ndarray, np.ndarray]:
    """Views of the first object of each class, and one view of each of its other objects."""
    images = sets.images.reshape(-1, N_OBJECTS, 41, *sets.images.shape[1:])
    return tiled(images[:, 0, VIEWS]), tiled(images[:, 1:, SIDE])


def tiled(images: np.ndarray) -> np.ndarray:
    """One image of rows of images."""
    return np.concatenate([np.concatenate(list(row), axis=1) for row in images])


def draw(sets: SetBatch) -> Figure:
    """Both sheets side by side."""
    left, right = sheet(sets)
    names = list(dict.fromkeys(sets.labels.tolist()))
    figure = Figure(figsize=(11.5, 0.79 * len(names) + 0.4), layout="constrained")
    axes = figure.subplots(1, 2, width_ratios=[left.shape[1], right.shape[1]])
    show(axes[0], left, "Views of one object: a set")
    show(axes[1], right, "Other objects of its class")
    axes[0].set_yticks(SIZE * (np.arange(len(names)) + 0.5), names)
    return figure


def show(axes: Axes, image: np.ndarray, title: str) -> None:
    axes.imshow(image, cmap="gray", vmin=0, vmax=255)
    axes.set_title(title, loc="left", fontsize=10.5)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def main() -> None:
    """Render and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", nargs="?", type=Path, default=Path("docs/object_views.png"))
    parser.add_argument("--classes", type=int, default=8)
    parser.add_argument("--grey", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sets = make_object_views(
        arguments.classes,
        N_OBJECTS,
        size=SIZE,
        colour=not arguments.grey,
        noise=0.0,  # which makes the file half as large
        random_state=arguments.seed,
    )
    print(sets)
    arguments.picture.parent.mkdir(parents=True, exist_ok=True)
    draw(sets).savefig(arguments.picture, dpi=110)
    print(f"Picture: {arguments.picture}")


if __name__ == "__main__":
    main()
