"""What large galleries do, forced on small real ones: does any label change?

python benchmarks/large_paths.py [--quick]

Above 4000 columns a gallery is kept in float32, without Gram matrix; above 3000 vertices a
cluster is divided around the probe. Here both happen from the first column and from 150
vertices on, and the labels are compared with the ones of the exact path.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import contextmanager

import numpy as np

import setwise.cluster.clusterers as clusterers
import setwise.cluster.tree as tree
import setwise.graph.lasso as lasso
from datasets import PROTOCOLS, load
from harness import parsed, publish
from setwise import CVC

MOST_FOLDS = 2
PATHS = {
    "as it is": {},
    "float32, no Gram matrix": {lasso: {"GRAM_LIMIT": 0}},
    "clusters above 150 columns around the probe": {
        tree: {"LOCAL_ABOVE": 150},
        clusterers: {"LOCAL_ABOVE": 150},
    },
}


@contextmanager
def limits(changes):
    """Other limits for a while."""
    before = {
        module: {name: getattr(module, name) for name in changes[module]} for module in changes
    }
    for module, values in changes.items():
        vars(module).update(values)
    try:
        yield
    finally:
        for module, values in before.items():
            vars(module).update(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one fold of one dataset")
    options = parsed(parser)
    rows, records = [], []
    for name in list(PROTOCOLS)[:1] if options.quick else PROTOCOLS:
        data = load(name)
        folds = data.folds[: 1 if options.quick else MOST_FOLDS]
        truth = np.concatenate([data.labels[probes] for _, probes in folds])
        labels = {}
        for path, changes in PATHS.items():
            print(f"{name}: {path}", file=sys.stderr, flush=True)
            with limits(changes):
                labels[path] = np.concatenate(
                    [
                        CVC(weights=None, n_jobs=2, random_state=0)
                        .fit(data.sets[gallery], data.labels[gallery])
                        .predict(data.sets[probes])
                        for gallery, probes in folds
                    ]
                )
        for path, found in labels.items():
            same = int((found == labels["as it is"]).sum())
            right = float((found == truth).mean())
            records.append({"data": name, "path": path, "same": same, "right": right})
            rows.append([name, path, f"{same} of {len(truth)}", f"{100 * right:.2f} %"])
    publish(
        "large_paths_part" if options.quick else "large_paths",
        "What large galleries do, forced on small real ones",
        [
            f"the default ensemble without gallery weights; at most {MOST_FOLDS} folds of each "
            "dataset's protocol"
        ],
        ["data", "path", "labels as on the exact path", "right"],
        rows,
        has_times=False,
        records=records,
    )


if __name__ == "__main__":
    main()
