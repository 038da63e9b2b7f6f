"""One table for a user's own sets."""

from __future__ import annotations

import json
import logging
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.conftest import toy_sets
from tests.helpers import fingerprint

import setwise
from setwise import CVC
from setwise.baselines import MSM, MeanVector
from setwise.baselines.base import Baseline
from setwise.errors import DataError, ParameterError, SetwiseWarning
from setwise.evaluation import METHODS, SLOW, Comparison, MethodResult, check_methods, compare

QUICK = ("MSM", "mean vector", "GDA")


@pytest.fixture(scope="module")
def problem():
    sets, labels = toy_sets(0, n_classes=3, n_sets=6, noise=0.5)
    names = np.array(["anna", "bert", "cleo"])[labels]
    return sets[::2], names[::2], sets[1::2], names[1::2]


def test_it_is_public(problem):
    assert setwise.compare is compare


def one_probe_per_class(gallery, labels, probes, truth):
    return gallery, labels, probes[::3], truth[::3]


def test_every_method_by_default_but_the_slow_ones(problem):
    found = compare(*one_probe_per_class(*problem))
    assert not found.failed
    assert {one.name for one in found} == {*METHODS} - {*SLOW}
    assert found.best in METHODS
    assert found["CVC"].accuracy == 1.0


def test_accuracies_are_those_of_the_methods(problem):
    gallery, labels, probes, truth = problem
    found = compare(*problem, methods=["MSM", CVC(dims=(1, 2), random_state=0)])
    assert found["MSM"].accuracy == MSM().fit(gallery, labels).score(probes, truth)
    alone = CVC(dims=(1, 2), random_state=0).fit(gallery, labels).score(probes, truth)
    assert found["CVC"].accuracy == alone
    assert found["MSM"].fit_seconds > 0
    assert found["MSM"].seconds_per_probe > 0


def test_the_same_seed_gives_the_same_table(problem):
    few = one_probe_per_class(*problem)
    first, second = (compare(*few, methods=["CVC", "ISCRC"]) for _ in range(2))
    for name in ("CVC", "ISCRC"):
        np.testing.assert_array_equal(first[name].is_right, second[name].is_right)


def test_nothing_given_is_changed(problem):
    before = fingerprint(*problem[0], *problem[2], problem[1], problem[3])
    method = MSM(3)
    compare(*problem, methods={"mine": method}, n_jobs=2)
    assert fingerprint(*problem[0], *problem[2], problem[1], problem[3]) == before
    assert not hasattr(method, "classes_")
    assert method.n_jobs is None


class Fails(Baseline):
    """Raises what a broken method raises."""

    def _solve(self, gallery, codes):
        raise np.linalg.LinAlgError("SVD did not converge")

    def _score(self, vectors):
        raise NotImplementedError


def test_one_that_fails_does_not_stop_the_others(problem):
    found = compare(*problem, methods=[Fails(), "MSM"])
    assert [one.name for one in found] == ["MSM"]
    assert found["Fails"].error == "LinAlgError: SVD did not converge"
    assert "Fails: failed, LinAlgError" in str(found)
    assert found.to_dict()["failed"] == {"Fails": "LinAlgError: SVD did not converge"}
    nothing = compare(*problem, methods=[Fails()])
    assert nothing.best is None
    assert "No method succeeded" in str(nothing)


class Interrupts(Fails):
    """Somebody presses Ctrl-C meanwhile."""

    def _solve(self, gallery, codes):
        raise KeyboardInterrupt


def test_an_interrupt_loses_nothing(problem):
    with pytest.warns(SetwiseWarning, match="1 of 3 methods are finished"):
        found = compare(*problem, methods=["MSM", Interrupts(), "GDA"])
    assert [one.name for one in found] == ["MSM"]
    with pytest.raises(KeyboardInterrupt):
        compare(*problem, methods=[Interrupts()])


def test_progress_is_told(problem, caplog, monkeypatch):
    monkeypatch.setattr("setwise._support.progress.EVERY", 0.0)
    with caplog.at_level(logging.INFO, logger="setwise"):
        compare(*problem, methods=QUICK)
    assert "comparing methods: 33 % done" in caplog.text


def of_right_answers(**rights) -> Comparison:
    results = [MethodResult(name, np.arange(100) < n, 1.0, 0.1) for name, n in rights.items()]
    return Comparison(results, 0.95)


def test_differences_that_may_be_chance_are_called_so():
    found = of_right_answers(good=90, near=87, far=60)
    assert found.best == "good"
    assert found.not_told_apart == ("near",)
    assert found.p_values["far"] < 1e-6 < found.p_values["near"]
    assert found.summary() == (
        "Best on these 100 probes: good. Not significantly different from it: near."
    )
    alone = of_right_answers(good=99, far=1)
    assert alone.summary().endswith("All others are significantly worse.")


