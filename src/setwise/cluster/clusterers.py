"""One small interface for every way to cluster the columns.

A clusterer sees columns and graph, and is then asked for clusters under a labelling. Only
semi-supervised ones look at the labelling: SHC to know when to stop, SKMS for its constraints.
The others cluster once, and all labellings of the same columns share the result.

``CLUSTERERS`` has a name for each rival of the paper: clusterers that want to know how many
clusters there are make as many as there are gallery classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from setwise._support.parameters import refuse
from setwise._support.types import FloatArray, IntArray
from setwise.cluster.shc import PROBE, HierarchicalClusters, shc
from setwise.cluster.tree import LOCAL_ABOVE, CutTree
from setwise.errors import DataError, ParameterError, SetwiseError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CLUSTERERS",
    "ClusterMaker",
    "FlatClusters",
    "NamedClusterer",
    "cluster_maker",
    "named_clusterer",
]


@dataclass(frozen=True)
class FlatClusters:
    """Clusters without a tree."""

    labels: IntArray


Clusters: TypeAlias = HierarchicalClusters | FlatClusters
# class codes (PROBE for the probe's) -> clusters
ClusterMaker: TypeAlias = Callable[[IntArray], Clusters]


# scikit-learn's clusterers take long to import, and SHC needs none of them.
def _kmeans(n_clusters: int, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(n_clusters, n_init=10, random_state=seed)


def _spectral(n_clusters: int, seed: int) -> Any:
    from sklearn.cluster import SpectralClustering

    return SpectralClustering(n_clusters, affinity="precomputed", random_state=seed)


def _rival(name: str, *args: Any, **options: Any) -> Any:
    # The rivals stand above this room, and are looked up when somebody asks for one.
    return getattr(import_module("setwise.baselines.clusterers"), name)(*args, **options)


# name -> clusterer of a number of clusters and a seed; SHC is None, as for `cluster_maker`
CLUSTERERS: dict[str, Callable[[int, int], Any]] = {
    "shc": lambda n_clusters, seed: None,
    "kmeans": _kmeans,
    "ssc": lambda n_clusters, seed: _rival(
        "SSC", n_clusters, solver="exact", random_state=seed
    ),
    "ssc-admm": lambda n_clusters, seed: _rival("SSC", n_clusters, random_state=seed),
    "spectral": _spectral,
    "skms": lambda n_clusters, seed: _rival("SKMS", random_state=seed),
}


@dataclass(frozen=True)
class NamedClusterer:
    """A clusterer of ``CLUSTERERS`` that waits to hear how many clusters there are."""

    name: str
    seed: int

    def of(self, n_clusters: int) -> Any:
        """The clusterer."""
        return CLUSTERERS[self.name](n_clusters, self.seed)


def named_clusterer(clusterer: Any, seed: int) -> Any:
    """What CVC's ``clusterer`` means to :func:`cluster_maker`; names get their seed."""
    is_object = hasattr(clusterer, "fit_predict") and not isinstance(clusterer, type)
    if clusterer is None or is_object:
        return clusterer
    if not isinstance(clusterer, str) or clusterer not in CLUSTERERS:
        names = ", ".join(map(repr, CLUSTERERS))
        expected = f"None, one of {names}, or an object with fit_predict"
        refuse("CVC", "clusterer", expected, clusterer)
    return None if clusterer == "shc" else NamedClusterer(clusterer, seed)


def cluster_maker(
    clusterer: Any, cut: str, adjacency: sp.csr_array, columns: Callable[[], FloatArray]
) -> ClusterMaker:
    """Prepare to cluster columns, whose graph is ``adjacency``.

    Parameters
    ----------
    clusterer : None, NamedClusterer or scikit-learn clusterer
        None is SHC. For names see :func:`named_clusterer`. Any object with ``fit_predict``
        clusters the columns, presented as rows; one with ``affinity="precomputed"`` clusters
        the graph. One whose class has ``is_semi_supervised = True`` gets the class codes as
        ``y``, and clusters anew for every labelling.
    cut : str
        How SHC divides, see :func:`setwise.cut.bisect`.
    adjacency : csr_array of shape (n_columns, n_columns)
        The proximity graph.
    columns : function
        Gives the unit columns, of shape (n_features, n_columns); SHC does not need them.
    """
    if clusterer is None:
        return _shc_maker(cut, adjacency)
    is_named = isinstance(clusterer, NamedClusterer)
    if not is_named and not hasattr(clusterer, "fit_predict"):
        msg = (
            "clusterer must be None (SHC) or have fit_predict like scikit-learn's, got "
            f"{type(clusterer).__name__}."
        )
        raise ParameterError(msg)

    def cluster(n_clusters: int, class_codes: IntArray | None = None) -> FlatClusters:
        chosen = clusterer.of(n_clusters) if is_named else clone(clusterer)
        takes_graph = getattr(chosen, "affinity", None) == "precomputed"
        points = adjacency if takes_graph else columns().T
        with _components_are_normal() if takes_graph else nullcontext():
            return FlatClusters(_labels(chosen, points, class_codes))

    def n_wanted(class_codes: IntArray) -> int:
        # An object knows by itself how many clusters it wants.
        return len(np.unique(class_codes[class_codes != PROBE])) if is_named else 0

    kind = type(clusterer.of(1) if is_named else clusterer)
    if getattr(kind, "is_semi_supervised", False):
        return lambda class_codes: cluster(n_wanted(class_codes), class_codes)
    once = cache(cluster)
    return lambda class_codes: once(n_wanted(class_codes))


def _shc_maker(cut: str, adjacency: sp.csr_array) -> ClusterMaker:
    if adjacency.shape[0] > LOCAL_ABOVE:
        # Large clusters are divided around the probe, so every labelling has its own tree.
        return lambda class_codes: shc(
            CutTree(adjacency, cut, seeds=np.flatnonzero(class_codes == PROBE)), class_codes
        )
    tree = CutTree(adjacency, cut)
    return lambda class_codes: shc(tree, class_codes)


def _labels(clusterer: Any, points: Any, class_codes: IntArray | None) -> IntArray:
    """Clusters 0, 1, ... of the points, or one message that says who failed on what."""
    name, n_points = type(clusterer).__name__, points.shape[0]
    given = (points,) if class_codes is None else (points, class_codes)
    try:
        found = np.asarray(clusterer.fit_predict(*given))
    except SetwiseError:
        raise
    except (ValueError, TypeError, RuntimeError) as error:
        msg = f"clusterer {name} failed on {n_points} columns: {error}"
        raise DataError(msg) from error
    if found.shape != (n_points,):
        msg = (
            f"clusterer {name} gave labels of shape {found.shape}. Expected one for each of "
            f"{n_points} columns."
        )
        raise DataError(msg)
    # Density methods mark noise with -1: points without cluster are clusters of their own.
    noise = np.flatnonzero(found < 0)
    labels = np.where(found < 0, found.max(initial=-1) + 1, found).astype(np.int64)
    labels[noise] += np.arange(len(noise))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


_WARNINGS = Lock()


@contextmanager
def _components_are_normal() -> Iterator[None]:
    """Keep scikit-learn from warning that a graph has components, as ours often have."""
    # The filters belong to all threads, and must be put back in the order they were changed.
    with _WARNINGS, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        yield
