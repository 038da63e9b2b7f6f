"""Set to a few unit columns: singular vectors, centred ones, means, dictionary atoms."""

from setwise.basis.dictionary import dictionary_bases, learn_dictionary
from setwise.basis.means import means_bases
from setwise.basis.svd import centred_svd_bases, svd_bases

__all__ = [
    "centred_svd_bases",
    "dictionary_bases",
    "learn_dictionary",
    "means_bases",
    "svd_bases",
]
