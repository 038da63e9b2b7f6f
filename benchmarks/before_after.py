"""Two versions of setwise on the same work, interleaved: seconds of each, and their ratio.

    python benchmarks/before_after.py /path/to/old/src [--repeats 5]

Each repeat runs both versions, one after the other, in processes of their own, with one BLAS
thread; the smallest time of each counts. Work: fitting and judging ETH-80 by the default and by
the paper's setting, enrolling, and one classifier over 1,000 and 10,000 synthetic columns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = """
import json, sys, time, warnings
import numpy as np
sys.path.insert(0, sys.argv[1])
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
for n_columns in (1000, 10000):
    n_sets = n_columns // 10
    made, classes = face_like_sets(n_sets + 5, n_sets // 10, np.random.default_rng(0))
    large = one_classifier((10,))
    timed(f"{n_columns:,} columns: fit", lambda: large.fit(made[:n_sets], classes[:n_sets]))
    some = made[n_sets : n_sets + 5]
    timed(f"{n_columns:,} columns: one probe", lambda: large.predict(some), 5)
print(json.dumps(took))
"""


def run(source: Path) -> dict[str, float]:
    """Seconds of each piece of work by the version in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", WORK, str(ROOT / "benchmarks")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    times: dict[str, list[dict[str, float]]] = {"old": [], "new": []}
    for repeat in range(options.repeats):
        for version, source in (("old", options.old), ("new", ROOT / "src")):
            times[version].append(run(source))
        print(f"repeat {repeat + 1} of {options.repeats}", file=sys.stderr, flush=True)
    print(f"{'':32} {'old':>10} {'new':>10} {'new / old':>10}")
    for name in times["old"][0]:
        old, new = (min(one[name] for one in times[version]) for version in ("old", "new"))
        print(f"{name:32} {1e3 * old:8.1f}ms {1e3 * new:8.1f}ms {new / old:10.2f}")


if __name__ == "__main__":
    main()