def test_the_table_as_text_and_data(problem):
    found = compare(*problem, methods=QUICK, confidence=0.9)
    text = str(found)
    assert text.splitlines()[0].split()[:3] == ["method", "%", "right"]
    assert "90 % interval" in text
    table = json.loads(json.dumps(found.to_dict()))
    assert table["n_probes"] == len(problem[2])
    assert [row["method"] for row in table["methods"]] == [one.name for one in found]
    assert all(row["low"] <= row["accuracy"] <= row["high"] for row in table["methods"])
    assert repr(found).startswith("Comparison of 3 methods")
    with pytest.raises(KeyError, match="nobody"):
        found["nobody"]


def test_html_is_escaped(problem):
    found = compare(*problem, methods={"<script>alert(1)</script>": MSM(), "&": Fails()})
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append(tag)
    parser.feed(found._repr_html_())
    assert set(tags) == {"table", "tr", "th", "td", "p"}


def test_equally_good_methods_are_ordered_by_time():
    slow = MethodResult("slow", np.ones(3, dtype=bool), 0.0, 2.0)
    fast = MethodResult("fast", np.ones(3, dtype=bool), 0.0, 1.0)
    assert [one.name for one in Comparison([slow, fast], 0.95)] == ["fast", "slow"]


def test_bad_requests_are_refused(problem):
    gallery, labels, probes, truth = problem
    with pytest.raises(ParameterError, match=r"there is no method 'MSN'.*'MSM'"):
        compare(*problem, methods=["MSN"])
    for no_sequence in ("MSM", 3, np.array(3)):
        with pytest.raises(ParameterError, match="must be a sequence of names"):
            compare(*problem, methods=no_sequence)
    for progress in (3, "yes", True):
        with pytest.raises(ParameterError, match=r"compare: progress must be a callable"):
            compare(*problem, methods=["MSM"], progress=progress)
    with pytest.raises(ParameterError, match="compare: n_jobs must be"):
        compare(*problem, methods=["MSM"], n_jobs=0)
    for none in ({"mine": "MSM"}, [3], {"mine": MSM}):
        with pytest.raises(ParameterError, match=r"^compare: method .* Expected a classifier"):
            compare(*problem, methods=none)
    with pytest.raises(ParameterError, match="methods is empty"):
        compare(*problem, methods=[])
    with pytest.raises(ParameterError, match="two called 'MSM'"):
        compare(*problem, methods=[MSM(2), MSM(3)])
    with pytest.raises(ParameterError, match="compare: confidence must be"):
        compare(*problem, confidence=1.0)
    with pytest.raises(DataError, match="'dora', which is no class of the gallery"):
        compare(gallery, labels, probes, ["dora", *truth[1:]])
    with pytest.raises(DataError, match="compare: probe_labels"):
        compare(gallery, labels, probes, truth[1:])
    with pytest.raises(DataError, match=r"compare: probes.*features"):
        compare(gallery, labels, [s[:, :5] for s in probes], truth)
    with pytest.raises(DataError, match="compare: gallery"):
        compare([], labels, probes, truth)


def test_every_method_can_be_named_alone_or_among_others_with_commas():
    for name in METHODS:
        assert check_methods([name]) == [name]
    assert check_methods([",".join(METHODS)]) == list(METHODS)
    assert check_methods(METHODS) == list(METHODS)
    assert check_methods(["mine,MSM", "MSM"], others=["mine"]) == ["mine", "MSM"]


@pytest.mark.parametrize("text", ["MSN", "MSM,MSN", "MSM, MSN, CVC", "MSN, smallest angle"])
def test_a_name_that_no_method_has_is_refused_with_the_one_meant(text):
    message = r"^compare: there is no method 'MSN'\. .*Did you mean 'MSM'\?$"
    with pytest.raises(ParameterError, match=message):
        check_methods([text])


def test_no_name_at_all_is_refused():
    with pytest.raises(ParameterError, match="there is no method ''"):
        check_methods(["MSM,"])


def test_the_picture(problem, tmp_path):
    pytest.importorskip("matplotlib")
    found = compare(*problem, methods=QUICK)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = found.plot(tmp_path / "methods.png")
    assert (tmp_path / "methods.png").stat().st_size > 10_000
    texts = [text.get_text() for text in figure.axes[0].texts]
    named = [text.rsplit("  ", 1)[0] for text in texts]
    assert sorted(named) == sorted(one.name for one in found)
    only = compare(*problem, methods=[MeanVector()]).plot()
    assert len(only.axes[0].texts) == 1
