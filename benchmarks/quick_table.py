"""The most important speeds in one short table: four minutes on a machine with 16 cores.

    python benchmarks/quick_table.py [--only compile probe threads ...] [--data FOLDER]

Each part runs in processes of its own, one after the other, except for the five sizes of the
paper, which run side by side, each on one core: contenders of a size take turns, so that their
ratios hold. A part whose dataset or rival is missing is left out, and said so. The table is
kept for the record `speed`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SIZES = ("YouTube", "MoBo", "Honda", "ETH-80", "Cambridge")
LONGEST = 150  # seconds of a part
# Seconds after which a contender of one size is asked no more.
MOST_OF_A_RIVAL = 25.0
N_PROBES = 6
LEFT_OUT = "left out"  # of a part that this machine cannot run
Rows = Iterator[tuple[str, str]]


# ----------------------------------------------------------------------------------- The parts


def compiling() -> Rows:
    """What the first use takes longer than the second, with an empty cache."""
    from latency import compiling

    yield "compiling, once", f"{compiling():.1f} s of CPU"


def probe() -> Rows:
    """One probe, and a fit, of the default ensemble, on one core."""
    from datasets import load
    from harness import in_turns
    from setwise import CVC

    data = load("eth80")
    gallery, probes = data.folds[0]
    sets, labels = data.sets[gallery], data.labels[gallery]
    clf = CVC(random_state=0).fit(sets, labels)
    (fitted,) = in_turns(
        {"fit": lambda: CVC(random_state=0).fit(sets, labels)}, repeats=5
    ).values()
    yield "fit, default, 40 sets of ETH-80, one core", str(fitted[0])
    medians = []
    for i in map(int, probes):
        work = {"": partial(clf.predict, data.sets[[i]])}
        medians.append(in_turns(work, repeats=5)[""][0].median)
    low, middle, high = np.quantile(medians, [0.25, 0.5, 0.75]) * 1e3
    name = "one probe, default, ETH-80, one core"
    yield name, f"{middle:.1f} ms ({low:.1f} ms - {high:.1f} ms)"


def threads() -> Rows:
    """Probes judged in a second on more and more threads, and processes."""
    from threads import rates

    counts = [n for n in (1, 2, 4, 8, 16) if n <= (os.cpu_count() or 1)]
    for kind in ("threads", "processes"):
        chosen = counts if kind == "threads" else [n for n in counts if n in (1, 8, 16)]
        found = rates(kind, chosen, repeats=4, n_runs=2)
        for n, rate in zip(chosen, found, strict=True):
            times = f"{rate:.0f} probes/s, {rate / found[0]:.2f} times one"
            yield f"default, ETH-80, {n} {kind}", times


def sizes(name: str) -> Rows:
    """One size of the paper's table: two of our cuts against the literal paper."""
    import per_probe

    problem = per_probe.PROBLEMS[name]()
    case = per_probe.Case.of(problem, N_PROBES)
    rivals = {
        rival: cluster
        for rival, cluster in per_probe.CLUSTERERS.items()
        if rival.startswith("the paper")
    }
    for work in per_probe.judges(case, {}).values():
        work(0)()
    answers = per_probe.measure(case, MOST_OF_A_RIVAL, rivals)
    for cut in ("sweep", "paper"):
        ours = answers[f'setwise, cut="{cut}"']
        middle = 1e3 * np.median(ours.seconds)
        yield f'one classifier, {name}, cut="{cut}"', f"{middle:.1f} ms"
        for rival in rivals:
            theirs = answers[rival]
            pairs = list(zip(theirs.seconds, ours.seconds, strict=False))
            same = sum(a == b for a, b in zip(theirs.labels, ours.labels, strict=False))
            times = f"{np.median([a / b for a, b in pairs]):.3g} times as long"
            what = f'{rival}, {name}, against cut="{cut}"'
            yield what, f"{times}; {same} of {len(pairs)} labels the same"


def lasso() -> Rows:
    """The lasso graph from scratch, against SPAMS's fastest call."""
    import lasso_graph as graphs

    for n in (2_000, 8_000):
        columns = np.asfortranarray(graphs.face_like_columns(n))
        plans = {"setwise": graphs.setwise(columns, 0.05)}
        if "SPAMS, batched" in graphs.RIVALS:
            plan = graphs.planned(graphs.spams_batched, columns, 0.05, 4.0)
            plans["SPAMS, batched"] = plan
        works = {key: value.solve for key, value in plans.items()}
        timings = graphs.in_turns(works, repeats=1, budget=30.0)
        found = {
            key: graphs.measured(plans[key], timing, codes, columns, 0.05)["seconds"]
            for key, (timing, codes) in timings.items()
        }
        ours = found.pop("setwise")
        yield f"lasso graph, {n:,} columns, one core", f"{ours:.3g} s"
        for rival, seconds in found.items():
            yield f"{rival}, {n:,} columns", f"{seconds / ours:.3g} times as long"


