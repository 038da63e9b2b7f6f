"""Description of a classifier: its parts and parameters, without any data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import (
    as_tuple,
    check_choice,
    check_count,
    check_number,
    is_whole,
    refuse,
)
from setwise._support.parts import Part
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.basis import Basis
from setwise.cluster import Clusterer
from setwise.cut import CutRule
from setwise.errors import ParameterError
from setwise.features import is_typical
from setwise.features.views import View, are_equal
from setwise.gallery.distributions import Distance
from setwise.gallery.evidence import Evidence
from setwise.gallery.fusion import Fusion
from setwise.graph import Graph
from setwise.graph.base import NoGraph
from setwise.index import ExactIndex, Index

# For bases that ask for no random numbers: a generator takes longer to make than some bases.
_UNUSED = np.random.default_rng(0)


@dataclass(frozen=True)
class Representation:
    """A way to turn one set into bases of several dimensionalities.

    Examples
    --------
    >>> from setwise import CVC
    >>> [str(one) for one in CVC().describe().representations[:3]]
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
    """A representation at one dimensionality, and which of its random starts.

    Examples
    --------
    >>> from setwise import CVC
    >>> str(CVC().describe().ensemble((3, 5)).layers[0])
    'plain mean, d=1'
    """

    representation: Representation
    n_columns: int
    start: int = 0

    def __str__(self) -> str:
        start = f", seed {self.start}" if self.start else ""
        size = f", d={self.n_columns}" if self.representation.basis.has_graph else ""
        return f"{self.representation}{start}{size}"


@dataclass(frozen=True)
class Member:
    """One kind of evidence of one layer."""

    layer: Layer
    evidence: Evidence

    def __str__(self) -> str:
        return f"{self.layer}: {self.evidence.name or type(self.evidence).__name__}"


@dataclass(frozen=True)
class Ensemble:
    """Layers, and members in the order of their layers."""

    layers: tuple[Layer, ...]
    members: tuple[Member, ...]
    layer_of: IntArray  # place of each member's layer
    dims: IntArray  # columns of a set in each member's layer


@dataclass(frozen=True)
class Shortlist(Part):
    """Number of classes that a probe is judged by in a large gallery.

    Cost then follows the neighbourhood of the probe, not the gallery. An index over the means
    of the sets (:mod:`setwise.index`) finds near classes, their vectors are compared with the
    probe's, and the nearest classes are judged by the whole method.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.gallery import Shortlist
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets(n_classes=8)
    >>> few = Shortlist(n_classes=3, n_compared=6, above=7)
    >>> len(CVC(shortlist=few).fit(sets, labels).judge(sets[:1])[0].classes)
    3
    """

    family: ClassVar[str] = "shortlist"
    name: ClassVar[str] = "near"
    n_classes: int = 32  # that are judged
    n_compared: int = 128  # whose vectors are compared to find these
    above: int = 256  # galleries of at most so many classes are judged whole

    def __post_init__(self) -> None:
        check_count("Shortlist", "n_classes", self.n_classes, at_least=2)
        check_count("Shortlist", "n_compared", self.n_compared, at_least=self.n_classes)
        check_count("Shortlist", "above", self.above, at_least=self.n_classes)

    @classmethod
    def given(cls, value: object, owner: str) -> Shortlist | None:
        """The shortlist that a parameter is or names; None judges by all classes."""
        return None if value is None else cls.of(value, owner)


@dataclass(frozen=True)
class Description:
    """Parts and parameters of a classifier; see the parameters of :class:`setwise.CVC`.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.gallery import Description
    >>> how = CVC().describe()
    >>> Description.from_config(how.to_config()).graph == how.graph
    True
    """

    dims: tuple[int, ...]  # ascending
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

    def ensemble(self, dims: tuple[int, ...]) -> Ensemble:
        """Layers and members at these dimensionalities.

        Small and cheap layers come first: an early majority then costs little.
        """
        layers = tuple(
            Layer(representation, d, start)
            for d in sorted({1, *dims})
            for representation in self.representations
            if d in representation.basis.offered(dims) and self._is_asked(representation)
            for start in range(representation.basis.n_starts)
        )
        pairs = [
            (i, Member(layer, evidence))
            for i, layer in enumerate(layers)
            for evidence in self.evidence
            if evidence.is_asked_of(layer.representation.basis)
            if layer.n_columns in evidence.asked_at(layer.representation.basis.offered(dims))
        ]
        members = tuple(member for _, member in pairs)
        columns = np.array([member.layer.n_columns for member in members])
        return Ensemble(layers, members, np.array([i for i, _ in pairs]), columns)

    def _is_asked(self, representation: Representation) -> bool:
        """Whether any kind of evidence can be read from its layers."""
        return any(evidence.is_asked_of(representation.basis) for evidence in self.evidence)

    def graph_of(self, representation: Representation) -> Graph:
        """How columns of a representation are joined."""
        return self.graph if representation.basis.has_graph else NoGraph()

    def columns(
        self, vectors: FloatArray, representation: Representation, start: int, dims: Any
    ) -> list[FloatArray]:
        """Bases of one set (unit or zero rows), one for each of ``dims``.

        A set whose vectors are all zero in this view has no column.
        """
        if not vectors.any():
            return [np.empty((vectors.shape[1], 0)) for _ in dims]
        basis, rng = representation.basis, _UNUSED
        if basis.is_random:
            source = np.random.SeedSequence(self.seed, spawn_key=(start,))
            rng = np.random.default_rng(source)
        return basis.columns(vectors, dims, rng)

    def inliers(self, vectors: npt.NDArray[Any]) -> BoolArray:
        """Which vectors of a set are no outliers of it."""
        if self.outliers is None:
            return np.ones(len(vectors), dtype=np.bool_)
        return is_typical(vectors)

    def is_large(self, n_classes: int) -> bool:
        """Whether a gallery of so many classes is judged by a shortlist."""
        return self.shortlist is not None and n_classes > self.shortlist.above

    def target_classes(self, codes: IntArray, n_classes: int) -> IntArray:
        """Class of each target: of each class itself, or of each gallery set."""
        return codes if self.distributions == "set" else np.arange(n_classes)

    def to_config(self) -> dict[str, Any]:
        """Names and parameters of everything, of types that JSON knows."""
        return {field.name: _config_of(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Description:
        """The description that :meth:`to_config` wrote."""
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
            # Absent from the first files.
            shortlist=Shortlist.given(config.get("shortlist"), "CVC"),
            index=Index.of(config.get("index", "exact"), "CVC"),
        )


def _config_of(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_config_of(one) for one in value]
    if isinstance(value, Representation):
        return {"view": value.view.to_config(), "basis": value.basis.to_config()}
    return value.to_config() if isinstance(value, Part) else value


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
    """The representation, with an equal view of the same name that came before it."""
    for other in chosen:
        if other.view.name == made.view.name:
            if not are_equal(other.view.transformer, made.view.transformer):
                expected = "views of different names; give ((name, transformer), basis) pairs"
                refuse("CVC", "representations", expected, made.view.name)
            return Representation(other.view, made.basis)
    return made
