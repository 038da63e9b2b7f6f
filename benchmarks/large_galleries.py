"""A thousand, ten thousand, a hundred thousand people: fit, one probe, memory, accuracy.

    python benchmarks/large_galleries.py                       1,000 to 100,000 people
    python benchmarks/large_galleries.py --people 1000 --strangers 0 0.2 0.4
    python benchmarks/large_galleries.py --real                shortlists on the real datasets

Synthetic identities (benchmarks/identities.py): 512 numbers, 2 sets of 5 vectors a person, one
probe. Each row is measured in a process of its own, whose peak of memory is that of everything
it does, the data included. Beside it, on the same data: the mean of the vectors, and the
nearest frames (scikit-learn), in processes of their own too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from datasets import PROTOCOLS, load
from harness import publish
from identities import directions, sets_of
from setwise import CVC
from setwise.baselines import MeanCosine
from setwise.gallery import Shortlist

SIZES = [1000, 10_000, 100_000]
N_PROBES, N_TIMED, N_LISTED = 200, 30, 2000


def people_and_probes(n: int, strangers: float):
    """Gallery sets, their labels, probe sets, and who they are of."""
    people = directions(n, seed=1)
    gallery = sets_of(people, seed=2, n_sets=2, strangers=strangers)
    asked = np.linspace(0, n - 1, min(N_PROBES, n)).astype(int)
    probes = sets_of(people[asked], seed=3, strangers=strangers)
    return gallery, np.repeat(np.arange(n), 2), probes, asked


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def judge_by_cvc(n: int, strangers: float) -> dict:
    gallery, labels, probes, asked = people_and_probes(n, strangers)
    started = time.perf_counter()
    clf = CVC(random_state=0, n_jobs=2).fit(gallery, labels)
    spent = time.perf_counter() - started
    clf.set_params(n_jobs=1)
    took, right = [], []
    for i, who in enumerate(asked):
        started = time.perf_counter()
        answer = next(iter(clf.judge([probes[i]])))
        took.append(time.perf_counter() - started)
        right.append(answer.label == who)
    return {
        "fit_s": spent,
        "probe_ms": 1e3 * float(np.median(took[1 : N_TIMED + 1])),
        "right": float(np.mean(right)),
        "around": share_on_the_list(clf, n, strangers),
        "peak": peak(),
    }


def share_on_the_list(clf: CVC, n: int, strangers: float) -> float:
    """How often the right class is among those around the probe, over many probes."""
    gallery, asked = clf.gallery_, np.linspace(0, n - 1, N_LISTED).astype(int)
    probes = sets_of(directions(n, seed=1)[asked], seed=4, strangers=strangers)
    found = [
        who in gallery.solution.nearest_classes(gallery.bases(probe))
        for who, probe in zip(asked, probes, strict=True)
    ]
    return float(np.mean(found))


def judge_by_means(n: int, strangers: float) -> dict:
    gallery, labels, probes, asked = people_and_probes(n, strangers)
    started = time.perf_counter()
    clf = MeanCosine().fit(gallery, labels)
    spent = time.perf_counter() - started
    started = time.perf_counter()
    found = clf.predict(probes)
    took = (time.perf_counter() - started) / len(asked)
    return {"fit_s": spent, "probe_ms": 1e3 * took, "right": float(np.mean(found == asked)),
            "peak": peak()}  # fmt: skip


def judge_by_frames(n: int, strangers: float) -> dict:
    gallery, labels, probes, asked = people_and_probes(n, strangers)
    started = time.perf_counter()
    clf = KNeighborsClassifier(1, algorithm="brute", metric="cosine")
    clf.fit(gallery.vectors, np.repeat(labels, gallery.sizes))
    spent = time.perf_counter() - started
    started = time.perf_counter()
    frames = clf.predict(probes.vectors).reshape(len(asked), -1)
    took = (time.perf_counter() - started) / len(asked)
    found = np.array([Counter(of_set.tolist()).most_common(1)[0][0] for of_set in frames])
    return {"fit_s": spent, "probe_ms": 1e3 * took, "right": float(np.mean(found == asked)),
            "peak": peak()}  # fmt: skip


CONTENDERS = {
    "CVC()": judge_by_cvc,
    "MeanCosine()": judge_by_means,
    "nearest frames, vote": judge_by_frames,
}


def measured(who: str, n: int, strangers: float) -> dict:
    """One cell, in a process of its own."""
    command = [sys.executable, __file__, "--cell", who, str(n), str(strangers)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]}
    return json.loads(done.stdout)


def table(sizes: list[int], strangers: tuple[float, ...], contenders) -> None:
    rows, cells = [], []
    for n in sizes:
        for share in strangers:
            for who in contenders:
                cell = measured(who, n, share)
                cells.append({"who": who, "people": n, "strangers": share, **cell})
                print(cells[-1], file=sys.stderr, flush=True)
                rows.append([f"{n:,}", f"{100 * share:.0f} %", who, *_words(cell)])
    publish(
        "people" if sizes == SIZES else "people_part",
        "Galleries of many people",
        [f"{N_PROBES} probes, the first {N_TIMED} timed one by one (medians) for CVC on one "
         "thread; rivals take all probes at once on all cores.",
         f"on the shortlist: % of {N_LISTED} other probes whose person was among those around.",
         _exponent(cells)],
        ["people", "strangers", "by", "fit", "one probe", "peak memory", "right",
         "on the shortlist"],
        rows,
        record="large",
        cells=cells,
    )  # fmt: skip


def _words(cell: dict) -> list[str]:
    if "failed" in cell:
        return [cell["failed"][:60], "", "", "", ""]
    around = f"{100 * cell['around']:.2f}" if "around" in cell else ""
    return [f"{cell['fit_s']:.1f} s", f"{cell['probe_ms']:.1f} ms", f"{cell['peak']:.2f} GiB",
            f"{100 * cell['right']:.1f}", around]  # fmt: skip


def _exponent(cells: list[dict]) -> str:
    own = [c for c in cells if c["who"] == "CVC()" and not c["strangers"] and "failed" not in c]
    if len(own) < 2:
        return "one size: no exponent."
    slope = np.polyfit(*(np.log([c[k] for c in own]) for k in ("people", "probe_ms")), 1)[0]
    return f"Time of a probe grows as (number of people) ** {slope:.2f}."


def real(n_classes: int, n_splits: int | None) -> None:
    """The real datasets, judged whole and by shortlists: how often answers differ."""
    rows = []
    for name in PROTOCOLS:
        dataset = load(name)
        total = len(np.unique(dataset.labels))
        n_near = min(n_classes, total - 1)
        tally = Counter()
        for gallery, probes in dataset.folds[:n_splits]:
            sets, labels = dataset.sets[gallery], dataset.labels[gallery]
            whole = CVC(random_state=0, n_jobs=2).fit(sets, labels)
            how = Shortlist(n_near, n_compared=max(4 * n_near, 128), above=n_near)
            near = CVC(random_state=0, n_jobs=2, shortlist=how).fit(sets, labels)
            for i, one, other in zip(
                probes, whole.judge(dataset.sets[probes]), near.judge(dataset.sets[probes]),
                strict=True,
            ):  # fmt: skip
                truth = dataset.labels[i]
                tally["probes"] += 1
                tally["same"] += one.nearest == other.nearest
                tally["around"] += truth in other.classes
                tally["whole right"] += one.nearest == truth
                tally["near right"] += other.nearest == truth
                tally["off the list"] += one.nearest not in other.classes
        n = tally["probes"]
        rows.append([name, f"{n_near} of {total}", str(n), *(
            f"{100 * tally[k] / n:.2f}"
            for k in ("same", "whole right", "near right", "around", "off the list")
        )])  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    publish(
        f"shortlists-{n_classes}",
        "Shortlists on real data, % of all probes",
        ["same: the label is that of the whole gallery. off the list: the label of the whole "
         "gallery is not among those looked at."],
        ["dataset", "classes looked at", "probes", "same", "whole right", "shortlist right",
         "truth on the list", "off the list"],
        rows,
        record="large",
        has_times=False,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, nargs="+", default=SIZES)
    parser.add_argument("--strangers", type=float, nargs="+", default=[0.0])
    parser.add_argument("--by", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--real", type=int, nargs="?", const=16, metavar="CLASSES")
    parser.add_argument("--splits", type=int, help="of --real, the first so many alone")
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.cell:
        who, n, strangers = options.cell
        print(json.dumps(CONTENDERS[who](int(n), float(strangers))))
    elif options.real:
        real(options.real, options.splits)
    else:
        table(options.people, tuple(options.strangers), options.by)


if __name__ == "__main__":
    main()
