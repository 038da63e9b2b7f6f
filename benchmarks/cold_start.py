"""How long `setwise identify` takes from nothing: a fresh process, imports and all.

    python benchmarks/cold_start.py [--repeats 7]

A gallery of 100 sets (25 people of Yale B in four kinds of light, ArcFace embeddings) is saved
to a file; another set is asked about by the command, in a fresh process, with the kernels
compiled before. Beside it: what the interpreter, NumPy and Numba take alone, how large the
file is, and how long it takes to load in a process that runs already.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import setwise
from datasets import data_folder, load

IDENTIFY = [sys.executable, "-c", "from setwise.cli import run; run()", "identify"]


def gallery_and_probe() -> tuple[setwise.SetBatch, np.ndarray, np.ndarray]:
    """100 sets of embeddings for the gallery, with labels, and one to ask about."""
    folder = data_folder()
    if folder is None:
        sys.exit("no datasets; set SETWISE_DATA")
    sets = setwise.load_arrays(folder / "yaleb_arcface.npz")
    people = np.unique(sets.labels)[:25]
    chosen = np.concatenate([np.flatnonzero(sets.labels == p)[:4] for p in people])
    probe = np.flatnonzero(sets.labels == people[3])[4]
    return sets[chosen], sets.labels[chosen], sets[int(probe)]


def seconds(command: list[str], repeats: int) -> list[float]:
    """Wall clock of a command in fresh processes."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        took.append(time.perf_counter() - began)
    return took


def shown(name: str, took: list[float]) -> None:
    print(f"{name:52} {statistics.median(took):6.2f} s   (best {min(took):.2f})")


def loading(name: str, repeats: int) -> None:
    """Size and loading time of the gallery of all sets of a dataset."""
    data = load(name)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf = setwise.CVC(random_state=0, n_jobs=2).fit(data.sets, data.labels)
        path = clf.save(Path(folder) / "all.setwise")
        took = []
        for _ in range(repeats):
            began = time.perf_counter()
            setwise.load(path)
            took.append(time.perf_counter() - began)
        ratio = path.stat().st_size / (4 * data.sets.vectors.size)
    shown(f"{name}, {len(data.sets)} sets: load", took)
    print(f"{'':52} {ratio:6.2f} x its vectors in float32")


def identifying(repeats: int) -> dict[str, list[float]]:
    """Seconds of the command, and of what it imports alone, in fresh processes."""
    gallery, labels, probe = gallery_and_probe()
    with tempfile.TemporaryDirectory() as folder:
        file, asked = Path(folder) / "people.setwise", Path(folder) / "probe.npz"
        setwise.CVC(random_state=0).fit(gallery, labels).save(file)
        np.savez(asked, album=probe)
        command = [*IDENTIFY, str(file), str(asked), "--quiet"]
        subprocess.run(command, check=True, capture_output=True)  # compiles where nobody has
        alone = ("pass", "import numpy", "import numba", "import sklearn.base")
        took = {
            f"python -c '{what}'": seconds([sys.executable, "-c", what], repeats)
            for what in alone
        }
        took["setwise --help"] = seconds([*IDENTIFY[:-1], "--help"], repeats)
        took["setwise identify, 100 sets in a file, cold"] = seconds(command, repeats)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    for name, took in identifying(repeats).items():
        shown(name, took)
    loading("eth80_20x20", repeats)


if __name__ == "__main__":
    main()
