"""Small galleries, and why a set got its answer."""

from functools import cache

import numpy as np

from setwise import CVC


def albums(n_classes, n_sets=2, n_images=8, n_features=12, seed=0):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_classes, n_features))
    sets = [
        mean + 0.4 * rng.normal(size=(n_images, n_features))
        for mean in means
        for _ in range(n_sets)
    ]
    return sets, np.repeat(np.arange(n_classes), n_sets)


def explanation_of(n_classes, labels=None, **parameters):
    """An explanation of the last of some small sets; made once for each question."""
    return _explanation_of(n_classes, None if labels is None else tuple(labels), **parameters)


@cache
def _explanation_of(n_classes, labels, **parameters):
    sets, codes = albums(n_classes, n_sets=3)
    is_probe = np.arange(len(sets)) == len(sets) - 1
    y = codes if labels is None else np.array(labels)[codes]
    gallery = [s for s, probe in zip(sets, is_probe, strict=True) if not probe]
    return CVC(dims=(1, 3), **parameters).fit(gallery, y[~is_probe]).explain(sets[-1])
