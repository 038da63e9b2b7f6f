"""CVC, the estimator: fit a gallery of labelled sets, label others."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from setwise._support.parallel import in_threads, one_blas_thread
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.ensemble import Ensemble, Settings
from setwise.classify.explanation import Explanation, explain
from setwise.classify.fusion import Fused, fuse
from setwise.classify.gallery_weights import look_weights
from setwise.classify.members import all_looks
from setwise.classify.parameters import check_parameters, named_looks, named_views
from setwise.cluster import named_clusterer
from setwise.errors import DataError, NoInformationWarning
from setwise.features import HOG, ImageFeature, Pixels, Whitener
from setwise.graph import Graph, LassoGraph, as_graph
from setwise.sets import SetBatch, check_labels, check_sets
from setwise.sets.classifier import SetClassifier

__all__ = ["CVC", "VIEWS"]

# name -> what is done to the vectors before they are scaled to unit norm
VIEWS: dict[str, Any] = {"plain": None, "whitened": Whitener()}
DEFAULT_PAIRS = (("whitened", "svd"), ("whitened", "means"), ("plain", "centred"))


class CVC(SetClassifier):
    """Classification via clustering: says whose set it is, how surely, and why.

    Gallery and probe are clustered *together*, without looking at labels; the probe gets the
    label of the class that spreads over the clusters as it does. Each probe is judged alone.

    Parameters
    ----------
    dims : sequence of int, default=(1, ..., 10)
        Numbers of columns a set is reduced to; each makes one classifier of the ensemble.
        Those above the size of the largest gallery set, or above half of the number of
        features, tell nothing apart and are left out.
    bases : sequence of {"svd", "centred", "means", "dictionary"}, optional
        Kinds of basis: singular vectors of the set, of the set minus its mean, means of its
        parts, or atoms of a dictionary with an l1 bound (the paper's).
    views : sequence of str, transformers or (name, transformer) pairs, optional
        What is done to the vectors first: ``"plain"``, ``"whitened"`` (by the gallery's own
        vectors), or any scikit-learn transformer of rows, such as one that computes other
        features. All vectors are scaled to unit norm afterwards.

        Every basis is combined with every view. By default, the three combinations that
        galleries do best with: what a set *spans*, by singular vectors of the whitened
        vectors, *how it varies*, by centred singular vectors of the plain ones, and *where
        its vectors are*, by means of parts of the whitened ones. With only one of the two
        given, the other is both views, or ``("svd", "centred")``.
    looks : sequence of (view, basis) pairs, optional
        Which views, by name, are combined with which bases; in place of ``bases``, and of
        every one with every one.
    graph : str or Graph, default="lasso"
        Proximity of columns: ``"lasso"``, ``"gaussian"``, ``"least_squares"``, ``"omp"``, or
        one with parameters such as ``LassoGraph(alpha=0.01)``.
    cut : {"sweep", "exact", "paper"}, default="sweep"
        How SHC divides a cluster, see :func:`setwise.cut.bisect`. Clusters of more than 3000
        columns are divided around the probe first, see :class:`setwise.cluster.CutTree`.
    clusterer : None, str or scikit-learn clusterer, default=None
        None or ``"shc"`` is SHC. The others of the paper are ``"kmeans"``, ``"ssc"`` (solved
        exactly, or as its authors do: ``"ssc-admm"``), ``"spectral"`` (of the graph) and
        ``"skms"``; they make as many clusters as there are gallery classes, but for SKMS,
        which finds their number. Anything with ``fit_predict`` works too, see
        :func:`setwise.cluster.cluster_maker`; it is cloned, with its own ``random_state``.
    distance : {"bhattacharyya", "hellinger"}, default="bhattacharyya"
        Between cluster distributions.
    fusion : {"mode", "sum", "coefficient", "none"}, default="mode"
        Majority of labels, sum of distances, sum of Bhattacharyya coefficients, or the
        largest dimensionality alone.
    weights : {"gallery", None}, default="gallery"
        Whether views and bases that mislead on the gallery's own sets, left out in turn, are
        dropped from the ensemble. In a gallery with a single set of some class none is.
    compare : {"classes", "sets"}, default="classes"
        Whether all gallery sets of a class share one distribution or have one each.
    radii : sequence of float, default=(1.0,)
        l1 bounds of the dictionaries.
    n_seeds : int, default=1
        Random starts of each dictionary.
    stop_early : bool, default=True
        In mode fusion, stop when the rest of the ensemble can no longer change the label.
        Labels are the same either way.
    n_jobs : int, optional
        Threads. Labels do not depend on it.
    random_state : int, RandomState or None, default=None
        Starts of the dictionaries, and of clusterers given by name; nothing else is random.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, sorted.
    n_features_in_ : int
        Length of the vectors.
    members_ : tuple of Member
        The ensemble.
    weights_ : array of shape (n_members,)
        How much each member counts; one of weight 0 is never asked.
    gallery_accuracy_ : dict of str to float, or None
        Share of the gallery's own sets that each look recognised when left out.

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

    def __init__(
        self,
        dims: Sequence[int] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
        *,
        bases: Sequence[str] | None = None,
        views: Sequence[Any] | None = None,
        looks: Sequence[tuple[str, str]] | None = None,
        graph: str | Graph = "lasso",
        cut: str = "sweep",
        clusterer: Any = None,
        distance: str = "bhattacharyya",
        fusion: str = "mode",
        weights: str | None = "gallery",
        compare: str = "classes",
        radii: Sequence[float] = (1.0,),
        n_seeds: int = 1,
        stop_early: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.dims = dims
        self.bases = bases
        self.views = views
        self.looks = looks
        self.graph = graph
        self.cut = cut
        self.clusterer = clusterer
        self.distance = distance
        self.fusion = fusion
        self.weights = weights
        self.compare = compare
        self.radii = radii
        self.n_seeds = n_seeds
        self.stop_early = stop_early
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def as_in_paper(cls, **parameters: Any) -> Self:
        """The paper's setting: dictionary atoms, lasso 0.01, Algorithm 3, majority vote."""
        paper: dict[str, Any] = {
            "bases": ("dictionary",),
            "views": ("plain",),
            "graph": LassoGraph(alpha=0.01),
            "cut": "paper",
            "fusion": "mode",
            "weights": None,
        }
        return cls(**(paper | parameters))

    @classmethod
    def for_images(cls, **parameters: Any) -> Self:
        """For sets of images: pixels, fine edges and coarse edges vote together.

        The views are the pixels at 20 x 20, and histograms of oriented gradients of the image
        at 64 x 64 in cells of 8 and of 16 pixels. Each is looked at in two ways: how a set
        varies (centred), and what it spans (whitened, svd). Galleries chose this, see
        docs/accuracy.md. Needs sets that know they are images (``load_images``,
        ``SetBatch.from_images``), and scikit-image: ``pip install "setwise[image]"``.

        Parameters
        ----------
        **parameters
            Those of the class, instead of these.
        """
        views = tuple(
            (f"{kind}{name}", make_pipeline(feature, Whitener()) if kind else feature)
            for name, feature in _image_views()
            for kind in ("", "whitened ")
        )
        looks = tuple((name, "svd" if "whitened" in name else "centred") for name, _ in views)
        return cls(**({"views": views, "looks": looks} | parameters))

    @classmethod
    def for_turntables(cls, **parameters: Any) -> Self:
        """For sets that show their objects in the same ways: all round, in the same light.

        The centred looks of :meth:`for_images` alone. *How a set varies* then says most, and
        this is the best on ETH-80. Where sets show other sides of their objects, or other
        light, it is much worse: docs/accuracy.md.

        Parameters
        ----------
        **parameters
            Those of the class, instead of these.
        """
        return cls(**({"views": _image_views(), "bases": ("centred",)} | parameters))

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        self._take(Ensemble(self._settings(), gallery, codes, int(codes.max()) + 1))

    def enroll(self, X: Any, y: Any) -> Self:
        """Add sets to the gallery: exactly as if it had been fitted with them at its end.

        Only what the new sets change is solved again. Views that learn from the gallery's
        vectors, such as ``"whitened"``, change everything they show: their part is solved
        anew.

        Parameters
        ----------
        X, y
            Sets and their classes, as for :meth:`fit`. Classes may be new.
        """
        check_is_fitted(self)
        new = self._checked(X, "CVC.enroll")
        new_classes, new_codes = check_labels(y, len(new), caller="CVC.enroll", min_classes=1)
        new_labels = new_classes[new_codes]
        old = self.ensemble_
        old_labels = self.classes_[old.codes]
        if (new_labels.dtype.kind in "US") != (old_labels.dtype.kind in "US"):
            msg = (
                f"CVC.enroll: the labels are of dtype {new_labels.dtype}, those of the gallery "
                f"of dtype {old_labels.dtype}. Expected labels of one kind: convert them."
            )
            raise DataError(msg)
        return self._change(
            SetBatch.join([old.gallery, new]),
            np.concatenate([old_labels, new_labels]),
            np.ones(len(old.codes), dtype=bool),
            "CVC.enroll",
        )

    def forget(self, labels: Any = (), *, sets: Any = ()) -> Self:
        """Remove sets from the gallery: exactly as if it had been fitted without them.

        Only what used them is solved again; of views that learn from the gallery, see
        :meth:`enroll`.

        Parameters
        ----------
        labels : sequence of labels
            Classes all of whose sets are removed.
        sets : sequence of str or int
            Single sets, by the names they were given or their place in the gallery.
        """
        check_is_fitted(self)
        for name, given in (("labels", labels), ("sets", sets)):
            if isinstance(given, str) or not isinstance(given, Iterable):
                msg = (
                    f"CVC.forget: {name} must be a sequence, got {given!r}. Write [{given!r}]."
                )
                raise DataError(msg)
        old = self.ensemble_
        old_labels = self.classes_[old.codes]
        is_kept = np.ones(len(old.codes), dtype=bool)
        for label in labels:
            is_of_class = old_labels == label
            if not np.any(is_of_class):
                msg = (
                    f"CVC.forget: there is no class {label!r} in the gallery. Expected one of "
                    f"{', '.join(map(repr, self.classes_[:10].tolist()))}."
                )
                raise DataError(msg)
            is_kept &= ~is_of_class
        for which in sets:
            is_kept[_place_of(which, old.gallery.names)] = False
        if not is_kept.any():
            msg = (
                "CVC.forget: nothing would be left of the gallery. Expected at least one set "
                "to stay; fit a new classifier instead."
            )
            raise DataError(msg)
        if is_kept.all():
            return self
        kept = np.flatnonzero(is_kept)
        return self._change(old.gallery[kept], old_labels[kept], is_kept, "CVC.forget")

    def _change(
        self, gallery: SetBatch, labels: npt.NDArray[Any], is_kept: BoolArray, caller: str
    ) -> Self:
        classes, codes = check_labels(labels, len(gallery), caller=caller)
        before = self.ensemble_
        ensemble = Ensemble(
            before.asked, gallery, codes, len(classes), before=before, is_kept=is_kept
        )
        self._take(ensemble)
        self.classes_ = classes
        return self

    def _take(self, ensemble: Ensemble) -> None:
        """Become the classifier of a solved gallery; until here nothing has changed."""
        weights, accuracy = self._weighed(ensemble)
        self.ensemble_ = ensemble
        self.members_ = ensemble.settings.members
        self.weights_ = weights
        self.gallery_accuracy_ = accuracy

    def _settings(self) -> Settings:
        check_parameters(self.get_params(deep=False))
        views = named_views(tuple(VIEWS) if self.views is None else self.views, VIEWS)
        pairs = self._pairs(views)
        entropy = check_random_state(self.random_state).randint(2**31 - 1)
        return Settings(
            dims=tuple(sorted({int(d) for d in self.dims})),
            looks=all_looks(pairs, tuple(self.radii), self.n_seeds),
            views={view: views[view] for view, _ in pairs},
            graph=as_graph(self.graph),
            cut=self.cut,
            clusterer=named_clusterer(self.clusterer, int(entropy)),
            distance=self.distance,
            compare=self.compare,
            entropy=int(entropy),
            n_jobs=self.n_jobs,
        )

    def _pairs(self, views: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Which view is looked at by which basis."""
        if self.looks is not None:
            return named_looks(self.looks, self.bases, tuple(views))
        if self.views is None and self.bases is None:
            return DEFAULT_PAIRS
        bases = ("svd", "centred") if self.bases is None else tuple(self.bases)
        return tuple(itertools.product(views, bases))

    def _weighed(self, ensemble: Ensemble) -> tuple[FloatArray, dict[str, float] | None]:
        """Try every look on the gallery's own sets, and drop those that mislead."""
        members, looks = ensemble.settings.members, ensemble.settings.looks
        # The only set of a class cannot be left out; halves of it would tell how like itself
        # it is, not how like it others will be.
        has_single = np.bincount(ensemble.codes).min() < 2
        if self.weights != "gallery" or len(looks) < 2 or has_single:
            return np.ones(len(members)), None
        is_right = ensemble.recognises_own_sets(self.fusion)
        accuracy = {
            str(look): float(right.mean()) for look, right in zip(looks, is_right, strict=True)
        }
        member_looks = np.array([looks.index(member.look) for member in members])
        return look_weights(is_right, member_looks), accuracy

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Label of each set.

        A probe that shares no cluster with any class gets a label all the same, and a
        :class:`setwise.errors.NoInformationWarning` says so.
        """
        stop = self.stop_early and self.fusion == "mode"
        codes = [answer.code for answer in self._answers(X, "predict", stop=stop)]
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class for each set; even where nothing is known.

        Shares of the votes, of the summed coefficients, or a softmax of distances, by
        ``fusion``. They rank sets by certainty; for frequencies, wrap the classifier in
        scikit-learn's ``CalibratedClassifierCV``.
        """
        answers = self._answers(X, "predict_proba", stop=False)
        return np.array([answer.probabilities for answer in answers])

    def _scores(self, X: Any, caller: str) -> FloatArray:
        return np.array([answer.scores for answer in self._answers(X, caller, stop=False)])

    def explain(self, probe: Any) -> Explanation:
        """Why one set gets its label: votes, distances, tree of cuts, class-cluster table.

        Parameters
        ----------
        probe : array of shape (n_vectors, n_features)
            One set.
        """
        check_is_fitted(self)
        is_array = isinstance(probe, np.ndarray) and probe.ndim == 2
        sets = [probe] if is_array else probe
        batch = self._checked(sets, "CVC.explain")
        if len(batch) != 1:
            msg = f"CVC.explain: expected one set, got {len(batch)}. Explain them one by one."
            raise DataError(msg)
        with one_blas_thread():
            return explain(self.ensemble_, batch[0], self.weights_, self.fusion, self.classes_)

    def _checked(self, X: Any, caller: str) -> SetBatch:
        """Sets that can stand beside those of the gallery; vectors are taken for its images."""
        batch = check_sets(X, caller=caller, n_features=self.n_features_in_)
        shape = self.ensemble_.gallery.image_shape
        if batch.image_shape is not None and shape not in (None, batch.image_shape):
            msg = (
                f"{caller}: the images are of shape {batch.image_shape}, those of the gallery "
                f"of shape {shape}. Expected images loaded at one size."
            )
            raise DataError(msg)
        return SetBatch(batch.vectors, batch.offsets, batch.names, batch.labels, shape)

    def _answers(self, X: Any, caller: str, *, stop: bool) -> list[Fused]:
        check_is_fitted(self)
        probes = self._checked(X, f"CVC.{caller}")
        ensemble, weights = self.ensemble_, self.weights_

        def answer(vectors: FloatArray) -> Fused:
            return fuse(ensemble.ask(vectors, weights, stop_when_decided=stop), self.fusion)

        answers = list(in_threads(answer, probes, self.n_jobs))
        lost = [probes.names[i] for i, found in enumerate(answers) if found.is_degenerate]
        if lost:
            msg = (
                f"CVC.{caller}: {len(lost)} of {len(answers)} sets share no cluster with any "
                f"class ({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''}): all classes "
                "are equally probable, and the label means nothing."
            )
            warnings.warn(msg, NoInformationWarning, stacklevel=3)
        return answers


def _image_views() -> tuple[tuple[str, ImageFeature], ...]:
    return (
        ("pixels", Pixels(20)),
        ("fine edges", HOG(64, cell=8)),
        ("coarse edges", HOG(64, cell=16)),
    )


def _place_of(which: Any, names: Sequence[str]) -> int:
    """The place of the set that a name or a number stands for."""
    if isinstance(which, int | np.integer) and not isinstance(which, bool):
        if not 0 <= which < len(names):
            msg = f"CVC.forget: there is no set number {which}. Expected 0 to {len(names) - 1}."
            raise DataError(msg)
        return int(which)
    places = [i for i, name in enumerate(names) if name == which]
    if len(places) != 1:
        found = "no set" if not places else f"{len(places)} sets"
        msg = (
            f"CVC.forget: there is {found} named {which!r} in the gallery. Expected the name "
            "of one set, or its place in the gallery."
        )
        raise DataError(msg)
    return places[0]
