"""Set classifiers by a kernel between sets: CDL on covariances, GDA on subspaces."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import linalg

from setwise._support.parameters import check_choice, check_count, check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import SetModels, nearest_by_class, relative_softmax
from setwise.baselines.covariance import LogCovariance, LogCovariances, log_covariance
from setwise.baselines.subspaces import Subspaces, set_subspace, usable_dims
from setwise.sets import SetBatch


@dataclass(frozen=True)
class KernelDiscriminant:
    """Kernel discriminant analysis, and the nearest gallery set in its coordinates."""

    coefficients: FloatArray  # discriminant directions, as combinations of gallery sets
    coordinates: FloatArray  # of the gallery sets
    codes: IntArray
    added: float  # to the diagonal of the squared centred kernel

    @classmethod
    def fit(cls, gram: FloatArray, codes: IntArray, ridge: float) -> Self:
        """Directions of largest scatter between classes over total scatter.

        Baudat and Anouar (2000); ``ridge`` is added to the squared kernel's diagonal.
        """
        n = len(gram)
        added = ridge * float(np.mean(np.diag(gram))) ** 2
        centring = np.eye(n) - 1.0 / n
        centred = centring @ gram @ centring
        counts = np.bincount(codes)
        is_of_class = np.eye(len(counts))[codes]
        means = (is_of_class / np.sqrt(counts)).T @ centred
        total = centred @ centred + added * np.eye(n)
        kept = [n - len(counts) + 1, n - 1]
        found = linalg.eigh(means.T @ means, total, subset_by_index=kept)[1]
        # By the kernel as it is, not centred, as in the authors' release.
        lengths = np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", found, gram, found), 0.0))
        coefficients = found / np.where(lengths > 0, lengths, 1.0)
        return cls(coefficients, gram @ coefficients, codes, added)

    def scores(self, kernels: FloatArray) -> FloatArray:
        """Negated distance to the nearest gallery set of each class."""
        apart = np.linalg.norm(self.coordinates - kernels @ self.coefficients, axis=1)
        return -nearest_by_class(apart, self.codes)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Softmax of the distances to the classes, in units of their mean."""
        return relative_softmax(scores)


