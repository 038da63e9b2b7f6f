"""Sets of images written as folders that `load_images` reads."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from setwise._support.text import file_name
from setwise.errors import reject
from setwise.io.untrusted import check_path
from setwise.sets import SetBatch


def save_images(sets: SetBatch, folder: str | Path) -> Path:
    """Write every set as a folder of PNG files: ``class/set/0000.png``, or ``set/0000.png``.

    Nothing appears under the name of the folder before all of it is written.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> photos = SetBatch.from_images([np.zeros((2, 32, 32), np.uint8)], ["beach"], ["anna"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     root = save_images(photos, f"{folder}/gallery")
    ...     sorted(path.relative_to(root).as_posix() for path in root.rglob("*.png"))
    ['anna/beach/0000.png', 'anna/beach/0001.png']
    """
    target, set_folders = Path(folder), _set_folders(sets)
    if target.exists():
        reject(f"save_images: {target} is there already. Expected a new folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with _written(sets, set_folders, target.parent) as whole:
        whole.rename(target)
    return target


def add_images(sets: SetBatch, folder: str | Path) -> list[Path]:
    """The folder of each set, once all are written into a folder that may hold others."""
    target, set_folders = Path(folder), _set_folders(sets)
    for set_folder in set_folders:
        if (target / set_folder).exists():
            what = f"{target / set_folder} is there already"
            reject(
                f"add_images: {what}. Expected sets of other names than those in the folder."
            )
    with _written(sets, set_folders, target) as whole:
        for path in whole.iterdir():
            # A class is moved as a whole, unless others of its sets are there.
            is_new = not (target / path.name).exists()
            for moved in [path] if is_new else list(path.iterdir()):
                moved.rename(target / moved.relative_to(whole))
    return [target / set_folder for set_folder in set_folders]


def claim_folder(owner: str, folder: str | Path) -> Path:
    """Make the folder for results of long work, which must be new or empty and writable."""
    target = check_path(owner, folder, "folder")
    try:
        if target.exists() and not target.is_dir():
            reject(f"{owner}: {target} is a file. Expected a new or empty folder.")
        if target.is_dir() and any(target.iterdir()):
            what = f"{target} is there already, and not empty"
            reject(
                f"{owner}: {what}. Expected a new or empty folder: choose another or remove it."
            )
        target.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(dir=target).cleanup()
    except OSError as error:
        what = f"{owner}: nothing can be written to {target} ({error.strerror})"
        reject(f"{what}. Expected a folder that can be made, such as one in your home.", error)
    return target


@contextmanager
def _written(sets: SetBatch, set_folders: list[Path], beside: Path) -> Iterator[Path]:
    """A hidden temporary folder of all sets beside their target, to be moved from."""
    from PIL import Image

    images = sets.images
    with tempfile.TemporaryDirectory(dir=beside, prefix=".unfinished-") as work:
        whole = Path(work) / "sets"
        for i, set_folder in enumerate(set_folders):
            (whole / set_folder).mkdir(parents=True)
            for j, image in enumerate(images[sets.offsets[i] : sets.offsets[i + 1]]):
                Image.fromarray(image).save(whole / set_folder / f"{j:04d}.png")
        yield whole


def _set_folders(sets: SetBatch) -> list[Path]:
    """A folder for each set, named after it, below its class where it has one."""
    if sets.images.dtype != np.uint8:
        reject(f"save_images: images of dtype {sets.images.dtype}. Expected uint8, 0 to 255.")
    folders: list[Path] = []
    for i, name in enumerate(sets.names):
        if sets.labels is None:
            folders.append(Path(file_name(name)))
            continue
        label = str(sets.labels[i])
        inner = file_name(name.removeprefix(f"{label}/"))
        folders.append(Path(file_name(label)) / inner)
    doubled = {path for path in folders if folders.count(path) > 1}
    if doubled:
        what = f"several sets would be written to {min(doubled)}"
        reject(f"save_images: {what}. Expected sets of different names.")
    return folders
