"""Do two versions of setwise give the same answers? Labels, probabilities and explanations.

    PYTHONPATH=OLD/src python benchmarks/same_answers.py dump out/before
    python benchmarks/same_answers.py dump out/after
    python benchmarks/same_answers.py compare out/before out/after

``dump`` judges every probe of every fold of the real datasets, by the default and by the
paper's setting, and one fold of ETH-80 by every other part; it reads the archives itself and
calls nothing but ``fit``, ``predict_proba``, ``predict`` and ``explain``, so that any version
can run it. ``compare`` counts the labels that differ and the largest difference of the rest.
"""

from __future__ import annotations

import argparse
import itertools
import os
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SETWISE_DATA") or ROOT.parent / "shared" / "data")
ARCHIVES = {
    "eth80": "eth80_20x20",
    "yaleb": "yaleb_24x21",
    "coil20": "coil20_32x32",
    "hands": "tsukuba_hand_24x24",
    "vowels": "japanese_vowels",
    "eth80-64": "eth80_64x64",
    "eth80-network": "eth80_efficientnet",
    "yaleb-arcface": "yaleb_arcface",
    "coil20-network": "coil20_efficientnet",
}
# Every so many probes, where there are many.
EVERY = {"yaleb": 4, "vowels": 4, "yaleb-arcface": 4}
# One fold of ETH-80 by every part that the default does not use.
PARTS = {
    "centred, hellinger, sum": {"distance": "hellinger", "fusion": "sum"},
    "coefficient": {"fusion": "coefficient"},
    "none": {"fusion": "none"},
    "each set a row": {"distributions": "set"},
    "gaussian": {"graph": "gaussian"},
    "least squares": {"graph": "least_squares"},
    "omp": {"graph": "omp"},
    "exact signs": {"cut": "exact"},
    "kmeans": {"clusterer": "kmeans"},
    "ssc": {"clusterer": "ssc"},
    "spectral": {"clusterer": "spectral"},
    "no weights": {"weights": None},
}


def sets_of(name: str):
    """Images or features of each set, and its label."""
    with np.load(DATA / f"{ARCHIVES[name]}.npz", allow_pickle=False) as archive:
        found = {key: archive[key] for key in archive.files}
    values = found.get("features", found.get("images"))
    order = np.argsort(found["set_index"], kind="stable")
    sizes = np.bincount(found["set_index"], minlength=len(found["set_labels"]))
    parts = np.split(values[order].astype(np.float64), np.cumsum(sizes)[:-1])
    return parts, found["set_labels"].astype(int), found


def folds_of(name: str, labels, found):
    """(gallery, probes) of each fold of the protocol."""
    kind = name.split("-")[0]
    every = np.arange(len(labels))
    if kind == "eth80":
        orders = np.load(DATA / "eth80_splits.npz")["object_order"]
        members = np.array([np.flatnonzero(labels == c) for c in np.unique(labels)])
        order = orders - orders.min()
        take = np.take_along_axis
        return [
            (
                np.sort(take(members, fold[:, :5], 1).ravel()),
                np.sort(take(members, fold[:, 5:], 1).ravel()),
            )
            for fold in order
        ]
    if kind == "yaleb":
        subset = found["set_subset"]
        return [(every[subset == s], every[subset != s]) for s in np.unique(subset)]
    if kind == "coil20":
        place = np.array([np.sum(labels[:i] == labels[i]) for i in every])
        pairs = itertools.combinations(range(4), 2)
        return [(every[np.isin(place, p)], every[~np.isin(place, p)]) for p in pairs]
    is_test = found["set_is_test"].astype(bool)
    return [(every[~is_test], every[is_test])]


def runs():
    """Name, dataset, folds and how to make the classifier of every run."""
    from setwise import CVC

    for name in ARCHIVES:
        if name == "eth80-64":
            yield (
                "for_images",
                name,
                slice(0, 2),
                lambda: CVC.for_images(("pixels", "edges"), random_state=0),
            )
            continue
        folds = slice(0, 2) if "-" in name else slice(None)
        yield "default", name, folds, lambda: CVC(random_state=0)
        yield "as_in_paper", name, folds, lambda: CVC.as_in_paper(random_state=0)
    for part, how in PARTS.items():
        make = lambda how=how: CVC((1, 3, 6), random_state=0, **_old(how))  # noqa: E731
        yield part, "eth80", slice(0, 1), make


