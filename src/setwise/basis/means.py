"""Means of a set and of its parts: where its vectors are.

Singular vectors describe the space that a set spans, not where its vectors lie in it, which
tells sets apart that share a few views or whose vectors cluster. Ward's tree divides a set into
parts of near vectors; it nests, so one tree serves every dimensionality, and nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from setwise._support.types import FloatArray
from setwise.basis.base import Basis
from setwise.basis.svd import principal_directions, svd_bases
from setwise.features import unit_rows

# The tree of more vectors takes long and adds little.
MOST_VECTORS = 500


@dataclass(frozen=True)
class Means(Basis):
    """Where the vectors of a set are: the means of its parts.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Means
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> (basis,) = Means().columns(vectors, (1,), np.random.default_rng(0))
    >>> np.abs(basis.T.round(2))
    array([[1., 0., 0.]])
    """

    name: ClassVar[str] = "means"

    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """See :func:`means_bases`."""
        return means_bases(vectors, dims)


@dataclass(frozen=True)
class Mean(Basis):
    """Where a set is: the direction of its mean, by which embeddings are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Mean
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> (basis,) = Mean().columns(vectors, (1,), np.random.default_rng(0))
    >>> np.abs(basis.T.round(2))
    array([[1., 0., 0.]])
    """

    name: ClassVar[str] = "mean"

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """One column, always."""
        return (1,)

    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """The mean of all vectors, or the main direction of vectors that cancel."""
        return means_bases(vectors, [1])


def means_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """Directions of the means of ``d`` parts of the set, for each ``d`` in ``dims``.

    Of more than :data:`MOST_VECTORS` vectors, every second, third, ... along the set's main
    direction is taken.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set, one vector per row, not all zero.
    dims : sequence of int
        Numbers of parts; fewer where vectors are copies. Parts whose mean is zero have no
        direction. If no part has one, the set's main direction is taken.

    Returns
    -------
    list of arrays of shape (n_features, at most d)
        Unit columns, in no order.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> from setwise.basis import means_bases
    >>> [basis.shape for basis in means_bases(vectors, (1, 2))]
    [(3, 1), (3, 2)]
    """
    chosen = _thinned(vectors)
    has_parts = len(chosen) > 1 and max(dims) > 1
    tree = linkage(chosen, "ward") if has_parts else None
    return [_means(chosen, tree, d) for d in dims]


def _means(vectors: FloatArray, tree: FloatArray | None, n_parts: int) -> FloatArray:
    parts = np.ones(len(vectors), dtype=int)
    if tree is not None:
        parts = fcluster(tree, n_parts, "maxclust")
    is_inside = parts == np.arange(1, parts.max() + 1)[:, None]
    means = is_inside @ vectors / is_inside.sum(axis=1, keepdims=True)
    # Vectors that cancel leave rounding, in proportion to themselves.
    lengths = np.linalg.norm(means, axis=1)
    floor = np.abs(vectors).max() * len(vectors) * np.finfo(np.float64).eps
    if not (lengths > floor).any():
        return svd_bases(vectors, [1])[0]
    return np.ascontiguousarray(unit_rows(means[lengths > floor]).T)


def _thinned(vectors: FloatArray) -> FloatArray:
    """At most ``MOST_VECTORS`` of the vectors, in whatever order they are given."""
    step = -(-len(vectors) // MOST_VECTORS)
    if step == 1:
        return vectors
    along = vectors @ principal_directions(vectors)[:, 0]
    return vectors[np.argsort(along, kind="stable")[::step]]
