"""A fitted committee: members tried on left-out gallery sets, and how their votes add up."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone

from setwise._support.parallel import quiet
from setwise._support.text import printable
from setwise._support.types import FloatArray, IntArray
from setwise.classify import CVC
from setwise.errors import GuessingWarning, ParameterError, SetwiseError, SetwiseWarning, reject
from setwise.gallery.bases import tried_sets
from setwise.gallery.calibrate import guessing
from setwise.gallery.outliers import (
    MOST_COMPARED,
    NO_COSINES,
    outlier_range,
    without_outliers,
)
from setwise.gallery.trials import fitted_inverse_temperature, survivors
from setwise.sets import SetBatch, check_labels

# Level of the sign test against the best member, most folds, and most sets that are judged.
LEVEL, MOST_FOLDS, MOST_LEFT_OUT = 0.05, 5, 200
# Without left-out sets: of 20 classes, one that all rank first has a probability of about 0.83.
# Fitted on left-out sets it is 3.3 to 4.8.
DEFAULT_INVERSE_TEMPERATURE = 3.0
_CASTING_VOTE = 1e-9  # extra weight of the first member, which breaks ties
_SAME = 1e-12  # a smaller difference, as a share of the largest score, is rounding


def mean_ranks(scores: FloatArray) -> FloatArray:
    """Rank of each class along the last axis, 1 for the largest score; equals share theirs.

    Scores that are equal up to rounding are equal, so no rank depends on a last digit.
    """
    order = np.argsort(-scores, axis=-1, kind="stable")
    falling = np.take_along_axis(scores, order, axis=-1)
    rounding = _SAME * np.abs(scores).max(axis=-1, keepdims=True)
    is_lower = falling[..., :-1] - falling[..., 1:] > rounding
    steps = np.concatenate([np.zeros_like(order[..., :1]), is_lower.cumsum(axis=-1)], axis=-1)
    levels = np.empty_like(order)
    np.put_along_axis(levels, order, steps, axis=-1)
    ranks: FloatArray = rankdata(levels, axis=-1)
    return ranks


def rank_scores(ranks: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sum over the members (first axis) of ``-log(rank)`` of each class."""
    return -np.tensordot(weights, np.log(ranks), 1)


def is_right(ranks: FloatArray, codes: IntArray) -> FloatArray:
    """Whether the true class of each set (row) ranks first; several firsts share it."""
    first = ranks == ranks.min(axis=-1, keepdims=True)
    shares: FloatArray = first[..., np.arange(len(codes)), codes] / first.sum(axis=-1)
    return shares


@dataclass(frozen=True)
class MemberVote:
    """How one member of a committee ranks the classes for a set."""

    member: str
    weight: float
    label: Any  # the class ranked first; None where several share the first rank
    ranks: FloatArray  # 1 for the best class; equals share the mean of their ranks
    scores: FloatArray  # in the member's own units

    def to_dict(self) -> dict[str, Any]:
        """Everything in types of JSON; the label is a string, or None."""
        return {
            **asdict(self),
            "label": None if self.label is None else str(self.label),
            "ranks": self.ranks.tolist(),
            "scores": self.scores.tolist(),
        }


