"""What an ensemble is made of: the description of a classifier, without any data.

A *representation* is one view of the vectors and one kind of basis; a *layer* is a
representation at one dimensionality (and random start), with a graph of its own; a *member* is
one kind of evidence that a layer gives. All members are fused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from setwise._support.parameters import as_tuple, check_choice, check_number, is_whole, refuse
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.basis import Basis
from setwise.classify.distributions import Distance
from setwise.classify.evidence import Evidence
from setwise.classify.fusion import Fusion
from setwise.classify.shortlist import Shortlist
from setwise.cluster import Clusterer
from setwise.cut import CutRule
from setwise.errors import ParameterError
from setwise.features import is_typical
from setwise.features.views import View, are_equal
from setwise.graph import Graph
from setwise.index import ExactIndex, Index

__all__ = ["Description", "Layer", "Member", "Representation", "as_representations"]


@dataclass(frozen=True)
class Representation:
    """A way to turn one set into bases of several dimensionalities.

    Attributes
    ----------
    view : View
        What is done to the vectors first.
    basis : Basis
        What columns they become.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = CVC().fit(sets, labels)
    >>> [str(look) for look in clf.gallery_.description.representations]
    ['plain mean', 'whitened svd', 'plain centred']
    """

    view: View
    basis: Basis

    def __str__(self) -> str:
        changed = [
            f"{field.name} {getattr(self.basis, field.name)}"
            for field in fields(self.basis)  # type: ignore[arg-type]
            if getattr(self.basis, field.name) != field.default and field.name != "n_seeds"
        ]
        name = self.basis.name or type(self.basis).__name__
        return ", ".join([f"{self.view.name} {name}", *changed])


@dataclass(frozen=True)
class Layer:
    """One classifier of the ensemble: a representation, at one dimensionality.

    Attributes
    ----------
    representation : Representation
        View and basis.
    n_columns : int
        Columns that a set has, or fewer.
    start : int
        Which random start, for bases that have several.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = CVC().fit(sets, labels)
    >>> [str(layer) for layer in clf.layers_][:2]
    ['plain mean, d=1', 'whitened svd, d=3']
    """

    representation: Representation
    n_columns: int
    start: int = 0

    def __str__(self) -> str:
        start = f", seed {self.start}" if self.start else ""
        return f"{self.representation}{start}, d={self.n_columns}"


@dataclass(frozen=True)
class Member:
    """One kind of evidence, as one layer gives it.

    Attributes
    ----------
    layer : Layer
        Who gives it.
    evidence : Evidence
        What kind.
    """

    layer: Layer
    evidence: Evidence

    def __str__(self) -> str:
        return f"{self.layer}: {self.evidence.name or type(self.evidence).__name__}"


@dataclass(frozen=True)
class Description:
    """What a classifier is made of; see the parameters of :class:`setwise.CVC`.

    Attributes
    ----------
    dims : tuple of int
        Dimensionalities, ascending.
    representations : tuple of Representation
        Views and bases, all different.
    graph, cut, clusterer, distance, fusion : parts
        How proximity is measured, SHC divides, columns are clustered, distributions are
        compared, members are fused.
    evidence : tuple of Evidence
        What is asked of each layer.
    distributions : {"class", "set"}
        Whether each class, or each gallery set, has a distribution of its own.
    weights : {"gallery", None}
        Whether members count by how they do on the gallery's own sets.
    outliers : {"drop", None}
        Whether vectors that do not belong to their set are left out.
    unknown : float or None
        Wanted rate of strangers that are taken for somebody.
    shortlist : Shortlist or None
        How many classes are looked at, where there are many; None is all of them always.
    index : Index
        What finds them.
    seed : int
        Of everything random.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> from setwise.classify import Description
    >>> how = CVC().fit(sets, labels).gallery_.description
    >>> how.graph, how.dims
    (LassoGraph(alpha=0.05), (3, 5, 8))
    >>> Description.from_config(how.to_config()).graph == how.graph
    True
    """

    dims: tuple[int, ...]
    representations: tuple[Representation, ...]
    graph: Graph
    cut: CutRule
    clusterer: Clusterer
    distance: Distance
    fusion: Fusion
    evidence: tuple[Evidence, ...]
    distributions: str
    weights: str | None
    outliers: str | None
    unknown: float | None
    seed: int
    shortlist: Shortlist | None = None
    index: Index = field(default_factory=ExactIndex)

    def __post_init__(self) -> None:
        check_choice("CVC", "distributions", self.distributions, ("class", "set"))
        check_choice("CVC", "weights", self.weights, ("gallery", None))
        check_choice("CVC", "outliers", self.outliers, ("drop", None))
        if self.unknown is not None:
            check_number("CVC", "unknown", self.unknown, at_most=0.5)
        if not is_whole(self.seed) or self.seed < 0:
            refuse("CVC", "random_state", "None, an int from 0 on, or a generator", self.seed)

    def layers(self, dims: tuple[int, ...]) -> tuple[Layer, ...]:
        """The layers, small and cheap ones first: an early majority then costs little."""
        return tuple(
            Layer(representation, d, start)
            for d in sorted({1, *dims})
            for representation in self.representations
            if d in representation.basis.offered(dims)
            for start in range(representation.basis.n_starts)
        )

    def members(self, dims: tuple[int, ...]) -> tuple[Member, ...]:
        """The members, in the order of the layers."""
        return tuple(
            Member(layer, evidence)
            for layer in self.layers(dims)
            for evidence in self.evidence
            if layer.n_columns in evidence.asked_at(layer.representation.basis.offered(dims))
        )

    def columns(
        self, vectors: FloatArray, representation: Representation, start: int, dims: Any
    ) -> list[FloatArray]:
        """Bases of one set (unit or zero rows), one for each of ``dims``.

        A set whose vectors are all zero in this view has no column there, and says nothing.
        """
        if not vectors.any():
            return [np.empty((vectors.shape[1], 0)) for _ in dims]
        source = np.random.SeedSequence(self.seed, spawn_key=(start,))
        return representation.basis.columns(vectors, dims, np.random.default_rng(source))

    def is_kept(self, vectors: FloatArray) -> BoolArray:
        """Which vectors of a set count."""
        if self.outliers is None:
            return np.ones(len(vectors), dtype=np.bool_)
        return is_typical(vectors)

    def is_large(self, n_classes: int) -> bool:
        """Whether a gallery of so many classes is looked at around the probe alone."""
        return self.shortlist is not None and n_classes > self.shortlist.above

    def row_classes(self, codes: IntArray, n_classes: int) -> IntArray:
        """Class of each row that has a distribution: a class, or a gallery set."""
        return codes if self.distributions == "set" else np.arange(n_classes)

    def to_config(self) -> dict[str, Any]:
        """Everything by names and parameters, of types that JSON knows."""
        return {
            "dims": list(self.dims),
            "representations": [
                {"view": r.view.to_config(), "basis": r.basis.to_config()}
                for r in self.representations
            ],
            "graph": self.graph.to_config(),
            "cut": self.cut.to_config(),
            "clusterer": self.clusterer.to_config(),
            "distance": self.distance.to_config(),
            "fusion": self.fusion.to_config(),
            "evidence": [evidence.to_config() for evidence in self.evidence],
            "distributions": self.distributions,
            "weights": self.weights,
            "outliers": self.outliers,
            "unknown": self.unknown,
            "seed": self.seed,
            "shortlist": None if self.shortlist is None else self.shortlist.to_config(),
            "index": self.index.to_config(),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Description:
        """The description that :meth:`to_config` wrote down."""
        try:
            return cls._of_config(config)
        except (KeyError, TypeError, AttributeError) as error:
            msg = (
                f"Description.from_config: {type(error).__name__}: {error}. Expected what "
                "Description.to_config gave, all of it."
            )
            raise ParameterError(msg) from error

    @classmethod
    def _of_config(cls, config: Mapping[str, Any]) -> Description:
        return cls(
            dims=as_dims(config["dims"]),
            representations=tuple(
                Representation(View.from_config(r["view"]), Basis.from_config(r["basis"]))
                for r in config["representations"]
            ),
            graph=Graph.from_config(config["graph"]),
            cut=CutRule.from_config(config["cut"]),
            clusterer=Clusterer.from_config(config["clusterer"]),
            distance=Distance.from_config(config["distance"]),
            fusion=Fusion.from_config(config["fusion"]),
            evidence=tuple(Evidence.from_config(e) for e in config["evidence"]),
            distributions=config["distributions"],
            weights=config["weights"],
            outliers=config["outliers"],
            unknown=config["unknown"],
            seed=config["seed"],
            # Of files from before there were any.
            shortlist=Shortlist.given(config.get("shortlist"), "CVC"),
            index=Index.of(config.get("index", "exact"), "CVC"),
        )


def as_dims(dims: Any) -> tuple[int, ...]:
    """Dimensionalities, ascending and each once."""
    chosen = as_tuple("CVC", "dims", dims, of="ints of at least 1")
    if not all(is_whole(d) and d >= 1 for d in chosen):
        refuse("CVC", "dims", "a sequence of ints of at least 1", dims)
    return tuple(sorted({int(d) for d in chosen}))


def as_evidence(kinds: Any) -> tuple[Evidence, ...]:
    """Kinds of evidence, each once; one may be given alone."""
    given = (kinds,) if isinstance(kinds, str | Evidence) else kinds
    chosen = as_tuple("CVC", "evidence", given, of="kinds of evidence")
    return tuple(dict.fromkeys(Evidence.of(kind, "CVC") for kind in chosen))


def as_representations(pairs: Any) -> tuple[Representation, ...]:
    """Representations of (view, basis) pairs, each once; one name stands for one view."""
    chosen: list[Representation] = []
    for pair in as_tuple("CVC", "representations", pairs, of="(view, basis) pairs"):
        if isinstance(pair, Representation):
            made = pair
        elif isinstance(pair, tuple | list) and len(pair) == 2:
            view = View.of(pair[0], "CVC: representations")
            made = Representation(view, Basis.of(pair[1], "CVC: representations"))
        else:
            refuse("CVC", "representations", "pairs of a view and a basis", pair)
        made = _with_known_view(made, chosen)
        if made not in chosen:
            chosen.append(made)
    return tuple(chosen)


def _with_known_view(made: Representation, chosen: list[Representation]) -> Representation:
    """The representation, with the view of its name that came before where they are equal."""
    for other in chosen:
        if other.view.name == made.view.name:
            if not are_equal(other.view.transformer, made.view.transformer):
                expected = "views of different names; give ((name, transformer), basis) pairs"
                refuse("CVC", "representations", expected, made.view.name)
            return Representation(other.view, made.basis)
    return made
