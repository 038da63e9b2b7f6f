"""The README's examples on folders made on the spot: what a reader would copy."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
from PIL import Image

PEOPLE = ("anna", "bert", "carl")


def blocks(readme: str, language: str) -> list[str]:
    """The fenced blocks of one language; "" for those without."""
    return re.findall(rf"^```{language}\n(.*?)^```", readme, flags=re.MULTILINE | re.DOTALL)


def commands(readme: str) -> list[list[str]]:
    """Every line that starts with ``setwise`` in a block without language, without comments."""
    lines = [line for block in blocks(readme, "") for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("setwise ")]


def make_folders(folder: Path) -> None:
    """Albums of three people: ``gallery/``, ``heap/`` and ``new/``, and one ``album/``."""
    for person, name in enumerate(PEOPLE):
        for number, album in enumerate(("beach", "home", "garden")):
            _write_album(folder / "gallery" / name / album, person)
            _write_album(folder / "heap" / f"album {3 * number + person}", person)
        _write_album(folder / "new" / f"day {person + 1}", person)
    _write_album(folder / "album", 0)


def _write_album(folder: Path, person: int) -> None:
    """Four photos of stripes that lean as the person's do."""
    seed = sum(map(ord, folder.as_posix()[-20:]))
    rng = np.random.default_rng(seed)
    down, right = np.mgrid[0:32, 0:32]
    folder.mkdir(parents=True)
    for i in range(4):
        angle = 1.0 * person + 0.1 * rng.normal()
        wave = np.sin((np.cos(angle) * right + np.sin(angle) * down) / 2 + rng.uniform(0, 0.5))
        grey = 127 + 80 * wave + 10 * rng.normal(size=wave.shape)
        Image.fromarray(grey.clip(0, 255).astype(np.uint8)).save(folder / f"{i}.jpg")
