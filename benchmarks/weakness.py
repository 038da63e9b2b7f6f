"""Where the method is weak: classes that are points, sets that scatter evenly around them.

    python benchmarks/weakness.py

Three unit vectors of 20 dimensions, 12 vectors per set with noise 0.2 in every direction, by
the number of gallery sets per class; the default beside the nearest mean. Ten draws of nine
probes.
"""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestCentroid

from setwise import CVC

N_DRAWS, N_CLASSES, N_PROBES, NOISE = 10, 3, 3, 0.2


def scattered(labels: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=(12, 20)) * NOISE + np.eye(20)[c] for c in labels]


def accuracies(n_sets: int, seed: int) -> tuple[float, float]:
    """Share of probes labelled rightly by CVC and by the nearest mean of a class."""
    rng = np.random.default_rng(seed)
    y, expected = (np.repeat(np.arange(N_CLASSES), n) for n in (n_sets, N_PROBES))
    gallery, probes = scattered(y, rng), scattered(expected, rng)
    means = NearestCentroid().fit([s.mean(axis=0) for s in gallery], y)
    found = means.predict([s.mean(axis=0) for s in probes])
    clf = CVC(random_state=0, n_jobs=2).fit(gallery, y)
    return clf.score(probes, expected), float((found == expected).mean())


if __name__ == "__main__":
    for n_sets in (2, 4, 6, 10):
        ours, mean = np.mean([accuracies(n_sets, seed) for seed in range(N_DRAWS)], axis=0)
        print(
            f"{n_sets:2d} gallery sets per class: "
            f"CVC {100 * ours:.0f} %, mean {100 * mean:.0f} %"
        )
