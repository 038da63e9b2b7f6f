"""Tracks of faces as a network would embed them: clear people, some seen once."""

from __future__ import annotations

import numpy as np


def made_tracks(sizes, seed=0, n_features=32, noise=0.6, n_vectors=(3, 8)):
    """Tracks in random order, and who is in each; ``sizes`` are numbers of tracks."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(len(sizes), n_features))
    people /= np.linalg.norm(people, axis=1, keepdims=True)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    tracks = []
    for person in truth:
        shift = noise / 2 * rng.normal(size=n_features) / np.sqrt(n_features)
        own = noise * rng.normal(size=(rng.integers(*n_vectors), n_features))
        vectors = people[person] + shift + own / np.sqrt(n_features)
        tracks.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return tracks, truth