def change() -> Rows:
    """One album more, one album fewer, in a gallery of photos."""
    from enroll import measured_photos

    for name, timing in measured_photos(40, 3).items():
        yield f"{name}, 40 albums of 41 photos", f"{timing.median:.2f} s of CPU"


def images() -> Rows:
    """Fit and probe of the ensemble for images."""
    from enroll import cpu_seconds
    from same_answers import sets_of
    from setwise import CVC, SetBatch
    from setwise.classify.image_features import installed_features

    found = [one.astype(np.uint8) for one in sets_of("eth80-64")[0]][::2]
    albums, names = SetBatch.from_images(found), np.arange(len(found))
    clf = CVC.for_images(random_state=0)
    spent = cpu_seconds(lambda: clf.fit(albums[:30], names[:30]))
    with_what = ", ".join(installed_features())
    yield f"fit, for_images ({with_what}), 30 albums of 41 photos", f"{spent:.1f} s of CPU"
    took = [cpu_seconds(lambda i=i: clf.predict(albums[[i]])) for i in range(30, 40)]
    yield f"one probe, for_images ({with_what}), 41 photos", f"{np.median(took):.2f} s of CPU"


def identify() -> Rows:
    """`setwise identify` from nothing, one set against 100."""
    import cold_start

    for name, took in cold_start.identifying(3).items():
        yield name, f"{np.median(took):.2f} s"


PARTS: dict[str, Callable[[], Rows]] = {
    "compile": compiling,
    "probe": probe,
    "threads": threads,
    "images": images,
    "change": change,
    "lasso": lasso,
    "identify": identify,
}


# ----------------------------------------------------------------------------- Running them all


def of_part(arguments: Sequence[str], environment: dict[str, str]) -> list[list[str]]:
    """Rows of a part, in a process of its own; one row that says why, where there are none."""
    command = [sys.executable, __file__, "--part", *arguments]
    name = " ".join(arguments)
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [[name, f"more than {LONGEST} s"]]
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return [[name, f"{LEFT_OUT}: {reason[:120]}"]]
    found: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Run all parts, print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    chosen = (*PARTS, "sizes")
    parser.add_argument("--only", nargs="+", choices=chosen, default=chosen)
    parser.add_argument("--data", type=Path, help="folder of the datasets")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    from harness import parsed, publish
    from records import processor

    options = parsed(parser)
    warnings.simplefilter("ignore")
    if options.part:
        name, *rest = options.part
        made = sizes(*rest) if name == "sizes" else PARTS[name]()
        print(json.dumps(list(made)))
        return
    paths = [str(ROOT / "src"), str(ROOT / "paper" / "src"), os.environ.get("PYTHONPATH", "")]
    began, rows = time.perf_counter(), []
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "NUMBA_CACHE_DIR": cache,
        }
        if options.data:
            environment["SETWISE_DATA"] = str(options.data.resolve())
        for part in PARTS:
            if part in options.only:
                # Threads are counted by the part itself.
                found = of_part([part], environment | ALONE)
                print(f"{time.perf_counter() - began:.0f} s:", *found, sep="\n  ", flush=True)
                rows += found
        if "sizes" in options.only:
            with ThreadPoolExecutor(len(SIZES)) as side_by_side:
                work = partial(of_part, environment=environment | ALONE)
                for found in side_by_side.map(work, [["sizes", size] for size in SIZES]):
                    rows += found
    left_out = [f"{name}: {what}" for name, what in rows if what.startswith(LEFT_OUT)]
    rows = [row for row in rows if not row[1].startswith(LEFT_OUT)]
    notes = [
        f"{processor()}, {os.cpu_count()} cores",
        "ETH-80, COIL-20 and Yale B, and synthetic columns where it says so; medians, and "
        "quartiles in brackets; the five sizes of the paper as in benchmarks/per_probe.py, "
        "side by side on one core each, probes and contenders in turns",
        *left_out,
    ]
    is_whole = set(options.only) == set(chosen)
    publish(
        "quick_table" if is_whole else "quick_table_part",
        "The most important speeds",
        notes,
        ["what", "measured"],
        rows,
        took=time.perf_counter() - began,
    )


if __name__ == "__main__":
    main()
