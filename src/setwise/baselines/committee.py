"""Committee: CVC and its quick rivals, as one set classifier."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_choice, check_jobs, check_known, seed_from
from setwise._support.types import FloatArray
from setwise.baselines.committee_explanation import CommitteeExplanation, MemberVote
from setwise.baselines.committee_members import OWN_PARAMETERS, named_members, prepared_members
from setwise.baselines.panel import Panel, form_panel
from setwise.baselines.ranks import mean_ranks, rank_scores
from setwise.classify import CVC
from setwise.errors import NoInformationWarning
from setwise.sets import SetBatch, SetClassifier, check_labels, check_sets
from setwise.sets.classifier import one_set
from setwise.sets.identifiers import join_labels
from setwise.sets.splits import remaining_sets

__all__ = ["Committee"]


class Committee(SetClassifier):
    """Several set classifiers that vote by rank: seldom the best, hardly ever bad.

    Each member ranks the classes for a set; the score of a class is the sum over the members of
    ``-log(rank)``, classes that a member cannot tell apart sharing the mean of their ranks.
    Ranks need no common scale, and a member that knows nothing moves nobody. Where the votes
    are even, the first member decides. Each set is judged alone.

    The gallery chooses the members: its sets are left out in ``k`` parts (``k`` = 5, or as many
    as the smallest class has sets), every member judges those it was not fitted to, and one
    that is worse than the best beyond chance (exact one-sided sign test at level 0.05) is
    dropped. In simulated galleries of 20 to 200 sets and eight members with independent errors,
    one 30 points worse than the others is dropped in 81 to 100 of 100, one 10 points worse in
    23 to 99; of eight equally good ones about one is lost by chance, since the best is chosen
    on the same sets: seven others remain, whereas a member that misleads would stay. In a
    gallery with a single set of some class nothing can be left out, and **none is dropped**.

    A member that cannot be fitted to the gallery, or to a part of it, is left out with a
    warning that names it; wrong parameters of a member are an error.

    Parameters
    ----------
    members : list of (name, classifier) pairs, optional
        Set classifiers with ``decision_function`` or ``predict_proba``; copies are fitted. By
        default CVC, MSM with the smallest angle, CMSM, GDA, CDL (partial least squares),
        AHISD, frame vote and mean cosine (:mod:`setwise.baselines.committee_members`). Their parameters
        are reached as ``cvc__dims``.
    weights : {"gallery", None}, default="gallery"
        Whether members that mislead on left-out gallery sets are dropped. That costs up to
        five more fits and, of each gallery set (at most 200 of them), one judgement.
    n_jobs : int, optional
        Threads of the members that have ``n_jobs`` and leave it open. Answers do not depend
        on it.
    random_state : int, RandomState or None, default=None
        Seed of the members that have ``random_state`` and leave it open.

    Attributes
    ----------
    panel_ : Panel
        All that was learned: one frozen object, replaced as a whole by :meth:`fit`,
        :meth:`enroll` and :meth:`forget`. All that follows is read from it.
    classes_ : array of shape (n_classes,)
        Labels, sorted.
    n_features_in_ : int
        Length of the vectors.
    members_ : dict of str to classifier
        The members that count, fitted: ``members_["cvc"].explain(probe)`` says more of one.
    weights_ : dict of str to float
        1, or 0 for a member that was dropped; a billionth more for the first, which breaks
        ties. Members that failed are not in it.
    gallery_accuracy_ : dict of str to float, or None
        Share of the left-out gallery sets that each member recognised.
    steepness_ : float
        The ``beta`` of :meth:`predict_proba`.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import Committee
    >>> from setwise.baselines import MSM, FrameVote, MeanCosine
    >>> rng = np.random.default_rng(0)
    >>> places = {name: rng.normal(size=20) for name in ("anna", "bert")}
    >>> def album(name):
    ...     return places[name] + 0.3 * rng.normal(size=(12, 20))
    >>> labels = ["anna", "bert"] * 3
    >>> members = [("msm", MSM(3)), ("votes", FrameVote()), ("mean", MeanCosine())]
    >>> committee = Committee(members).fit([album(name) for name in labels], labels)
    >>> print(committee.explain(album("bert")))
    bert: bert 0.86, anna 0.14; 3 of 3 members agree.
    member                weight    rank of bert  votes for
    msm                       1               1  bert
    votes                     1               1  bert
    mean                      1               1  bert
    """

    def __init__(
        self,
        members: Sequence[tuple[str, Any]] | None = None,
        *,
        weights: str | None = "gallery",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.members = members
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the committee and, where ``deep``, its members and theirs."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, member in named_members(self.members).items():
                inner = member.get_params()
                params |= {name: member, **{f"{name}__{key}": inner[key] for key in inner}}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the committee, its members by name, and theirs as ``cvc__dims``."""
        for key in [key for key in OWN_PARAMETERS if key in params]:
            setattr(self, key, params.pop(key))
        if not params:
            return self
        members = named_members(self.members)
        for key in params:
            name, is_nested, _ = key.partition("__")
            known = members if is_nested else (*OWN_PARAMETERS, *members)
            check_known("Committee", "parameter", name, known)
        for key in [key for key in params if key in members]:
            members[key] = params.pop(key)
        for key, value in params.items():
            name, _, inner = key.partition("__")
            members[name].set_params(**{inner: value})
        self.members = list(members.items())
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Try the members on a gallery, and fit to it those that do not mislead.

        Parameters
        ----------
        X : list of arrays of shape (n_vectors_i, n_features), SetBatch or 3-D array
            Gallery sets.
        y : array of shape (n_sets,)
            Class of each set.
        """
        check_jobs("Committee", self.n_jobs)
        check_choice("Committee", "weights", self.weights, ("gallery", None))
        seed = seed_from(self.random_state, "Committee")
        candidates = prepared_members(self.members, n_jobs=self.n_jobs, random_state=seed)
        sets = check_sets(X, caller="Committee.fit")
        classes, codes = check_labels(y, len(sets), caller="Committee.fit")
        self.panel_ = self._formed(candidates, sets, classes[codes], "Committee.fit")
        return self

    def _formed(
        self,
        candidates: Mapping[str, Any],
        sets: SetBatch,
        labels: npt.NDArray[Any],
        caller: str,
        fitted: Callable[[str], Any] = lambda name: None,
    ) -> Panel:
        """A panel for a gallery; ``fitted`` gives members that are fitted to it already."""
        classes, codes = check_labels(labels, len(sets), caller=caller)

        def fit(name: str) -> Any:
            member = fitted(name)
            return clone(candidates[name]).fit(sets, labels) if member is None else member

        with one_blas_thread():
            return form_panel(
                candidates,
                sets,
                classes,
                codes,
                try_members=self.weights is not None,
                fit=fit,
                caller=caller,
            )

    @property
    def classes_(self) -> npt.NDArray[Any]:  # type: ignore[override]
        """Labels, sorted."""
        return self.panel_.classes

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Length of the vectors."""
        return self.panel_.sets.n_features

    @property
    def members_(self) -> Mapping[str, Any]:
        """The members that count, fitted."""
        return self.panel_.members

    @property
    def weights_(self) -> Mapping[str, float]:
        """How much each member counts."""
        return self.panel_.weights

    @property
    def gallery_accuracy_(self) -> Mapping[str, float] | None:
        """Share of left-out gallery sets that each member recognised."""
        return self.panel_.accuracy

    @property
    def steepness_(self) -> float:
        """How steeply probabilities rise with the scores."""
        return self.panel_.beta

    def enroll(self, X: Any, y: Any) -> Self:
        """Add sets to the gallery: as if it had been fitted with them at its end.

        CVC enrolls them; the other members are fitted again, and all are tried again. Threads
        that predict meanwhile do so by the old gallery or by the new one.

        Parameters
        ----------
        X, y
            Sets and their classes, as for :meth:`fit`. Classes may be new.
        """
        check_is_fitted(self)
        panel, caller = self.panel_, "Committee.enroll"
        new = check_sets(X, caller=caller, n_features=self.n_features_in_)
        classes, codes = check_labels(y, len(new), caller=caller, min_classes=1)
        labels = join_labels(panel.classes[panel.codes], classes[codes], caller)
        return self._changed(
            SetBatch.join([panel.sets, new]),
            labels,
            caller,
            lambda cvc: cvc.enroll(new, labels[len(panel.codes) :]),
        )

    def forget(self, labels: Any = (), *, sets: Any = ()) -> Self:
        """Remove sets from the gallery: as if it had been fitted without them.

        CVC forgets them; the other members are fitted again, and all are tried again.

        Parameters
        ----------
        labels : sequence of labels
            Classes all of whose sets are removed.
        sets : sequence of str or int
            Single sets, by the names they were given or their place in the gallery.
        """
        check_is_fitted(self)
        panel, caller = self.panel_, "Committee.forget"
        stays = remaining_sets(
            labels,
            sets,
            classes=panel.classes,
            codes=panel.codes,
            names=panel.sets.names,
            caller=caller,
        )
        if stays.all():
            return self
        kept, gone = np.flatnonzero(stays), np.flatnonzero(~stays)
        remaining = panel.classes[panel.codes[kept]]
        return self._changed(
            panel.sets[kept], remaining, caller, lambda cvc: cvc.forget(sets=gone.tolist())
        )

    def _changed(
        self,
        sets: SetBatch,
        labels: npt.NDArray[Any],
        caller: str,
        change: Callable[[CVC], CVC],
    ) -> Self:
        """Replace the panel by one of another gallery, with what CVC can keep of the old."""
        panel = self.panel_

        def change_cvc(name: str) -> CVC | None:
            member = panel.members.get(name)
            # A copy: CVC replaces its gallery as a whole, and the old panel keeps the old one.
            return change(copy.copy(member)) if isinstance(member, CVC) else None

        self.panel_ = self._formed(panel.candidates, sets, labels, caller, change_cvc)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Label of each set."""
        panel, scores = self._asked(X, "predict")
        return panel.classes[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class for each set; even where no member knows anything.

        ``softmax(beta * score / total weight)``, where ``beta`` is what fits the left-out
        gallery sets best, one pretended error among them, so that a few sets never make it
        sure of anything. Where nothing is left out, ``beta`` is 2.
        """
        panel, scores = self._asked(X, "predict_proba")
        return panel.probabilities(scores)

    def _scores(self, X: Any, caller: str) -> FloatArray:
        return self._asked(X, caller)[1]

    def _asked(self, X: Any, caller: str) -> tuple[Panel, FloatArray]:
        """The panel that was asked, and the score of each class for each set."""
        check_is_fitted(self)
        panel, caller = self.panel_, f"Committee.{caller}"
        probes = check_sets(X, caller=caller, n_features=panel.sets.n_features)
        ranks = mean_ranks(panel.class_scores(probes))
        scores = rank_scores(ranks, panel.member_weights)
        is_lost = np.ptp(ranks, axis=-1).max(axis=0) == 0
        lost = [probes.names[i] for i in np.flatnonzero(is_lost)]
        if lost:
            msg = (
                f"{caller}: no member tells the classes apart for {len(lost)} of {len(probes)} "
                f"sets ({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}): all are "
                "equally probable, and the label means nothing."
            )
            warnings.warn(msg, NoInformationWarning, stacklevel=3)
        return panel, scores

    def explain(self, probe: Any) -> CommitteeExplanation:
        """Who votes what for one set.

        Parameters
        ----------
        probe : array of shape (n_vectors, n_features)
            One set.
        """
        check_is_fitted(self)
        panel = self.panel_
        caller, n_features = "Committee.explain", panel.sets.n_features
        batch = one_set(
            probe, lambda sets: check_sets(sets, caller=caller, n_features=n_features), caller
        )
        return _explanation(panel, panel.class_scores(batch)[:, 0])


def _explanation(panel: Panel, member_scores: FloatArray) -> CommitteeExplanation:
    """The votes behind one answer, by the scores of each member (row) for each class."""
    ranks = mean_ranks(member_scores)
    scores = rank_scores(ranks, panel.member_weights)
    firsts = [panel.classes[r.argmin()] if r.min() == 1.0 else None for r in ranks]
    return CommitteeExplanation(
        label=panel.classes[scores.argmax()],
        classes=panel.classes,
        scores=scores,
        probabilities=panel.probabilities(scores),
        votes=tuple(
            MemberVote(name, panel.weights[name], *vote)
            for name, *vote in zip(panel.members, firsts, ranks, member_scores, strict=True)
        ),
        dropped=tuple(name for name, weight in panel.weights.items() if not weight),
    )
