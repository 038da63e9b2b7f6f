"""Methods of one's own and of scikit-learn, by path and from Python, with p values."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from paper.tests.small_sets import objects_at_hand
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid

from setwise.errors import DataError, ParameterError
from setwise_paper import read_study, run
from setwise_paper.accuracy import p_values
from setwise_paper.plan import plan

at_hand = objects_at_hand(n_classes=4, n_sets=2, n_views=8, size=12)
STUDY = """
title = "Own"
[[experiments]]
kind = "methods"
name = "methods"
title = "Own methods"
data = { name = "objects", protocol = "pairs", n_folds = 4 }
methods = [
  "mean vector",
  { of = "own_method:Nearest", name = "mine", parameters = { shift = 0.0 } },
  "own_method:Worst",
  { of = "sklearn.neighbors:KNeighborsClassifier", parameters = { n_neighbors = 1 } },
]
"""
MODULE = """
import numpy as np

class Nearest:
    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, sets, labels):
        self.means, self.labels = np.array([one.mean(axis=0) for one in sets]), labels

    def predict(self, sets):
        means = np.array([one.mean(axis=0) + self.shift for one in sets])
        return self.labels[((means[:, None] - self.means) ** 2).sum(axis=2).argmin(axis=1)]

class Worst(Nearest):
    def predict(self, sets):
        return np.repeat("nothing", len(sets))
"""


class Few:
    """Gives one label, whatever it is asked about."""

    def fit(self, sets, labels):
        self.label = labels[0]

    def predict(self, sets):
        return np.array([self.label])


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_method.py").write_text(MODULE)
    (tmp_path / "own.toml").write_text(STUDY)
    yield tmp_path / "own.toml"
    sys.modules.pop("own_method", None)


def test_methods_by_import_path(study, tmp_path):
    result = run(study, out=tmp_path / "out")
    assert not result.failures
    (section,) = result.sections
    rows = {row.name: row for row in section.rows}
    assert list(rows) == ["mean vector", "mine", "Worst", "KNeighborsClassifier"]
    assert rows["Worst"].mean == 0.0
    assert rows["mean vector"].p_value is None, "the others are compared with it"
    assert all(0 <= rows[name].p_value <= 1 for name in list(rows)[1:])
    assert rows["Worst"].p_value < 0.05 or rows["mean vector"].mean == 0
    (table,) = section.tables()
    assert "p" in table.columns


def test_other_code_of_a_method_has_other_keys(study, tmp_path):
    before = plan(read_study(study))
    (tmp_path / "own_method.py").write_text(MODULE + "\n# changed\n")
    after = plan(read_study(study))
    labels = {one.label for one in after.of["methods"] if one.key not in before.work}
    assert labels == {"mine", "Worst"}


def test_methods_from_python_beside_those_of_the_study(study, tmp_path):
    methods = {"logistic": LogisticRegression(max_iter=300), "centroid": NearestCentroid()}
    result = run(study, methods=methods | {"again": "MSM"}, out=tmp_path / "out", n_jobs=2)
    names = [row.name for row in result.sections[0].rows]
    assert names[-3:] == ["logistic", "centroid", "again"]
    assert not result.failures
    assert result.sections[0].rows[-3].mean >= 50
    again = run(study, methods=methods, out=tmp_path / "out")
    assert again.n_finished == again.n_items == 24, "nothing was forgotten"


def test_what_is_no_method_is_refused(study, tmp_path):
    misspelt, pickled = tmp_path / "misspelt.toml", tmp_path / "pickled.toml"
    misspelt.write_text(STUDY.replace("shift =", "shifts ="))
    pickled.write_text(STUDY.replace('name = "mine"', '_estimator = "x"'))
    for method, error, said in (
        ("no_module:Thing", ParameterError, "cannot be imported"),
        ("own_method:Nothing", ParameterError, "cannot be imported"),
        ("numpy:pi", ParameterError, "Expected a class"),
        (object(), ParameterError, "no fit"),
    ):
        with pytest.raises(error, match=said):
            run(study, methods={"x": method}, out=tmp_path / "out")
    with pytest.raises(ParameterError, match="two methods are called 'mine'"):
        run(study, methods={"mine": "MSM"}, out=tmp_path / "out")
    with pytest.raises(ParameterError, match=r"'shifts'.*Did you mean 'shift'"):
        run(misspelt, out=tmp_path / "out")
    with pytest.raises(DataError, match="is unknown"):
        run(pickled)


def test_an_answer_for_each_set_is_expected(study, tmp_path):
    result = run(study, methods={"few": Few()}, out=tmp_path / "out")
    assert len(result.failures) == 4
    assert "Few': predict gave an answer of shape (1,). Expected a label for each set, 4." in (
        result.failures[0].error
    )


def result(right: str, n_gallery: int = 10):
    truth = ["a"] * len(right)
    return {"truth": truth, "answers": {"": ["a" if c == "1" else "b" for c in right]},
            "n_gallery": n_gallery}  # fmt: skip


def test_p_values_of_folds_are_of_the_corrected_t_test():
    one = {fold: result("1111111111") for fold in range(4)}
    other = {fold: result("1" * (9 - fold) + "0" * (1 + fold)) for fold in range(4)}
    found = p_values({"one": one, "other": other})
    apart = np.array([10.0, 20.0, 30.0, 40.0])
    t = apart.mean() / np.sqrt(apart.var(ddof=1) * (1 / 4 + 10 / 10))
    assert found == {"one": None, "other": pytest.approx(2 * stats.t.sf(t, 3))}


def test_p_values_of_one_fold_are_mcnemars_and_holm_corrects_them():
    one = {0: result("1" * 12)}
    others = {"far": {0: result("0" * 12)}, "near": {0: result("0" + "1" * 11)}, "same": one}
    found = p_values({"one": one} | others)
    assert found["far"] == pytest.approx(3 * 2 * 0.5**12)
    assert found["near"] == found["same"] == 1.0
    assert p_values({"one": one, "none": {}}) == {"one": None, "none": None}
    steady = {fold: result("0111") for fold in range(5)}
    certain = p_values({"one": {f: result("1111") for f in range(5)}, "b": steady})
    assert certain["b"] == pytest.approx(2 * 0.5**5)
