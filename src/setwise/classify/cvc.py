"""CVC, the estimator: fit a gallery of labelled sets, label others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_choice, check_jobs, refuse, seed_from
from setwise._support.parts import Part, PartParameters
from setwise._support.progress import Progress
from setwise._support.types import BoolArray, FloatArray
from setwise._support.warned import warn_user
from setwise.classify.answer import Answer
from setwise.classify.explanation import Explanation
from setwise.classify.group import group
from setwise.classify.image_features import image_representations, named_features
from setwise.classify.judge import judge
from setwise.classify.judge_together import judge_together, of_all_classes, transduced
from setwise.classify.pictured import explain_set
from setwise.cluster import Clusterer
from setwise.cut import CutRule
from setwise.errors import DataError, NoInformationWarning
from setwise.gallery.defaults import DIMS, EVIDENCE, REPRESENTATIONS
from setwise.gallery.description import (
    Description,
    Layer,
    Member,
    Shortlist,
    as_dims,
    as_evidence,
    as_representations,
)
from setwise.gallery.distributions import Distance
from setwise.gallery.evidence import Evidence
from setwise.gallery.file import save_gallery
from setwise.gallery.fusion import Fusion
from setwise.gallery.gallery import Gallery
from setwise.gallery.solve import learnt, solve_checked, update
from setwise.graph import Graph, LassoGraph
from setwise.index import Index
from setwise.sets import SetBatch, SetClassifier, check_labels, check_sets, check_some_labels
from setwise.sets.classifier import one_set
from setwise.sets.labels import join_labels, remaining_sets, same_label
from setwise.together.grouping import Grouping


class CVC(PartParameters, SetClassifier):
    """Classification via clustering: label, probability and reasons for each set.

    Gallery and probe are joined in one graph, without looking at labels. Classes are compared
    with the probe by their distribution over the graph's clusters, by edges, and by angles of
    sets. Each probe is judged alone.

    Parameters
    ----------
    dims : sequence of int, default=(5,)
        Columns that a set is reduced to, one layer each. Numbers above the size of the largest
        gallery set, or above half of the number of features, are left out.
    representations : sequence of (view, basis) pairs
        Every pair makes one layer per dimensionality.

        A view transforms the vectors first: ``"plain"``, ``"whitened"`` (by the gallery's own
        vectors), or any scikit-learn transformer of rows, alone or as a ``(name,
        transformer)`` pair. Vectors are scaled to unit norm afterwards, except in the view
        ``"lengths"`` (see :class:`setwise.errors.LengthsWarning`).

        A basis turns them into columns: ``"mean"`` (one column, whatever ``dims``), ``"svd"``,
        ``"centred"``, ``"means"`` (singular vectors of the set, of the set minus its mean,
        means of its parts), ``"dictionary"`` (the paper's atoms, with an l1 bound),
        ``"vectors"`` (the set's own vectors, each compared with the nearest), ``"spread"``
        (principal directions with lengths, whatever ``dims``), or one with parameters such as
        ``Dictionary(radius=2.0, n_seeds=3)``.

        The default is *where a set is* (mean of the plain vectors), *what it spans* (singular
        vectors of the whitened ones), *how it varies* (centred ones of the plain ones), *which
        vectors it has* and *how widely it spreads*, about zero and about its mean (both plain
        and whitened).
    graph : str or Graph, default="lasso"
        Proximity of columns: ``"lasso"``, ``"gaussian"``, ``"least_squares"``, ``"omp"``, or
        one with parameters such as ``LassoGraph(alpha=0.01)``.
    cut : {"sweep", "exact", "paper"} or CutRule, default="sweep"
        How SHC divides a cluster, see :func:`setwise.cut.bisect`. More than 3000 columns are
        divided around the probe first, see :class:`setwise.cluster.CutTree`.
    clusterer : str or scikit-learn clusterer, default="shc"
        ``"shc"``, the paper's ``"kmeans"``, ``"ssc"``, ``"ssc-admm"``, ``"spectral"`` (of the
        graph; all with as many clusters as classes) and ``"skms"``, or anything with
        ``fit_predict``, see :class:`setwise.cluster.GivenClusterer`.
    distance : {"bhattacharyya", "hellinger"}, default="bhattacharyya"
        Between cluster distributions.
    evidence : sequence of str or Evidence
        Of each layer: ``"clusters"`` (Algorithm 1), ``"edges"`` (share of the probe's),
        ``"smallest angle"``, ``"all angles"``, ``"regression"`` (of classes on how alike sets
        are, for spreads alone). The default is all, clusters at the middle dimensionality of
        each representation alone. Vectors and spreads have no graph.
    fusion : {"pool", "mode", "sum", "coefficient", "none"}, default="pool"
        Weighted mean of the members' probabilities, majority of labels, sum of distances, sum
        of overlaps, or the largest dimensionality alone.
    weights : {"gallery", None}, default="gallery"
        Weigh members (a kind of evidence of a layer) by how probable they find the classes of
        gallery sets that are left out in turn; of halves of sets, where some class has a single
        set. Equally good members that compare single vectors have a fifth of the weight
        together.
    outliers : {"drop", None}, default="drop"
        Drop outliers from gallery sets and probes, see :func:`setwise.features.is_typical`.
    unknown : float, optional
        Target false-acceptance rate for sets of unknown classes, such as 0.05. ``predict``
        gives the others ``unknown_label``. None takes every set for the nearest class.
    unknown_label : object, default="unknown"
        Label of sets of unknown classes; of the type of the labels.
    distributions : {"class", "set"}, default="class"
        Whether all gallery sets of a class share one distribution or have one each.
    stop_early : bool, default=True
        In mode fusion, stop when the rest of the ensemble cannot change the label.
    shortlist : str, Shortlist or None, default="near"
        In a gallery of more than 256 classes, each probe is judged by the 32 nearest, see
        :class:`setwise.classify.Shortlist`. None judges by all, at any cost.
    index : str or Index, default="exact"
        Finds classes around a probe, see :mod:`setwise.index`.
    n_jobs : int, optional
        Threads. Labels do not depend on it.
    random_state : int, RandomState or None, default=None
        Starts of the dictionaries, and of clusterers given by name.

    Attributes
    ----------
    gallery_ : Gallery
        The solved gallery: one frozen object, replaced as a whole by :meth:`fit`,
        :meth:`enroll` and :meth:`forget`. All others but the next four are read from it.
    reading_ : dict
        How the command read the sets: ``layout``, ``gap_s``, ``features``. Kept in files.
    transduction_ : array of shape (n_sets,)
        Label of each set that was fitted, where some were unlabelled.
    label_distributions_ : array of shape (n_sets, n_classes)
        Their class probabilities.
    unlabelled_ : SetBatch
        The unlabelled sets. They are related to sets that are judged together; a file that is
        saved does not have them.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import CVC
    >>> rng = np.random.default_rng(0)
    >>> faces = {name: rng.normal(size=(3, 20)) for name in ("anna", "bert")}
    >>> labels = ["anna", "anna", "bert", "bert"]
    >>> albums = [(rng.normal(size=(12, 3)) + 1) @ faces[name] for name in labels]
    >>> CVC(dims=(1, 2, 3)).fit(albums, labels).predict([albums[2], albums[0]])
    array(['bert', 'anna'], dtype='<U4')
    """

    part_parameters: ClassVar[Mapping[str, type[Part]]] = {
        "graph": Graph,
        "cut": CutRule,
        "clusterer": Clusterer,
        "distance": Distance,
        "fusion": Fusion,
        "shortlist": Shortlist,
        "index": Index,
    }

    def __init__(
        self,
        dims: Sequence[int] = DIMS,
        *,
        representations: Sequence[tuple[Any, Any]] = REPRESENTATIONS,
        graph: str | Graph = "lasso",
        cut: str | CutRule = "sweep",
        clusterer: Any = "shc",
        distance: str | Distance = "bhattacharyya",
        evidence: Sequence[str | Evidence] = EVIDENCE,
        fusion: str | Fusion = "pool",
        weights: str | None = "gallery",
        outliers: str | None = "drop",
        unknown: float | None = None,
        unknown_label: Any = "unknown",
        distributions: str = "class",
        stop_early: bool = True,
        shortlist: str | Shortlist | None = "near",
        index: str | Index = "exact",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.dims = dims
        self.representations = representations
        self.graph = graph
        self.cut = cut
        self.clusterer = clusterer
        self.distance = distance
        self.evidence = evidence
        self.fusion = fusion
        self.weights = weights
        self.outliers = outliers
        self.unknown = unknown
        self.unknown_label = unknown_label
        self.distributions = distributions
        self.stop_early = stop_early
        self.shortlist = shortlist
        self.index = index
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def as_in_paper(cls, **parameters: Any) -> Self:
        """The paper's setting: dictionary atoms, lasso 0.01, Algorithm 3, majority vote."""
        paper: dict[str, Any] = {
            "dims": tuple(range(1, 11)),
            "representations": (("plain", "dictionary"),),
            "graph": LassoGraph(alpha=0.01),
            "cut": "paper",
            "evidence": ("clusters",),
            "fusion": "mode",
            "weights": None,
            "outliers": None,
            "shortlist": None,
        }
        return cls(**(paper | parameters))

    @classmethod
    def for_images(cls, features: str | Sequence[str] = "auto", **parameters: Any) -> Self:
        """For sets of images: an ensemble of pixels, edges and a network's features.

        Each feature has three representations: mean, whitened svd and centred. Weights are
        learnt from the gallery; a feature that worsens it is dropped where classes have several
        sets, see :attr:`view_weights_`. Load sets by ``load_images`` or
        ``SetBatch.from_images``.

        Parameters
        ----------
        features : str or sequence of str, default="auto"
            ``"pixels"`` (20 x 20), ``"edges"`` (oriented gradients at 64 x 64, in cells of 8
            and of 16 pixels), ``"network"`` (:class:`setwise.features.Network`) or ``"faces"``
            (:class:`setwise.features.Faces`). ``"auto"`` takes all installed but ``"faces"``.
        **parameters
            Other parameters of the class.
        """
        names = named_features(features, "CVC.for_images")
        return cls(**({"representations": tuple(image_representations(names))} | parameters))

    @classmethod
    def for_turntables(cls, **parameters: Any) -> Self:
        """For sets that show their objects alike: from all sides, in the same light.

        Pixels, fine and coarse edges, centred alone. *How a set varies* then says most, and
        this is the best on ETH-80. Where sets show other sides of their objects, or other
        light, it is much worse: docs/accuracy.md.
        """
        pairs = image_representations(("pixels", "edges"))
        centred = tuple((view, basis) for view, basis in pairs if basis == "centred")
        return cls(**({"representations": centred} | parameters))

    def describe(self) -> Description:
        """The description that the parameters give, all of them checked."""
        check_jobs("CVC", self.n_jobs)
        check_choice("CVC", "stop_early", self.stop_early, (True, False))
        return Description(
            dims=as_dims(self.dims),
            representations=as_representations(self.representations),
            graph=Graph.of(self.graph, "CVC"),
            cut=CutRule.of(self.cut, "CVC"),
            clusterer=Clusterer.of(self.clusterer, "CVC"),
            distance=Distance.of(self.distance, "CVC"),
            fusion=Fusion.of(self.fusion, "CVC"),
            evidence=as_evidence(self.evidence),
            distributions=self.distributions,
            weights=self.weights,
            outliers=self.outliers,
            unknown=self.unknown,
            seed=seed_from(self.random_state, "CVC"),
            shortlist=Shortlist.given(self.shortlist, "CVC"),
            index=Index.of(self.index, "CVC"),
        )

    def fit(self, X: Any, y: Any) -> Self:
        """Solve a gallery, and learn weights, temperatures and thresholds from it.

        A fit also judges up to 500 of its own sets, each left out. It solves a second gallery
        of halves of sets (where a class has a single set) or of every other set (where views
        learn from fewer vectors than features). With ``unknown`` it fits views and bases four
        times, each time without a quarter of the classes.

        Parameters
        ----------
        X : list of arrays of shape (n_vectors_i, n_features), SetBatch or 3-D array
            Gallery sets.
        y : array of shape (n_sets,)
            Class of each set. -1 among integers, or None among strings: a set without a label,
            which gets one from the others, see ``transduction_``.
        """
        description = self.describe()
        batch = check_sets(X, caller="CVC.fit", is_compact=True)
        classes, codes = check_some_labels(y, len(batch), caller="CVC.fit")
        if description.unknown is not None:
            _check_unknown_label(self.unknown_label, classes)
        known = codes >= 0
        labelled = batch if known.all() else batch[np.flatnonzero(known)]
        with self._lock():
            solved = solve_checked(
                description, labelled, classes, codes[known], n_jobs=self.n_jobs
            )
            self.gallery_: Gallery = solved
            for name in ("unlabelled_", "transduction_", "label_distributions_"):
                self.__dict__.pop(name, None)
            if not known.all():
                self.unlabelled_ = batch[np.flatnonzero(~known)]
                self.transduction_, self.label_distributions_ = transduced(
                    solved, self.unlabelled_, codes, self.unknown_label, n_jobs=self.n_jobs
                )
        return self

    def _lock(self) -> RLock:
        """Held while the gallery is replaced; one for all threads."""
        lock: RLock = self.__dict__.setdefault("_changing", RLock())
        return lock

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the lock, which each copy makes anew."""
        state = dict(super().__getstate__())
        state.pop("_changing", None)
        return state

    @property
    def classes_(self) -> npt.NDArray[Any]:  # type: ignore[override]
        """Labels, sorted."""
        return self.gallery_.classes

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Length of the vectors."""
        return self.gallery_.sets.n_features

    @property
    def layers_(self) -> tuple[Layer, ...]:
        """The ensemble's layers."""
        return self.gallery_.ensemble.layers

    @property
    def members_(self) -> tuple[Member, ...]:
        """Kinds of evidence of the layers."""
        return self.gallery_.members

    @property
    def weights_(self) -> FloatArray:
        """Weight of each member."""
        return self.gallery_.calibration.weights

    @property
    def view_weights_(self) -> dict[str, float]:
        """Share of each view, with its whitened form, in the weights, the largest first."""
        shares: dict[str, float] = {}
        gallery = self.gallery_
        parts = gallery.calibration.weights / gallery.calibration.weights.sum()
        for member, weight in zip(gallery.members, parts, strict=True):
            name = member.layer.representation.view.name.removeprefix("whitened ")
            shares[name] = shares.get(name, 0.0) + float(weight)
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    @property
    def gallery_accuracy_(self) -> Mapping[str, float] | None:
        """Share of left-out gallery sets that each member recognised."""
        return self.gallery_.calibration.accuracy

    def enroll(self, X: Any, y: Any, *, learn: str = "now") -> Self:
        """Add sets to the gallery: as if it had been fitted with them at its end.

        A gallery of more than 100 sets keeps its views, dimensionalities, weights, temperatures
        and thresholds until more than a fifth of the sets have changed, or :meth:`learn` is
        called.

        Only what the new sets change is solved again. Threads that enroll or forget wait for
        each other; meanwhile others predict by the old gallery or the new one.

        Parameters
        ----------
        X, y
            Sets and their classes, as for :meth:`fit`. Classes may be new.
        learn : {"now", "later"}, default="now"
            With ``"later"``, the gallery answers at once, by what was learnt before, until
            :meth:`learn` is called, perhaps in another thread.
        """
        check_is_fitted(self)
        with self._lock():
            gallery = self.gallery_
            new = gallery.check(X, "CVC.enroll")
            classes, codes = check_labels(y, len(new), caller="CVC.enroll", min_classes=1)
            labels = join_labels(gallery.classes[gallery.codes], classes[codes], "CVC.enroll")
            self._update("CVC.enroll", learn, add=(new, labels[len(gallery.codes) :]))
        return self

    def forget(self, labels: Any = (), *, sets: Any = (), learn: str = "now") -> Self:
        """Remove sets from the gallery: as if it had been fitted without them.

        Only what used them is solved again, see :meth:`enroll`.

        Parameters
        ----------
        labels : sequence of labels
            Classes all of whose sets are removed.
        sets : sequence of str or int
            Single sets, by name or by place in the gallery.
        learn : {"now", "later"}, default="now"
            As for :meth:`enroll`.
        """
        check_is_fitted(self)
        with self._lock():
            gallery = self.gallery_
            is_kept = remaining_sets(
                labels,
                sets,
                classes=gallery.classes,
                codes=gallery.codes,
                names=gallery.sets.names,
                caller="CVC.forget",
            )
            if not is_kept.all():
                self._update("CVC.forget", learn, is_kept=is_kept)
        return self

    def learn(self) -> Self:
        """Learn views, weights and thresholds anew, if sets have changed since.

        Afterwards everything is as if it had been fitted with the gallery's sets. Others
        predict, enroll and forget meanwhile. If the gallery has changed when all is learnt, it
        is learnt once more, so that no change is lost. ``gallery_.calibration.n_changed`` is
        the number of sets that have changed since.
        """
        check_is_fitted(self)
        while True:
            gallery = self.gallery_
            anew = learnt(gallery, n_jobs=self.n_jobs, caller="CVC.learn")
            with self._lock():
                if self.gallery_ is gallery:
                    self.gallery_ = anew
                    return self

    def _update(
        self,
        caller: str,
        learn: str,
        *,
        add: tuple[SetBatch, npt.NDArray[Any]] | None = None,
        is_kept: BoolArray | None = None,
    ) -> None:
        self.gallery_ = update(
            self.gallery_,
            add=add,
            is_kept=is_kept,
            learn=learn,
            n_jobs=self.n_jobs,
            caller=caller,
        )

    def save(self, path: str | Path, *, keep_vectors: bool = True) -> Path:
        """Write the fitted classifier to one file, which :func:`setwise.load` reads.

        The file holds names, numbers and parameters, and nothing that runs. It is written at
        once or not at all; equal fits give equal bytes.

        Parameters
        ----------
        path : str or Path
            Such as ``people.setwise``; a file that is there is replaced.
        keep_vectors : bool, default=True
            Write vectors of the sets, and small pictures, as well. A file without is smaller
            and private. It answers without the members that compare single vectors, and cannot
            enroll, forget or show nearest images.
        """
        check_is_fitted(self)
        own = self._beside_gallery()
        return save_gallery(
            self.gallery_, path, classifier=own, keep_vectors=keep_vectors, caller="CVC.save"
        )

    def _beside_gallery(self) -> dict[str, Any]:
        """Parameters that a file keeps beside the gallery."""
        own: dict[str, Any] = {"stop_early": self.stop_early}
        if reading := getattr(self, "reading_", {}):
            own["reading"] = dict(reading)
        if self.gallery_.calibration.threshold is not None:  # fit has checked the label
            own["unknown_label"] = np.asarray(self.unknown_label).item()
        return own

    def judge(
        self, X: Any, *, progress: Progress | None = None, together: bool = False
    ) -> list[Answer]:
        """Judge sets: one answer per set.

        Parameters
        ----------
        X : list of arrays of shape (n_vectors_i, n_features), SetBatch or 3-D array
            Probes. They are checked at once; each is judged alone.
        progress : callable, optional
            Called with the name of the step, how many sets are judged, and of how many.
        together : bool, default=False
            Judge all sets together, with the unlabelled sets of :meth:`fit`: labels also come
            from other unlabelled sets, see :attr:`setwise.Answer.carried_by`. For few labels
            and many sets, see :func:`setwise.classify.judge_together`.
        """
        return list(self._judged(X, "judge", progress=progress, together=together))

    def iter_judge(self, X: Any, *, progress: Progress | None = None) -> Iterator[Answer]:
        """Judge sets alone, as :meth:`judge` does, and give each answer when it is ready.

        Parameters
        ----------
        X, progress
            As for :meth:`judge`.
        """
        return self._judged(X, "iter_judge", progress=progress)

    def predict(self, X: Any, *, together: bool = False) -> npt.NDArray[Any]:
        """Label of each set; ``unknown_label`` where it is too far from all classes.

        A probe that has nothing in common with any class gets a label and a
        :class:`setwise.errors.NoInformationWarning`. For ``together`` see :meth:`judge`.
        """
        gallery, answers = self._answers(
            X, "predict", stop_early=self.stop_early, together=together
        )
        labels = np.array([answer.nearest for answer in answers], dtype=gallery.classes.dtype)
        is_unknown = np.array([answer.is_known is False for answer in answers])
        if not is_unknown.any():
            return labels
        return np.where(is_unknown, np.array([self.unknown_label]), labels)

    def predict_proba(self, X: Any, *, together: bool = False) -> FloatArray:
        """Probability of each class for each set; uniform without information.

        With ``weights="gallery"``, calibrated on gallery sets that are left out: for a set of
        an unknown class, probabilities only rank the known ones. Those of sets that are judged
        ``together`` are not calibrated.
        """
        gallery, answers = self._answers(X, "predict_proba", together=together)
        rows = [answer.probabilities for answer in answers]
        return of_all_classes(gallery.classes, answers, rows)

    def _scores(self, X: Any, caller: str) -> FloatArray:
        gallery, answers = self._answers(X, caller)
        rows = [answer.scores for answer in answers]
        return of_all_classes(gallery.classes, answers, rows, [row.min() for row in rows])

    def _judged(
        self,
        X: Any,
        caller: str,
        *,
        gallery: Gallery | None = None,
        together: bool = False,
        **how: Any,
    ) -> Iterator[Answer]:
        check_is_fitted(self)
        gallery = gallery or self.gallery_
        how |= {"n_jobs": self.n_jobs, "caller": f"CVC.{caller}"}
        if together:
            how.pop("stop_early", None)
            others = getattr(self, "unlabelled_", None)
            answers = iter(judge_together(gallery, X, others=others, **how))
        else:
            answers = judge(gallery, X, **how)
        return (replace(answer, unknown_label=self.unknown_label) for answer in answers)

    def _answers(self, X: Any, caller: str, **how: Any) -> tuple[Gallery, list[Answer]]:
        """The gallery, read once, and its answers."""
        check_is_fitted(self)
        gallery = self.gallery_
        answers = list(self._judged(X, caller, gallery=gallery, **how))
        lost = [answer.name for answer in answers if not answer.is_informed]
        if lost:
            warn_user(
                f"CVC.{caller}: {len(lost)} of {len(answers)} sets share nothing with any "
                f"class ({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}): all classes "
                "are equally probable, and the label means nothing.",
                NoInformationWarning,
            )
        return gallery, answers

    def group(self, X: Any, *, must_link: Any = None, cannot_link: Any = None) -> Grouping:
        """Put known sets to their classes, and the others into groups without a name.

        Parameters
        ----------
        X
            Sets, as for :meth:`fit`. The classifier needs its ``unknown``.
        must_link, cannot_link : sequence of pairs of int, optional
            Sets that are of one class, and of two, see :meth:`setwise.SetClusters.fit`.

        Returns
        -------
        Grouping
            ``clf.enroll(found.sets_of(0), [name] * len(found.sets_of(0)))`` names a group.
        """
        check_is_fitted(self)
        links = {"must_link": must_link, "cannot_link": cannot_link}
        return group(self.gallery_, X, n_jobs=self.n_jobs, caller="CVC.group", **links)

    def explain(self, probe: Any, *, together: bool = False) -> Explanation:
        """Label of one set and its reasons: votes, distances, tree of cuts.

        Parameters
        ----------
        probe : array of shape (n_vectors, n_features), or a collection of one set
            One set. A batch of one, ``probes[[i]]``, keeps its name and photos for the picture.
        together : bool, default=False
            Judge it with the unlabelled sets of :meth:`fit`, as :meth:`judge` does. The answer
            says which of them its label came through; votes and cuts are of the set alone.
        """
        check_is_fitted(self)
        gallery, caller = self.gallery_, "CVC.explain"
        batch = one_set(probe, lambda sets: gallery.check(sets, caller), caller)
        answer = None
        if together:
            (answer,) = self._judged(batch, "explain", gallery=gallery, together=True)
        with one_blas_thread():
            why = explain_set(gallery, batch, answer)
        return replace(why, answer=replace(why.answer, unknown_label=self.unknown_label))


def _check_unknown_label(label: Any, classes: npt.NDArray[Any]) -> None:
    """Refuse a label for unknown classes that is no label, or that of a class."""
    try:
        joined = join_labels(classes, np.asarray([label]), "CVC")
    except (DataError, ValueError):  # of another kind, or not one label
        expected = f"a label of the kind of the gallery's, {classes.dtype}, such as -1 for ints"
        refuse("CVC", "unknown_label", expected, label)
    if same_label(joined[:-1], joined[-1]).any():
        refuse("CVC", "unknown_label", "a label that no class of the gallery has", label)
