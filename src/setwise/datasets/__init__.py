"""Known public datasets with their protocols, and made ones."""

from setwise.datasets.cambridge import load_cambridge
from setwise.datasets.corruption import Corrupted, corrupt_sets, limit_sets
from setwise.datasets.fetch import fetch
from setwise.datasets.honda import load_honda
from setwise.datasets.mobo import load_mobo
from setwise.datasets.objects import (
    make_object_views,
    object_view_angles,
    object_view_outliers,
)
from setwise.datasets.prepared import load
from setwise.datasets.protocols import Dataset, random_folds, spread_folds
from setwise.datasets.registry import SOURCES, RemoteFile, Source
from setwise.datasets.synthetic import make_gaussian_pair, make_subspace_union
from setwise.datasets.youtube import load_youtube

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
    "make_object_views",
    "make_subspace_union",
    "object_view_angles",
    "object_view_outliers",
    "random_folds",
    "spread_folds",
]
