"""A fitted committee: its members, tried on left-out gallery sets, and what they weigh."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.base import clone

from setwise._support.shared import quiet
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.ranks import is_right, mean_ranks, rank_scores
from setwise.errors import GuessingWarning, ParameterError, SetwiseError, SetwiseWarning, reject
from setwise.gallery.calibrate import guessing
from setwise.gallery.trials import fitted_inverse_temperature, survivors
from setwise.sets import SetBatch

__all__ = ["DEFAULT_STEEPNESS", "Panel", "class_scores", "form_panel"]

# Of the test whether a member is worse than the best.
LEVEL = 0.05
# At most so many parts, each left out once: five fits, of galleries of four fifths.
MOST_FOLDS = 5
# Gallery sets that are judged by the others: enough for the sign test to find a member that is
# ten in a hundred worse, and a limit to what a gallery of thousands costs.
MOST_LEFT_OUT = 200
# Where nothing can be left out: the probability of a class is as the square of the geometric
# mean of 1 / rank. Of 20 classes, one that all members put first, while they order the others
# at random, then has some 0.75.
DEFAULT_STEEPNESS = 2.0
# The first member weighs so much more: it decides where the votes are even.
_CASTING_VOTE = 1e-9


@dataclass(frozen=True)
class Panel:
    """What is kept of a gallery; frozen, so that whoever asks sees all of it or none.

    Attributes
    ----------
    sets, classes, codes
        The gallery: its sets, the labels, and the class code of each set.
    candidates : dict of str to classifier
        All members, unfitted.
    members : dict of str to classifier
        Those that count, fitted.
    weights : dict of str to float
        Of all members that did not fail; 0 for those that were dropped.
    accuracy : dict of str to float, or None
        Share of the left-out gallery sets that each member recognised.
    beta : float
        Steepness of the probabilities.
    """

    sets: SetBatch
    classes: npt.NDArray[Any]
    codes: IntArray
    candidates: Mapping[str, Any]
    members: Mapping[str, Any]
    weights: Mapping[str, float]
    accuracy: Mapping[str, float] | None
    beta: float

    @property
    def member_weights(self) -> FloatArray:
        """Weights of the members that count."""
        return np.array([self.weights[name] for name in self.members])

    def class_scores(self, probes: SetBatch) -> FloatArray:
        """Scores by each member, of shape (n_members, n_probes, n_classes)."""
        return np.array([class_scores(member, probes) for member in self.members.values()])

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Probability of each class, by the committee's scores."""
        shares: FloatArray = softmax(self.beta * scores / self.member_weights.sum(), axis=-1)
        return shares


@dataclass(frozen=True)
class _Trial:
    """What the members said of left-out gallery sets."""

    ranks: dict[str, FloatArray]
    codes: IntArray

    def weights(self) -> dict[str, float]:
        """1, or 0 for members that are worse than the best beyond chance (a sign test)."""
        right = np.array([is_right(ranks, self.codes) for ranks in self.ranks.values()])
        kept = survivors(right, level=LEVEL)
        return dict(zip(self.ranks, kept.tolist(), strict=True))

    def accuracy(self) -> dict[str, float]:
        return {name: float(is_right(r, self.codes).mean()) for name, r in self.ranks.items()}

    def scores(self, weights: Mapping[str, float]) -> FloatArray:
        """What the committee says, in units of the total weight."""
        ranks = np.array(list(self.ranks.values()))
        shares = np.array([weights.get(name, 0.0) for name in self.ranks])
        return rank_scores(ranks, shares / shares.sum())

    def warn_of_guessing(self, scores: FloatArray, caller: str) -> None:
        """Warn where the committee recognises left-out sets hardly better than by guessing."""
        n_right = int(is_right(mean_ranks(scores), self.codes).sum())
        _, warning = guessing(n_right, self.codes)
        if warning is not None:
            warnings.warn(f"{caller}: {warning}", GuessingWarning, stacklevel=5)  # of fit


