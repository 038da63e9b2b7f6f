"""Explanations as plain dicts, and back."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.conftest import toy_sets

from setwise import CVC
from setwise.basis import Dictionary
from setwise.classify import Explanation
from setwise.errors import DataError


def explained(labels_of=str, **parameters):
    sets, labels = toy_sets(0, n_classes=4, n_sets=4, noise=1.0)
    names = np.array([labels_of(label) for label in labels])
    is_probe = np.arange(len(sets)) % 4 == 3
    gallery = [s for s, p in zip(sets, is_probe, strict=True) if not p]
    clf = CVC(**{"dims": (1, 3, 5), "random_state": 0} | parameters)
    return clf.fit(gallery, names[~is_probe]).explain(sets[-1])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"clusterer": "kmeans"},
        {"representations": [("plain", Dictionary(0.5, n_seeds=2)), ("plain", "dictionary")]},
    ],
)
def test_it_comes_back_from_json(parameters):
    why = explained(**parameters)
    content = why.to_dict()
    written = json.loads(json.dumps(content, allow_nan=False))
    assert written == content
    back = Explanation.from_dict(written)
    assert back.to_dict() == content
    assert str(back) == str(why)
    assert [vote.layer for vote in back.votes] == [vote.layer for vote in why.votes]
    assert back.shown == why.shown
    for mine, theirs in zip(back.votes, why.votes, strict=True):
        np.testing.assert_allclose(mine.distances, theirs.distances, rtol=1e-5)
        assert mine.snr == pytest.approx(theirs.snr, rel=1e-5)
    for name in ("support", "class_cluster", "probe_points", "gallery_points", "sign_switches"):
        np.testing.assert_allclose(getattr(back, name), getattr(why, name), rtol=1e-5)
    np.testing.assert_array_equal(back.gallery_point_classes, why.gallery_point_classes)
    for mine, theirs in zip(back.tree, why.tree, strict=True):
        assert (mine.node, mine.children, mine.fell_away) == (
            theirs.node,
            theirs.children,
            tuple(map(str, theirs.fell_away)),
        )
        np.testing.assert_allclose(mine.ncut, theirs.ncut, rtol=1e-5)


def test_it_draws_the_same_picture(tmp_path):
    pytest.importorskip("matplotlib")
    why = explained()
    shapes = []
    for one, name in ((why, "a.png"), (Explanation.from_dict(why.to_dict()), "b.png")):
        figure = one.plot(tmp_path / name)
        shapes.append([text.get_text() for ax in figure.axes for text in ax.texts])
    assert shapes[0] == shapes[1]
    assert len(shapes[0]) > 20


def test_labels_that_are_numbers_become_strings():
    content = explained(labels_of=int).to_dict()
    assert content["classes"] == ["0", "1", "2", "3"]
    back = Explanation.from_dict(content)
    assert back.label in back.classes
    assert all(vote.label is None or isinstance(vote.label, str) for vote in back.votes)


def test_what_is_not_finite_is_none_and_comes_back():
    content = explained().to_dict()
    infinite = [d for vote in content["votes"] for d in vote["distances"] if d is None]
    assert infinite
    content["support"][0] = content["snr"] = None
    back = Explanation.from_dict(content)
    assert np.isnan(back.support[0])
    assert back.snr == np.inf
    assert any(np.isinf(vote.distances).any() for vote in back.votes)
    leaf = next(step for step in back.tree if step.kind == "leaf")
    assert np.isnan(leaf.ncut)


@pytest.mark.parametrize("broken", [{}, {"votes": 3}, {"tree": [{}]}, {"support": ["x"]}])
def test_what_is_no_explanation_is_refused(broken):
    content = explained().to_dict() | broken if broken else {}
    with pytest.raises(DataError, match=r"Explanation.from_dict: .* Expected what"):
        Explanation.from_dict(content)
