"""One small interface for every way to cluster the columns, and SHC as an estimator.

A :class:`Clusterer` describes a way; started on a graph it is a :class:`Clustering`, which is
asked for clusters under a labelling. Only semi-supervised ones look at the labelling: SHC to
know when to stop, SKMS for its constraints. The others cluster once, and all labellings of the
same columns share the result. The paper's rivals make as many clusters as gallery classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import validate_data

from setwise._support.parallel import quiet
from setwise._support.parameters import check_known, refuse
from setwise._support.parts import Part
from setwise._support.types import FloatArray, IntArray
from setwise.cluster.tree import LOCAL_ABOVE, PROBE, CutTree, HierarchicalClusters, shc
from setwise.cut import CutRule
from setwise.errors import SetwiseError, reject
from setwise.features import unit_rows
from setwise.graph import Graph

# Name in files of clusterers of sklearn.cluster.
SCIKIT_LEARN = "scikit-learn"
# Parameters by which a file could ask for hours: the most that is saved and read.
_MOST_WORK = {"n_init": 1000, "max_iter": 10_000}
# Not saved, and ignored in a file: it would start processes, or print.
_OF_THE_MACHINE = ("n_jobs", "verbose")


@dataclass(frozen=True)
class FlatClusters:
    """Clusters without a tree.

    Examples
    --------
    >>> from setwise.cluster import FlatClusters
    >>> FlatClusters(np.array([0, 0, 1])).labels
    array([0, 0, 1])
    """

    labels: IntArray


GetColumns: TypeAlias = Callable[[], FloatArray]
Clusters: TypeAlias = HierarchicalClusters | FlatClusters


class Clustering(Protocol):
    """Columns that are being clustered.

    Examples
    --------
    >>> from setwise.cluster import PROBE, Clusterer
    >>> from setwise.cut import SweepCut
    >>> graph = sp.csr_array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]])
    >>> how = Clusterer.of("shc", "CVC").start(graph, lambda: None, cut=SweepCut(), seed=0)
    >>> how.under(np.array([0, PROBE, 1])).labels
    array([0, 0, 1])
    """

    def under(self, class_codes: IntArray) -> Clusters:
        """Clusters of the columns, of classes ``class_codes`` (``PROBE`` for the probe's)."""


class Clusterer(Part, ABC):
    """A way to cluster columns; its parameters and nothing else.

    Examples
    --------
    >>> from setwise.cluster import Clusterer
    >>> Clusterer.of("shc", "CVC")
    Hierarchical()
    """

    family: ClassVar[str] = "clusterer"

    @classmethod
    def of(cls, value: Any, owner: str) -> Self:
        """The clusterer of a name, None for SHC, or any object with ``fit_predict``."""
        value = "shc" if value is None else value
        if hasattr(value, "fit_predict") and not isinstance(value, type):
            return GivenClusterer(value)  # type: ignore[return-value]
        known = cls.known()
        if isinstance(value, cls | Mapping) or (isinstance(value, str) and value in known):
            return super().of(value, owner)
        names = ", ".join(map(repr, known))
        return refuse(owner, "clusterer", f"None, one of {names}, or have fit_predict", value)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The clusterer for the result of :meth:`to_config`."""
        if not isinstance(config, Mapping) or config.get("name") != SCIKIT_LEARN:
            return super().from_config(config)
        kind, parameters = config.get("kind"), config.get("parameters")
        if not isinstance(kind, str) or not isinstance(parameters, Mapping):
            refuse("clusterer", "config", "kind and parameters", config)
        own = {k: v for k, v in parameters.items() if k not in _OF_THE_MACHINE}
        return _OfScikitLearn(kind, own)  # type: ignore[return-value]

    @abstractmethod
    def start(
        self, adjacency: sp.csr_array, columns: GetColumns, *, cut: CutRule, seed: int
    ) -> Clustering:
        """Begin with columns whose graph is ``adjacency``.

        ``columns`` is a function that gives the unit columns, which SHC does not need; ``cut``
        is how SHC divides, see :func:`setwise.cut.bisect`.
        """


@dataclass(frozen=True)
class Hierarchical(Clusterer):
    """SHC, Algorithm 2 of the paper."""

    name: ClassVar[str] = "shc"

    def start(
        self, adjacency: sp.csr_array, columns: GetColumns, *, cut: CutRule, seed: int
    ) -> Clustering:
        """All labellings of a small graph share one tree of cuts."""
        if adjacency.shape[0] > LOCAL_ABOVE:
            return _OwnTrees(adjacency, cut)
        return _SharedTree(CutTree(adjacency, cut))


@dataclass(frozen=True)
class _SharedTree:
    tree: CutTree

    def under(self, class_codes: IntArray) -> HierarchicalClusters:
        return shc(self.tree, class_codes)


@dataclass(frozen=True)
class _OwnTrees:
    """Large clusters are divided around the probe, so every labelling has its own tree."""

    adjacency: sp.csr_array
    cut: CutRule

    def under(self, class_codes: IntArray) -> HierarchicalClusters:
        seeds = np.flatnonzero(class_codes == PROBE)
        return shc(CutTree(self.adjacency, self.cut, seeds=seeds), class_codes)


class _Estimators(Clusterer):
    """Clusterers that are estimators as scikit-learn has them."""

    #: Whether it wants to know how many clusters there are.
    counts_classes: ClassVar[bool] = True

    @abstractmethod
    def estimator(self, n_clusters: int, seed: int) -> Any:
        """An estimator for so many clusters."""

    def start(
        self, adjacency: sp.csr_array, columns: GetColumns, *, cut: CutRule, seed: int
    ) -> Clustering:
        """Columns are presented as rows, or the graph where it is what the estimator wants."""
        return _FlatClustering(self, seed, adjacency, columns)


@dataclass(frozen=True)
class _FlatClustering:
    clusterer: _Estimators
    seed: int
    adjacency: sp.csr_array
    columns: GetColumns
    made: dict[int, FlatClusters] = field(default_factory=dict)

    def under(self, class_codes: IntArray) -> FlatClusters:
        classes = np.unique(class_codes[class_codes != PROBE])
        n_clusters = len(classes) if self.clusterer.counts_classes else 0
        estimator = self.clusterer.estimator(n_clusters, self.seed)
        if getattr(type(estimator), "is_semi_supervised", False):
            return self._clusters(estimator, class_codes)
        if n_clusters not in self.made:
            self.made[n_clusters] = self._clusters(estimator)
        return self.made[n_clusters]

    def _clusters(self, estimator: Any, *class_codes: IntArray) -> FlatClusters:
        takes_graph = getattr(estimator, "affinity", None) == "precomputed"
        points = self.adjacency if takes_graph else self.columns().T
        # Ours often have components.
        with quiet("Graph is not fully connected", UserWarning):
            return FlatClusters(_labels(estimator, points, *class_codes))


@dataclass(frozen=True)
class GivenClusterer(_Estimators):
    """Any object with ``fit_predict``, given by the user; it is cloned before each use.

    It knows its number of clusters. One with ``affinity="precomputed"`` clusters the graph; one
    whose class has ``is_semi_supervised = True`` gets the class codes as ``y`` of each
    labelling.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from setwise.cluster import Clusterer
    >>> Clusterer.of(KMeans(5), "CVC")
    GivenClusterer(given=KMeans(n_clusters=5))
    """

    given: Any
    counts_classes: ClassVar[bool] = False

    def to_config(self) -> dict[str, Any]:
        """Name and parameters of a clusterer of ``sklearn.cluster``; others have none."""
        kind = type(self.given)
        if _public_clusterers().get(kind.__name__) is not kind:
            return super().to_config()
        parameters = {
            k: v.item() if isinstance(v, np.generic) else v
            for k, v in self.given.get_params().items()
            if k not in _OF_THE_MACHINE
        }
        return _OfScikitLearn(kind.__name__, parameters).to_config()

    def estimator(self, n_clusters: int, seed: int) -> Any:
        """A copy of the object."""
        return clone(self.given)


@dataclass(frozen=True)
class _OfScikitLearn(_Estimators):
    """A clusterer of ``sklearn.cluster`` by its name, as files hold it."""

    kind: str
    parameters: Mapping[str, Any]
    counts_classes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        kinds = _public_clusterers()
        check_known("clusterer", "kind", self.kind, kinds)
        known = kinds[self.kind]().get_params(deep=False)
        for parameter, value in dict(self.parameters).items():
            check_known(self.kind, "parameter", parameter, known)
            # A folder to cache in would be a place that a file names.
            is_plain = value is None or isinstance(value, str | int | float | bool)
            if not is_plain or (parameter == "memory" and value is not None):
                refuse(self.kind, parameter, "a number, a text or None, to be saved", value)
            most = _MOST_WORK.get(parameter)
            if most is not None and isinstance(value, int | float) and abs(value) > most:
                refuse(self.kind, parameter, f"at most {most}, to be saved", value)

    def estimator(self, n_clusters: int, seed: int) -> Any:
        """A new clusterer."""
        return _public_clusterers()[self.kind](**self.parameters)

    def to_config(self) -> dict[str, Any]:
        """Name and parameters, as JSON values."""
        return {"name": SCIKIT_LEARN, "kind": self.kind, "parameters": dict(self.parameters)}


def _public_clusterers() -> dict[str, Any]:
    from sklearn import cluster

    named = {name: getattr(cluster, name) for name in cluster.__all__}
    return {name: kind for name, kind in named.items() if hasattr(kind, "fit_predict")}


# scikit-learn's clusterers take long to import, and SHC needs none of them.
@dataclass(frozen=True)
class _KMeans(_Estimators):
    name: ClassVar[str] = "kmeans"

    def estimator(self, n_clusters: int, seed: int) -> Any:
        from sklearn.cluster import KMeans

        return KMeans(n_clusters, n_init=10, random_state=seed)


@dataclass(frozen=True)
class _Spectral(_Estimators):
    name: ClassVar[str] = "spectral"

    def estimator(self, n_clusters: int, seed: int) -> Any:
        from sklearn.cluster import SpectralClustering

        return SpectralClustering(n_clusters, affinity="precomputed", random_state=seed)


def _rival(name: str, *arguments: Any, **options: Any) -> Any:
    # The rivals stand above this room, and are imported when one is asked for.
    return getattr(import_module("setwise.baselines.clusterers"), name)(*arguments, **options)


@dataclass(frozen=True)
class _SSC(_Estimators):
    name: ClassVar[str] = "ssc"

    def estimator(self, n_clusters: int, seed: int) -> Any:
        return _rival("SSC", n_clusters, solver="exact", random_state=seed)


@dataclass(frozen=True)
class _SSCByADMM(_Estimators):
    name: ClassVar[str] = "ssc-admm"

    def estimator(self, n_clusters: int, seed: int) -> Any:
        return _rival("SSC", n_clusters, random_state=seed)


@dataclass(frozen=True)
class _SKMS(_Estimators):
    name: ClassVar[str] = "skms"

    def estimator(self, n_clusters: int, seed: int) -> Any:
        return _rival("SKMS", random_state=seed)


def _labels(clusterer: Any, points: Any, *class_codes: IntArray) -> IntArray:
    """Clusters 0, 1, ... of the points, or one message that says who failed on what."""
    name, n_points = type(clusterer).__name__, points.shape[0]
    try:
        found = np.asarray(clusterer.fit_predict(points, *class_codes))
    except SetwiseError:
        raise
    except (ValueError, TypeError, RuntimeError) as error:
        reject(f"clusterer {name} failed on {n_points} columns: {error}", error)
    if found.shape != (n_points,):
        expected = f"Expected one for each of {n_points} columns."
        reject(f"clusterer {name} gave labels of shape {found.shape}. {expected}")
    # Density methods mark noise with -1: points without cluster are clusters of their own.
    noise = np.flatnonzero(found < 0)
    labels = np.where(found < 0, found.max(initial=-1) + 1, found).astype(np.int64)
    labels[noise] += np.arange(len(noise))
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def check_row_labels(y: Any, n_rows: int, caller: str) -> npt.NDArray[Any]:
    """Validate one class per row, -1 for the unlabelled."""
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        reject(
            f"{caller}: y must hold one class for each of the {n_rows} rows, -1 for the "
            f"unlabelled, got an array of shape {labels.shape}."
        )
    return labels


class SemiSupervised(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer of rows that asks for their classes, with -1 for the unlabelled."""

    is_semi_supervised = True  # see :class:`GivenClusterer`

    def fit_predict(self, X: Any, y: Any = None) -> IntArray:
        """Cluster of each row."""
        return self.fit(X, y).labels_


class SHC(SemiSupervised):
    """Semi-supervised hierarchical clustering: nothing to guess, labels say when to stop.

    Rows are cut in two by the graph alone, again and again, until no cluster holds unlabelled
    rows together with two classes. The number of clusters is an outcome.

    Parameters
    ----------
    graph : str or Graph, default="lasso"
        How proximity is measured, see :mod:`setwise.graph`.
    cut : {"sweep", "exact", "paper"} or CutRule, default="sweep"
        How a connected cluster is divided, see :func:`setwise.cut.bisect`.

    Attributes
    ----------
    labels_ : array of int, shape (n_samples,)
        Cluster of each row.
    n_clusters_ : int
        How many there are.
    clusters_ : HierarchicalClusters
        Leaves, divided nodes and the tree of cuts.

    Examples
    --------
    >>> from setwise.cluster import SHC
    >>> X = np.array([[1, 0.1, 0], [1, 0.2, 0], [0, 0.1, 1], [0, 0.2, 1], [1, 0.15, 0]])
    >>> SHC().fit_predict(X, [0, 0, 1, 1, -1])
    array([0, 0, 1, 1, 0])
    """

    def __init__(self, graph: str | Graph = "lasso", cut: str | CutRule = "sweep") -> None:
        self.graph = graph
        self.cut = cut

    def fit(self, X: Any, y: Any) -> Self:
        """Cluster the rows of ``X``, of classes ``y``; -1 marks the unlabelled rows."""
        vectors = validate_data(self, X, dtype=np.float64)
        labels = check_row_labels(y, len(vectors), "SHC.fit")
        is_probe = labels == PROBE
        codes = np.full(len(labels), PROBE, dtype=np.int64)
        codes[~is_probe] = np.unique(labels[~is_probe], return_inverse=True)[1]
        adjacency = Graph.of(self.graph, "SHC").adjacency(unit_rows(vectors).T)
        self.clusters_ = shc(CutTree(adjacency, self.cut), codes)
        self.labels_ = self.clusters_.labels
        self.n_clusters_ = len(self.clusters_.leaves)
        return self
