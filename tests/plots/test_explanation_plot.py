import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import KMeans

from setwise import CVC
from setwise._support.extras import require
from setwise.errors import MissingExtraError

matplotlib = pytest.importorskip("matplotlib")

from setwise.classify.explanation import CutStep  # noqa: E402
from setwise.plots.explanation_plot import plot_explanation  # noqa: E402
from setwise.plots.plot_page import Page  # noqa: E402
from setwise.plots.style import OTHER, PALETTE  # noqa: E402
from setwise.plots.tree_plot import _stops  # noqa: E402

PLAIN = [("plain", "svd"), ("plain", "centred")]


def albums(n_classes, n_sets=2, n_images=8, n_features=12, seed=0):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_classes, n_features))
    sets = [
        mean + 0.4 * rng.normal(size=(n_images, n_features))
        for mean in means
        for _ in range(n_sets)
    ]
    return sets, np.repeat(np.arange(n_classes), n_sets)


def explanation_of(n_classes, labels=None, **parameters):
    sets, codes = albums(n_classes, n_sets=3)
    is_probe = np.arange(len(sets)) == len(sets) - 1
    y = codes if labels is None else np.array(labels)[codes]
    gallery = [s for s, probe in zip(sets, is_probe, strict=True) if not probe]
    return CVC(dims=(1, 3), **parameters).fit(gallery, y[~is_probe]).explain(sets[-1])


@pytest.fixture(scope="module")
def explanation():
    return explanation_of(4)


def all_texts(figure):
    return [t.get_text() for ax in figure.axes for t in ax.texts] + [
        t.get_text() for t in figure.texts
    ]


def test_saved_picture_has_its_size_and_content(explanation, tmp_path):
    from matplotlib.image import imread

    path = tmp_path / "why.png"
    explanation.plot(path)
    pixels = imread(path)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert pixels.shape[:2] == (1380, 2100)
    # Each panel has drawn something: no third of either half is empty.
    for half in np.array_split(pixels[150:], 2, axis=0):
        for part in np.array_split(half, 3, axis=1):
            assert (part[..., :3].min(axis=-1) < 0.8).mean() > 0.001


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_vector_formats(explanation, tmp_path, suffix):
    explanation.plot(str(tmp_path / f"why.{suffix}"))
    assert (tmp_path / f"why.{suffix}").stat().st_size > 5000


