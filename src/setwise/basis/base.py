"""The interface of all bases, and the bases computed directly: singular vectors and means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.cluster.hierarchy import fcluster, linkage

from setwise._support.parameters import check_count
from setwise._support.parts import Part
from setwise._support.types import FloatArray
from setwise.features import unit_rows
from setwise.features.typical import canonical_order

# Vectors of a set that show how it varies.
FEWEST_TO_VARY = 6


class Basis(Part, ABC):
    """A way to turn a set into few unit columns.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Basis
    >>> bases = Basis.of("svd", "CVC").columns(np.eye(4), (1, 3), np.random.default_rng(0))
    >>> [basis.shape for basis in bases]
    [(4, 1), (4, 3)]
    """

    family: ClassVar[str] = "basis"
    #: Whether columns depend on random numbers.
    is_random: ClassVar[bool] = True
    #: Whether columns are orthonormal and of arbitrary sign, so that only their span matters.
    is_orthonormal: ClassVar[bool] = False
    #: Whether columns are orthogonal and their lengths count: sets are compared by the sum of
    #: the squares of all inner products.
    has_lengths: ClassVar[bool] = False
    #: Whether columns are joined in a graph; without one, only inner products compare them.
    has_graph: ClassVar[bool] = True
    #: Whether columns are vectors of the set, which are not to be kept without its vectors.
    holds_vectors: ClassVar[bool] = False

    @property
    def fewest(self) -> int:
        """Smallest size of a set whose columns are informative."""
        return 1

    @property
    def n_starts(self) -> int:
        """Number of random starts; each makes layers of its own."""
        return 1

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """The dimensionalities of its bases, out of those requested."""
        return tuple(dims)

    def most_columns(self, d: int) -> int:
        """The most columns of a basis of dimensionality ``d``."""
        return d

    @abstractmethod
    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """Unit columns ``(n_features, at most d)`` of one set, for each ``d`` of ``dims``.

        Parameters
        ----------
        vectors : array of shape (n_vectors, n_features)
            One set, one vector per row, unit or zero rows, not all zero.
        dims : sequence of int
            Number of columns of each basis; fewer where the set has a lower rank.
        rng : numpy.random.Generator
            For random starts; the same for every set.
        """

    def shares(self, vectors: FloatArray, basis: FloatArray) -> FloatArray:
        """Share of each vector in each column of the set's basis; rows sum to 1."""
        energy = (vectors @ basis) ** 2
        total = energy.sum(axis=1, keepdims=True)
        return np.divide(energy, total, out=np.zeros_like(energy), where=total > 0)


@dataclass(frozen=True)
class SVD(Basis):
    """What a set spans: its first singular vectors.

    They span nearly the same space as the paper's dictionary and need no random start.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import SVD
    >>> (basis,) = SVD().columns(np.diag([3.0, 2.0, 1.0]), (1,), np.random.default_rng(0))
    >>> np.abs(basis.T)
    array([[1., 0., 0.]])
    """

    name: ClassVar[str] = "svd"
    is_random: ClassVar[bool] = False
    is_orthonormal: ClassVar[bool] = True

    def columns(self, vectors: FloatArray, dims: Sequence[int], rng: Any) -> list[FloatArray]:
        """See :func:`svd_bases`."""
        return svd_bases(vectors, dims)


@dataclass(frozen=True)
class CentredSVD(Basis):
    """How a set varies: the first singular vectors of the set minus its mean.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import CentredSVD
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0]])
    >>> (basis,) = CentredSVD().columns(vectors, (1,), np.random.default_rng(0))
    >>> np.abs(basis.T)
    array([[0., 0., 1.]])
    """

    name: ClassVar[str] = "centred"
    is_random: ClassVar[bool] = False
    is_orthonormal: ClassVar[bool] = True

    @property
    def fewest(self) -> int:
        """Fewer vectors show noise rather than how the set varies."""
        return FEWEST_TO_VARY

    def columns(self, vectors: FloatArray, dims: Sequence[int], rng: Any) -> list[FloatArray]:
        """See :func:`centred_svd_bases`."""
        return centred_svd_bases(vectors, dims)

    def shares(self, vectors: FloatArray, basis: FloatArray) -> FloatArray:
        """Share of each vector's departure from the mean in each column."""
        centred = vectors - vectors.mean(axis=0) if len(vectors) > 1 else vectors
        return super().shares(centred, basis)


def svd_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """First ``d`` left singular vectors of the set, for each ``d`` in ``dims``.

    A set of rank ``r`` gives ``min(d, r)`` orthonormal columns, strongest direction first.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import svd_bases
    >>> [basis.shape for basis in svd_bases(np.eye(2, 3), (1, 2, 3))]
    [(3, 1), (3, 2), (3, 2)]
    """
    directions = principal_directions(vectors, most=max(dims))
    return [directions[:, :d] for d in dims]


def centred_svd_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """First ``d`` left singular vectors of the set minus its mean.

    A set that does not vary is represented by the direction of its mean.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import centred_svd_bases
    >>> (basis,) = centred_svd_bases(np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0]]), (1,))
    >>> np.abs(basis.T)
    array([[0., 0., 1.]])
    """
    # The mean is rounded in proportion to the vectors, however little they vary.
    scale = float(np.linalg.norm(vectors))
    directions = principal_directions(vectors - vectors.mean(axis=0), scale, max(dims))
    return [directions[:, :d] for d in dims] if directions.size else svd_bases(vectors, dims)


