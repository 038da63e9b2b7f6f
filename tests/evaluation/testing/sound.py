"""A sound set classifier, and the book of those made from it that are not."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from setwise.sets import check_labels, check_sets


class NearestMean(ClassifierMixin, BaseEstimator):
    """Sound: what someone with an own set classifier might write."""

    def __init__(self, *, n_jobs=None, random_state=None):
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y):
        gallery = self._sets(X, "fit")
        classes, codes = self._labels(y, len(gallery))
        self.means_ = np.array([self._mean(vectors) for vectors in gallery])
        self.classes_, self.codes_ = classes, codes
        self.n_features_in_ = gallery.n_features
        return self

    def _sets(self, X, method, n_features=None):
        return check_sets(X, caller=f"{type(self).__name__}.{method}", n_features=n_features)

    def _labels(self, y, n_sets):
        return check_labels(y, n_sets, caller=f"{type(self).__name__}.fit")

    def _mean(self, vectors):
        return vectors.mean(axis=0)

    def _score(self, vectors):
        nearest = np.full(len(self.classes_), np.inf)
        distances = cdist(self.means_, self._mean(vectors)[None])[:, 0]
        np.minimum.at(nearest, self.codes_, distances)
        return -nearest

    def _scores(self, X, method):
        check_is_fitted(self)
        probes = self._sets(X, method, self.n_features_in_)
        return np.array([self._score(vectors) for vectors in probes])

    def predict(self, X):
        best = self._scores(X, "predict").argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X):
        scores = self._scores(X, "predict_proba")
        unit = np.abs(scores).mean(axis=1, keepdims=True)
        return softmax(scores / np.where(unit > 0, unit, 1), axis=1)

    def decision_function(self, X):
        scores = self._scores(X, "decision_function")
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags


# name of a check -> classifiers that it must catch
CULPRITS: dict[str, list[type]] = {}


def caught_by(*names):
    def enter(kind):
        for name in names:
            CULPRITS.setdefault(name, []).append(kind)
        return kind

    return enter
