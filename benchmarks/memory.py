"""What a fit says it will need, beside what it then takes.

python benchmarks/memory.py [--largest 30000]

Synthetic identities. Every size runs in a process of its own; what it takes is the growth of
its peak from the moment of the (first) estimate on. Linux alone: the peak is reset by
/proc/self/clear_refs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from harness import publish
from setwise import CVC
from setwise.gallery import shortlist as large

# Classes, sets per class, vectors per set, features, type.
SHAPES = (
    (20, 4, 10, 128, "float64"),
    (40, 4, 20, 400, "uint8"),
    (100, 2, 5, 512, "float32"),
    (250, 2, 5, 512, "float32"),
    (250, 2, 5, 2048, "float32"),
    (120, 4, 30, 400, "float64"),
    (300, 2, 5, 512, "float32"),
    (3000, 2, 5, 512, "float32"),
    (3000, 2, 5, 512, "uint8"),
    (3000, 2, 20, 512, "float64"),
    (10000, 2, 5, 512, "float32"),
    (30000, 2, 5, 512, "float32"),
)
SHAPE_COLUMNS = ("classes", "sets", "vectors", "features", "type")
# Sets that members of a large gallery are tried on: they take time, and little memory.
N_TRIED = 10


def identities(
    n_classes: int, n_sets: int, n_vectors: int, n_features: int, dtype: str, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Directions of people, of their days, and of their pictures, as embeddings have them."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_classes), n_sets)
    sets = np.empty((len(labels), n_vectors, n_features), dtype)
    people = rng.standard_normal((n_classes, n_features), dtype=np.float32)
    for i, label in enumerate(labels):  # one by one: nothing of it in double precision
        day = people[label] + 0.5 * rng.standard_normal(n_features, dtype=np.float32)
        noise = rng.standard_normal((n_vectors, n_features), dtype=np.float32)
        vectors = day + 0.8 * noise
        sets[i] = np.clip(128 + 20 * vectors, 0, 255) if dtype == "uint8" else vectors
    return sets, labels


def status(name: str) -> int:
    """A line of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(dict(line.split(":", 1) for line in lines)[name].split()[0]) * 1024


def measured(shape: tuple[int, int, int, int, str]) -> dict[str, float]:
    """Fit a gallery; what it said it needs, and by how much the peak grew since."""
    large.MOST_TRIED = 4
    CVC().fit(*identities(20, 2, 5, shape[3], shape[4]))  # imported and compiled
    CVC().fit(*identities(260, 2, 5, 32, shape[4]))
    large.MOST_TRIED = N_TRIED
    estimates: list[int] = []
    before: list[int] = []

    def estimated(needed: int, *_: object) -> None:
        if not estimates:
            Path("/proc/self/clear_refs").write_text("5")
            before.append(status("VmRSS"))
        estimates.append(needed)

    for module in ("whole", "shortlist"):
        vars(import_module(f"setwise.gallery.{module}"))["require_memory"] = estimated
    sets, labels = identities(*shape)
    clf = CVC(n_jobs=2).fit(sets, labels)
    return {
        "first": estimates[0],
        "estimate": max(estimates),
        "taken": status("VmHWM") - before[0],
        "vectors": clf.gallery_.sets.vectors.nbytes,
        "is_compact": clf.gallery_.sets.vectors.dtype == sets.dtype,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10_000, help="classes")
    parser.add_argument("--one", type=int)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measured(SHAPES[options.one])))
        return
    rows, records = [], []
    for i, shape in enumerate(SHAPES):
        if shape[0] > options.largest:
            continue
        command = [sys.executable, __file__, "--one", str(i)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        record = json.loads(done.stdout.splitlines()[-1])
        records.append({"shape": shape, **record})
        ratio = record["estimate"] / record["taken"]
        sizes = [
            f"{record[name] / 2**20:,.0f} MiB" for name in ("vectors", "estimate", "taken")
        ]
        rows.append([*(f"{n:,}" for n in shape[:4]), shape[4], *sizes, f"{ratio:.2f}"])
        print(*rows[-1], file=sys.stderr, flush=True)
    publish(
        "memory",
        "What a fit says it needs, and what it takes",
        [
            "default CVC, two threads; taken: how much the peak grew since the first estimate",
            f"expected: estimate / taken between 0.7 and 1.5; members tried on {N_TRIED} sets",
        ],
        [
            "classes",
            "sets",
            "vectors",
            "features",
            "type",
            "all vectors",
            "estimate",
            "taken",
            "ratio",
        ],
        rows,
        has_times=False,
        records=records,
    )


if __name__ == "__main__":
    main()
