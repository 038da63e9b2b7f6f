"""Enrolling and forgetting one set, against fitting again.

    python benchmarks/enroll.py [--sizes 2000 10000]
    python benchmarks/enroll.py --photos 40     # albums of photos alone
    python benchmarks/enroll.py --quick

Synthetic face-like sets of ten columns, one classifier (plain, centred); and the default
ensemble: on ETH-80, small enough that everything is learnt anew with every set, and on a
thousand synthetic sets, where what was learnt is kept until a fifth of them have changed.

Albums of photos, each a class (ETH-80 at 64 x 64, ``CVC.for_images(unknown=0.05)``): seconds of
the processor, of all threads, until a changed gallery answers, and until it has learnt of the
change.
"""

from __future__ import annotations

import argparse
import copy
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from datasets import data_folder, load
from harness import WATCH, Timing, face_like_sets, in_turns, parsed, publish
from same_answers import sets_of
from setwise import CVC, SetBatch

SIZES = (2_000, 5_000, 10_000)  # of which 1,000 would be learnt anew, as ETH-80 is
N_SETS = 1_000
MOST_SECONDS = 60.0  # of a fit that is run again


def measured(clf: CVC, sets: SetBatch, labels: np.ndarray) -> dict[str, Timing]:
    """Fitting all sets but the last, adding that one, and taking it out again, in turns."""
    n = len(sets) - 1
    clf.fit(sets[:n], labels[:n])
    grown = copy.copy(clf).enroll(sets[n:], labels[n:])

    # What is fitted is replaced by a change, never modified.
    timings = in_turns(
        {
            "fit": lambda: clone(clf).fit(sets[:n], labels[:n]),
            "enroll": lambda: copy.copy(clf).enroll(sets[n:], labels[n:]),
            "forget": lambda: copy.copy(grown).forget(sets=[n]),
        },
        budget=MOST_SECONDS,
    )
    return {name: timing for name, (timing, _) in timings.items()}


def shuffled(n_sets: int, n_classes: int) -> tuple[SetBatch, np.ndarray]:
    rng = np.random.default_rng(0)
    sets, labels = face_like_sets(n_sets, n_classes=n_classes, rng=rng)
    order = rng.permutation(n_sets)
    return SetBatch.from_list([sets[i] for i in order]), labels[order]


def galleries(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Timing]]]:
    """Name and timings of every row."""
    for n_columns in SIZES[:1] if options.quick else options.sizes:
        sets, labels = shuffled(n_columns // 10 + 1, n_columns // 100)
        clf = CVC((10,), representations=[("plain", "centred")], evidence="clusters")
        name = f"{n_columns:,} columns, one classifier, synthetic"
        yield name, measured(clf, sets, labels)
    if data_folder() is not None:
        data = load("eth80")
        order = np.random.default_rng(0).permutation(len(data.sets))[:41]
        timings = measured(CVC(random_state=0), data.sets[order], data.labels[order])
        yield "40 sets of ETH-80, the whole default ensemble", timings
    n_sets = 200 if options.quick else N_SETS
    sets, labels = shuffled(n_sets + 1, n_sets // 10)
    name = f"{n_sets:,} sets of 20 vectors, the whole default ensemble, synthetic"
    yield name, measured(CVC(random_state=0), sets, labels)


def cpu_seconds(work: Callable[[], Any]) -> float:
    """Seconds of the processor, which other processes disturb less than those of a clock."""
    WATCH.calibrate()
    started = time.process_time()
    work()
    return time.process_time() - started


def measured_photos(n_albums: int, repeats: int) -> dict[str, Timing]:
    """A change of one album: until the gallery answers, and until it has learnt of it."""
    found = sets_of("eth80-64")[0]
    step = len(found) // (n_albums + 1)
    albums = SetBatch.from_images([one.astype(np.uint8) for one in found[::step]])
    names = np.arange(len(albums))
    fitted = CVC.for_images(unknown=0.05, unknown_label=-1, random_state=0)
    fitted.fit(albums[:n_albums], names[:n_albums])
    new = albums[[n_albums]], names[[n_albums]]
    changes = {
        "forget": lambda clf: clf.forget(sets=[3], learn="later"),
        "enroll": lambda clf: clf.enroll(*new, learn="later"),
    }
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in changes}
    for _ in range(repeats):
        for name, change in changes.items():
            clf = copy.copy(fitted)
            answered = cpu_seconds(partial(change, clf))
            runs[name].append((answered, answered + cpu_seconds(clf.learn)))
    return {
        f"{name} one album: {until}": Timing.of(seconds)
        for name, pairs in runs.items()
        for until, seconds in zip(("answered", "learnt"), zip(*pairs, strict=True), strict=True)
    }


def publish_photos(options: argparse.Namespace) -> None:
    """The table of a gallery of photos that changes."""
    n_albums, repeats = (10, 1) if options.quick else (options.photos, 3)
    timings = measured_photos(n_albums, repeats)
    publish(
        "learn_part" if options.quick else "learn",
        f"One album more, one album fewer, of {n_albums} albums of 41 photos",
        [
            "ETH-80 at 64 x 64, each album a class, CVC.for_images(unknown=0.05); seconds of "
            "the processor, of all threads, until a changed gallery answers, and until it has "
            "learnt views, weights and thresholds anew"
        ],
        ["what", "seconds of the processor"],
        [[name, str(timing)] for name, timing in timings.items()],
        records={name: vars(timing) for name, timing in timings.items()},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="columns")
    parser.add_argument("--quick", action="store_true", help="the smallest, and 200 sets")
    parser.add_argument("--photos", type=int, metavar="ALBUMS", help="albums of photos alone")
    options = parsed(parser)
    if options.photos is not None:
        publish_photos(options)
        return
    rows, records = [], []
    for name, timings in galleries(options):
        print(name, file=sys.stderr, flush=True)
        fit, enroll, forget = timings["fit"], timings["enroll"], timings["forget"]
        ratios = [f"{fit.median / change.median:.3g}" for change in (enroll, forget)]
        rows.append([name, str(fit), str(enroll), ratios[0], str(forget), ratios[1]])
        records.append({"name": name, **{key: vars(value) for key, value in timings.items()}})
    is_whole = not options.quick and tuple(options.sizes) == SIZES
    publish(
        "enroll" if is_whole else "enroll_part",
        "One set more, one set fewer, against fitting again",
        [
            "one thread; fit, enroll and forget in turns. The result equals a fresh fit "
            "(tests/classify/test_enroll.py): in galleries of more than 100 sets, one with the "
            "same views, weights and thresholds, which are learnt anew when more than a fifth "
            "of the sets have changed"
        ],
        ["gallery", "fit", "enroll one set", "times faster", "forget one set", "times faster"],
        rows,
        records=records,
    )


if __name__ == "__main__":
    main()
