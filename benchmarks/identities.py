"""Synthetic identities, as a face network would embed them: for galleries of any size.

An image is a class direction, plus a shift of its set, plus noise of its own, scaled to unit
length. How noisy a set is varies, so that two images of a person have cosines of 0.3 to 0.8,
and those of two persons -0.1 to 0.3 (512 numbers): people come in groups of fifty that look
alike, more than are on any shortlist. A share of the images of every set may be
of strangers: other people, of whom nobody is in the gallery.
"""

from __future__ import annotations

import numpy as np

from setwise import SetBatch

N_FEATURES, N_VECTORS = 512, 5
# Squared lengths of what is added to a unit direction, for the clearest and the poorest sets.
NOISE = 0.25, 1.6
# People who look alike, and how much of what they are they share.
LOOKALIKES, SHARED = 50, 0.9


def directions(n: int, seed: int) -> np.ndarray:
    """Unit vectors, one for each person."""
    rng = np.random.default_rng(seed)
    own = rng.standard_normal((n, N_FEATURES), dtype=np.float32)
    shared = rng.standard_normal((-(-n // LOOKALIKES), N_FEATURES), dtype=np.float32)
    made = own + np.float32(SHARED) * np.repeat(shared, LOOKALIKES, axis=0)[:n]
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def sets_of(
    people: np.ndarray, *, seed: int, n_sets: int = 1, strangers: float = 0.0
) -> SetBatch:
    """So many sets of each person, one person after the other, in single precision."""
    rng = np.random.default_rng(seed)
    n = len(people) * n_sets
    vectors = np.empty((n * N_VECTORS, N_FEATURES), dtype=np.float32)
    n_strange = round(strangers * N_VECTORS)
    block = 2000
    for start in range(0, n, block):
        who = people[np.arange(start, min(start + block, n)) // n_sets]
        made = _images(who, rng)
        if n_strange:
            other = directions(len(who) * n_strange, int(rng.integers(2**31)))
            made[:, :n_strange] = other.reshape(len(who), n_strange, -1)
        vectors[start * N_VECTORS : (start + len(who)) * N_VECTORS] = made.reshape(
            -1, N_FEATURES
        )
    return SetBatch(vectors, np.arange(0, len(vectors) + 1, N_VECTORS))


def _images(who: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    shape = (len(who), N_VECTORS, N_FEATURES)
    noise = rng.uniform(*NOISE, size=(len(who), 1, 1)).astype(np.float32)
    of_set = rng.standard_normal((len(who), 1, N_FEATURES), dtype=np.float32)
    of_image = rng.standard_normal(shape, dtype=np.float32)
    # A third of the noise is the set's, the rest each image's.
    added = np.sqrt(noise / 3) * of_set + np.sqrt(2 * noise / 3) * of_image
    made = who[:, None] + added / np.sqrt(np.float32(N_FEATURES))
    return made / np.linalg.norm(made, axis=2, keepdims=True)


def set_means(n_classes: int, n_sets: int) -> np.ndarray:
    """Unit means of sets, of shape (n_classes, n_sets, n_features)."""
    sets = sets_of(directions(n_classes, 0), seed=1, n_sets=n_sets)
    means = sets.vectors.reshape(-1, N_VECTORS, N_FEATURES).mean(axis=1)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means.reshape(n_classes, n_sets, -1)


def cosines(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Of two images of a person in two sets, and of two persons: 1st and 99th percentile."""
    sets = sets_of(directions(n, 0), seed=1, n_sets=2).vectors.reshape(n, 2, N_VECTORS, -1)
    first, second = sets[:, 0, 0], sets[:, 1, 0]
    table = first @ second.T
    others = table[~np.eye(n, dtype=bool)]
    return np.quantile(np.diag(table), [0.01, 0.99]), np.quantile(others, [0.01, 0.99])


if __name__ == "__main__":
    within, between = cosines()
    print(f"within {within.round(2)}, between {between.round(2)}")
