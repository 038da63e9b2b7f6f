"""Singular vectors of a set: the deterministic, fast basis.

They span nearly the same space as the paper's dictionary (:mod:`setwise.basis.dictionary`),
need no random start and nest, so one decomposition serves every dimensionality. *Centred*
singular vectors describe how the set varies, and separate object categories far better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg

from setwise._support.types import FloatArray
from setwise.basis.base import Basis


@dataclass(frozen=True)
class SVD(Basis):
    """What a set spans: its first singular vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import SVD
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> (basis,) = SVD().columns(vectors, (1,), np.random.default_rng(0))
    >>> np.abs(basis.T.round(2))
    array([[1., 0., 0.]])
    """

    name: ClassVar[str] = "svd"
    is_orthonormal: ClassVar[bool] = True

    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """See :func:`svd_bases`."""
        return svd_bases(vectors, dims)


@dataclass(frozen=True)
class CentredSVD(Basis):
    """How a set varies: the first singular vectors of the set minus its mean.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import CentredSVD
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> (basis,) = CentredSVD().columns(vectors, (1,), np.random.default_rng(0))
    >>> np.abs(basis.T.round(2))
    array([[0., 0., 1.]])
    """

    name: ClassVar[str] = "centred"
    is_orthonormal: ClassVar[bool] = True
    # Fewer show noise rather than how the set varies.
    fewest: ClassVar[int] = 6

    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """See :func:`centred_svd_bases`."""
        return centred_svd_bases(vectors, dims)

    def shares(self, vectors: FloatArray, basis: FloatArray) -> FloatArray:
        """Share of each vector's departure from the mean in each column."""
        centred = vectors - vectors.mean(axis=0) if len(vectors) > 1 else vectors
        return super().shares(centred, basis)


def svd_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """First ``d`` left singular vectors of the set, for each ``d`` in ``dims``.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set, one vector per row, not all zero.
    dims : sequence of int
        Number of columns of each basis. A set of rank ``r`` gives ``min(d, r)``.

    Returns
    -------
    list of arrays of shape (n_features, min(d, rank))
        Orthonormal columns, strongest direction first.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> from setwise.basis import svd_bases
    >>> [basis.shape for basis in svd_bases(vectors, (1, 2, 3))]
    [(3, 1), (3, 2), (3, 2)]
    """
    directions = principal_directions(vectors)
    return [directions[:, :d] for d in dims]


def centred_svd_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """First ``d`` left singular vectors of the set minus its mean.

    A set that does not vary (one vector, or copies of one) is represented by the direction of
    its mean, so that every set has a column.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    >>> from setwise.basis import centred_svd_bases
    >>> (basis,) = centred_svd_bases(vectors, (1,))
    >>> np.abs(basis.T.round(2))
    array([[0., 0., 1.]])
    """
    # The mean is rounded in proportion to the vectors, however little they vary.
    directions = principal_directions(
        vectors - vectors.mean(axis=0), scale=float(np.linalg.norm(vectors))
    )
    if directions.shape[1] == 0:
        return svd_bases(vectors, dims)
    return [directions[:, :d] for d in dims]


def numerical_rank(strengths: FloatArray, shape: tuple[int, ...], scale: float = 0.0) -> int:
    """Number of singular values, largest first, that stand above rounding at ``scale``."""
    floor = max(float(strengths[0]), scale) * max(shape) * np.finfo(np.float64).eps
    return int((strengths > floor).sum())


def principal_directions(vectors: FloatArray, scale: float = 0.0) -> FloatArray:
    """Left singular vectors of ``vectors.T`` that stand above rounding at ``scale``.

    Signs do not depend on the order of the set: the cubes of its coordinates along each
    vector sum to a positive number.
    """
    coordinates, strengths, directions = linalg.svd(
        vectors, full_matrices=False, check_finite=False
    )
    rank = numerical_rank(strengths, vectors.shape, scale)
    kept = directions[:rank].T
    lean = (coordinates[:, :rank] ** 3).sum(axis=0)
    largest = kept[np.abs(kept).argmax(axis=0), np.arange(kept.shape[1])]
    # Where they sum to zero, the largest entry decides.
    signs = np.sign(np.where(np.abs(lean) > 1e-9, lean, largest))
    return np.ascontiguousarray(kept * signs)
