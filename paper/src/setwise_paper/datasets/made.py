"""Generated sets: subspaces, two clouds, and outliers mixed in on purpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.sets import SetBatch
from setwise_paper.support import (
    BoolArray,
    FloatArray,
    IntArray,
    check_choice,
    check_count,
    check_number,
    refuse,
)

# What a random stream is for; streams of one kind are told apart by the numbers that follow.
_CLASS, _SET = range(2)


def random_stream(random_state: int, *key: int) -> np.random.Generator:
    """Random numbers of their own for each key, whatever else is drawn."""
    return np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=key))


def make_subspace_union(
    n_classes: int = 5,
    n_sets: int = 4,
    n_vectors: int = 30,
    *,
    n_features: int = 50,
    n_dims: int = 4,
    n_set_dims: int = 0,
    noise: float = 0.05,
    random_state: int = 0,
) -> SetBatch:
    """Make sets whose vectors lie near linear subspaces, one subspace per class."""
    owner = "make_subspace_union"
    counts = {"n_classes": n_classes, "n_sets": n_sets, "n_vectors": n_vectors,
              "n_features": n_features, "n_dims": n_dims}  # fmt: skip
    for name, value in counts.items():
        check_count(owner, name, value)
    check_count(owner, "n_set_dims", n_set_dims, at_least=0)
    check_count(owner, "random_state", random_state, at_least=0)
    check_number(owner, "noise", noise, may_be_0=True)
    if n_dims + n_set_dims > n_features:
        expected = f"at most n_features - n_set_dims, here {n_features - n_set_dims}"
        refuse(owner, "n_dims", expected, n_dims)
    sets, names = [], []
    for label in range(n_classes):
        basis = _directions(random_stream(random_state, _CLASS, label), n_dims, n_features)
        for number in range(n_sets):
            rng = random_stream(random_state, _SET, label, number)
            spanned = np.concatenate([basis, _directions(rng, n_set_dims, n_features)])
            inside = rng.standard_normal((n_vectors, len(spanned))) @ spanned
            sets.append(inside + noise * rng.standard_normal(inside.shape))
            names.append(f"class {label}, set {number + 1}")
    return SetBatch.from_list(sets, names, np.repeat(np.arange(n_classes), n_sets))


def _directions(rng: np.random.Generator, n_dims: int, n_features: int) -> FloatArray:
    """Orthonormal rows that span a random subspace."""
    return np.linalg.qr(rng.standard_normal((n_features, n_dims)))[0].T


def make_gaussian_pair(
    n_vectors: int = 200,
    distance: float = 5.0,
    *,
    n_features: int = 3,
    variance: float = 2.0,
    random_state: int | np.random.Generator = 0,
) -> SetBatch:
    """Make two clouds of normal points, as in Figure 4 of the paper."""
    owner = "make_gaussian_pair"
    check_count(owner, "n_vectors", n_vectors)
    check_count(owner, "n_features", n_features)
    check_number(owner, "variance", variance)
    check_number(owner, "distance", distance, may_be_0=True)
    if not isinstance(random_state, np.random.Generator):
        check_count(owner, "random_state", random_state, at_least=0)
    rng = np.random.default_rng(random_state)
    points = np.sqrt(variance) * rng.standard_normal((n_features, 2 * n_vectors))
    points[0, n_vectors:] += distance
    offsets = np.array([0, n_vectors, 2 * n_vectors])
    return SetBatch(points.T, offsets, ["cloud 1", "cloud 2"], np.array([0, 1]))


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
    each: str = "set",
    how: str = "add",
    random_state: int = 0,
) -> Corrupted:
    """Mix random vectors of other sets into every set.

    The paper corrupts either the gallery, by 1 to 3 images *from each other gallery set*, or
    the probes, by 1 to 3 images *from each gallery set*. With one set of 100 images for each
    of 20 people that adds 19, 38 or 57 images to a gallery set, and 20, 40 or 60 to a probe.
    Of the latter 1, 2 or 3 show the right person, and are not marked as outliers::

        corrupt_sets(limit_sets(gallery, 100), n_outliers=3)
        corrupt_sets(limit_sets(probes, 100), n_outliers=3, source=limit_sets(gallery, 100))

    Parameters
    ----------
    sets : SetBatch
        Sets to corrupt; they stay as they are, copies are returned.
    n_outliers : int
        Vectors taken from each set, or class, of the source.
    source : SetBatch, optional
        Where outliers come from: every set of this batch; by default every *other* set of
        ``sets``.
    each : {"set", "class"}
        Whether ``n_outliers`` vectors come from each set of the source, or from each class of
        it that is not the set's own. The latter suits galleries of many sets per class; it
        needs labels.
    how : {"add", "replace"}
        Whether vectors come in addition, at the end of a set, or in place of vectors at
        random places, which keeps its size.
    random_state : int
        Which vectors are taken, and which replaced.

    Examples
    --------
    >>> from setwise_paper.datasets import corrupt_sets, make_subspace_union
    >>> corrupted = corrupt_sets(make_subspace_union(20, 1, n_vectors=100), n_outliers=2)
    >>> corrupted.sets, int(corrupted.is_outlier.sum())
    (SetBatch of 20 sets of 138 to 138 vectors, 50 features, 760)
    """
    owner = "corrupt_sets"
    _check_batch(owner, "sets", sets)
    check_count(owner, "n_outliers", n_outliers, at_least=0)
    check_choice(owner, "each", each, ("set", "class"))
    check_choice(owner, "how", how, ("add", "replace"))
    check_count(owner, "random_state", random_state, at_least=0)
    _check_source(owner, sets, source, each)
    made = [
        _corrupt(sets, i, source, n_outliers, each, how, random_stream(random_state, i))
        for i in range(len(sets))
    ]
    batch = SetBatch.from_list(
        [vectors for vectors, _ in made], sets.names, sets.labels, sets.image_shape
    )
    return Corrupted(batch, np.concatenate([is_outlier for _, is_outlier in made]))


def limit_sets(sets: SetBatch, n_vectors: int = 100, *, random_state: int = 0) -> SetBatch:
    """Choose ``n_vectors`` of the vectors of every set at random, in the order they have."""
    owner = "limit_sets"
    _check_batch(owner, "sets", sets)
    check_count(owner, "n_vectors", n_vectors)
    check_count(owner, "random_state", random_state, at_least=0)
    chosen = [
        vectors[np.sort(random_stream(random_state, i).permutation(len(vectors))[:n_vectors])]
        for i, vectors in enumerate(sets)
    ]
    return SetBatch.from_list(chosen, sets.names, sets.labels, sets.image_shape)


def _corrupt(
    sets: SetBatch,
    i: int,
    source: SetBatch | None,
    n_outliers: int,
    each: str,
    how: str,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[Any], BoolArray]:
    """Set ``i`` with vectors of others, and which of its vectors are of another class."""
    pool = sets if source is None else source
    donors = np.arange(len(pool)) if source is not None else np.delete(np.arange(len(sets)), i)
    own = np.zeros(len(pool), bool)
    if sets.labels is not None and pool.labels is not None:
        own = np.asarray(pool.labels == sets.labels[i])
    if each == "class":
        groups = _by_class(pool, donors[~own[donors]])
    else:
        groups = [np.array([donor]) for donor in donors]
    taken = [_draw(pool, group, n_outliers, rng) for group in groups]
    rows = np.concatenate(taken) if taken else np.zeros(0, np.int64)
    is_other = ~np.repeat(own, pool.sizes)[rows]
    vectors = sets[i].copy()
    is_outlier = np.zeros(len(vectors), dtype=bool)
    if how == "add":
        added = np.concatenate([vectors, pool.vectors[rows]])
        return added, np.concatenate([is_outlier, is_other])
    if len(rows) > len(vectors):
        reject(
            f"corrupt_sets: {sets.names[i]!r} has {len(vectors)} vectors, and {len(rows)} are "
            'to be replaced. Expected no more than it has: use how="add", or fewer outliers.'
        )
    places = rng.permutation(len(vectors))[: len(rows)]
    vectors[places], is_outlier[places] = pool.vectors[rows], is_other
    return vectors, is_outlier


def _by_class(pool: SetBatch, donors: IntArray) -> list[IntArray]:
    labels = np.asarray(pool.labels)[donors]
    return [donors[labels == label] for label in np.unique(labels)]


def _draw(pool: SetBatch, donors: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Rows of ``n`` different vectors of some sets."""
    rows = np.concatenate([np.arange(*pool.offsets[d : d + 2]) for d in donors])
    if n > len(rows):
        reject(
            f"corrupt_sets: {n} vectors are to be taken of {pool.names[donors[0]]!r}, which "
            f"has {len(rows)}. Expected n_outliers of at most that."
        )
    return rng.choice(rows, size=n, replace=False)


def _check_batch(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, SetBatch) or len(value) == 0:
        shown = repr(value) if isinstance(value, SetBatch) else type(value).__name__
        reject(
            f"{owner}: {name} must be a SetBatch of at least one set, got {shown}. "
            "SetBatch.from_list makes one of arrays."
        )


def _check_source(owner: str, sets: SetBatch, source: SetBatch | None, each: str) -> None:
    pool = sets if source is None else source
    _check_batch(owner, "source", pool)
    for what in ("n_features", "image_shape"):
        expected, got = getattr(sets, what), getattr(pool, what)
        if expected != got:
            reject(
                f"{owner}: sets have {what} {expected}, and source has {got}. Expected the "
                "same kind of vectors in both."
            )
    if sets.vectors.dtype != pool.vectors.dtype:
        reject(
            f"{owner}: sets hold {sets.vectors.dtype}, and source {pool.vectors.dtype}. "
            "Expected one dtype: their scales may differ, so convert one of them first."
        )
    if each == "class" and (sets.labels is None or pool.labels is None):
        reject(f'{owner}: each="class" needs labels of sets and of source, and there are none.')
