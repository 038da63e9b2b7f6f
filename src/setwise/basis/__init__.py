"""Set to a few unit columns: dictionary atoms, singular vectors, centred ones."""

from setwise.basis.dictionary import dictionary_bases, learn_dictionary
from setwise.basis.svd import centred_svd_bases, svd_bases

__all__ = [
    "centred_svd_bases",
    "dictionary_bases",
    "learn_dictionary",
    "svd_bases",
]
