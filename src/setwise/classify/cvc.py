"""CVC, the estimator: fit a gallery of labelled sets, label others."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_choice, check_jobs, refuse, seed_from
from setwise._support.parts import Part, PartParameters
from setwise._support.progress import Progress
from setwise._support.types import FloatArray
from setwise.classify.description import (
    Description,
    Layer,
    Member,
    as_dims,
    as_evidence,
    as_representations,
)
from setwise.classify.distributions import Distance
from setwise.classify.evidence import (
    AllAngles,
    ClusterOverlap,
    EdgeShare,
    Evidence,
    SmallestAngle,
)
from setwise.classify.explanation import Explanation
from setwise.classify.fusion import Fusion
from setwise.classify.gallery import Gallery
from setwise.classify.gallery_file import save_gallery
from setwise.classify.image_looks import image_looks, named_features
from setwise.classify.judge import Answer, judge
from setwise.classify.pictured import explain_set
from setwise.classify.shortlist import Shortlist
from setwise.classify.solve import solve_checked, update
from setwise.cluster import Clusterer
from setwise.cut import CutRule
from setwise.device import check_device, on_device
from setwise.errors import DataError, NoInformationWarning
from setwise.graph import Graph, LassoGraph
from setwise.index import Index
from setwise.sets import SetClassifier, check_labels, check_sets
from setwise.sets.classifier import one_set
from setwise.sets.labels import join_labels, remaining_sets, same_label

__all__ = ["CVC"]

# Where a set is, what it spans, and how it varies.
DEFAULT = (("plain", "mean"), ("whitened", "svd"), ("plain", "centred"))
# Everything that a solved graph says; trees of cuts, which cost most, in the middle only.
EVIDENCE = (ClusterOverlap(dims="middle"), EdgeShare(), SmallestAngle(), AllAngles())


class CVC(PartParameters, SetClassifier):
    """Classification via clustering: says whose set it is, how surely, and why.

    Gallery and probe are joined in one graph, without looking at labels. The class wins that
    spreads over the clusters of the graph as the probe does, to which most of the probe's
    edges lead, and whose sets lie at the smallest angles. Each probe is judged alone.

    Parameters
    ----------
    dims : sequence of int, default=(3, 5, 8)
        Numbers of columns a set is reduced to; each makes one layer of the ensemble.
        Those above the size of the largest gallery set, or above half of the number of
        features, tell nothing apart and are left out.
    representations : sequence of (view, basis) pairs
        What sets are turned into; every pair makes one layer per dimensionality.

        A view is what is done to the vectors first: ``"plain"``, ``"whitened"`` (by the
        gallery's own vectors), or any scikit-learn transformer of rows, alone or as a
        ``(name, transformer)`` pair, such as one that computes other features. All vectors
        are scaled to unit norm afterwards. The view ``"lengths"`` does not do that: for
        vectors whose lengths matter. A gallery that looks like such gets a
        :class:`setwise.errors.LengthsWarning`.

        A basis is what columns they become: ``"mean"`` (one column, whatever ``dims``),
        ``"svd"``, ``"centred"``, ``"means"`` (singular vectors of the set, of the set minus
        its mean, means of its parts),
        ``"dictionary"`` (atoms of a dictionary with an l1 bound, the paper's), or one with
        parameters such as ``Dictionary(radius=2.0, n_seeds=3)``.

        By default *where a set is*, by the mean of the plain vectors (what embeddings are
        compared by), *what it spans*, by singular vectors of the whitened ones, and *how it
        varies*, by centred singular vectors of the plain ones.
    graph : str or Graph, default="lasso"
        Proximity of columns: ``"lasso"``, ``"gaussian"``, ``"least_squares"``, ``"omp"``, or
        one with parameters such as ``LassoGraph(alpha=0.01)``.
    cut : {"sweep", "exact", "paper"} or CutRule, default="sweep"
        How SHC divides a cluster, see :func:`setwise.cut.bisect`. Clusters of more than 3000
        columns are divided around the probe first, see :class:`setwise.cluster.CutTree`.
    clusterer : str or scikit-learn clusterer, default="shc"
        ``"shc"`` is SHC. The others of the paper are ``"kmeans"``, ``"ssc"`` (solved
        exactly, or as its authors do: ``"ssc-admm"``), ``"spectral"`` (of the graph) and
        ``"skms"``; they make as many clusters as there are gallery classes, but for SKMS,
        which finds their number. Anything with ``fit_predict`` works too, see
        :class:`setwise.cluster.GivenClusterer`; it is cloned, with its own ``random_state``.
    distance : {"bhattacharyya", "hellinger"}, default="bhattacharyya"
        Between cluster distributions.
    evidence : sequence of str or Evidence
        What each layer is asked: ``"clusters"`` (Algorithm 1), ``"edges"`` (share of the
        probe's edges), ``"smallest angle"``, ``"all angles"``. By default all of them, with
        clusters at the middle dimensionality of each representation.
    fusion : {"pool", "mode", "sum", "coefficient", "none"}, default="pool"
        Weighted mean of the members' probabilities, majority of labels, sum of distances, sum
        of overlaps, or the largest dimensionality alone.
    weights : {"gallery", None}, default="gallery"
        Whether members (a kind of evidence of a layer) count by how often they recognise the
        gallery's own sets, left out in turn. In a gallery with a single set of some class,
        halves of sets are left out, and members that are clearly worse than the best are
        dropped; where sets are too small to be halved, all count alike.
    outliers : {"drop", None}, default="drop"
        Whether vectors that do not belong to their set are left out, of the gallery and of
        probes, see :func:`setwise.features.is_typical`.
    unknown : float, optional
        Wanted rate of strangers, sets of no class of the gallery, that are taken for somebody:
        0.05 lets one in twenty in. ``predict`` gives the others ``unknown_label``. None takes
        every set for the class that it is most like.
    unknown_label : object, default="unknown"
        What :meth:`predict` calls a stranger; of the type of the labels.
    distributions : {"class", "set"}, default="class"
        Whether all gallery sets of a class share one distribution or have one each.
    stop_early : bool, default=True
        In mode fusion, stop when the rest of the ensemble can no longer change the label.
        Labels are the same either way.
    shortlist : str, Shortlist or None, default="near"
        In a gallery of more than 256 classes, the 32 around the probe are judged, and no
        others: see :class:`setwise.classify.Shortlist`. None judges by all of them, whatever
        that costs.
    index : str or Index, default="exact"
        What finds classes around a probe, see :mod:`setwise.index`.
    n_jobs : int, optional
        Threads. Labels do not depend on it.
    device : str, optional
        ``"cuda"``, or ``"cuda:1"`` and so on: bases, lasso graphs and the insertion of probes
        are computed by that GPU, many sets at once, and the rest by threads (``pip install
        "setwise[cuda]"``). Labels do not depend on it. A gallery knows nothing of it: one that
        was solved with a device can be saved, and asked without.
    random_state : int, RandomState or None, default=None
        Starts of the dictionaries, and of clusterers given by name; nothing else is random.

    Attributes
    ----------
    gallery_ : Gallery
        The solved gallery: one frozen object, replaced as a whole by :meth:`fit`,
        :meth:`enroll` and :meth:`forget`. All that follows is read from it.
    classes_ : array of shape (n_classes,)
        Labels, sorted.
    n_features_in_ : int
        Length of the vectors.
    layers_ : tuple of Layer
        The ensemble.
    members_ : tuple of Member
        What the layers are asked.
    weights_ : array of shape (n_members,)
        How much each member counts; one of weight 0 is never asked.
    gallery_accuracy_ : dict of str to float, or None
        Share of the gallery's own sets, left out, that each member recognised.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise import CVC
    >>> rng = np.random.default_rng(0)
    >>> faces = {name: rng.normal(size=(3, 20)) for name in ("anna", "bert")}
    >>> def album(name):
    ...     return (rng.normal(size=(12, 3)) + 1) @ faces[name]
    >>> labels = ["anna", "anna", "bert", "bert"]
    >>> clf = CVC(dims=(1, 2, 3)).fit([album(name) for name in labels], labels)
    >>> clf.predict([album("bert"), album("anna")])
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
        dims: Sequence[int] = (3, 5, 8),
        *,
        representations: Sequence[tuple[Any, Any]] = DEFAULT,
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
        device: str | None = None,
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
        self.device = device
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
        """For sets of images: pixels, edges and a network's features vote together.

        Each feature is looked at in three ways: where a set is (mean), what it spans (whitened,
        svd) and how it varies (centred). How much each counts is learnt from the gallery, and
        a feature that it is better off without is dropped where classes have several sets: see
        :attr:`view_weights_`. Needs sets that know they are images (``load_images``,
        ``SetBatch.from_images``).

        Parameters
        ----------
        features : str or sequence of str, default="auto"
            ``"pixels"`` (20 x 20), ``"edges"`` (histograms of oriented gradients of the image
            at 64 x 64, in cells of 8 and of 16 pixels: ``pip install "setwise[image]"``),
            ``"network"`` (:class:`setwise.features.Network`: ``"setwise[network]"``),
            ``"faces"`` (:class:`setwise.features.Faces`, for faces alone:
            ``"setwise[faces]"``). ``"auto"`` takes all that are installed but ``"faces"``.
        **parameters
            Those of the class, instead of these.
        """
        looks = tuple(image_looks(named_features(features, "CVC.for_images")))
        return cls(**({"representations": looks} | parameters))

    @classmethod
    def for_turntables(cls, **parameters: Any) -> Self:
        """For sets that show their objects in the same ways: all round, in the same light.

        Pixels, fine and coarse edges, centred alone. *How a set varies* then says most, and
        this is the best on ETH-80. Where sets show other sides of their objects, or other
        light, it is much worse: docs/accuracy.md.

        Parameters
        ----------
        **parameters
            Those of the class, instead of these.
        """
        looks = image_looks(("pixels", "edges"))
        centred = tuple(look for look in looks if look[1] == "centred")
        return cls(**({"representations": centred} | parameters))

    def describe(self) -> Description:
        """What the parameters describe, all of them checked."""
        check_jobs("CVC", self.n_jobs)
        check_device("CVC", self.device)
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
        """Solve a gallery.

        Parameters
        ----------
        X : list of arrays of shape (n_vectors_i, n_features), SetBatch or 3-D array
            Gallery sets.
        y : array of shape (n_sets,)
            Class of each set.
        """
        description = self.describe()
        batch = check_sets(X, caller="CVC.fit", is_compact=True)
        classes, codes = check_labels(y, len(batch), caller="CVC.fit")
        if description.unknown is not None:
            _check_unknown_label(self.unknown_label, classes)
        with on_device(self.device):
            self.gallery_: Gallery = solve_checked(
                description, batch, classes, codes, n_jobs=self.n_jobs
            )
        return self

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
        """The ensemble."""
        return self.gallery_.description.layers(self.gallery_.dims)

    @property
    def members_(self) -> tuple[Member, ...]:
        """What the layers are asked."""
        return self.gallery_.members

    @property
    def weights_(self) -> FloatArray:
        """How much each member counts."""
        return self.gallery_.weights

    @property
    def view_weights_(self) -> dict[str, float]:
        """Share of each view in what counts, the largest first: what the gallery has chosen.

        A view and its whitened form count as one.
        """
        shares: dict[str, float] = {}
        parts = self.weights_ / self.weights_.sum()
        for member, weight in zip(self.members_, parts, strict=True):
            name = member.layer.representation.view.name.removeprefix("whitened ")
            shares[name] = shares.get(name, 0.0) + float(weight)
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    @property
    def gallery_accuracy_(self) -> Mapping[str, float] | None:
        """Share of left-out gallery sets that each member recognised."""
        return self.gallery_.accuracy

    def enroll(self, X: Any, y: Any) -> Self:
        """Add sets to the gallery: as if it had been fitted with them at its end.

        Up to 100 sets, exactly so: everything is learnt anew. A larger gallery keeps what it
        has learnt from all its sets together (what whitening does, dimensionalities, weights,
        how sure answers are, thresholds) until more than a fifth of the sets have come or gone
        since; all else is exactly as if it had been fitted with these. To learn anew before:
        ``clf.fit(clf.gallery_.sets, clf.classes_[clf.gallery_.codes])``.

        Only what the new sets change is solved again. Other threads that predict meanwhile do
        so by the old gallery or by the new one.

        Parameters
        ----------
        X, y
            Sets and their classes, as for :meth:`fit`. Classes may be new.
        """
        check_is_fitted(self)
        gallery = self.gallery_
        new = gallery.check(X, "CVC.enroll")
        classes, codes = check_labels(y, len(new), caller="CVC.enroll", min_classes=1)
        labels = join_labels(gallery.classes[gallery.codes], classes[codes], "CVC.enroll")
        self.gallery_ = update(
            gallery,
            add=(new, labels[len(gallery.codes) :]),
            n_jobs=self.n_jobs,
            caller="CVC.enroll",
        )
        return self

    def forget(self, labels: Any = (), *, sets: Any = ()) -> Self:
        """Remove sets from the gallery: as if it had been fitted without them.

        Only what used them is solved again; of what is learnt from all sets together, and of
        other threads, see :meth:`enroll`.

        Parameters
        ----------
        labels : sequence of labels
            Classes all of whose sets are removed.
        sets : sequence of str or int
            Single sets, by the names they were given or their place in the gallery.
        """
        check_is_fitted(self)
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
            self.gallery_ = update(
                gallery, is_kept=is_kept, n_jobs=self.n_jobs, caller="CVC.forget"
            )
        return self

    def save(self, path: str | Path, *, keep_vectors: bool = True) -> Path:
        """Write the fitted classifier to one file, which :func:`setwise.load` reads.

        The file holds names, numbers and parameters, and nothing that runs. It is written at
        once or not at all; equal fits give equal bytes.

        Parameters
        ----------
        path : str or Path
            Such as ``people.setwise``; a file that is there is replaced.
        keep_vectors : bool, default=True
            Whether the vectors of the sets, and small pictures of them, are written as well.
            Without them the file is smaller and shows nobody; it answers as before, but
            nothing can be enrolled or forgotten, and no nearest images be shown.
        """
        check_is_fitted(self)
        return save_gallery(
            self.gallery_,
            path,
            classifier=self._beside_gallery(),
            keep_vectors=keep_vectors,
            caller="CVC.save",
        )

    def _beside_gallery(self) -> dict[str, Any]:
        """What a file has to tell of the classifier that its gallery does not know."""
        own: dict[str, Any] = {"stop_early": self.stop_early}
        if self.gallery_.threshold is not None:  # then fit has found it to be a label
            own["unknown_label"] = np.asarray(self.unknown_label).item()
        return own

    def judge(self, X: Any, *, progress: Progress | None = None) -> Iterator[Answer]:
        """Judge sets, one answer per set, as they are ready.

        Parameters
        ----------
        X : list of arrays of shape (n_vectors_i, n_features), SetBatch or 3-D array
            Probes. They are checked at once; each is judged alone.
        progress : callable, optional
            Called with what is being done, how many sets are judged, and of how many.
        """
        check_is_fitted(self)
        with on_device(self.device):
            return judge(
                self.gallery_, X, n_jobs=self.n_jobs, progress=progress, caller="CVC.judge"
            )

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Label of each set; ``unknown_label`` of those that are too far from all classes.

        A probe that has nothing in common with any class gets a label all the same, and a
        :class:`setwise.errors.NoInformationWarning` says so.
        """
        answers = self._answers(X, "predict", stop_early=self.stop_early)
        labels = np.array([answer.label for answer in answers], dtype=self.classes_.dtype)
        is_stranger = np.array([answer.is_known is False for answer in answers])
        if not is_stranger.any():
            return labels
        stranger = np.array([self.unknown_label])
        return np.where(is_stranger, stranger, labels)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class for each set; even where nothing is known.

        With ``weights="gallery"``, raised to the power at which those of the gallery's own
        sets, left out, come true. They are among the classes of the gallery: of a stranger
        they say whom it is most like.
        """
        answers = self._answers(X, "predict_proba")
        return self._of_all_classes(answers, [answer.probabilities for answer in answers])

    def _scores(self, X: Any, caller: str) -> FloatArray:
        answers = self._answers(X, caller)
        scores = [answer.scores for answer in answers]
        return self._of_all_classes(answers, scores, [row.min() for row in scores])

    def _of_all_classes(
        self, answers: Sequence[Answer], rows: Sequence[FloatArray], others: Any = 0.0
    ) -> FloatArray:
        """Rows with a number for every class; ``others`` for those not around the probe."""
        classes = self.classes_
        everything = np.empty((len(answers), len(classes)))
        everything[:] = np.reshape(others, (-1, 1))
        for filled, answer, row in zip(everything, answers, rows, strict=True):
            filled[np.searchsorted(classes, answer.classes)] = row
        return everything

    def _answers(self, X: Any, caller: str, *, stop_early: bool = False) -> list[Answer]:
        check_is_fitted(self)
        with on_device(self.device):
            judged = judge(
                self.gallery_,
                X,
                n_jobs=self.n_jobs,
                stop_early=stop_early,
                caller=f"CVC.{caller}",
            )
        answers = list(judged)
        lost = [answer.name for answer in answers if not answer.is_informed]
        if lost:
            msg = (
                f"CVC.{caller}: {len(lost)} of {len(answers)} sets share nothing with any "
                f"class ({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}): all classes "
                "are equally probable, and the label means nothing."
            )
            warnings.warn(msg, NoInformationWarning, stacklevel=3)
        return answers

    def explain(self, probe: Any) -> Explanation:
        """Why one set gets its label: votes, distances, tree of cuts, class-cluster table.

        Parameters
        ----------
        probe : array of shape (n_vectors, n_features), or a collection of one set
            One set. A batch of one, ``probes[[i]]``, keeps its name and photos for the picture.
        """
        check_is_fitted(self)
        gallery = self.gallery_
        caller = "CVC.explain"
        batch = one_set(probe, lambda sets: gallery.check(sets, caller), caller)
        with one_blas_thread():
            return explain_set(gallery, batch)


def _check_unknown_label(label: Any, classes: npt.NDArray[Any]) -> None:
    """Refuse a label for strangers that is no label, or somebody's."""
    try:
        joined = join_labels(classes, np.asarray([label]), "CVC")
    except (DataError, ValueError):  # of another kind, or not one label
        expected = f"a label of the kind of the gallery's, {classes.dtype}, such as -1 for ints"
        refuse("CVC", "unknown_label", expected, label)
    if same_label(joined[:-1], joined[-1]).any():
        refuse("CVC", "unknown_label", "a label that no class of the gallery has", label)
