"""Bad input to the public estimators: an answer, or one error that says what to do.

The gate by itself is tested in tests/sets; here every row of the checklist goes through
every door a user can knock at.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from tests.conftest import toy_sets

from setwise import CVC, SHC, SetBatch
from setwise.errors import DataError, SetwiseError

N_FEATURES = 20


def with_value(value):
    vectors = np.random.default_rng(0).normal(size=(4, N_FEATURES))
    vectors[2, 3] = value
    return vectors


good = np.random.default_rng(1).normal(size=(5, N_FEATURES))

# name -> one set
REFUSED_SETS = {
    "empty": np.empty((0, N_FEATURES)),
    "no features": np.empty((4, 0)),
    "NaN": with_value(np.nan),
    "inf": with_value(np.inf),
    "-inf": with_value(-np.inf),
    "too large": with_value(1e200),
    "all zeros": np.zeros((4, N_FEATURES)),
    "objects": good.astype(object),
    "complex": good + 0j,
    "strings": good.astype(str),
    "sparse": sp.csr_array(good),
    "one vector flat": good[0],
    "images not flattened": good.reshape(5, 4, 5),
    "other features": good[:, :7],
    "transposed": good.T,
    "a number": 3.0,
    "None": None,
    "dates": good.astype("datetime64[s]"),
}
ACCEPTED_SETS = {
    "one vector": good[:1],
    "float16": good.astype(np.float16),
    "float32": good.astype(np.float32),
    "ints": (10 * good).astype(np.int64),
    "huge ints": (1e18 * good).astype(np.int64),
    "bools": good > 0,
    "Fortran order": np.asfortranarray(good),
    "every second row": np.repeat(good, 2, axis=0)[::2],
    "copies": np.repeat(good[:1], 6, axis=0),
    "constant vectors": np.ones((3, N_FEATURES)),
    "a zero vector": np.vstack([good, np.zeros(N_FEATURES)]),
    "nested lists": good.tolist(),
}


@pytest.fixture(scope="module")
def fitted():
    sets, labels = toy_sets(0, n_features=N_FEATURES)
    return CVC(dims=(1, 3), random_state=0).fit(sets, labels), sets, labels


def doors(fitted, bad):
    """Every public way in, with one bad set in second place."""
    clf, sets, labels = fitted
    fresh = CVC(dims=(1,))
    return {
        "CVC.fit": lambda: fresh.fit([sets[0], bad, *sets[2:]], labels),
        "CVC.predict": lambda: clf.predict([sets[0], bad]),
        "CVC.predict_proba": lambda: clf.predict_proba([sets[0], bad]),
        "CVC.decision_function": lambda: clf.decision_function([sets[0], bad]),
        "CVC.explain": lambda: clf.explain([bad]),
    }


@pytest.mark.parametrize("name", REFUSED_SETS)
def test_a_bad_set_gets_one_error_that_names_it(fitted, name):
    for caller, knock in doors(fitted, REFUSED_SETS[name]).items():
        with pytest.raises(DataError) as caught:
            knock()
        message = str(caught.value)
        assert message.startswith(f"{caller}: ")  # who
        which = "set 0" if caller == "CVC.explain" else "set 1"
        assert which in message  # the culprit
        assert re.search(r"[Ee]xpected|but (set|the gallery)", message)  # what was wanted
        assert "\n" not in message


@pytest.mark.parametrize("name", ACCEPTED_SETS)
def test_an_odd_set_gets_an_answer(fitted, name):
    clf, _, _ = fitted
    with np.errstate(all="raise", under="ignore"):
        proba = clf.predict_proba([ACCEPTED_SETS[name]])
    assert np.isfinite(proba).all()
    assert abs(proba.sum() - 1) < 1e-12


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # what should they know
@pytest.mark.parametrize("name", ACCEPTED_SETS)
def test_a_gallery_of_odd_sets_can_be_fitted(name):
    odd = np.asarray(ACCEPTED_SETS[name], dtype=float)
    others = [good, np.random.default_rng(2).normal(size=(5, N_FEATURES)), good[::-1] + 0.1]
    clf = CVC(dims=(1, 2), random_state=0).fit([odd, *others], [0, 0, 1, 1])
    assert np.isfinite(clf.predict_proba([good])).all()


def test_read_only_and_mapped_arrays(fitted, tmp_path):
    clf, sets, _ = fitted
    expected = clf.predict_proba(sets[:1])
    locked = sets[0].copy()
    locked.flags.writeable = False
    np.save(tmp_path / "set.npy", sets[0])
    mapped = np.load(tmp_path / "set.npy", mmap_mode="r")
    for probe in (locked, mapped):
        np.testing.assert_array_equal(clf.predict_proba([probe]), expected)


WHOLE = {
    "an empty list": [],
    "a 2-D array": good,
    "a sparse matrix": sp.csr_array(good),
    "a string": "albums/",
    "a number": 5,
    "a dict": {"anna": good},
    "None": None,
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_no_list_of_sets_is_refused(fitted, name):
    clf, _, _ = fitted
    for knock in (lambda: clf.predict(WHOLE[name]), lambda: CVC().fit(WHOLE[name], [0, 1])):
        with pytest.raises(DataError, match="Expected a list of"):
            knock()


def test_a_2_d_array_gets_advice(fitted):
    with pytest.raises(DataError, match=r"Wrap it: \[X\].*SetBatch.from_rows\(X\)"):
        fitted[0].predict(good)


BAD_LABELS = {
    "too few": [0, 1],
    "one class": [1] * 9,
    "missing": [None, *range(8)],
    "NaN": [np.nan, *range(8)],
    "mixed": ["a", 1, 2, 3, 4, 5, 6, 7, 8],
    "continuous": np.linspace(0, 1, 9),
    "a table": np.zeros((9, 2)),
    "none at all": None,
}


@pytest.mark.parametrize("name", BAD_LABELS)
def test_bad_labels_are_refused(name):
    sets, _ = toy_sets(0)
    with pytest.raises(DataError, match=r"^CVC.fit: "):
        CVC(dims=(1,)).fit(sets, BAD_LABELS[name])


@pytest.mark.parametrize("labels", [[-1, -2], ["-1", "PROBE"], [True, False], [0.0, 1.0]])
def test_no_label_can_be_mistaken_for_the_probes(seed, labels):
    sets, codes = toy_sets(seed, n_classes=2)
    names = np.array(labels)
    clf = CVC(dims=(1, 2)).fit(sets, names[codes])
    np.testing.assert_array_equal(clf.predict(sets), names[codes])


def test_unlabelled_rows_of_shc_are_minus_one_and_y_must_fit():
    with pytest.raises(DataError, match=r"SHC.fit: y must hold one class for each of the 5"):
        SHC().fit(good, [0, 1])


def test_every_error_is_one_of_ours_or_the_languages():
    assert issubclass(DataError, SetwiseError)
    assert issubclass(DataError, ValueError)


def test_a_batch_keeps_its_names_in_messages(fitted):
    clf, sets, _ = fitted
    batch = SetBatch.from_list([sets[0], with_value(np.nan)], names=["holiday", "birthday"])
    with pytest.raises(DataError, match="birthday contains NaN"):
        clf.predict(batch)
