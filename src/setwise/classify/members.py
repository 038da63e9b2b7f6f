"""The members of an ensemble: which look at a set makes which classifier.

A *look* is one view of the vectors and one kind of basis (for dictionaries also one l1 bound
and one seed); a *member* is a look at one dimensionality. All members vote together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from setwise._support.types import FloatArray
from setwise.basis import centred_svd_bases, dictionary_bases, means_bases, svd_bases

__all__ = ["BASES", "Look", "Member", "all_looks", "bases_of_set"]


@dataclass(frozen=True)
class Look:
    """A way to turn one set into bases of several dimensionalities.

    Attributes
    ----------
    view : str
        Name of the view of the vectors.
    basis : str
        Name of the kind of basis.
    radius : float
        l1 bound of the codes; dictionaries only.
    seed : int
        Which random start; dictionaries only.
    """

    view: str
    basis: str
    radius: float = 1.0
    seed: int = 0

    def __str__(self) -> str:
        bound = "" if self.radius == 1.0 else f", bound {self.radius:g}"
        seed = "" if self.seed == 0 else f", seed {self.seed}"
        return f"{self.view} {self.basis}{bound}{seed}"


@dataclass(frozen=True)
class Member:
    """One classifier of the ensemble: a look, at one dimensionality."""

    look: Look
    n_columns: int

    def __str__(self) -> str:
        return f"{self.look}, d={self.n_columns}"


def _dictionary(
    vectors: FloatArray, dims: Sequence[int], look: Look, entropy: int
) -> list[FloatArray]:
    # The same start for every set: the answer must not depend on a set's place in its batch.
    source = np.random.SeedSequence(entropy, spawn_key=(look.seed,))
    rng = np.random.default_rng(source)
    return dictionary_bases(vectors, dims, radius=look.radius, rng=rng)


# name -> bases of one set for all dims
BASES: dict[str, Callable[[FloatArray, Sequence[int], Look, int], list[FloatArray]]] = {
    "svd": lambda vectors, dims, look, entropy: svd_bases(vectors, dims),
    "centred": lambda vectors, dims, look, entropy: centred_svd_bases(vectors, dims),
    "means": lambda vectors, dims, look, entropy: means_bases(vectors, dims),
    "dictionary": _dictionary,
}


def all_looks(
    pairs: Iterable[tuple[str, str]], radii: Sequence[float], n_seeds: int
) -> tuple[Look, ...]:
    """A look for each pair of view and basis; bounds and seeds multiply dictionaries only."""
    starts = list(itertools.product(radii, range(n_seeds)))
    return tuple(
        Look(view, basis, radius, seed)
        for view, basis in pairs
        for radius, seed in (starts if basis == "dictionary" else [(1.0, 0)])
    )


def bases_of_set(
    vectors: FloatArray, dims: Sequence[int], look: Look, entropy: int
) -> list[FloatArray]:
    """Bases of one set (unit or zero rows) as one look sees it, one for each of ``dims``.

    A set whose vectors are all zero in this view has no column there, and says nothing.
    """
    if not vectors.any():
        return [np.empty((vectors.shape[1], 0)) for _ in dims]
    return BASES[look.basis](vectors, dims, look, entropy)
