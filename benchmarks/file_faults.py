"""What faults do to a saved classifier, written by setwise, by pickle and by safetensors.

    python benchmarks/file_faults.py [--tries 100]

One gallery of 120 sets as `CVC.save` writes it, pickled (`joblib.dump`, as scikit-learn
advises), and its arrays by `safetensors.numpy.save_file`. Counted:

- one bit is flipped, or the file is cut: is that noticed when it is read?
- the process that saves another version in its place is killed (SIGKILL) in the middle;
- the disk is full in the middle (a limit on the size of files): what is there afterwards?
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import random
import resource
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import safetensors.numpy

import setwise
from harness import publish
from memory import identities


@dataclass(frozen=True)
class Way:
    """How a classifier is written and read; what is read has a digest."""

    name: str
    save: Callable[..., Any]
    load: Callable[[Path], Any]

    def digest(self, path: Path) -> str:
        vectors, weights = self.load(path)
        content = np.ascontiguousarray(vectors).tobytes() + np.asarray(weights).tobytes()
        return hashlib.sha256(content).hexdigest()


def of_classifier(clf: setwise.CVC) -> tuple[Any, Any]:
    return clf.gallery_.sets.vectors, clf.gallery_.calibration.weights


def arrays(clf: setwise.CVC) -> dict[str, Any]:
    vectors, weights = of_classifier(clf)
    return {"vectors": np.ascontiguousarray(vectors), "weights": weights}


WAYS = (
    Way("setwise", lambda c, p: c.save(p), lambda p: of_classifier(setwise.load(p))),
    Way("pickle (joblib)", joblib.dump, lambda p: of_classifier(joblib.load(p))),
    Way(
        "safetensors",
        lambda c, p: safetensors.numpy.save_file(arrays(c), p),
        lambda p: [safetensors.numpy.load_file(p)[name] for name in ("vectors", "weights")],
    ),
)


def read(way: Way, path: Path, known: dict[str, str]) -> str:
    """What a file is: the state of a digest, refused, or neither."""
    try:
        return known.get(way.digest(path), "other numbers")
    except Exception:
        return "refused"


def spoilt(way: Way, folder: Path, tries: int, kind: str) -> Counter[str]:
    content, rng = (folder / "new").read_bytes(), random.Random(0)
    found: Counter[str] = Counter()
    for _ in range(tries):
        place = rng.randrange(len(content))
        mutant = bytearray(content) if kind == "bit" else bytearray(content[:place])
        if kind == "bit":
            mutant[place] ^= 1 << rng.randrange(8)
        (folder / "spoilt").write_bytes(mutant)
        is_refused = read(way, folder / "spoilt", {}) == "refused"
        found["noticed" if is_refused else "not noticed"] += 1
    return found


def written(way: Way, clf: setwise.CVC, path: Path, most: int | None) -> None:
    """Save in a process of its own."""
    if most is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an OSError, as of a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    way.save(clf, path)


def broken_off(
    way: Way, clf: setwise.CVC, folder: Path, known: dict[str, str], tries: int, kind: str
) -> Counter[str]:
    old, path, found = (folder / "old").read_bytes(), folder / "file", Counter[str]()
    size, rng = (folder / "new").stat().st_size, random.Random(0)
    context = multiprocessing.get_context("fork")
    took = time.perf_counter()
    written(way, clf, folder / "timed", None)
    took = time.perf_counter() - took
    for _ in range(tries):
        path.write_bytes(old)
        most = rng.randrange(size) if kind == "full" else None
        saving = context.Process(target=written, args=(way, clf, path, most))
        saving.start()
        if kind == "kill":
            time.sleep(rng.uniform(0, 3 * took))
            saving.kill()
        saving.join()
        found[read(way, path, known)] += 1
    return found


def shown(found: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(found.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=100)
    tries = parser.parse_args().tries
    sets, labels = identities(60, 2, 5, 512, "float32")
    first = setwise.CVC(dims=(1,), random_state=0).fit(sets, labels)
    second = setwise.CVC(dims=(1,), random_state=0).fit(sets[::-1], labels[::-1])
    rows = []
    for way in WAYS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            way.save(first, folder / "old")
            way.save(second, folder / "new")
            known = {way.digest(folder / state): state for state in ("old", "new")}
            cells = [shown(spoilt(way, folder, tries, kind)) for kind in ("bit", "cut")]
            cells += [
                shown(broken_off(way, second, folder, known, tries // 4, kind))
                for kind in ("kill", "full")
            ]
            rows.append([way.name, *cells])
            print(f"| {' | '.join(rows[-1])} |", flush=True)
    columns = ["written by", "one bit flipped", "cut", "killed while saving", "disk full"]
    publish("file_faults", "Faults of files", [], columns, rows, has_times=False)


if __name__ == "__main__":
    main()
