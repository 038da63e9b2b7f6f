"""Reading a folder of images beside the loop that one would write with Pillow alone.

python benchmarks/load_images.py
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from threadpoolctl import threadpool_limits

from datasets import data_folder
from harness import publish, seconds
from setwise.io.images import load_images

SIDE = 256
REPEATS = 3


def write_folder(root: Path, suffix: str) -> int:
    """ETH-80 at 256 x 256 in three channels as root/class/set/image; how many images."""
    table = dict(np.load(data_folder() / "eth80_64x64.npz", allow_pickle=False))
    for i, pixels in enumerate(table["images"]):
        owner = table["set_index"][i]
        folder = root / f"class{table['set_labels'][owner]}" / f"object{owner}"
        folder.mkdir(parents=True, exist_ok=True)
        large = Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        large.convert("RGB").save(folder / f"view{i}{suffix}")
    return len(table["images"])


def bare_loop(root: Path) -> np.ndarray:
    """What one writes at first: every file in turn, no check at all."""
    return np.stack([
        np.asarray(Image.open(path).convert("L").resize((64, 64), Image.Resampling.BILINEAR))
        for path in sorted(root.glob("*/*/*"))
    ])  # fmt: skip


def interleaved(works: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Seconds of each work, in turns after one warm-up, so that all meet the same noise."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for repeat in range(REPEATS + 1):
        for name, work in works.items():
            started = time.perf_counter()
            work()
            if repeat:
                times[name].append(time.perf_counter() - started)
    return times


def main() -> None:
    """Measure, print and keep."""
    rows, records = [], {}
    for suffix in (".png", ".jpg"):
        with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
            root = Path(folder)
            n_images = write_folder(root, suffix)
            times = interleaved({
                "Pillow in a loop": lambda root=root: bare_loop(root),
                "load_images, n_jobs=1": lambda root=root: load_images(root, n_jobs=1),
                "load_images, n_jobs=2": lambda root=root: load_images(root, n_jobs=2),
            })  # fmt: skip
        records[suffix] = times
        bare = statistics.median(times["Pillow in a loop"])
        for name, runs in times.items():
            median = statistics.median(runs)
            # Ratios of neighbours in time: what the machine does meanwhile hits both.
            ratios = np.divide(runs, times["Pillow in a loop"])
            rows.append([
                f"{suffix[1:].upper()}: {name}", seconds(median), f"{n_images / median:.0f}",
                f"{median / bare:.2f}", f"{ratios.min():.2f} - {ratios.max():.2f}",
            ])  # fmt: skip
    publish(
        "load_images",
        f"Reading {n_images} images of {SIDE} x {SIDE} as grey 64 x 64",
        [
            "ETH-80 enlarged, three channels, in 80 folders; files are in the system's cache",
            "the loop: open, convert, resize (the same filter, no reduced decoding), no checks",
            f"median of {REPEATS} interleaved runs on two cores; below 1 beats the loop",
        ],
        ["what", "median", "images/s", "to the loop", "range of ratios"],
        rows,
        records=records,
    )


if __name__ == "__main__":
    main()