@dataclass(frozen=True)
class KernelPLS:
    """Kernel partial least squares regression of class indicators."""

    coefficients: FloatArray
    kernel_mean: FloatArray
    class_shares: FloatArray
    n_components: int  # fewer than asked for where the kernel is exhausted

    @classmethod
    def fit(cls, gram: FloatArray, codes: IntArray, n_components: int) -> Self:
        """Components by NIPALS (Rosipal and Trejo 2001)."""
        n = len(gram)
        indicators = np.eye(int(codes.max()) + 1)[codes]
        centring = np.eye(n) - 1.0 / n
        centred = centring @ gram @ centring
        targets = indicators - indicators.mean(axis=0)
        scores, weights = _nipals(centred, targets, n_components)
        inner = scores.T @ centred @ weights
        coefficients = weights @ (linalg.pinv(inner) @ (scores.T @ targets))
        return cls(coefficients, gram.mean(axis=0), indicators.mean(axis=0), scores.shape[1])

    def scores(self, kernels: FloatArray) -> FloatArray:
        """Predicted indicator of each class."""
        centred = kernels - self.kernel_mean
        return (centred - centred.mean()) @ self.coefficients + self.class_shares

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Indicators, shifted to be non-negative, as shares of their sum."""
        shares = scores - np.minimum(scores.min(axis=1, keepdims=True), 0.0)
        return shares / shares.sum(axis=1, keepdims=True)


def _nipals(
    centred: FloatArray, targets: FloatArray, n_components: int, *, max_iter: int = 500
) -> tuple[FloatArray, FloatArray]:
    """Score vectors ``T`` and weight vectors ``U`` of kernel partial least squares."""
    kernel, left = centred, targets
    tiny = 1e-12 * (np.linalg.norm(centred) or 1.0)
    scores: list[FloatArray] = []
    weights: list[FloatArray] = []
    while len(scores) < n_components and np.linalg.norm(left) > 1e-12:
        # The column with most left to explain; the authors start at random.
        u = left[:, np.linalg.norm(left, axis=0).argmax()]
        t = np.zeros(len(kernel))
        for _ in range(max_iter):
            before, t = t, kernel @ u
            if np.linalg.norm(t) <= tiny:
                break
            t = t / np.linalg.norm(t)
            u = left @ (left.T @ t)
            u = u / np.linalg.norm(u)
            if np.linalg.norm(t - before) < 1e-8:
                break
        if np.linalg.norm(t) <= tiny:
            break
        scores.append(t)
        weights.append(u)
        kernel = kernel - np.outer(t, t @ kernel)
        kernel = kernel - np.outer(kernel @ t, t)
        left = left - np.outer(t, t @ left)
    shape = (len(scores), len(centred))
    return np.reshape(scores, shape).T, np.reshape(weights, shape).T


Head: TypeAlias = KernelDiscriminant | KernelPLS


class KernelSetClassifier(SetModels):
    """A set classifier whose head sees sets only through a kernel between them."""

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        self._learn(gallery, codes)
        models = [self._model(vectors) for vectors in gallery]
        self.gallery_models_ = self._stacked(models)
        gram = np.array([self._kernels(model) for model in models])
        self.head_ = self._head((gram + gram.T) / 2, codes)

    @abstractmethod
    def _kernels(self, model: Any) -> FloatArray:
        """Kernel of one set with each gallery set."""

    @abstractmethod
    def _head(self, gram: FloatArray, codes: IntArray) -> Head:
        """The classifier on kernels."""

    def _score(self, vectors: FloatArray) -> FloatArray:
        return self.head_.scores(self._kernels(self._model(vectors)))

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return self.head_.probabilities(scores)


@dataclass(eq=False, repr=False)
class CDL(KernelSetClassifier):
    """Covariance discriminative learning: a kernel method on the sets' covariances.

    The kernel of two sets is ``tr(log C_a log C_b)`` of their covariances. Discriminant
    analysis or partial least squares separate the classes (Wang, Guo, Davis and Dai,
    *Covariance discriminative learning*, CVPR 2012). A set that does not vary, such as one
    vector, is described by its scatter about the gallery's mean.

    Parameters
    ----------
    head : {"lda", "pls"}, default="lda"
        Discriminant analysis and the nearest set, or partial least squares.
    regularisation : float, default=1e-3
        Added to the diagonal of each covariance, as a share of its trace.
    ridge : float, default=1e-8
        Added to the squared kernel's diagonal, in units of the kernel's squared mean diagonal.
    n_components : int, optional
        Of partial least squares; by default the number of classes less one, at least 25.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import CDL
    >>> from setwise.evaluation.testing import separable_sets
    >>> CDL().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    head: str = "lda"
    _: KW_ONLY
    regularisation: float = 1e-3
    ridge: float = 1e-8
    n_components: int | None = None

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_choice("CDL", "head", self.head, ("lda", "pls"))
        check_number("CDL", "regularisation", self.regularisation, above=1e-100, at_most=1e100)
        check_number("CDL", "ridge", self.ridge, above=1e-14, at_most=1e100)
        if self.n_components is not None:
            check_count("CDL", "n_components", self.n_components)
        self.origin_: FloatArray = gallery.vectors.mean(axis=0)

    def _model(self, vectors: FloatArray) -> LogCovariance:
        return log_covariance(vectors, self.regularisation, self.origin_)

    def _stacked(self, models: list[LogCovariance]) -> LogCovariances:
        return LogCovariances.of(models)

    def _kernels(self, model: LogCovariance) -> FloatArray:
        return self.gallery_models_.products(model)

    def _head(self, gram: FloatArray, codes: IntArray) -> Head:
        if self.head == "lda":
            return KernelDiscriminant.fit(gram, codes, self.ridge)
        n_components = self.n_components or max(int(codes.max()), 25)
        return KernelPLS.fit(gram, codes, min(n_components, len(codes) - 1))


@dataclass(eq=False, repr=False)
class GDA(KernelSetClassifier):
    """Grassmann discriminant analysis: a kernel method on the sets' subspaces.

    The kernel of two subspaces is the squared Frobenius norm of the product of their bases,
    over the square root of their dimensions. Discriminant analysis and the nearest set separate
    the classes (Hamm and Lee, *Grassmann discriminant analysis*, ICML 2008).

    Parameters
    ----------
    n_dims : int, default=5
        Dimensions of a subspace; at most half of the features, since larger ones intersect.
    centred : bool, default=False
        Subtract the mean of the set first. A set that does not vary keeps its mean.
    ridge : float, default=1e-8
        Added to the squared kernel's diagonal, in units of the kernel's squared mean diagonal.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import GDA
    >>> from setwise.evaluation.testing import separable_sets
    >>> GDA(n_dims=3).fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    n_dims: int = 5
    _: KW_ONLY
    centred: bool = False
    ridge: float = 1e-8

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_count("GDA", "n_dims", self.n_dims)
        check_choice("GDA", "centred", self.centred, (False, True))
        check_number("GDA", "ridge", self.ridge, above=1e-14)
        self.n_dims_ = usable_dims(self.n_dims, gallery.n_features)

    def _model(self, vectors: FloatArray) -> FloatArray:
        basis = set_subspace(vectors, n_dims=self.n_dims_, centred=self.centred)
        return basis if basis.shape[1] else set_subspace(vectors, n_dims=self.n_dims_)

    def _stacked(self, models: list[FloatArray]) -> Subspaces:
        return Subspaces.of(models)

    def _kernels(self, model: FloatArray) -> FloatArray:
        gallery: Subspaces = self.gallery_models_
        return gallery.squared_cosines(model) / np.sqrt(gallery.n_dims * model.shape[1])

    def _head(self, gram: FloatArray, codes: IntArray) -> Head:
        return KernelDiscriminant.fit(gram, codes, self.ridge)
