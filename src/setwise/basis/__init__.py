"""Bases, which turn a set into a few columns: singular vectors, means, atoms."""

from setwise.basis.base import (
    SVD,
    Basis,
    CentredSVD,
    Mean,
    Means,
    Vectors,
    centred_svd_bases,
    means_bases,
    svd_bases,
)
from setwise.basis.dictionary import Dictionary, dictionary_bases, learn_dictionary
from setwise.basis.spread import Spread, spread_basis

__all__ = [
    "SVD",
    "Basis",
    "CentredSVD",
    "Dictionary",
    "Mean",
    "Means",
    "Spread",
    "Vectors",
    "centred_svd_bases",
    "dictionary_bases",
    "learn_dictionary",
    "means_bases",
    "spread_basis",
    "svd_bases",
]
