"""``setwise serve`` in a process of its own, as users start it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import setwise

COMMAND = (sys.executable, "-c", "from setwise.cli import run; run()")


@dataclass(frozen=True)
class Served:
    address: str
    gallery: Path
    process: subprocess.Popen

    def kill(self) -> None:
        """As by a power cut."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(gallery: Path, *options: str, port: int = 0) -> Iterator[Served]:
    """A server of a gallery file, ended in the end."""
    place = {**os.environ, "PYTHONPATH": str(Path(setwise.__file__).parents[1])}
    command = [*COMMAND, "serve", str(gallery), "--no-browser", "--port", str(port), *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=place
    )
    try:
        yield Served(_address(process), gallery, process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
        process.stdout.close()


def _address(process: subprocess.Popen) -> str:
    said = ""
    for line in process.stdout:
        said += line
        found = re.search(r"http://\S+", line)
        if found:
            return found[0].rstrip("/")
    raise AssertionError(f"the server did not start: {said}")


def own_copy(gallery: Path, folder: Path) -> Path:
    """A copy that may be changed."""
    return Path(shutil.copy(gallery, folder / gallery.name))
