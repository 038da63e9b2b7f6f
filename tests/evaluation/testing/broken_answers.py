"""Classifiers whose answers depend on what means nothing, or make no sense."""

from __future__ import annotations

import warnings

import numpy as np
from tests.evaluation.testing.sound import NearestMean, caught_by


@caught_by("easy_sets_are_labelled_rightly", "decision_function_agrees_with_predict")
class AlwaysSaysTheSame(NearestMean):
    def predict(self, X):
        return self.classes_[np.zeros_like(super().predict(X), dtype=int)]


@caught_by("easy_sets_are_labelled_rightly")
class CriesWolf(NearestMean):
    def _score(self, vectors):
        warnings.warn("this may be wrong", UserWarning, stacklevel=2)
        return super()._score(vectors)


@caught_by("easy_sets_are_labelled_rightly")
class DistrustsWhatItKnows(NearestMean):
    def _score(self, vectors):
        scores = super()._score(vectors)
        return np.where(scores > -1e-9, -1e9, scores)


@caught_by("labels_keep_their_type")
class LabelsBecomeObjects(NearestMean):
    def predict(self, X):
        return super().predict(X).astype(object)


@caught_by("labels_keep_their_type")
class BooleansBecomeIntegers(NearestMean):
    def predict(self, X):
        labels = super().predict(X)
        return labels.astype(int) if labels.dtype == bool else labels


@caught_by("kinds_of_labels_do_not_matter")
class ReadsMeaningIntoNames(NearestMean):
    def _score(self, vectors):
        return super()._score(vectors) + 0.01 * (self.classes_ == "x2")


@caught_by("order_of_gallery_sets_does_not_matter")
class TakesLabelsForAppearance(NearestMean):
    def _labels(self, y, n_sets):
        classes, codes = super()._labels(y, n_sets)
        first = np.unique(codes, return_index=True)[1]
        return classes, np.argsort(np.argsort(first))[codes]


@caught_by("order_of_gallery_sets_does_not_matter")
class TakesTheGalleryForSorted(NearestMean):
    def _labels(self, y, n_sets):
        classes, codes = super()._labels(y, n_sets)
        return classes, np.sort(codes)


@caught_by("each_probe_is_judged_alone")
class CountsProbes(NearestMean):
    def _scores(self, X, method):
        scores = super()._scores(X, method)
        return scores * (1 + np.arange(len(scores)))[:, None]


@caught_by("each_probe_is_judged_alone")
class NormalisesOverTheBatch(NearestMean):
    def _scores(self, X, method):
        scores = super()._scores(X, method)
        return scores - scores.mean(axis=0)


@caught_by("order_of_vectors_does_not_matter")
class LooksAtTheFirstVector(NearestMean):
    def _mean(self, vectors):
        return vectors[0]


@caught_by("sizes_of_sets_and_classes_do_not_matter")
class StacksSets(NearestMean):
    def _sets(self, X, method, n_features=None):
        return super()._sets(np.stack(X), method, n_features)


@caught_by("sizes_of_sets_and_classes_do_not_matter")
class NeedsTwoSetsOfAClass(NearestMean):
    def _labels(self, y, n_sets):
        classes, codes = super()._labels(y, n_sets)
        if np.bincount(codes).min() < 2:
            raise ZeroDivisionError
        return classes, codes


@caught_by("small_sets_get_an_answer")
class DividesByNMinusOne(NearestMean):
    def _score(self, vectors):
        return super()._score(vectors) / vectors.std(axis=0, ddof=1).mean()


@caught_by("sizes_of_sets_and_classes_do_not_matter")
class InvertsTheGallery(NearestMean):
    def _score(self, vectors):
        if np.linalg.matrix_rank(self.means_) < len(self.means_) <= self.means_.shape[1]:
            raise np.linalg.LinAlgError("Singular matrix")
        return super()._score(vectors)


@caught_by("scale_does_not_matter")
class HasAnAbsoluteWidth(NearestMean):
    def _score(self, vectors):
        return np.exp(-0.01 * super()._score(vectors) ** 2)


def refusing_shapes(is_bad):
    class NeedsAnotherShape(NearestMean):
        def _mean(self, vectors):
            if is_bad(*vectors.shape):
                raise np.linalg.LinAlgError("Singular matrix")
            return super()._mean(vectors)

    return NeedsAnotherShape


caught_by("sizes_of_sets_and_classes_do_not_matter")(refusing_shapes(lambda n, d: n < d))
caught_by("sizes_of_sets_and_classes_do_not_matter")(refusing_shapes(lambda n, d: n > d))
caught_by("small_sets_get_an_answer")(refusing_shapes(lambda n, d: d < 3))


@caught_by("decision_function_agrees_with_predict")
class DecidesByDistance(NearestMean):
    def decision_function(self, X):
        return -super().decision_function(X)


@caught_by("decision_function_agrees_with_predict")
class ScoresTwoClassesTwice(NearestMean):
    def decision_function(self, X):
        return self._scores(X, "decision_function")


def with_probabilities(change):
    class ChangesProbabilities(NearestMean):
        def predict_proba(self, X):
            return change(super().predict_proba(X))

    return ChangesProbabilities


caught_by("predict_proba_agrees_with_predict")(with_probabilities(lambda p: p / 2))
caught_by("predict_proba_agrees_with_predict")(with_probabilities(lambda p: p * np.nan))
caught_by("predict_proba_agrees_with_predict")(with_probabilities(lambda p: p[:, 0]))
caught_by("predict_proba_agrees_with_predict")(with_probabilities(lambda p: 2 * p - p.mean()))
caught_by("predict_proba_agrees_with_predict")(with_probabilities(lambda p: p[:, ::-1]))
