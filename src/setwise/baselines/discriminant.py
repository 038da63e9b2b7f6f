"""Classifiers that know sets by a kernel alone: discriminant analysis and least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from scipy import linalg

from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import nearest_by_class, relative_softmax

__all__ = ["Head", "KernelDiscriminant", "KernelPLS"]


class Head(Protocol):
    """Scores of the classes, by the kernel of a probe with each gallery set."""

    def scores(self, kernels: FloatArray) -> FloatArray:
        """Score of each class, largest best."""

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Probability of each class, one row per probe."""


@dataclass(frozen=True)
class KernelDiscriminant:
    """Kernel discriminant analysis, and the nearest gallery set in its coordinates.

    Attributes
    ----------
    coefficients : array of shape (n_sets, n_classes - 1)
        Discriminant directions as combinations of gallery sets.
    coordinates : array of shape (n_sets, n_classes - 1)
        The gallery sets.
    codes : array of int, shape (n_sets,)
        Their classes.
    added : float
        What was added to the diagonal of the squared centred kernel.
    """

    coefficients: FloatArray
    coordinates: FloatArray
    codes: IntArray
    added: float

    @classmethod
    def fit(cls, gram: FloatArray, codes: IntArray, ridge: float) -> Self:
        """Directions of largest scatter between classes over total scatter.

        ``K B K a = mu (K K + added I) a`` for the centred kernel ``K``, where ``B`` averages
        within classes (Baudat and Anouar 2000), ``added`` being ``ridge`` times the square of
        the mean diagonal of the kernel.
        """
        n = len(gram)
        added = ridge * float(np.mean(np.diag(gram))) ** 2
        centring = np.eye(n) - 1.0 / n
        centred = centring @ gram @ centring
        counts = np.bincount(codes)
        is_of_class = np.eye(len(counts))[codes]
        means = (is_of_class / np.sqrt(counts)).T @ centred
        total = centred @ centred + added * np.eye(n)
        n_kept = len(counts) - 1
        found = linalg.eigh(means.T @ means, total, subset_by_index=[n - n_kept, n - 1])[1]
        # By the kernel as it is, not centred, as in the authors' release.
        lengths = np.sqrt(np.maximum(np.einsum("ik,ij,jk->k", found, gram, found), 0.0))
        coefficients = found / np.where(lengths > 0, lengths, 1.0)
        return cls(coefficients, gram @ coefficients, codes, added)

    def scores(self, kernels: FloatArray) -> FloatArray:
        """Minus the distance to the nearest gallery set of each class."""
        apart = np.linalg.norm(self.coordinates - kernels @ self.coefficients, axis=1)
        return -nearest_by_class(apart, self.codes)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Softmax of the distances to the classes, in units of their mean."""
        return relative_softmax(scores)


@dataclass(frozen=True)
class KernelPLS:
    """Kernel partial least squares regression of class indicators.

    Attributes
    ----------
    coefficients : array of shape (n_sets, n_classes)
        What centred kernels are multiplied with.
    kernel_mean : array of shape (n_sets,)
        Mean kernel of each gallery set with all.
    class_shares : array of shape (n_classes,)
        Share of the gallery that each class has: what is known without looking.
    n_components : int
        Components found; fewer than asked for where the kernel is exhausted.
    """

    coefficients: FloatArray
    kernel_mean: FloatArray
    class_shares: FloatArray
    n_components: int

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
        """The indicator of each class, as the regression has it."""
        centred = kernels - self.kernel_mean
        return (centred - centred.mean()) @ self.coefficients + self.class_shares

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Indicators, from zero on, as shares of their sum."""
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