def class_scores(member: Any, probes: SetBatch) -> FloatArray:
    """Score of each class (column) for each probe (row), largest for the member's label.

    What a member warns of, such as a probe it knows nothing about, is no matter for whoever
    asks the committee: all classes then have one rank, and the member moves none.
    """
    with quiet("", SetwiseWarning):
        if hasattr(member, "decision_function"):
            scores = np.asarray(member.decision_function(probes))
        else:
            scores = np.asarray(member.predict_proba(probes))
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def form_panel(
    candidates: Mapping[str, Any],
    sets: SetBatch,
    classes: npt.NDArray[Any],
    codes: IntArray,
    *,
    try_members: bool,
    fit: Callable[[str], Any],
    caller: str,
) -> Panel:
    """Try all members on left-out sets, and fit those that do not mislead.

    Parameters
    ----------
    candidates : dict of str to classifier
        Unfitted members.
    sets, classes, codes
        The gallery.
    try_members : bool
        Whether members are tried; where a class has a single set, they cannot be.
    fit : callable
        Gives the member of a name, fitted to the whole gallery.
    caller : str
        Who asks, for messages.
    """
    failed: dict[str, Exception] = {}
    can_try = try_members and np.bincount(codes).min() > 1
    trial = _tried(candidates, sets, codes, failed) if can_try else None
    usable = [name for name in candidates if name not in failed]
    weights = trial.weights() if trial else dict.fromkeys(usable, 1.0)
    # Whether a member guesses has been tried; it matters only if the whole committee does.
    with quiet("", GuessingWarning) if trial else nullcontext():
        fitted = {name: _attempt(name, failed, fit, name) for name in usable if weights[name]}
    members = {name: member for name, member in fitted.items() if member is not None}
    _report(failed, members, caller)
    weights = {name: weight for name, weight in weights.items() if name not in failed}
    weights[next(iter(members))] += _CASTING_VOTE
    beta = DEFAULT_STEEPNESS
    if trial is not None:
        scores = trial.scores(weights)
        trial.warn_of_guessing(scores, caller)
        beta = fitted_inverse_temperature(scores, trial.codes)
    return Panel(
        sets=sets,
        classes=classes,
        codes=codes,
        candidates=candidates,
        members=members,
        weights=weights,
        accuracy=trial.accuracy() if trial else None,
        beta=beta,
    )


def _tried(
    candidates: Mapping[str, Any], sets: SetBatch, codes: IntArray, failed: dict[str, Exception]
) -> _Trial | None:
    """Let every member judge gallery sets that it was not fitted to; note which fail."""
    order, folds = _folds(sets, codes)
    chosen = order[:: -(-len(order) // MOST_LEFT_OUT)]
    ranks = {}
    for name, member in candidates.items():
        scores = _attempt(name, failed, _left_out_scores, member, sets, codes, folds, chosen)
        if scores is not None:
            ranks[name] = mean_ranks(scores)
    return _Trial(ranks, codes[chosen]) if ranks else None


def _folds(sets: SetBatch, codes: IntArray) -> tuple[IntArray, IntArray]:
    """The sets by class and content, and the part that each is left out with.

    By content, so that a gallery given in another order is tried in the same way. Every part
    has sets of every class, and leaves at least one.
    """
    keys = [
        (int(code), *vectors.mean(axis=0)) for code, vectors in zip(codes, sets, strict=True)
    ]
    order = np.array(sorted(range(len(sets)), key=keys.__getitem__))
    counts = np.bincount(codes)
    first = np.concatenate([[0], counts.cumsum()[:-1]])
    folds = np.empty(len(codes), dtype=np.int64)
    folds[order] = (np.arange(len(order)) - first[codes[order]]) % min(MOST_FOLDS, counts.min())
    return order, folds


def _left_out_scores(
    member: Any, sets: SetBatch, codes: IntArray, folds: IntArray, chosen: IntArray
) -> FloatArray:
    """Scores of the chosen sets, each by a gallery without the sets of its fold."""
    scores = np.empty((len(codes), int(codes.max()) + 1))
    for fold in np.unique(folds[chosen]):
        others, probes = np.flatnonzero(folds != fold), chosen[folds[chosen] == fold]
        with quiet("", SetwiseWarning):
            fitted = clone(member).fit(sets[others], codes[others])
        scores[probes] = class_scores(fitted, sets[probes])
    return scores[chosen]


def _attempt(
    name: str, failed: dict[str, Exception], work: Callable[..., Any], *arguments: Any
) -> Any:
    """What the work gives; None where the member cannot do it with these sets."""
    try:
        return work(*arguments)
    except ParameterError:  # no fault of the sets
        raise
    except (SetwiseError, np.linalg.LinAlgError) as error:
        failed[name] = error
        return None


def _report(failed: Mapping[str, Exception], members: Mapping[str, Any], caller: str) -> None:
    """Warn of each member that failed; refuse where none is left."""
    reasons = [f"member {name!r} fails on this gallery ({e})" for name, e in failed.items()]
    if not members:
        cause = next(iter(failed.values()))
        reject(f"{caller}: {'; '.join(reasons)}: nobody is left. Give other members.", cause)
    for reason in reasons:
        msg = f"{caller}: {reason} and is left out."
        warnings.warn(msg, SetwiseWarning, stacklevel=5)  # whoever called fit