def _old(how):
    """Parameters by the names that the version at hand knows."""
    from setwise import CVC

    names = {"distributions": "compare"} if "compare" in CVC().get_params() else {}
    values = {"set": "sets"} if names else {}
    return {names.get(key, key): values.get(value, value) for key, value in how.items()}


def dump(folder: Path, only: str | None = None) -> None:
    """Answer everything, one file per run, going on where an earlier call stopped."""
    from setwise import SetBatch

    folder.mkdir(parents=True, exist_ok=True)
    for run, name, chosen, make in runs():
        path = folder / f"{run}, {name}.npz"
        if path.exists() or (only and run != only):
            continue
        sets, labels, found = sets_of(name)
        batch = SetBatch.from_images(sets) if sets[0].ndim > 2 else SetBatch.from_list(sets)
        answers: dict[str, list] = {"truth": [], "label": [], "probability": []}
        reasons: list[dict] = []
        for gallery, probes in folds_of(name, labels, found)[chosen]:
            probes = probes[:: EVERY.get(name, 1)]
            clf = make().fit(batch[gallery], labels[gallery])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                shares = clf.predict_proba(batch[probes])
                answers["probability"] += list(shares)
                if reasons:
                    answers["label"] += list(clf.classes_[shares.argmax(axis=1)])
                else:  # once, the way that stops early
                    answers["label"] += list(clf.predict(batch[probes]))
            answers["truth"] += list(labels[probes])
            if len(reasons) < 4:
                reasons += [clf.explain(batch[int(i)]).to_dict() for i in probes[:2]]
        arrays = {key: np.array(values) for key, values in answers.items()}
        for i, why in enumerate(reasons):
            for key in ("probabilities", "class_cluster", "support", "sign_switches"):
                arrays[f"{key} {i}"] = np.array(why[key], dtype=float)
            arrays[f"ncuts {i}"] = np.array([step["ncut"] for step in why["tree"]], dtype=float)
            arrays[f"votes {i}"] = np.array([str(vote["label"]) for vote in why["votes"]])
        temporary = path.with_suffix(".tmp.npz")
        np.savez(temporary, **arrays)
        temporary.replace(path)
        right = 100 * np.mean(arrays["label"] == arrays["truth"])
        print(f"{run}, {name}: {len(arrays['label'])} probes, {right:.2f} % right", flush=True)


def compare(before: Path, after: Path, only: str | None = None) -> int:
    """Print one line per run; the number of runs that differ."""
    n_differ = 0
    for path in sorted(before.glob(f"{only}, *.npz" if only else "*.npz")):
        other = after / path.name
        if not other.exists():
            print(f"{path.stem}: not there")
            n_differ += 1
            continue
        with np.load(path) as a, np.load(other) as b:
            changed = int((a["label"] != b["label"]).sum())
            gap = float(np.abs(a["probability"] - b["probability"]).max())
            reasons = [key for key in a.files if key[-1].isdigit()]
            odd = [key for key in reasons if not _same(a[key], b[key])]
            right = [100 * np.mean(x["label"] == x["truth"]) for x in (a, b)]
        is_same = not changed and gap < 1e-9 and not odd
        n_differ += not is_same
        print(
            f"{path.stem}: {'same' if is_same else 'DIFFERS'}; {right[0]:.2f} -> {right[1]:.2f}"
            f" % right, {changed} labels, probabilities by {gap:.1e}"
            + (f", explanations: {', '.join(odd)}" if odd else "")
        )
    return n_differ


def _same(a, b) -> bool:
    if a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        return bool(np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True))
    return bool((a == b).all())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=("dump", "compare"))
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", help="one kind of run, such as as_in_paper")
    options = parser.parse_args()
    if options.verb == "dump":
        dump(options.folders[0], options.only)
    else:
        raise SystemExit(compare(*options.folders, options.only) > 0)
