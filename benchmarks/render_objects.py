"""Render the objects of the study `benchmarks/objects.toml` into an archive of images.

    python benchmarks/render_objects.py [out/objects/objects.npz]
    setwise reproduce benchmarks/objects.toml --data out/objects

The archive has the layout of the other prepared ones: images, set_index, set_labels, set_names.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from rendering import make_object_views
from setwise import SetBatch


def write_archive(sets: SetBatch, path: Path) -> None:
    """Write labelled sets of images as `setwise_paper.datasets.load` reads them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        images=sets.images,
        set_index=np.repeat(np.arange(len(sets)), sets.sizes).astype(np.int32),
        set_labels=sets.labels,
        set_names=np.array(sets.names),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "archive", nargs="?", type=Path, default=Path("out/objects/objects.npz")
    )
    parser.add_argument("--classes", type=int, default=20)
    parser.add_argument("--sets", type=int, default=4, help="objects per class")
    parser.add_argument("--views", type=int, default=100, help="images per object")
    parser.add_argument("--size", type=int, default=24, help="of the images, in pixels")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sets = make_object_views(
        given.classes, given.sets, given.views, size=given.size, random_state=given.seed
    )
    write_archive(sets, given.archive)
    print(f"{sets}: {given.archive}")


if __name__ == "__main__":
    main()
