"""Sets of images that any look at their edges tells apart."""

import numpy as np

from setwise import SetBatch


def stripes(angle, n_images, rng, shape=(16, 24)):
    """Images of stripes in one direction, of any phase and width."""
    rows, columns = np.indices(shape)
    along = np.cos(angle) * rows + np.sin(angle) * columns
    phases, widths = rng.uniform(0, 6, n_images), rng.uniform(0.7, 1.1, n_images)
    waves = np.sin(along * widths[:, None, None] + phases[:, None, None])
    noise = rng.normal(0, 10, (n_images, *shape))
    return np.clip(128 + 90 * waves + noise, 0, 255).astype(np.uint8)


def striped_sets(n_sets, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.array(["flat", "steep", "slanted"] * n_sets)
    angles = {"flat": 0.1, "steep": 1.5, "slanted": 0.8}
    sets = [stripes(angles[label], rng.integers(6, 10), rng) for label in labels]
    return SetBatch.from_images(sets, labels=labels)
