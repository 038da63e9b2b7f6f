import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans

import setwise
from setwise import CVC, SetBatch
from setwise._support.extras import require
from setwise.errors import DataError, MissingExtraError

matplotlib = pytest.importorskip("matplotlib")

from tests.plots.drawn import clashes, outside  # noqa: E402
from tests.plots.explained import albums, explanation_of  # noqa: E402

from setwise.plots.explanation_plot import plot_explanation, shares_with_it, votes_by_evidence  # noqa: E402

PLAIN = [("plain", "svd"), ("plain", "centred")]


@pytest.fixture(scope="module")
def explanation():
    return explanation_of(4)


def all_texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts] + [
        t.get_text() for t in figure.texts
    ]


@pytest.mark.parametrize(("width", "n_columns"), [(11.0, 2), (5.0, 1)])
def test_saved_picture_has_its_size_and_content(explanation, tmp_path, width, n_columns):
    from matplotlib.image import imread

    path = tmp_path / "why.png"
    explanation.plot(path, width=width)
    pixels = imread(path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert pixels.shape[1] == 120 * width
    # Each panel has drawn something: no third of a column is empty.
    for column in np.array_split(pixels[150:], n_columns, axis=1):
        for part in np.array_split(column, 3, axis=0):
            assert (part[..., :3].min(axis=-1) < 0.8).mean() > 0.01


@pytest.mark.parametrize("width", [11.0, 8.0, 7.9, 4.0])
def test_no_text_lies_on_another_or_leaves_the_paper(width):
    labels = [f"a person of a long name, number {i}" for i in range(12)]
    figure = explanation_of(len(labels), labels).plot(width=width)
    (axes,) = figure.axes
    assert clashes(axes) == []
    assert outside(axes) == []


@pytest.mark.parametrize("width", [3.9, 31, float("nan")])
def test_a_width_that_no_paper_has_is_refused(explanation, width):
    with pytest.raises(DataError, match=r"width is .* Expected inches from 4 to 30"):
        explanation.plot(width=width)


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_vector_formats(explanation, tmp_path, suffix):
    explanation.plot(str(tmp_path / f"why.{suffix}"))
    assert (tmp_path / f"why.{suffix}").stat().st_size > 5000


def test_without_path_nothing_is_written(explanation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = explanation.plot()
    assert len(figure.axes) == 1
    assert not list(tmp_path.iterdir())


def test_it_names_set_answer_and_runner_up(explanation):
    named = replace(explanation, answer=replace(explanation.answer, name="album 7"))
    texts = all_texts(named.plot())
    assert texts[1] == "album 7"
    assert explanation.sentence in texts
    assert f"{explanation.label}, the answer" in texts
    assert f"{explanation.runner_up}, the runner-up" in texts
    agree = sum(vote.label == explanation.label for vote in explanation.votes)
    title = f"What supports it: {agree} of {len(explanation.votes)} votes"
    assert title in texts
    assert "This set" in all_texts(explanation.plot())


def test_there_is_no_jargon(explanation):
    words = " ".join(all_texts(explanation.plot()))
    for jargon in ("NCut", "SNR", "sign switch", "column", "member", "svd", "whitened"):
        assert jargon not in words, jargon


def test_labels_are_drawn_as_they_are(tmp_path):
    """No mathematics, no line break; unknown letters give boxes, not warnings."""
    labels = ["$x_1$", "a_b^{", "Zoë 日本語", "two\nlines", "long " * 12]
    figure = explanation_of(len(labels), labels).plot(tmp_path / "why.png")
    texts = all_texts(figure)
    assert "$x_1$" in texts
    assert "a_b^{" in texts
    assert "two lines" in texts
    assert any(t.startswith("long long") and t.endswith("…") for t in texts)
    assert all(not t.get_parse_math() for ax in figure.axes for t in ax.texts)


def test_flat_clusterer_has_no_tree(tmp_path):
    found = explanation_of(3, clusterer=KMeans(4, n_init=1, random_state=0))
    assert found.tree == ()
    figure = found.plot(tmp_path / "why.png")
    words = " ".join(all_texts(figure))
    assert "there is no tree" in words


def test_probe_that_shares_nothing(tmp_path):
    sets, y = albums(3)
    gallery = [np.hstack([s, np.zeros((len(s), 4))]) for s in sets]
    probe = np.zeros((5, 16))
    probe[:, 12:] = np.random.default_rng(1).random((5, 4))
    clf = CVC(dims=(1, 2), representations=PLAIN, outliers=None)
    found = clf.fit(gallery, y).explain(probe)
    assert not found.is_informed
    assert np.isnan(found.support).all()
    texts = all_texts(found.plot(tmp_path / "why.png"))
    assert any(text.startswith("No answer") for text in texts)
    assert not any(text.endswith(", the answer") for text in texts)


def test_missing_parts(explanation, tmp_path):
    n = len(explanation.support)
    abstaining = replace(
        explanation,
        support=np.full(n, np.nan),
        tree=explanation.tree[-1:],
        gallery_points=np.zeros((0, 2)),
        gallery_point_classes=np.zeros(0, dtype=np.int64),
    )
    words = " ".join(all_texts(abstaining.plot(tmp_path / "why.png")))
    assert "nothing was cut: the set stands alone" in words
    assert "saved without its vectors" in words


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")
def test_one_vector(tmp_path):
    sets, y = albums(2)
    CVC(dims=(1,)).fit(sets, y).explain(sets[0][:1]).plot(tmp_path / "why.png")


def test_many_classes_keep_to_what_fits(tmp_path):
    figure = explanation_of(30).plot(tmp_path / "why.png")
    assert "and 24 more, less probable" in all_texts(figure)


def test_missing_matplotlib_says_what_to_install(explanation, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "setwise\[plot\]"'):
        plot_explanation(explanation)


def test_require_gives_the_module():
    assert require("json", "plot").dumps(1) == "1"


def test_require_does_not_hide_a_broken_installation(tmp_path, monkeypatch):
    (tmp_path / "halfbroken.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there") as caught:
        require("halfbroken", "plot")
    assert not isinstance(caught.value, MissingExtraError)


def photos_of(n_sets, names, seed=0):
    """Sets of small images of two kinds: stripes down and stripes across."""
    rng = np.random.default_rng(seed)
    stripes = np.tile([0.0, 1.0], (8, 4))
    kinds = [stripes, stripes.T]
    sets = [
        255 * np.clip(kinds[i % 2] + 0.2 * rng.normal(size=(6, 8, 8)), 0, 1)
        for i in range(n_sets)
    ]
    return SetBatch.from_images(sets, names, ["down", "across"] * (n_sets // 2))


@pytest.fixture(scope="module")
def pictured():
    gallery = photos_of(8, [f"set {i}" for i in range(8)])
    clf = CVC(dims=(1, 2), random_state=0).fit(gallery, gallery.labels)
    probe = photos_of(2, ["Monday", "Tuesday"], seed=1)[[0]]
    return clf.explain(probe), probe


def test_images_of_the_set_and_those_most_alike_are_in_it(pictured):
    why, probe = pictured
    assert why.name == why.pictured.name == "Monday"
    np.testing.assert_array_equal(why.pictured.images, probe.images)
    first = why.pictured.alike[0]
    assert first.label == why.label == "down"
    assert all(pair.origin.startswith("set ") for pair in first.pairs)
    figure = why.plot()
    n_pairs = sum(len(alike.pairs) for alike in why.pictured.alike)
    assert len(figure.axes[0].images) == len(probe[0]) + 2 * n_pairs
    texts = all_texts(figure)
    assert "Monday" in texts
    assert "Most alike of down" in texts
    assert "6 photos" in texts


def test_an_image_that_is_out_of_place_is_framed_and_named(pictured):
    why, _ = pictured
    strange = replace(why, answer=replace(why.answer, is_typical=np.arange(6) != 2))
    texts = all_texts(strange.plot())
    assert "1 out of place: photo 3" in texts
    assert "photo 3" in texts


def test_a_gallery_without_vectors_still_shows_the_set(pictured, tmp_path):
    _, probe = pictured
    gallery = photos_of(8, [f"set {i}" for i in range(8)])
    clf = CVC(dims=(1, 2), random_state=0).fit(gallery, gallery.labels)
    clf.save(tmp_path / "small.setwise", keep_vectors=False)
    why = setwise.load(tmp_path / "small.setwise").explain(probe)
    assert len(why.pictured.images) == 6
    assert why.pictured.alike == ()
    why.plot()


def test_shares_after_every_cut_are_those_of_the_whole_set(explanation):
    deepest = max(step.depth for step in explanation.tree)
    for depth in range(deepest + 2):
        assert shares_with_it(explanation.tree, depth, 4).sum() == pytest.approx(1.0)
    before = shares_with_it(explanation.tree, 0, 4)
    np.testing.assert_allclose(before[:-1], 8 / 32, atol=0.1)
    shared = explanation.class_cluster[-1] > 0
    after = shares_with_it(explanation.tree, deepest, 4)
    np.testing.assert_array_equal(
        after[:-1] > 0, (explanation.class_cluster[:-1, shared] > 0).any(axis=1)
    )


def test_every_vote_is_counted_once(explanation):
    counts = votes_by_evidence(explanation, {str(explanation.label): "first"})
    assert sum(sum(said.values()) for said in counts.values()) == len(explanation.votes)
    agree = sum(vote.label == explanation.label for vote in explanation.votes)
    assert sum(said.get("first", 0) for said in counts.values()) == agree
