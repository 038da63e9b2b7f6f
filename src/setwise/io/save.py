"""Sets of images written as a folder that :func:`setwise.io.load_images` reads."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from setwise._support.text import file_name
from setwise.errors import reject
from setwise.sets import SetBatch

__all__ = ["save_images"]


def save_images(sets: SetBatch, folder: str | Path) -> Path:
    """Write every set as a folder of PNG files: ``class/set/0000.png``, or ``set/0000.png``.

    Nothing appears under the name of the folder before all of it is written.

    Parameters
    ----------
    sets : SetBatch
        Images of dtype uint8.
    folder : str or Path
        A folder that is not there yet.
    """
    from PIL import Image

    target = Path(folder)
    images = sets.images
    if images.dtype != np.uint8:
        reject(
            f"save_images: the images are of dtype {images.dtype}. Expected uint8, 0 to 255."
        )
    if target.exists():
        reject(f"save_images: {target} is there already. Expected a new folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as work:
        whole = Path(work) / "sets"
        for i, name in enumerate(_folders(sets)):
            (whole / name).mkdir(parents=True)
            for j, image in enumerate(images[sets.offsets[i] : sets.offsets[i + 1]]):
                Image.fromarray(image).save(whole / name / f"{j:04d}.png")
        whole.rename(target)
    return target


def _folders(sets: SetBatch) -> list[Path]:
    """A folder for each set, named after it, below its class where it has one."""
    folders: list[Path] = []
    for i, name in enumerate(sets.names):
        if sets.labels is None:
            folders.append(Path(file_name(name)))
        else:
            label = str(sets.labels[i])
            folders.append(Path(file_name(label)) / file_name(name.removeprefix(f"{label}/")))
    doubled = {path for path in folders if folders.count(path) > 1}
    if doubled:
        reject(
            f"save_images: several sets would be written to {min(doubled)}. Expected sets of "
            "different names."
        )
    return folders
