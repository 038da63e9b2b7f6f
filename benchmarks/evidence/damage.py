"""Sets made harder on purpose: strangers among their images, and few images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from setwise import SetBatch


def n_replaced(n_vectors: int, share: float) -> int:
    """How many vectors of a set are replaced: at least one of three or more."""
    return max(round(share * n_vectors), 1 if n_vectors >= 3 else 0)


def one_stranger(
    sets: SetBatch, labels: np.ndarray, i: int, n: int, rng: np.random.Generator
) -> np.ndarray:
    """``n`` different vectors of one random set of another class than that of set ``i``."""
    donor = int(rng.choice(np.flatnonzero(labels != labels[i])))
    return sets[donor][rng.permutation(len(sets[donor]))[:n]]


def many_strangers(
    sets: SetBatch, labels: np.ndarray, i: int, n: int, rng: np.random.Generator
) -> np.ndarray:
    """``n`` vectors, each of a random set of another class than that of set ``i``."""
    donors = rng.choice(np.flatnonzero(labels != labels[i]), n)
    return np.array([sets[int(d)][rng.integers(len(sets[int(d)]))] for d in donors])


Strangers = Callable[[SetBatch, np.ndarray, int, int, np.random.Generator], np.ndarray]


def with_strangers(
    sets: SetBatch,
    labels: np.ndarray,
    share: float,
    strangers: Strangers,
    rng: np.random.Generator,
) -> SetBatch:
    """Every set with that share of its vectors, at random places, replaced by strangers.

    Strangers come from the sets as they are given, never from sets that already hold some.
    """
    damaged = []
    for i in range(len(sets)):
        vectors = sets[i].copy()
        n = n_replaced(len(vectors), share)
        if n:
            intruders = strangers(sets, labels, i, n, rng)
            places = rng.permutation(len(vectors))[: len(intruders)]
            vectors[places] = intruders
        damaged.append(vectors)
    return SetBatch.from_list(damaged, sets.names, image_shape=sets.image_shape)


def shortened(sets: SetBatch, n_vectors: int, rng: np.random.Generator) -> SetBatch:
    """At most so many random vectors of every set, in the order they have."""
    chosen = [vectors[np.sort(rng.permutation(len(vectors))[:n_vectors])] for vectors in sets]
    return SetBatch.from_list(chosen, sets.names, image_shape=sets.image_shape)
