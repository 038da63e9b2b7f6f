"""Synthetic identity embeddings: class direction, set shift, image noise.

Cosines between images are as those of real face embeddings: 0.3 to 0.8 within a class, -0.1 to
0.3 between classes.
"""

from __future__ import annotations

import numpy as np

COMMON, SHIFT, NOISE = 0.35, 0.55, (0.5, 1.0)
_AT_ONCE = 1000


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def images_of(
    n_classes: int, n_sets: int, n_images: int, rng: np.random.Generator,
    common: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Unit vectors of shape (n_classes, n_sets, n_images, n_features).

    Parameters
    ----------
    common : array of shape (n_features,)
        The direction in which all faces lie: one for all calls that make one gallery.
    """
    n_features = len(common)

    def directions(*shape: int) -> np.ndarray:
        return unit(rng.standard_normal((*shape, n_features), dtype=np.float32))

    classes = unit(COMMON * common + directions(n_classes))
    sets = classes[:, None] + SHIFT * directions(n_classes, n_sets)
    noise = rng.uniform(*NOISE, size=(n_classes, n_sets, n_images, 1)).astype(np.float32)
    return unit(sets[:, :, None] + noise * directions(n_classes, n_sets, n_images))


def set_means(
    n_classes: int, n_sets: int, n_images: int = 5, *, n_features: int = 512, seed: int = 0
) -> np.ndarray:
    """Unit means of sets, of shape (n_classes, n_sets, n_features)."""
    rng = np.random.default_rng(seed)
    common = unit(rng.standard_normal(n_features, dtype=np.float32))
    means = np.empty((n_classes, n_sets, n_features), dtype=np.float32)
    for start in range(0, n_classes, _AT_ONCE):  # all images at once would fill the memory
        part = means[start : start + _AT_ONCE]
        part[:] = unit(images_of(len(part), n_sets, n_images, rng, common).mean(axis=2))
    return means