def test_without_path_nothing_is_written(explanation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    figure = explanation.plot()
    assert len(figure.axes) == 5
    assert not list(tmp_path.iterdir())


def test_backend_and_settings_stay_as_they_were(tmp_path):
    """In a fresh interpreter, where nobody else has imported pyplot or set a backend."""
    code = """
import sys
import matplotlib
# Reading the backend the usual way would choose one, and import pyplot.
before = dict(dict.items(matplotlib.rcParams))
import numpy as np
from setwise import CVC
rng = np.random.default_rng(0)
sets = [rng.normal(size=(6, 5)) + 3 * np.eye(5)[i % 2] for i in range(4)]
CVC(dims=(1,)).fit(sets, [0, 1, 0, 1]).explain(sets[0]).plot(sys.argv[1])
assert dict(dict.items(matplotlib.rcParams)) == before
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "why.png")], check=True)


def test_title_says_label_agreement_and_snr(explanation):
    texts = all_texts(explanation.plot())
    agree = sum(vote.label == explanation.label for vote in explanation.votes)
    snr = f"{explanation.snr:.3g}" if np.isfinite(explanation.snr) else "∞"
    title = f"Votes: {agree} of {len(explanation.votes)} for {explanation.label}, SNR {snr}"
    assert title in texts


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
    assert "this clusterer makes no tree" in all_texts(figure)


def test_probe_that_shares_nothing(tmp_path):
    sets, y = albums(3)
    gallery = [np.hstack([s, np.zeros((len(s), 4))]) for s in sets]
    probe = np.zeros((5, 16))
    probe[:, 12:] = np.random.default_rng(1).random((5, 4))
    clf = CVC(dims=(1, 2), representations=PLAIN, outliers=None)
    found = clf.fit(gallery, y).explain(probe)
    assert not found.is_informed
    assert np.isnan(found.support).all()
    assert "No answer" in all_texts(found.plot(tmp_path / "why.png"))


def test_missing_parts(explanation, tmp_path):
    n = len(explanation.support)
    silent = replace(
        explanation,
        support=np.full(n, np.nan),
        sign_switches=np.zeros(n),
        tree=explanation.tree[-1:],
        snr=np.inf,
    )
    assert any(t.endswith("SNR ∞") for t in all_texts(silent.plot(tmp_path / "why.png")))


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")
def test_one_vector(tmp_path):
    sets, y = albums(2)
    CVC(dims=(1,)).fit(sets, y).explain(sets[0][:1]).plot(tmp_path / "why.png")


def test_many_classes_keep_to_what_fits(tmp_path):
    found = explanation_of(30)
    figure = found.plot(tmp_path / "why.png")
    page = Page.of(figure, found)
    assert sum(colour != OTHER for colour in page.colours) == len(PALETTE)
    assert page.colours[page.answer] == PALETTE[0]
    assert any(t.startswith("20 more classes") for t in all_texts(figure))


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")
def test_few_classes_keep_their_colours_from_probe_to_probe():
    sets, y = albums(3)
    clf = CVC(dims=(1,)).fit(sets, y)
    pages = [Page.of(clf.explain(s).plot(), clf.explain(s)) for s in (sets[0], sets[-1])]
    assert pages[0].answer != pages[1].answer
    assert pages[0].colours == pages[1].colours


def a_step(node, children=(), n_probe=0, kind="leaf"):
    counts = np.array([2, 1])
    return CutStep(
        node=node,
        parent=-1,
        children=children,
        depth=0,
        n_columns=3 + n_probe,
        n_probe=n_probe,
        class_counts=counts,
        kind=kind,
        connectivity=0.0,
        ncut=0.0,
        fell_away=(),
    )


def test_components_fall_apart_at_one_stop(explanation, tmp_path):
    """Five parts, two of them with the probe: two branches, three parts shed."""
    parts = tuple(a_step(i, n_probe=i in (2, 4)) for i in range(1, 6))
    tree = (a_step(0, (1, 2, 3, 4, 5), 2, "components"), *parts)
    root, *leaves = _stops(tree, 1)
    assert root.is_branching
    assert [step.node for step in root.shed] == [1, 3, 5]
    assert [leaf.step.node for leaf in leaves] == [2, 4]
    assert "apart" in all_texts(replace(explanation, tree=tree).plot(tmp_path / "why.png"))


@pytest.mark.parametrize("most_cuts", [1, 2, 5])
def test_stops_hold_the_whole_tree_once(explanation, most_cuts):
    tree = explanation.tree
    stops = _stops(tree, most_cuts)
    cuts = [step.node for stop in stops for step in stop.cuts]
    assert sorted(cuts) == sorted(step.node for step in tree if step.children)
    shed = [step.node for stop in stops for step in stop.shed]
    leaves = [stop.step.node for stop in stops if not stop.cuts]
    assert sorted(shed + leaves) == sorted(step.node for step in tree if not step.children)
    for i, stop in enumerate(stops):
        assert stop.parent < i
        assert stop.parent < 0 or stops[stop.parent].column < stop.column


def test_leaves_are_numbered_like_the_columns_of_the_table(explanation):
    leaves = [stop.step for stop in _stops(explanation.tree, 1) if not stop.cuts]
    probe = explanation.class_cluster[-1]
    n_probe = sum(leaf.n_probe for leaf in leaves)
    np.testing.assert_allclose([leaf.n_probe / n_probe for leaf in leaves], probe[probe > 0])


def test_no_text_of_the_tree_lies_on_another(tmp_path):
    figure = explanation_of(12).plot(tmp_path / "why.png")
    ax = next(ax for ax in figure.axes if ax.texts[0].get_text() == "Tree of cuts")
    renderer = figure.canvas.get_renderer()
    boxes = [t.get_window_extent(renderer) for t in ax.texts if t.get_text()]
    # Boxes include ascent and descent that letters rarely use, so let them touch.
    boxes = [box.padded(-1.5) for box in boxes]
    clashes = [
        (i, j) for i in range(len(boxes)) for j in range(i) if boxes[i].overlaps(boxes[j])
    ]
    assert not clashes


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
