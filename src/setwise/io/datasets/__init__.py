"""Known public datasets with their protocols, and made ones."""

from setwise.io.datasets.cambridge import load_cambridge
from setwise.io.datasets.corruption import Corrupted, corrupt_sets, limit_sets
from setwise.io.datasets.fetch import fetch
from setwise.io.datasets.honda import load_honda
from setwise.io.datasets.mobo import load_mobo
from setwise.io.datasets.prepared import load
from setwise.io.datasets.protocols import Dataset, random_folds, spread_folds
from setwise.io.datasets.registry import SOURCES, RemoteFile, Source
from setwise.io.datasets.synthetic import make_gaussian_pair, make_subspace_union
from setwise.io.datasets.youtube import load_youtube

__all__ = [
    "SOURCES",
    "Corrupted",
    "Dataset",
    "RemoteFile",
    "Source",
    "corrupt_sets",
    "fetch",
    "limit_sets",
    "load",
    "load_cambridge",
    "load_honda",
    "load_mobo",
    "load_youtube",
    "make_gaussian_pair",
    "make_subspace_union",
    "random_folds",
    "spread_folds",
]
