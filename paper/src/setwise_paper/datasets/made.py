"""Sets with outliers that are mixed in on purpose, and sets of fewer vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise.errors import reject
from setwise.sets import SetBatch
from setwise_paper.support import BoolArray, check_count


def random_stream(random_state: int, *key: int) -> np.random.Generator:
    """Random numbers of their own for each key, whatever else is drawn."""
    return np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=key))


@dataclass(frozen=True)
class Corrupted:
    """Sets with outliers, and which of their vectors these are."""

    sets: SetBatch
    is_outlier: BoolArray


def corrupt_sets(
    sets: SetBatch,
    *,
    n_outliers: int = 1,
    source: SetBatch | None = None,
    random_state: int = 0,
) -> Corrupted:
    """Add random vectors of each other set, or of each set of a source, to every set.

    The paper corrupts either the gallery, by 1 to 3 images *from each other gallery set*, or
    the probes, by 1 to 3 images *from each gallery set*. With one set of 100 images for each
    of 20 people that adds 19, 38 or 57 images to a gallery set, and 20, 40 or 60 to a probe.
    Of the latter 1, 2 or 3 show the right person, and are not marked as outliers.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import SetBatch
    >>> from setwise_paper.datasets import corrupt_sets
    >>> corrupted = corrupt_sets(SetBatch.from_list([np.ones((100, 9))] * 20), n_outliers=2)
    >>> corrupted.sets, int(corrupted.is_outlier.sum())
    (SetBatch of 20 sets of 138 to 138 vectors, 9 features, 760)
    """
    _check_batch("corrupt_sets", "sets", sets)
    check_count("corrupt_sets", "n_outliers", n_outliers, at_least=0)
    check_count("corrupt_sets", "random_state", random_state, at_least=0)
    pool = sets if source is None else source
    _check_source(sets, pool)
    parts, marks = [], []
    for i, vectors in enumerate(sets):
        rng = random_stream(random_state, i)
        donors = range(len(pool)) if source is not None else np.delete(range(len(sets)), i)
        drawn = [_draw(pool, int(donor), n_outliers, rng) for donor in donors]
        rows = np.concatenate([np.zeros(0, np.int64), *drawn])
        own = np.zeros(len(pool), bool)
        if sets.labels is not None and pool.labels is not None:
            own = np.asarray(pool.labels == sets.labels[i])
        is_other = ~np.repeat(own, pool.sizes)[rows]
        parts.append(np.concatenate([vectors, pool.vectors[rows]]))
        marks += [np.zeros(len(vectors), bool), is_other]
    batch = SetBatch.from_list(parts, sets.names, sets.labels, sets.image_shape)
    return Corrupted(batch, np.concatenate(marks))


def limit_sets(sets: SetBatch, n_vectors: int = 100, *, random_state: int = 0) -> SetBatch:
    """Choose ``n_vectors`` of the vectors of every set at random, in the order they have."""
    _check_batch("limit_sets", "sets", sets)
    check_count("limit_sets", "n_vectors", n_vectors)
    check_count("limit_sets", "random_state", random_state, at_least=0)
    chosen = [
        vectors[np.sort(random_stream(random_state, i).permutation(len(vectors))[:n_vectors])]
        for i, vectors in enumerate(sets)
    ]
    return SetBatch.from_list(chosen, sets.names, sets.labels, sets.image_shape)


def _draw(pool: SetBatch, donor: int, n: int, rng: np.random.Generator) -> Any:
    """Rows of ``n`` different vectors of a set."""
    rows = np.arange(*pool.offsets[donor : donor + 2])
    if n > len(rows):
        reject(
            f"corrupt_sets: {n} vectors are to be taken of {pool.names[donor]!r}, which has "
            f"{len(rows)}. Expected n_outliers of at most that."
        )
    return rng.choice(rows, size=n, replace=False)


def _check_batch(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, SetBatch) or len(value) == 0:
        shown = repr(value) if isinstance(value, SetBatch) else type(value).__name__
        reject(
            f"{owner}: {name} must be a SetBatch of at least one set, got {shown}. "
            "SetBatch.from_list makes one of arrays."
        )


def _check_source(sets: SetBatch, pool: SetBatch) -> None:
    _check_batch("corrupt_sets", "source", pool)
    kinds = [(one.n_features, one.image_shape, str(one.vectors.dtype)) for one in (sets, pool)]
    for what, expected, got in zip(("n_features", "image_shape", "dtype"), *kinds, strict=True):
        if expected != got:
            reject(
                f"corrupt_sets: sets have {what} {expected}, and source has {got}. Expected "
                "the same kind of vectors in both: convert one of them first."
            )
