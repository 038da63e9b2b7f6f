"""Explanations: answers and their reasons, to be printed, plotted and written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.answer import Answer, sentence
from setwise.errors import DataError
from setwise.gallery.evidence import ClusterOverlap
from setwise.gallery.fusion import ScoreMatrix

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from setwise.classify.pictured import Pictured


DIGITS = 6
# Fields that hold labels, which may be of any type.
_LABELS = ("label", "nearest", "runner_up", "classes", "fell_away")
# What is written of the answer, in this order.
_OF_ANSWER = (
    "label",
    "nearest",
    "classes",
    "probabilities",
    "scores",
    "is_informed",
    "is_known",
    "nearness",
    "is_typical",
    "runner_up",
    "name",
    "carried_by",
)


@dataclass(frozen=True)
class CutStep:
    """One node of the tree of cuts.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> CVC().fit(sets, labels).explain(sets[0]).tree[0].parent
    -1
    """

    node: int
    parent: int  # -1 for the root
    children: tuple[int, ...]  # two halves or several components; none for a leaf
    depth: int
    n_columns: int
    n_probe: int  # the probe's columns among them
    class_counts: IntArray  # columns of each class
    kind: str  # "leaf", "components" or the name of the spectral cut that divides it
    connectivity: float  # of that cut; NaN for a leaf
    ncut: float
    fell_away: tuple[Any, ...]  # labels that this cut separates from the probe


@dataclass(frozen=True)
class MemberVote:
    """Vote of one member of the ensemble.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> CVC().fit(sets, labels).explain(sets[0]).votes[0].layer
    'plain mean, d=1'
    """

    layer: str
    representation: str
    evidence: str
    n_columns: int
    weight: float  # 1 on average
    label: Any  # of the nearest class; None where nothing is shared with any
    distances: FloatArray  # to each class; inf where no cluster is shared
    snr: float  # second smallest distance over the smallest

    @property
    def source(self) -> str:
        """What all dimensionalities of it share: representation, and evidence but clusters."""
        is_clusters = self.evidence == ClusterOverlap.name
        return self.representation if is_clusters else f"{self.representation}: {self.evidence}"


@dataclass(frozen=True)
class Explanation:
    """The answer for one probe, and its reasons.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> print(CVC().fit(sets[1:], labels[1:]).explain(sets[0]).label)
    0
    """

    answer: Answer
    votes: tuple[MemberVote, ...]  # one per active member
    shown: str  # layer whose clusters are shown below: the largest that voted for the answer
    snr: float  # its second smallest distance over the smallest (the paper's SNR): the margin
    tree: tuple[CutStep, ...]  # its cuts, in their order; empty for clusterers without tree
    class_cluster: FloatArray  # its class-cluster distributions; the probe is the last row
    # Share of each vector's clusters and edges that is the answer's, over all layers; NaN where
    # it has neither, 0 for outliers.
    support: FloatArray
    # How often each vector changed sides while the Fiedler vectors of the shown layer settled
    # (DFVC): a measure of doubt. Cuts of more than 2000 columns are not counted.
    sign_switches: FloatArray
    probe_points: FloatArray  # in the plane of the gallery's two largest principal directions
    gallery_points: FloatArray
    gallery_point_classes: IntArray  # class code of each gallery point
    pictured: Pictured | None = None  # images of the set, and the gallery's most like them

    @property
    def name(self) -> str:
        """Name of the set; empty where it has none."""
        return self.answer.name

    @property
    def label(self) -> Any:
        """The answer's label."""
        return self.answer.label

    @property
    def nearest(self) -> Any:
        """The most probable class."""
        return self.answer.nearest

    @property
    def classes(self) -> npt.NDArray[Any]:
        """Labels of the candidates."""
        return self.answer.classes

    @property
    def probability(self) -> float:
        """Of the answer."""
        return self.answer.probability

    @property
    def probabilities(self) -> FloatArray:
        """Of each class."""
        return self.answer.probabilities

    @property
    def scores(self) -> FloatArray:
        """Of each class."""
        return self.answer.scores

    @property
    def runner_up(self) -> Any:
        """The next probable class, or None."""
        return self.answer.runner_up

    @property
    def is_informed(self) -> bool:
        """Whether anything is shared with any class."""
        return self.answer.is_informed

    @property
    def is_known(self) -> bool | None:
        """Whether the set is near enough to be of a class of the gallery."""
        return self.answer.is_known

    @property
    def nearness(self) -> float:
        """Nearness to the nearest class."""
        return self.answer.nearness

    @property
    def is_typical(self) -> BoolArray:
        """Vectors that do not look out of place."""
        return self.answer.is_typical

    @property
    def carried_by(self) -> tuple[tuple[str, float], ...]:
        """Unlabelled sets that the label came through, see :attr:`Answer.carried_by`."""
        return self.answer.carried_by

    @property
    def sentence(self) -> str:
        """The answer in one plain sentence."""
        return str(sentence(self.answer))

    def __str__(self) -> str:
        if not self.is_informed:
            return "No answer: the set has nothing in common with any class."
        order = np.argsort(-self.probabilities, kind="stable")[:3]
        ranking = ", ".join(f"{self.classes[i]} {self.probabilities[i]:.2f}" for i in order)
        agree = sum(vote.label == self.nearest for vote in self.votes)
        n_out = int((~self.is_typical).sum())
        unknown = "unknown, most like " if self.is_known is False else ""
        return (
            f"{unknown}{self.nearest}: {ranking}; {agree} of {len(self.votes)} members agree, "
            f"{n_out} of {len(self.support)} vectors look out of place."
        )

    def plot(
        self,
        path: str | Path | None = None,
        *,
        width: float = 11.0,
        figure: Figure | None = None,
    ) -> Figure:
        """Draw the set, the answer and the runner-up, and their reasons.

        The picture is saved to ``path`` too, as ``.png``, ``.svg`` or ``.pdf``. It has two
        columns from ``width`` 8 (inches) on. Without an (empty) ``figure`` a new one is made,
        outside pyplot.
        """
        from setwise.plots.explanation_plot import plot_explanation

        return plot_explanation(self, path, width=width, figure=figure)

    def to_dict(self) -> dict[str, Any]:
        """All but pictures for JSON: numbers of six digits, or None; labels as strings."""
        of_answer = {name: _written(self.answer, name) for name in _OF_ANSWER}
        return of_answer | {
            field.name: _written(self, field.name)
            for field in fields(self)
            if field.name not in ("answer", "pictured")
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Explanation:
        """The explanation that :meth:`to_dict` wrote, with strings for labels."""
        try:
            return _read(content)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            msg = (
                f"Explanation.from_dict: {type(error).__name__}: {error}. Expected what "
                "Explanation.to_dict gave, all of it."
            )
            raise DataError(msg) from error


def _written(owner: Any, name: str) -> Any:
    value = getattr(owner, name)
    if name not in _LABELS:
        return _plain(value)
    if isinstance(value, tuple | np.ndarray):
        return [str(label) for label in value]
    return None if value is None else str(value)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _written(value, field.name) for field in fields(value)}
    if isinstance(value, tuple | np.ndarray):
        return [_plain(part) for part in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


def _read(content: Mapping[str, Any]) -> Explanation:
    arrays = ("class_cluster", "support", "sign_switches")
    points = ("probe_points", "gallery_points")
    return Explanation(
        answer=_answer(content),
        pictured=None,
        **{name: _array(content[name]) for name in arrays},
        **{name: _array(content[name]).reshape(-1, 2) for name in points},
        votes=tuple(_vote(vote) for vote in content["votes"]),
        shown=content["shown"],
        snr=_number(content["snr"], np.inf),
        tree=tuple(_step(step) for step in content["tree"]),
        gallery_point_classes=np.array(content["gallery_point_classes"], dtype=np.int64),
    )


def _answer(content: Mapping[str, Any]) -> Answer:
    """The answer, without the members' scores, which are not written."""
    classes, probabilities = np.array(content["classes"]), _array(content["probabilities"])
    ordered, n, nothing = np.sort(probabilities)[::-1], len(classes), np.zeros(0)
    empty, nearest = np.zeros((0, n)), content.get("nearest", content["label"])
    return Answer(
        name=content.get("name", ""),
        nearest=nearest,
        probability=float(probabilities[(classes == nearest).argmax()]),
        runner_up=content.get("runner_up"),
        margin=float(ordered[0] - ordered[1]),
        is_informed=bool(content["is_informed"]),
        is_known=content["is_known"],
        nearness=float(content["nearness"]),
        is_typical=np.array(content["is_typical"], dtype=np.bool_),
        classes=classes,
        probabilities=probabilities,
        scores=_array(content["scores"]),
        carried_by=tuple((str(name), float(s)) for name, s in content.get("carried_by", ())),
        votes=empty,
        n_repaired_cuts=0,
        score_matrix=ScoreMatrix(
            empty, empty, nothing, np.zeros(0, dtype=np.int64), np.arange(n), n, nothing
        ),
    )


def _vote(content: Mapping[str, Any]) -> MemberVote:
    distances, snr = _array(content["distances"], np.inf), _number(content["snr"], np.inf)
    return MemberVote(**dict(content) | {"distances": distances, "snr": snr})


def _step(content: Mapping[str, Any]) -> CutStep:
    read = {
        "children": tuple(content["children"]),
        "class_counts": np.array(content["class_counts"], dtype=np.int64),
        "connectivity": _number(content["connectivity"], np.nan),
        "ncut": _number(content["ncut"], np.nan),
        "fell_away": tuple(content["fell_away"]),
    }
    return CutStep(**dict(content) | read)


def _array(values: Any, missing: float = np.nan) -> FloatArray:
    array = np.array(values, dtype=np.float64)  # None becomes NaN
    return np.where(np.isnan(array), missing, array)


def _number(value: float | None, missing: float) -> float:
    return missing if value is None else float(value)
