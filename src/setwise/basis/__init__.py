"""Bases, which turn a set into a few unit columns: singular vectors, means, atoms."""

from setwise.basis.base import Basis
from setwise.basis.dictionary import Dictionary, dictionary_bases, learn_dictionary
from setwise.basis.means import Mean, Means, means_bases
from setwise.basis.svd import SVD, CentredSVD, centred_svd_bases, svd_bases

__all__ = [
    "SVD",
    "Basis",
    "CentredSVD",
    "Dictionary",
    "Mean",
    "Means",
    "centred_svd_bases",
    "dictionary_bases",
    "learn_dictionary",
    "means_bases",
    "svd_bases",
]
