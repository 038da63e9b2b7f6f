"""Two versions of setwise on the same work, in turns: seconds of each, and their ratio.

    python benchmarks/before_after.py [REVISION] [--repeats 5]    # against a tag or commit
    python benchmarks/before_after.py OTHER/src           # against a folder of sources
    python benchmarks/before_after.py --quick

The old version is checked out into a temporary git worktree. Each repeat runs both versions,
one after the other, in processes of their own, with one BLAS thread, after one run of each that
compiles and is not counted. Work: fitting and judging ETH-80 by the default and by the paper's
setting, enrolling; one classifier over many synthetic columns; the default on many sets.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from harness import WATCH, Timing, parsed, publish

ROOT = Path(__file__).resolve().parents[1]
BEFORE = "b97070440e"
WORK = """
import json, sys, time, warnings
import numpy as np
sys.path.insert(0, sys.argv[1])
is_quick = sys.argv[2] == "quick"
import same_answers as data
from setwise import CVC, SetBatch

warnings.simplefilter("ignore")
took = {}

def timed(name, work, n=1):
    started = time.perf_counter()
    result = work()
    took[name] = (time.perf_counter() - started) / n
    return result

def face_like_sets(n_sets, n_classes, rng):
    mean = rng.normal(size=400)
    bases = rng.normal(size=(n_classes, 10, 400))
    classes = np.arange(n_sets) % n_classes
    made = [mean + rng.normal(size=(20, 10)) @ bases[c] / 3 + 0.2 * rng.normal(size=(20, 400))
            for c in classes]
    return made, classes

def one_classifier(dims):
    if "representations" in CVC().get_params():
        is_new = "evidence" in CVC().get_params()
        alone = {"evidence": "clusters", "outliers": None} if is_new else {}
        return CVC(dims, representations=[("plain", "centred")], weights=None, **alone)
    return CVC(dims, views=("plain",), bases=("centred",), weights=None)

sets, labels, found = data.sets_of("eth80")
batch = SetBatch.from_images(sets)
gallery, probes = data.folds_of("eth80", labels, found)[0]
warm = CVC((2,), random_state=0).fit(batch[gallery[:10]], labels[gallery[:10]])
warm.predict(batch[probes[:1]])
clf = timed("default: fit", lambda: CVC(random_state=0).fit(batch[gallery], labels[gallery]))
timed("default: one probe", lambda: clf.predict_proba(batch[probes[:8]]), 8)
timed("default: one label", lambda: clf.predict(batch[probes[:8]]), 8)
timed("default: explain", lambda: clf.explain(batch[int(probes[0])]))
paper = CVC.as_in_paper(random_state=0)
timed("paper: fit", lambda: paper.fit(batch[gallery], labels[gallery]))
timed("paper: one probe", lambda: paper.predict_proba(batch[probes[:8]]), 8)
one = one_classifier((10,))
timed("one classifier: fit", lambda: one.fit(batch[gallery], labels[gallery]))
timed("one classifier: one probe", lambda: one.predict_proba(batch[probes]), len(probes))
timed("one classifier: enroll", lambda: one.enroll(batch[probes[:1]], labels[probes[:1]]))
for n_columns in (1000,) if is_quick else (1000, 10000):
    n_sets = n_columns // 10
    made, classes = face_like_sets(n_sets + 5, n_sets // 10, np.random.default_rng(0))
    large = one_classifier((10,))
    timed(f"{n_columns:,} columns: fit", lambda: large.fit(made[:n_sets], classes[:n_sets]))
    some = made[n_sets : n_sets + 5]
    timed(f"{n_columns:,} columns: one probe", lambda: large.predict(some), 5)
n_sets = 110 if is_quick else 1000
made, classes = face_like_sets(n_sets + 5, n_sets // 10, np.random.default_rng(0))
many = CVC(random_state=0)
timed(f"default, {n_sets:,} sets: fit", lambda: many.fit(made[:n_sets], classes[:n_sets]))
timed(f"default, {n_sets:,} sets: one probe", lambda: many.predict(made[n_sets:]), 5)
last = made[n_sets:n_sets + 1], classes[n_sets:n_sets + 1]
timed(f"default, {n_sets:,} sets: enroll", lambda: many.enroll(*last))
print(json.dumps(took))
"""


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """The sources of a revision, for a while; a folder of sources is used as it is."""
    if Path(revision).is_dir():
        yield Path(revision)
        return
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "old"
        added = subprocess.run([*git, "add", "--quiet", "--detach", str(place), revision])
        if added.returncode:
            sys.exit(
                f"before_after: cannot check out {revision!r}. Fetch tags, or name another."
            )
        try:
            yield place / "src"
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True)


def run(source: Path, *, is_quick: bool) -> dict[str, float]:
    """Seconds of each piece of work by the version in a folder."""
    WATCH.calibrate()
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    size = "quick" if is_quick else "whole"
    command = [sys.executable, "-c", WORK, str(ROOT / "benchmarks"), size]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    if done.returncode:
        sys.exit(f"before_after: the version in {source} failed, see above")
    return json.loads(done.stdout.splitlines()[-1])


def measured(revision: str, repeats: int, *, is_quick: bool) -> dict[str, list]:
    """What each run of the old and of the new version took."""
    times: dict[str, list[dict[str, float]]] = {"old": [], "new": []}
    with checked_out(revision) as old:
        for repeat in range(repeats + 1):
            for version, source in (("old", old), ("new", ROOT / "src")):
                times[version].append(run(source, is_quick=is_quick))
            print(f"repeat {repeat} of {repeats}", file=sys.stderr, flush=True)
    return {version: runs[1:] for version, runs in times.items()}  # the first compiles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", nargs="?", default=BEFORE, help=f"default: {BEFORE}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one repeat, of smaller work")
    options = parsed(parser)
    repeats = 1 if options.quick else options.repeats
    times = measured(options.revision, repeats, is_quick=options.quick)
    rows = []
    for name in times["old"][0]:
        old, new = ([run[name] for run in times[version]] for version in ("old", "new"))
        ratio = float(np.median(np.divide(old, new)))
        rows.append([name, str(Timing.of(old)), str(Timing.of(new)), f"{ratio:.2f}"])
    is_whole = not options.quick and options.revision == BEFORE
    publish(
        "before_after" if is_whole else "before_after_part",
        "Before and after",
        [
            f"before: {options.revision}; after: these sources. Median (and quartiles) of "
            f"{repeats} runs in turns, each in a process of its own; the ratio is the median "
            "of the runs' ratios, above 1 is faster now",
            "ETH-80, first of ten splits, unless the row says columns or sets: synthetic "
            "face-like ones, 400 features",
        ],
        ["what", "before", "after", "times faster"],
        rows,
        records=times,
    )


if __name__ == "__main__":
    main()