def numerical_rank(strengths: FloatArray, shape: tuple[int, ...], scale: float = 0.0) -> int:
    """Number of singular values, largest first, that stand above rounding at ``scale``."""
    floor = max(float(strengths[0]), scale) * max(shape) * np.finfo(np.float64).eps
    return int((strengths > floor).sum())


def principal_directions(
    vectors: FloatArray, scale: float = 0.0, most: int | None = None
) -> FloatArray:
    """Left singular vectors of ``vectors.T`` that stand above rounding at ``scale``.

    At most so many, or all. Signs do not depend on the order of the set: the cubes of its
    coordinates along each vector sum to a positive number.
    """
    decomposed = _by_products(vectors, most)
    if decomposed is None:
        decomposed = linalg.svd(vectors, full_matrices=False, check_finite=False)
    coordinates, strengths, directions = decomposed
    rank = min(numerical_rank(strengths, vectors.shape, scale), most or len(strengths))
    kept = directions[:rank].T
    lean = (coordinates[:, :rank] ** 3).sum(axis=0)
    largest = kept[np.abs(kept).argmax(axis=0), np.arange(kept.shape[1])]
    # Where they sum to zero, the largest entry decides.
    signs = np.sign(np.where(np.abs(lean) > 1e-9, lean, largest))
    return np.ascontiguousarray(kept * signs)


# Smallest eigenvalue of the products of vectors, relative to the largest, that is exact enough.
LEAST_PRODUCT = 1e-4


def _by_products(
    vectors: FloatArray, most: int | None
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """The first factors of the singular value decomposition, by products of the vectors.

    Several times as fast, where a few strong directions of many features are wanted; None
    where they are not, or too weak: eigenvalues are squares, and lose half of the digits.
    """
    if most is None or not most < len(vectors) <= vectors.shape[1]:
        return None
    squares, coordinates = np.linalg.eigh(vectors @ vectors.T)
    if not squares[-most] > LEAST_PRODUCT * squares[-1]:
        return None
    coordinates, strengths = (
        coordinates[:, : -most - 1 : -1],
        np.sqrt(squares[: -most - 1 : -1]),
    )
    return coordinates, strengths, (coordinates.T @ vectors) / strengths[:, None]


# The tree of more vectors takes long and adds little.
MOST_VECTORS = 500


@dataclass(frozen=True)
class Means(Basis):
    """Where the vectors of a set are: the means of its parts.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Means
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0]])
    >>> Means().columns(vectors, (1,), np.random.default_rng(0))[0].T
    array([[1., 0., 0.]])
    """

    name: ClassVar[str] = "means"
    is_random: ClassVar[bool] = False

    def columns(self, vectors: FloatArray, dims: Sequence[int], rng: Any) -> list[FloatArray]:
        """See :func:`means_bases`."""
        return means_bases(vectors, dims)


@dataclass(frozen=True)
class Mean(Basis):
    """Where a set is: the direction of its mean, by which embeddings are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Mean
    >>> vectors = np.array([[3.0, 0.0, 1.0], [3.0, 0.0, -1.0]])
    >>> Mean().columns(vectors, (1,), np.random.default_rng(0))[0].T
    array([[1., 0., 0.]])
    """

    name: ClassVar[str] = "mean"
    is_random: ClassVar[bool] = False

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """One column, always."""
        return (1,)

    def columns(self, vectors: FloatArray, dims: Sequence[int], rng: Any) -> list[FloatArray]:
        """The mean of all vectors, or the main direction of vectors that cancel."""
        return means_bases(vectors, [1])


@dataclass(frozen=True)
class Vectors(Basis):
    """The vectors of a set themselves, each compared with the nearest of another set.

    No graph is made of them, so that only angles compare them. Larger sets are thinned, in
    whatever order they are given.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Vectors
    >>> vectors = np.array([[3.0, 0.0], [3.0, 4.0]])
    >>> Vectors().columns(vectors, (1,), np.random.default_rng(0))[0].T
    array([[1. , 0. ],
           [0.6, 0.8]], dtype=float32)
    """

    name: ClassVar[str] = "vectors"
    is_random: ClassVar[bool] = False
    has_graph: ClassVar[bool] = False
    holds_vectors: ClassVar[bool] = True
    most: int = 100

    def __post_init__(self) -> None:
        check_count("Vectors", "most", self.most)

    def offered(self, dims: Sequence[int]) -> tuple[int, ...]:
        """One basis, whatever ``dims``."""
        return (1,)

    def most_columns(self, d: int) -> int:
        """The most vectors of a set that are compared."""
        return self.most

    def columns(self, vectors: FloatArray, dims: Sequence[int], rng: Any) -> list[FloatArray]:
        """The unit vectors, at most ``most`` of them."""
        rows = vectors[vectors.any(axis=1)]
        step = -(-len(rows) // self.most)
        if step > 1:
            rows = rows[np.sort(canonical_order(rows)[::step])]
        return [unit_rows(rows).T.astype(np.float32)]


def means_bases(vectors: FloatArray, dims: Sequence[int]) -> list[FloatArray]:
    """Directions of the means of ``d`` parts of the set, for each ``d`` in ``dims``.

    Ward's tree divides the set, thinned to :data:`MOST_VECTORS` along its main direction. There
    are fewer columns where vectors are copies or parts have a zero mean. If all have, the set's
    main direction is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import means_bases
    >>> [basis.shape for basis in means_bases(np.diag([3.0, 2.0, 1.0]), (1, 2))]
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
    along = vectors @ principal_directions(vectors, most=1)[:, 0]
    return vectors[np.argsort(along, kind="stable")[::step]]
