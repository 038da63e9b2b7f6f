"""Known public datasets with their protocols, and sets with outliers."""

from setwise_paper.datasets.copies import load_cambridge, load_youtube
from setwise_paper.datasets.known import (
    Dataset,
    load,
    load_honda,
    load_mobo,
    random_folds,
    spread_folds,
)
from setwise_paper.datasets.made import Corrupted, corrupt_sets, limit_sets
from setwise_paper.datasets.sources import SOURCES, RemoteFile, Source, fetch

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
    "random_folds",
    "spread_folds",
]
