"""What is known of pairs of sets: of one class for certain, or of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from setwise._support.types import FloatArray, IntArray
from setwise.errors import reject


@dataclass(frozen=True)
class Links:
    """Constraints on groups of sets: bundles that stay together, and pairs of them that do not.

    Examples
    --------
    >>> from setwise.together import Links
    >>> links = Links.of(4, must_link=[(0, 1)], cannot_link=[(1, 3)])
    >>> links.bundles, links.apart
    (array([0, 0, 1, 2]), array([[0, 2]]))
    """

    bundles: IntArray  #: bundle of each set, numbered in the order of first sets
    apart: IntArray  #: pairs of bundles, each once and in order, shape (n_pairs, 2)

    @classmethod
    def of(
        cls, n_sets: int, must_link: Any = None, cannot_link: Any = None, caller: str = "Links"
    ) -> Links:
        """Check pairs of indices of sets, and join what must be linked through others."""
        bound = check_pairs(must_link, n_sets, "must_link", caller)
        parted = check_pairs(cannot_link, n_sets, "cannot_link", caller)
        ones = np.ones(len(bound))
        graph = sp.csr_array((ones, (bound[:, 0], bound[:, 1])), shape=(n_sets, n_sets))
        found = connected_components(graph, directed=False)[1]
        _, first, codes = np.unique(found, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        bundles = place[codes.ravel()]
        pairs = np.sort(bundles[parted], axis=1)
        both = pairs[:, 0] == pairs[:, 1]
        if both.any():
            i, j = parted[both.argmax()].tolist()
            reject(
                f"{caller}: sets {i} and {j} are in cannot_link, but must_link joins them, "
                "directly or through others. Remove one of these links."
            )
        return cls(bundles, np.unique(pairs, axis=0).reshape(-1, 2))

    @property
    def n_bundles(self) -> int:
        """Number of bundles; sets without links are one each."""
        return int(self.bundles.max(initial=-1)) + 1

    @property
    def sizes(self) -> FloatArray:
        """Number of sets of each bundle."""
        return np.bincount(self.bundles, minlength=self.n_bundles).astype(np.float64)

    @property
    def apart_table(self) -> sp.csr_array:
        """Symmetric table of the bundles that stay apart."""
        first, second = self.apart.T
        both = np.concatenate([first, second]), np.concatenate([second, first])
        n = self.n_bundles
        return sp.csr_array((np.ones(2 * len(first)), both), shape=(n, n))

    def with_others(self, n_others: int) -> Links:
        """The links with further sets that have none."""
        others = self.n_bundles + np.arange(n_others)
        return Links(np.concatenate([self.bundles, others]), self.apart)

    def among(self, sets: IntArray) -> Links:
        """The links between some of the sets."""
        _, first = np.unique(self.bundles[sets], return_index=True)
        order = np.argsort(first)
        place = np.full(self.n_bundles, -1)
        place[self.bundles[sets][first[order]]] = np.arange(len(order))
        pairs = place[self.apart]
        inside = np.sort(pairs[(pairs >= 0).all(axis=1)], axis=1)
        return Links(place[self.bundles[sets]], np.unique(inside, axis=0).reshape(-1, 2))


def check_pairs(pairs: Any, n_sets: int, name: str, caller: str) -> IntArray:
    """Pairs of different indices of sets as an array of shape (n_pairs, 2).

    Examples
    --------
    >>> check_pairs([(2, 0)], 3, "must_link", "SetClusters.fit")
    array([[2, 0]])
    """
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    expected = f"pairs of indices of sets, such as [(0, 1)], each from 0 to {n_sets - 1}"
    try:
        given = np.asarray(list(pairs))
    except (TypeError, ValueError) as error:
        reject(f"{caller}: {name} is {pairs!r}. Expected {expected}.", error)
    if not given.size:
        return np.empty((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        what = f"of shape {given.shape} and type {given.dtype}"
        reject(f"{caller}: {name} is {what}. Expected {expected}.")
    wrong = (given < 0).any(1) | (given >= n_sets).any(1) | (given[:, 0] == given[:, 1])
    if wrong.any():
        i, j = given[wrong.argmax()].tolist()
        reject(f"{caller}: {name} has the pair ({i}, {j}). Expected {expected}, two of each.")
    return given.astype(np.int64)
