"""Committee: CVC and its quick rivals, as one set classifier."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_choice, check_jobs, check_known, refuse, seed_from
from setwise._support.types import FloatArray
from setwise.baselines.hulls import AHISD
from setwise.baselines.kernel_sets import CDL, GDA
from setwise.baselines.panel import (
    CommitteeExplanation,
    Panel,
    form_panel,
    mean_ranks,
    rank_scores,
)
from setwise.baselines.simple import FrameVote, MeanCosine
from setwise.baselines.subspaces import CMSM, MSM
from setwise.classify import CVC
from setwise.errors import NoInformationWarning
from setwise.sets import SetBatch, SetClassifier, check_labels, check_sets
from setwise.sets.classifier import one_set
from setwise.sets.labels import join_labels, remaining_sets

# No member can have these names.
_OWN = ("members", "weights", "outliers", "n_jobs", "random_state")
_EXPECTED = (
    "a list of (name, classifier) pairs, the names different, without '__' and none of them a "
    "parameter of the committee, the classifiers with get_params, fit, and decision_function "
    "or predict_proba"
)


def default_members() -> list[tuple[str, Any]]:
    """CVC, and rivals that take milliseconds and compare sets in other ways."""
    return [
        ("cvc", CVC()),
        ("smallest_angle", MSM(n_angles=1)),
        ("cmsm", CMSM()),
        ("gda", GDA()),
        ("cdl", CDL("pls")),
        ("ahisd", AHISD()),
        ("frame_vote", FrameVote()),
        ("mean_cosine", MeanCosine()),
    ]


class Committee(SetClassifier):
    """Several set classifiers that vote by rank: seldom the best, hardly ever bad.

    Each member ranks the classes for a set; the score of a class is the sum over the members of
    ``-log(rank)``. Equals share the mean of their ranks, and the first member breaks ties.

    The gallery chooses the members by cross-validation: every member judges sets of up to five
    folds it was not fitted to, and one that is significantly worse than the best (exact
    one-sided sign test at level 0.05) is dropped. Where a class has a single set nothing can be
    left out, and **none is dropped**. A member that cannot be fitted to the gallery is left out
    with a warning; wrong parameters of a member are an error.

    Parameters
    ----------
    members : list of (name, classifier) pairs, optional
        By default CVC and seven quick rivals; their parameters are set as ``cvc__dims``.
    weights : {"gallery", None}, default="gallery"
        Whether bad members are dropped, which costs up to five more fits of each.
    outliers : {"drop", None}, default="drop"
        Drop outliers from the sets that members see, by the rules of CVC, whose own
        ``cvc__outliers`` is not touched.
    n_jobs : int, optional
        Threads of the members whose own ``n_jobs`` is None.
    random_state : int, RandomState or None, default=None
        Seed of the members whose own ``random_state`` is None.

    Attributes
    ----------
    panel_ : Panel
        Everything learned, as one frozen object; the other attributes are read from it.
    members_ : dict of str to classifier
        The members with a vote, fitted.
    weights_ : dict of str to float
        1, or 0 for a dropped member; the first has a billionth more, failed ones are missing.
    gallery_accuracy_ : dict of str to float, or None
        Share of the left-out gallery sets that each member recognised.
    inverse_temperature_ : float
        Of the probabilities, fitted on the left-out gallery sets.

    Examples
    --------
    >>> from setwise import Committee
    >>> from setwise.baselines import MSM, MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> committee = Committee([("msm", MSM(3)), ("mean", MeanCosine())]).fit(sets, labels)
    >>> print(committee.explain(sets[0]))
    0: 0 0.90, 2 0.08, 1 0.02; 2 of 2 members agree.
    member               weight       rank of 0  votes for
    msm                       1               1  0
    mean                      1               1  0
    """

    def __init__(
        self,
        members: Sequence[tuple[str, Any]] | None = None,
        *,
        weights: str | None = "gallery",
        outliers: str | None = "drop",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.members = members
        self.weights = weights
        self.outliers = outliers
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the committee and, where ``deep``, its members and theirs."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, member in _named(self.members).items():
                inner = member.get_params()
                params |= {name: member, **{f"{name}__{key}": inner[key] for key in inner}}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the committee, its members by name, and theirs as ``cvc__dims``."""
        for key in [key for key in _OWN if key in params]:
            setattr(self, key, params.pop(key))
        if not params:
            return self
        members = _named(self.members)
        for key in params:
            name, is_nested, _ = key.partition("__")
            known = members if is_nested else (*_OWN, *members)
            check_known("Committee", "parameter", name, known)
        for key in [key for key in params if key in members]:
            members[key] = params.pop(key)
        for key, value in params.items():
            name, _, inner = key.partition("__")
            members[name].set_params(**{inner: value})
        self.members = list(members.items())
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Try the members on a gallery, and fit the good ones to it."""
        check_jobs("Committee", self.n_jobs)
        check_choice("Committee", "weights", self.weights, ("gallery", None))
        check_choice("Committee", "outliers", self.outliers, ("drop", None))
        seed = seed_from(self.random_state, "Committee")
        given = {"n_jobs": self.n_jobs, "random_state": seed}
        candidates = {name: clone(member) for name, member in _named(self.members).items()}
        for member in candidates.values():
            own = member.get_params(deep=False)
            is_open = [key for key in given if key in own and own[key] is None]
            member.set_params(**{key: given[key] for key in is_open})
        sets = check_sets(X, caller="Committee.fit")
        classes, codes = check_labels(y, len(sets), caller="Committee.fit")
        return self._form(candidates, sets, classes[codes], "Committee.fit")

    def _form(
        self, candidates: Any, sets: Any, labels: Any, caller: str, **fitted: Any
    ) -> Self:
        """Replace the panel; called by public methods, since warnings point at their caller."""
        with one_blas_thread():
            self.panel_ = form_panel(
                candidates,
                sets,
                labels,
                caller,
                try_members=self.weights is not None,
                drop_outliers=self.outliers is not None,
                **fitted,
            )
        return self

    # Read from the panel, which fit, enroll and forget replace as a whole.
    classes_ = property(attrgetter("panel_.classes"))
    n_features_in_ = property(attrgetter("panel_.sets.n_features"))
    members_ = property(attrgetter("panel_.members"))
    weights_ = property(attrgetter("panel_.weights"))
    gallery_accuracy_ = property(attrgetter("panel_.accuracy"))
    inverse_temperature_ = property(attrgetter("panel_.inverse_temperature"))

    def enroll(self, X: Any, y: Any) -> Self:
        """Add sets to the end of the gallery; the answers are those of a fresh fit.

        CVC enrolls them; the other members are fitted again, and all are tried again. Threads
        that predict meanwhile use the old gallery or the new one. Classes may be new.
        """
        check_is_fitted(self)
        panel, caller = self.panel_, "Committee.enroll"
        new = check_sets(X, caller=caller, n_features=self.n_features_in_)
        classes, codes = check_labels(y, len(new), caller=caller, min_classes=1)
        labels = join_labels(panel.classes[panel.codes], classes[codes], caller)
        sets, added = SetBatch.join([panel.sets, new]), labels[len(panel.codes) :]
        fitted = partial(_changed, panel, lambda cvc: cvc.enroll(new, added))
        return self._form(panel.candidates, sets, labels, caller, fitted=fitted)

    def forget(self, labels: Any = (), *, sets: Any = ()) -> Self:
        """Remove sets from the gallery; the answers are those of a fresh fit.

        CVC forgets them; the other members are fitted again, and all are tried again.

        Parameters
        ----------
        labels : sequence of labels
            Classes all of whose sets are removed.
        sets : sequence of str or int
            Single sets, by their names or their places in the gallery.
        """
        check_is_fitted(self)
        panel, caller = self.panel_, "Committee.forget"
        known: Any = {"classes": panel.classes, "codes": panel.codes, "names": panel.sets.names}
        stays = remaining_sets(labels, sets, **known, caller=caller)
        if stays.all():
            return self
        kept, gone = np.flatnonzero(stays), np.flatnonzero(~stays).tolist()
        rest, of_rest = panel.sets[kept], panel.classes[panel.codes[kept]]
        fitted = partial(_changed, panel, lambda cvc: cvc.forget(sets=gone))
        return self._form(panel.candidates, rest, of_rest, caller, fitted=fitted)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Label of each set."""
        panel, scores = self._answers(X, "predict")
        return panel.classes[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class for each set; uniform where no member knows anything.

        ``softmax(inverse_temperature_ * score / total weight)``. The inverse temperature counts
        one pretended error, so that a few sets never give certainty; by default it is 3.
        """
        panel, scores = self._answers(X, "predict_proba")
        return panel.probabilities(scores)

    def _scores(self, X: Any, caller: str) -> FloatArray:
        return self._answers(X, caller)[1]

    def _answers(self, X: Any, caller: str) -> tuple[Panel, FloatArray]:
        """The panel, read once, and its score of each class for each set."""
        check_is_fitted(self)
        panel, caller = self.panel_, f"Committee.{caller}"
        probes = check_sets(X, caller=caller, n_features=panel.sets.n_features)
        ranks = mean_ranks(panel.class_scores(probes))
        is_lost = np.ptp(ranks, axis=-1).max(axis=0) == 0
        lost = [probes.names[i] for i in np.flatnonzero(is_lost)]
        if lost:
            msg = (
                f"{caller}: no member tells the classes apart for {len(lost)} of {len(probes)} "
                f"sets ({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}): all classes "
                "are equally probable, and the label is arbitrary."
            )
            warnings.warn(msg, NoInformationWarning, stacklevel=3)
        return panel, rank_scores(ranks, panel.member_weights)

    def explain(self, probe: Any) -> CommitteeExplanation:
        """The vote of each member for one set, an array of shape (n_vectors, n_features)."""
        check_is_fitted(self)
        panel, caller = self.panel_, "Committee.explain"
        check = partial(check_sets, caller=caller, n_features=panel.sets.n_features)
        batch = one_set(probe, check, caller)
        return panel.explanation(panel.class_scores(batch)[:, 0])


def _changed(panel: Panel, change: Callable[[CVC], CVC], name: str) -> CVC | None:
    """A member of the panel with another gallery, where it is a CVC."""
    member = panel.members.get(name)
    # A copy: CVC replaces its gallery as a whole, and the old panel keeps the old one.
    return change(copy.copy(member)) if isinstance(member, CVC) else None


def _named(members: Any) -> dict[str, Any]:
    """Checked members by name; None stands for the default ones."""
    pairs = default_members() if members is None else members
    # No generators: they could be read only once.
    is_list = isinstance(pairs, list | tuple) and pairs and all(map(_is_member, pairs))
    if not is_list or len(dict(pairs)) < len(pairs):
        refuse("Committee", "members", _EXPECTED, pairs)
    return dict(pairs)


def _is_member(pair: Any) -> bool:
    """Whether something is a pair of a name and a classifier of sets."""
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    name, member = pair
    if not isinstance(name, str) or not name or "__" in name or name in _OWN:
        return False
    can_answer = hasattr(member, "decision_function") or hasattr(member, "predict_proba")
    is_whole = can_answer and hasattr(member, "fit") and hasattr(member, "get_params")
    return is_whole and not isinstance(member, type)