@dataclass(frozen=True)
class CommitteeExplanation:
    """The answer of a committee for one set, and the votes that add up to it."""

    label: Any
    classes: npt.NDArray[Any]
    scores: FloatArray  # sum over the votes of -weight * log(rank)
    probabilities: FloatArray
    votes: tuple[MemberVote, ...]
    dropped: tuple[str, ...]  # members of weight 0, which have no vote

    def __str__(self) -> str:
        answer = int((self.classes == self.label).argmax())
        order = np.argsort(-self.probabilities, kind="stable")[:3]
        names = [printable(str(label)) for label in self.classes]
        ranking = ", ".join(f"{names[i]} {self.probabilities[i]:.2f}" for i in order)
        n_agree = sum(bool(vote.label == self.label) for vote in self.votes)
        shown = names[answer]
        lines = [
            f"{shown}: {ranking}; {n_agree} of {len(self.votes)} members agree.",
            f"{'member':20}{'weight':>7}  {f'rank of {shown}':>14}  votes for",
        ]
        for vote in self.votes:
            label = "several alike" if vote.label is None else printable(str(vote.label))
            place = f"{vote.ranks[answer]:g}"
            lines.append(f"{vote.member:20}{vote.weight:7.2g}  {place:>14}  {label}")
        if self.dropped:
            lines.append(f"Dropped by the gallery: {', '.join(self.dropped)}.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything in types of JSON; labels become strings."""
        return {
            "label": str(self.label),
            "classes": [str(label) for label in self.classes],
            "scores": self.scores.tolist(),
            "probabilities": self.probabilities.tolist(),
            "votes": [vote.to_dict() for vote in self.votes],
            "dropped": list(self.dropped),
        }


@dataclass(frozen=True)
class Panel:
    """A fitted committee; frozen, so that threads see all of it or none."""

    sets: SetBatch
    classes: npt.NDArray[Any]
    codes: IntArray
    candidates: Mapping[str, Any]  # all members, unfitted
    members: Mapping[str, Any]  # those with a vote, fitted
    weights: Mapping[str, float]  # 0 for dropped members; failed ones are missing
    accuracy: Mapping[str, float] | None  # on left-out sets
    inverse_temperature: float
    drops_outliers: bool  # from the sets that members see, except CVC, which drops its own
    outlier_range: tuple[float, float]

    @property
    def member_weights(self) -> FloatArray:
        """Weights of the members with a vote."""
        return np.array([self.weights[name] for name in self.members])

    def class_scores(self, probes: SetBatch) -> FloatArray:
        """Scores by each member, of shape (n_members, n_probes, n_classes)."""
        clean = without_outliers(probes, self.outlier_range) if self.drops_outliers else probes
        scores = [class_scores(m, seen_by(m, probes, clean)) for m in self.members.values()]
        return np.array(scores)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Probability of each class from the committee's scores."""
        logits = self.inverse_temperature * scores / self.member_weights.sum()
        return np.asarray(softmax(logits, axis=-1))

    def explanation(self, member_scores: FloatArray) -> CommitteeExplanation:
        """The votes behind one answer, from the scores of each member (row)."""
        ranks = mean_ranks(member_scores)
        scores = rank_scores(ranks, self.member_weights)
        firsts = [self.classes[r.argmin()] if r.min() == 1.0 else None for r in ranks]
        return CommitteeExplanation(
            label=self.classes[scores.argmax()],
            classes=self.classes,
            scores=scores,
            probabilities=self.probabilities(scores),
            votes=tuple(
                MemberVote(name, self.weights[name], *vote)
                for name, *vote in zip(self.members, firsts, ranks, member_scores, strict=True)
            ),
            dropped=tuple(name for name, weight in self.weights.items() if not weight),
        )


def seen_by(member: Any, sets: SetBatch, clean: SetBatch) -> SetBatch:
    """The sets that a member sees: CVC drops outliers by rules of its own."""
    return sets if isinstance(member, CVC) else clean


def class_scores(member: Any, probes: SetBatch) -> FloatArray:
    """Score of each class (column) for each probe (row); warnings of the member are ignored."""
    with quiet("", SetwiseWarning):
        has_scores = hasattr(member, "decision_function")
        ask = member.decision_function if has_scores else member.predict_proba
        scores = np.asarray(ask(probes))
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


class _Candidate(BaseEstimator):  # type: ignore[misc]
    """A member for ``cross_val_predict``: class scores of every ``step``-th set, else NaN."""

    def __init__(self, member: Any, step: int) -> None:
        self.member, self.step = member, step

    def fit(self, X: SetBatch, y: IntArray) -> Self:
        """Fit a copy of the member."""
        self.member_ = clone(self.member).fit(X, y)
        self.n_classes_ = len(np.unique(y))
        return self

    def predict(self, X: SetBatch) -> FloatArray:
        """Scores, in place of labels."""
        scores = np.full((len(X), self.n_classes_), np.nan)
        scores[:: self.step] = class_scores(self.member_, X[:: self.step])
        return scores


class _Trial:
    """Gallery sets, each left out in a fold; every fold and its rest hold every class."""

    def __init__(self, sets: SetBatch, codes: IntArray) -> None:
        # By content, so that folds do not depend on the order of the sets.
        means = [tuple(vectors.mean(axis=0)) for vectors in sets]
        by_content = np.array(sorted(range(len(sets)), key=means.__getitem__))
        order = by_content[np.argsort(codes[by_content], kind="stable")]
        counts = np.bincount(codes)
        rank_in_class = np.arange(len(order)) - (counts.cumsum() - counts)[codes[order]]
        folds = np.empty_like(codes)
        folds[order] = rank_in_class % min(MOST_FOLDS, counts.min())
        self.all_codes, self.step = codes, -(-len(sets) // MOST_LEFT_OUT)
        # By class, from another class on in each fold: every step-th is of many classes.
        self.splits = [
            (np.flatnonzero(folds != fold), np.roll(order[folds[order] == fold], fold))
            for fold in range(folds.max() + 1)
        ]
        judged = np.concatenate([test[:: self.step] for _, test in self.splits])
        self.judged = order[np.isin(order, judged)]
        self.codes = codes[self.judged]

    def ranks(self, member: Any, sets: SetBatch) -> FloatArray:
        """Ranks of the classes for each left-out set, by the member fitted to the rest."""
        from sklearn.model_selection import cross_val_predict  # slow to import

        candidate, codes = _Candidate(member, self.step), self.all_codes
        with quiet("", SetwiseWarning):
            scores = cross_val_predict(candidate, sets, codes, cv=self.splits, n_jobs=1)
        return mean_ranks(scores[self.judged])

    def inverse_temperature(
        self, ranks: Mapping[str, FloatArray], weights: Mapping[str, float], caller: str
    ) -> float:
        """Inverse temperature of the whole committee; warn where it is hardly above chance."""
        shares = np.array([weights.get(name, 0.0) for name in ranks])
        scores = rank_scores(np.array(list(ranks.values())), shares / shares.sum())
        n_right = int(is_right(mean_ranks(scores), self.codes).sum())
        _, warning = guessing(n_right, self.codes)
        if warning is not None:
            warnings.warn(f"{caller}: {warning}", GuessingWarning, stacklevel=5)  # of fit
        return fitted_inverse_temperature(scores, self.codes)


def form_panel(
    candidates: Mapping[str, Any],
    sets: SetBatch,
    labels: npt.NDArray[Any],
    caller: str,
    *,
    try_members: bool,
    drop_outliers: bool,
    fitted: Callable[[str], Any] = lambda name: None,
) -> Panel:
    """Try all members on left-out sets, and fit the good ones.

    ``fitted`` returns members that are already fitted to this gallery, else None. Warnings
    point at the fourth caller: that of ``Committee.fit``.
    """
    classes, codes = check_labels(labels, len(sets), caller=caller)
    failed: dict[str, Exception] = {}
    clean, cosines = sets, NO_COSINES
    if drop_outliers:
        clean = without_outliers(sets)
        compared = tried_sets(codes, MOST_COMPARED)
        cosines = outlier_range([clean[i] for i in compared], codes[compared])

    def fit(name: str) -> Any:
        member, candidate = fitted(name), candidates[name]
        if member is not None:
            return member
        return clone(candidate).fit(seen_by(candidate, sets, clean), labels)

    weights, accuracy = dict.fromkeys(candidates, 1.0), None
    inverse_temperature = DEFAULT_INVERSE_TEMPERATURE
    trial = _Trial(sets, codes) if try_members and np.bincount(codes).min() > 1 else None
    if trial is not None:
        ranks = _attempted(
            candidates,
            failed,
            lambda name: trial.ranks(candidates[name], seen_by(candidates[name], sets, clean)),
        )
        right = {name: is_right(found, trial.codes) for name, found in ranks.items()}
        accuracy = {name: float(table.mean()) for name, table in right.items()}
        kept = survivors(np.array(list(right.values())), level=LEVEL) if right else ()
        weights = dict(zip(right, map(float, kept), strict=True))
    # After a trial, guessing of single members is no news; of the committee, it is.
    with quiet("", GuessingWarning) if trial else nullcontext():
        members = _attempted([name for name in weights if weights[name]], failed, fit)
    _report(failed, members, caller)
    weights = {name: weight for name, weight in weights.items() if name not in failed}
    weights[next(iter(members))] += _CASTING_VOTE
    if trial is not None:
        inverse_temperature = trial.inverse_temperature(ranks, weights, caller)
    return Panel(
        sets,
        classes,
        codes,
        candidates,
        members,
        weights,
        accuracy,
        inverse_temperature,
        drop_outliers,
        cosines,
    )


def _attempted(
    names: Iterable[str], failed: dict[str, Exception], work: Callable[[str], Any]
) -> dict[str, Any]:
    """Result of the work for each member that does not fail on these sets."""
    results = {}
    for name in names:
        try:
            results[name] = work(name)
        except ParameterError:  # not the fault of the sets
            raise
        except (SetwiseError, np.linalg.LinAlgError) as error:
            failed[name] = error
    return results


def _report(failed: Mapping[str, Exception], members: Mapping[str, Any], caller: str) -> None:
    """Warn of each member that failed; refuse where none is left."""
    reasons = [f"member {name!r} fails on this gallery ({e})" for name, e in failed.items()]
    if not members:
        cause = next(iter(failed.values()))
        reject(f"{caller}: {'; '.join(reasons)}: no member is left. Give other members.", cause)
    for reason in reasons:
        msg = f"{caller}: {reason} and is left out."
        warnings.warn(msg, SetwiseWarning, stacklevel=5)  # of fit
