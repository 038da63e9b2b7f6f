"""Transformers of rows on all vectors of all sets."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.conftest import toy_sets

from setwise import CVC, SetBatch
from setwise.errors import DataError, ParameterError
from setwise.features.vectors import PerVector


def test_equals_the_transformer_on_stacked_rows(seed):
    sets, labels = toy_sets(seed)
    rows = np.concatenate(sets)
    batch = SetBatch.from_list(sets, [f"s{i}" for i in range(len(sets))], labels)
    expected = StandardScaler().fit_transform(rows)
    made = PerVector(StandardScaler()).fit_transform(batch, labels)
    assert np.array_equal(made.vectors, expected)
    assert made.names == batch.names
    assert made.labels.tolist() == labels.tolist()
    fitted = PerVector(StandardScaler()).fit(sets)
    assert np.array_equal(fitted.transform(sets).vectors, expected)
    assert np.array_equal(PerVector(StandardScaler()).fit(rows).transform(rows), expected)
    assert np.array_equal(fitted.transform(sets[2]), fitted.transform([sets[2]])[0])


def test_new_sets_are_transformed_by_what_was_learnt(seed):
    sets, _ = toy_sets(seed)
    fitted = PerVector(PCA(4, random_state=0)).fit(sets[:5])
    expected = PCA(4, random_state=0).fit(np.concatenate(sets[:5])).transform(sets[7])
    assert np.array_equal(fitted.transform(sets[7:])[0], expected)
    assert fitted.n_features_in_ == 20
    with pytest.raises(DataError, match="set 0 has 5 features"):
        fitted.transform([np.ones((2, 5))])


def test_images_become_vectors():
    sets = SetBatch.from_images([np.random.default_rng(0).uniform(size=(9, 3, 3))])
    assert PerVector(PCA(2)).fit_transform(sets).image_shape is None


def test_labels_of_sets_are_those_of_their_vectors(seed):
    sets, labels = toy_sets(seed)
    rows, of_rows = np.concatenate(sets), np.repeat(labels, [len(s) for s in sets])
    expected = LinearDiscriminantAnalysis().fit(rows, of_rows).transform(rows)
    made = PerVector(LinearDiscriminantAnalysis()).fit_transform(sets, labels)
    np.testing.assert_allclose(made.vectors, expected)
    alone = PerVector(LinearDiscriminantAnalysis()).fit(rows, of_rows).transform(rows)
    np.testing.assert_allclose(alone, expected)
    with pytest.raises(DataError, match="one label for each of the 9 sets"):
        PerVector(LinearDiscriminantAnalysis()).fit(sets, labels[:5])


def test_is_an_estimator(seed):
    sets, labels = toy_sets(seed)
    outer = PerVector(PCA(3))
    assert outer.get_params()["transformer__n_components"] == 3
    copy = clone(outer).set_params(transformer__n_components=2).fit(sets)
    assert outer.transformer.n_components == 3
    assert not hasattr(copy.transformer, "components_")
    expected = copy.transform(sets).vectors
    assert expected.shape[1] == 2
    again = pickle.loads(pickle.dumps(copy))
    assert np.array_equal(again.transform(sets).vectors, expected)
    pipeline = make_pipeline(PerVector(PCA(8)), CVC(dims=(1, 2)))
    assert (pipeline.fit(sets, labels).predict(sets) == labels).all()


def test_as_a_view_of_an_ensemble(seed):
    sets, labels = toy_sets(seed)
    model = CVC(
        dims=(1, 2), representations=[("plain", "svd"), (("few", PerVector(PCA(8))), "svd")]
    )
    assert (model.fit(sets, labels).predict(sets) == labels).all()


def test_refuses(seed):
    sets, _ = toy_sets(seed)
    with pytest.raises(ParameterError, match="transformer must be a scikit-learn transformer"):
        PerVector(3).fit(sets)
    with pytest.raises(NotFittedError):
        PerVector(PCA(2)).transform(sets)
    with pytest.raises(
        DataError, match=r"PCA\(n_components=50\) could not fit .* vectors of 20"
    ):
        PerVector(PCA(50)).fit(sets)
    with pytest.raises(DataError, match="NaN"):
        PerVector(PCA(2)).fit([np.full((2, 3), np.nan)])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rows: rows[1:], "one row for each vector"),
        (lambda rows: rows[:, 0], "one row for each"),
        (lambda rows: rows * np.inf, "finite"),
        (sp.csr_array, "made csr_array .* dense"),
    ],
)
def test_refuses_what_a_transformer_makes(seed, function, message):
    sets, _ = toy_sets(seed)
    with pytest.raises(DataError, match=message):
        PerVector(FunctionTransformer(function)).fit_transform(sets)
