"""Classifiers that break a convention, or remember what they should not."""

from __future__ import annotations

import time

import numpy as np
from sklearn.base import ClassifierMixin
from tests.evaluation.testing.sound import NearestMean, caught_by

from setwise.sets import SetBatch


@caught_by("init_stores_its_parameters_and_nothing_else")
class ConvertsInInit(NearestMean):
    def __init__(self, dims=(1, 2)):
        self.dims = list(dims)


@caught_by("init_stores_its_parameters_and_nothing_else")
class SetsMoreInInit(NearestMean):
    def __init__(self):
        self.cache = {}


@caught_by("parameters_survive_a_round_trip")
class SetParamsReturnsNothing(NearestMean):
    def set_params(self, **parameters):
        super().set_params(**parameters)


@caught_by("tags_say_that_samples_are_sets")
class TakenForAClassifierOfRows(NearestMean):
    def __sklearn_tags__(self):
        return ClassifierMixin.__sklearn_tags__(self)


@caught_by("fit_learns_classes_and_returns_the_classifier")
class FitReturnsNothing(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)


@caught_by("fit_learns_classes_and_returns_the_classifier")
class UnsortedClasses(NearestMean):
    def _labels(self, y, n_sets):
        classes, codes = super()._labels(y, n_sets)
        return classes[::-1].copy(), len(classes) - 1 - codes


@caught_by("unfitted_classifier_says_so")
class AsksBeforeLooking(NearestMean):
    def predict(self, X):
        return self.classes_[self._scores(X, "predict").argmax(axis=1)]


@caught_by("unfitted_classifier_says_so", "failed_fit_changes_nothing")
class AnswersUnfitted(NearestMean):
    def predict(self, X):
        return super().predict(X) if hasattr(self, "classes_") else np.zeros(len(X), dtype=int)


@caught_by("nothing_given_is_modified")
class ResolvesParametersInFit(NearestMean):
    def fit(self, X, y):
        self.n_jobs = self.n_jobs or 1
        return super().fit(X, y)


@caught_by("nothing_given_is_modified", "gallery_may_be_overwritten_after_fit")
class KeepsViews(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)
        self.given_ = X
        return self

    def _score(self, vectors):
        self.means_ = np.array([np.mean(given, axis=0) for given in self.given_])
        self.given_[0][0] += 1e-9
        return super()._score(vectors)


@caught_by("nothing_given_is_modified", "kinds_of_arrays_do_not_matter")
class CentresInPlace(NearestMean):
    def predict(self, X):
        labels = super().predict(X)
        for vectors in X:
            vectors -= np.mean(vectors, axis=0)
        return labels


@caught_by("nothing_given_is_modified")
class DrawsFromTheGlobalGenerator(NearestMean):
    def fit(self, X, y):
        np.random.rand()  # noqa: NPY002
        return super().fit(X, y)


@caught_by("cross_validation_works", "kinds_of_arrays_do_not_matter")
class WantsAList(NearestMean):
    def _sets(self, X, method, n_features=None):
        if isinstance(X, SetBatch):
            raise TypeError("not a list")
        return super()._sets(X, method, n_features)


@caught_by("score_is_the_accuracy")
class ScoresItselfHighly(NearestMean):
    def score(self, X, y):
        return 1.0


@caught_by("equal_fits_give_equal_answers")
class IgnoresItsSeed(NearestMean):
    def _mean(self, vectors):
        return super()._mean(vectors) * (1 + 1e-7 * np.random.default_rng().random())


@caught_by("equal_fits_give_equal_answers")
class CountsFits(NearestMean):
    def fit(self, X, y):
        super().fit(X, y)
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1
        self.means_ *= self.n_fits_
        return self


@caught_by("refit_forgets_the_old_gallery")
class FitsOnce(NearestMean):
    def fit(self, X, y):
        return self if hasattr(self, "classes_") else super().fit(X, y)


@caught_by("failed_fit_changes_nothing")
class ForgetsBeforeItLooks(NearestMean):
    def fit(self, X, y):
        self.classes_ = np.unique(np.asarray(y))
        return super().fit(X, y)


@caught_by("each_probe_is_judged_alone")
class LearnsFromProbes(NearestMean):
    def _score(self, vectors):
        scores = super()._score(vectors)
        self.means_ = self.means_ + 1e-3 * vectors.mean(axis=0)
        return scores


@caught_by("equal_fits_give_equal_answers")
class PicklesHalfOfItself(NearestMean):
    def __getstate__(self):
        state = super().__getstate__()
        return {**state, "means_": np.round(state["means_"])} if "means_" in state else state


@caught_by("threads_may_share_a_classifier")
class KeepsTheProbeInItself(NearestMean):
    def _score(self, vectors):
        self.probe_ = vectors
        time.sleep(0.001)  # while another thread comes by
        return super()._score(self.probe_)


@caught_by("n_jobs_does_not_matter")
class CutsWorkByThreads(NearestMean):
    def _score(self, vectors):
        return super()._score(vectors[:: self.n_jobs or 1])
