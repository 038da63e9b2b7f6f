"""A saved gallery answers as the fitted one does; files are not trusted."""

from __future__ import annotations

import json
import struct
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer
from tests.conftest import toy_sets

import setwise
from setwise import CVC, Dictionary, GaussianGraph, SetBatch
from setwise.classify import Shortlist
from setwise.errors import DataError, ParameterError
from setwise.index import ExactIndex, FaissIndex
from setwise.io.tensors import read_tensors, write_tensors
from setwise.sets import Origins

GALLERIES = Path(__file__).resolve().parents[1] / "data" / "galleries"

KINDS = {
    "default": {},
    "as in paper": {
        "representations": [("plain", Dictionary())],
        "cut": "paper",
        "evidence": "clusters",
        "fusion": "mode",
        "weights": None,
        "outliers": None,
    },
    "gaussian": {"graph": GaussianGraph(), "representations": [("plain", "svd")]},
    "omp, means": {"graph": "omp", "representations": [("whitened", "means")]},
    "lengths": {"representations": [("lengths", "svd"), ("lengths", "mean")]},
    "unknown": {"unknown": 0.5, "unknown_label": np.int64(-1)},
}


@pytest.fixture
def toy(seed):
    sets, labels = toy_sets(seed, n_classes=4, n_sets=4, noise=1.0)
    is_gallery = np.arange(16) % 4 < 3
    gallery = [s for s, g in zip(sets, is_gallery, strict=True) if g]
    probes = [s for s, g in zip(sets, is_gallery, strict=True) if not g]
    return gallery, labels[is_gallery], probes


@pytest.fixture
def saved(toy, tmp_path):
    gallery, y, _ = toy
    return CVC((1, 2), random_state=0).fit(gallery, y).save(tmp_path / "people.setwise")


@pytest.mark.parametrize("kind", KINDS)
def test_answers_after_loading_are_the_same(toy, tmp_path, kind):
    gallery, y, probes = toy
    clf = CVC((1, 2, 3), random_state=0).set_params(**KINDS[kind]).fit(gallery, y)
    again = setwise.load(clf.save(tmp_path / "a.setwise"))
    np.testing.assert_array_equal(again.predict_proba(probes), clf.predict_proba(probes))
    np.testing.assert_array_equal(again.predict(probes), clf.predict(probes))
    assert str(again.explain(probes[0])) == str(clf.explain(probes[0]))
    described = again.gallery_.description.to_config()
    assert described == clf.gallery_.description.to_config()
    assert again.gallery_accuracy_ == clf.gallery_accuracy_


def test_large_graphs_are_kept_with_their_pools(toy, tmp_path, monkeypatch):
    from setwise.graph import lasso

    monkeypatch.setattr(lasso, "GRAM_LIMIT", 10)
    gallery, y, probes = toy
    clf = CVC((3,), representations=[("plain", "svd")]).fit(gallery, y)
    again = setwise.load(clf.save(tmp_path / "a.setwise"))
    np.testing.assert_array_equal(again.predict_proba(probes), clf.predict_proba(probes))


def test_enrolling_and_forgetting_go_on_after_loading(toy, saved):
    gallery, y, probes = toy
    again = setwise.load(saved).enroll(probes[:1], [7]).forget(sets=[0])
    fresh = CVC((1, 2), random_state=0).fit(gallery, y).enroll(probes[:1], [7]).forget(sets=[0])
    np.testing.assert_allclose(
        again.predict_proba(probes), fresh.predict_proba(probes), atol=1e-9
    )


def test_equal_fits_give_equal_bytes(toy, saved, tmp_path):
    gallery, y, _ = toy
    again = CVC((1, 2), random_state=0).fit(gallery, y).save(tmp_path / "again.setwise")
    assert again.read_bytes() == saved.read_bytes()
    assert (
        setwise.load(saved).save(tmp_path / "third.setwise").read_bytes() == saved.read_bytes()
    )


@pytest.mark.parametrize(
    "labels", [["b", "a", "ü"], [3, -4, 2], [1.0, 3.0, 2.0]], ids=["str", "int", "float"]
)
def test_labels_keep_their_kind(seed, tmp_path, labels):
    sets, codes = toy_sets(seed)
    y = np.array(labels)[codes]
    again = setwise.load(CVC((1,)).fit(sets, y).save(tmp_path / "a.setwise"))
    assert again.classes_.dtype == np.unique(y).dtype
    np.testing.assert_array_equal(again.classes_, np.unique(y))


def test_names_and_images_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 255, (5, 6, 4)).astype(np.uint8) for _ in range(6)]
    batch = SetBatch.from_images(images, names=[f"clip {i}" for i in range(6)])
    clf = CVC((1,), weights=None).fit(batch, [0, 0, 1, 1, 2, 2])
    again = setwise.load(clf.save(tmp_path / "a.setwise")).gallery_.sets
    assert (again.names, again.image_shape) == (batch.names, (6, 4))
    assert again.vectors.dtype == np.uint8  # an eighth of what fit works with
    np.testing.assert_array_equal(again.vectors, clf.gallery_.sets.vectors)


def test_files_times_and_pictures_are_kept(toy, tmp_path):
    gallery, y, _ = toy
    sets = SetBatch.from_list(gallery)
    n = len(sets.vectors)
    times = [datetime(2024, 5, 1, 12, 0, i % 60) if i % 3 else None for i in range(n)]
    files = [f"gallery/\u00e4\udcff {i}.jpg" for i in range(n)]
    sets = sets.replaced(
        origins=Origins.of_files(files, times, [b"x" * (i % 5) for i in range(n)])
    )
    clf = CVC((1, 2)).fit(sets, y)
    again = setwise.load(clf.save(tmp_path / "a.setwise")).gallery_.sets.origins
    assert (again.files, again.thumbnails) == (sets.origins.files, sets.origins.thumbnails)
    np.testing.assert_array_equal(again.times, sets.origins.times)
    bare = setwise.load(clf.save(tmp_path / "b.setwise", keep_vectors=False)).gallery_.sets
    assert bare.origins.files == sets.origins.files
    assert not any(bare.origins.thumbnails)


def test_without_vectors_it_answers_but_does_not_change(toy, saved, tmp_path):
    gallery, _, probes = toy
    clf = setwise.load(saved)
    bare = clf.save(tmp_path / "bare.setwise", keep_vectors=False)
    again = setwise.load(bare)
    others = [r for r in clf.describe().representations if not r.basis.holds_vectors]
    assert list(map(str, again.describe().representations)) == list(map(str, others))
    np.testing.assert_array_equal(again.predict(probes), clf.predict(probes))
    content = bare.read_bytes()
    assert all(vector.tobytes() not in content for vector in np.vstack(gallery))
    for change in (lambda: again.enroll(probes[:1], [0]), lambda: again.forget(sets=[0])):
        with pytest.raises(DataError, match="saved without its vectors"):
            change()
    assert again.save(tmp_path / "third.setwise").read_bytes() == content
    with pytest.raises(ParameterError, match="keep_vectors"):
        clf.save(bare, keep_vectors="no")


def test_without_vectors_other_members_answer_as_before(toy, tmp_path):
    gallery, y, probes = toy
    pairs = [("plain", "svd"), ("whitened", "centred")]
    clf = CVC((1, 2), representations=pairs, outliers=None).fit(gallery, y)
    again = setwise.load(clf.save(tmp_path / "bare.setwise", keep_vectors=False))
    np.testing.assert_array_equal(again.predict_proba(probes), clf.predict_proba(probes))
    assert str(again.explain(probes[0])) == str(clf.explain(probes[0]))


def test_without_vectors_outliers_are_told_by_the_probe_alone(toy, tmp_path):
    """Nothing is left to ask whether they are rare rather than strange."""
    gallery, y, probes = toy
    clf = CVC((1, 2), representations=[("plain", "svd")]).fit(gallery, y)
    again = setwise.load(clf.save(tmp_path / "bare.setwise", keep_vectors=False))
    np.testing.assert_array_equal(again.predict(probes), clf.predict(probes))
    gallery_of = [again.gallery_, clf.gallery_]
    counts = [[one.bases(probe).n_inliers for probe in probes] for one in gallery_of]
    assert (np.array(counts[0]) <= counts[1]).all()


def test_a_gallery_of_vectors_alone_is_not_saved_without_them(toy, tmp_path):
    gallery, y, _ = toy
    clf = CVC(representations=[("plain", "vectors")]).fit(gallery, y)
    with pytest.raises(DataError, match="every member of the ensemble compares with single"):
        clf.save(tmp_path / "bare.setwise", keep_vectors=False)


# --- what cannot be written down


def test_a_view_of_ones_own_is_refused_by_name_and_nothing_is_written(toy, tmp_path):
    gallery, y, _ = toy
    own = ("tanh", FunctionTransformer(np.tanh))
    clf = CVC((1,), representations=[(own, "svd")]).fit(gallery, y)
    with pytest.raises(ParameterError, match="view 'tanh' cannot be written down"):
        clf.save(tmp_path / "a.setwise")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(toy, tmp_path):
    gallery, y, _ = toy
    clf = CVC((1,)).fit(gallery, y)
    with pytest.raises(DataError, match="there is no folder"):
        clf.save(tmp_path / "nowhere" / "a.setwise")


def test_what_is_no_file_name_is_refused(toy, tmp_path):
    gallery, y, _ = toy
    clf = CVC((1,), unknown_label=object()).fit(gallery, y)  # which nobody asked for
    with pytest.raises(DataError, match=r"is a folder\. Expected the name of a file"):
        clf.save(tmp_path)
    for call in (clf.save, setwise.load):
        with pytest.raises(ParameterError, match="path must be a str or a path, got None"):
            call(None)
    assert clf.save(tmp_path / "a.setwise").is_file()


def test_a_file_stays_whole_when_writing_fails(saved, toy, monkeypatch):
    gallery, y, _ = toy
    before = saved.read_bytes()

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(DataError, match=r"people\.setwise.*No space.*unchanged\. Make room"):
        CVC((1,)).fit(gallery, y).save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


# --- what is not believed


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "people.setwise"
    with pytest.raises(DataError, match="not there"):
        setwise.load(path)
    for content in (b"x", b"\x80\x04N.", b"\0" * 100, struct.pack("<Q", 2**60) + b"{}"):
        path.write_bytes(content)
        with pytest.raises(DataError, match="no gallery file, or a damaged one"):
            setwise.load(path)
    write_tensors(path, {}, {"a": np.ones(3)})
    path.write_bytes(path.read_bytes().replace(b"setwise", b"another"))
    with pytest.raises(DataError, match="file of arrays, but no gallery"):
        setwise.load(path)


def rewritten(path, change):
    """The file with its document changed, and signed anew."""
    document, arrays = read_tensors(path, "test")
    change(document)
    del document["sha256"]
    write_tensors(path, document, arrays)


def test_a_changed_word_is_found_by_the_sum(saved):
    content = saved.read_bytes()
    assert content.count(b'set 1\\"') == 1
    saved.write_bytes(content.replace(b'set 1\\"', b'set X\\"'))
    with pytest.raises(DataError, match="sha256 differs"):
        setwise.load(saved)


def test_a_later_version_says_so(saved):
    rewritten(saved, lambda document: document.update(format=99))
    with pytest.raises(DataError, match="later version of setwise"):
        setwise.load(saved)


LIES = {
    "fewer names": lambda d: d["names"].pop(),
    "other classes": lambda d: d["classes"].append(99),
    "unsorted classes": lambda d: d["classes"].reverse(),
    "labels of another kind": lambda d: d.update(labels="str"),
    "no description": lambda d: d.pop("description"),
    "an unknown part": lambda d: d["description"]["graph"].update(name="knn"),
    "a part of no kind": lambda d: d["description"].update(fusion=["pool"]),
    "other dims": lambda d: d.update(dims=[1, 2, 3]),
    "no dims": lambda d: d.update(dims=[]),
    "dims of words": lambda d: d.update(dims=["a"]),
    "fewer layers": lambda d: d["members"].pop(),
    "nested in itself": lambda d: d["members"][0].update(nested_in=0),
    "a power of words": lambda d: d.update(power="large"),
    "a threshold of words": lambda d: d.update(threshold="near"),
    "images of another shape": lambda d: d.update(image_shape=[7, 7]),
    "more features": lambda d: d.update(n_features=10**9),
    "features of words": lambda d: d.update(n_features="many"),
    "vectors that are not said": lambda d: d.update(has_vectors=False, n_features=7),
    "names of numbers": lambda d: d["names"].__setitem__(0, 5),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_contradicts_itself_is_refused(saved, lie):
    rewritten(saved, LIES[lie])
    with pytest.raises(DataError, match="contradicts itself"):
        setwise.load(saved)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("member 1 atoms", lambda a: a + 10**6),
        ("member 1 counts", lambda a: -a),
        ("member 1 values", lambda a: a * np.nan),
        ("member 1 values", lambda a: a.astype(np.float16)),
        ("vectors", np.zeros_like),
        ("vectors", lambda a: a * 1e200),
        ("member 1 sets", lambda a: a[::-1].copy()),
        ("codes", lambda a: a + 50),
        ("offsets", lambda a: a * 2),
        ("weights", lambda a: a[:-1]),
        ("vectors", lambda a: a[:-1]),
    ],
)
def test_arrays_that_lead_astray_are_refused_before_they_are_followed(
    saved, name, spoil, monkeypatch
):
    """Also by somebody who computes the sum of the arrays anew."""
    document, arrays = read_tensors(saved, "test")
    arrays[name] = spoil(arrays[name])
    del document["sha256"]
    write_tensors(saved, document, arrays)
    with pytest.raises(DataError, match="contradicts itself"):
        setwise.load(saved)


# --- files of every format that was ever written


CORPUS = {
    f"{folder.name} {name}": (folder / f"{name}.setwise", about)
    for folder in sorted(GALLERIES.iterdir())
    for name, about in json.loads((folder / "expected.json").read_text()).items()
}


@pytest.mark.parametrize("name", CORPUS)
def test_files_of_every_format_are_still_read(name):
    path, expected = CORPUS[name]
    if "faiss" in name:  # it names a path, which is not there
        pytest.importorskip("faiss")
    clf = setwise.load(path)
    if "images" in expected:
        probes = SetBatch.from_images([np.uint8(photos) for photos in expected["images"]])
    else:
        probes = [np.array(probe) for probe in expected["vectors"]]
    assert clf.predict(probes).tolist() == expected["labels"]
    np.testing.assert_allclose(clf.predict_proba(probes), expected["probabilities"], atol=1e-6)
    if name == "v1 people":
        assert clf.gallery_.sets.origins.files[0] == "0.jpg"


# --- indexes of large galleries


@pytest.fixture
def large(seed):
    """A classifier with a shortlist and codes of FAISS, and probes."""
    pytest.importorskip("faiss")
    sets, labels = toy_sets(seed, n_classes=8, n_sets=3)
    is_probe = np.arange(24) % 3 == 2
    gallery = [s for s, p in zip(sets, is_probe, strict=True) if not p]
    probes = [s for s, p in zip(sets, is_probe, strict=True) if p]
    near = Shortlist(n_classes=3, n_compared=6, above=7)
    clf = CVC((1, 2), shortlist=near, index=FaissIndex(n_candidates=8), random_state=0)
    return clf.fit(gallery, labels[~is_probe]), probes


def test_codes_of_an_index_are_in_the_gallery_file(large, tmp_path, monkeypatch):
    clf, probes = large
    path = clf.save(tmp_path / "people.setwise")
    codes = read_tensors(path, "test", 2)[1]["index of_rows"]
    np.testing.assert_array_equal(codes, clf.gallery_.solution.index.codes.of_rows)
    monkeypatch.setattr("setwise.index.faiss._learnt", None)  # nothing is learnt again
    again = setwise.load(path)
    np.testing.assert_array_equal(again.predict_proba(probes), clf.predict_proba(probes))
    assert [file.name for file in tmp_path.iterdir()] == ["people.setwise"]


def test_a_change_that_is_not_saved_leaves_the_file_as_it_was(large, tmp_path):
    clf, probes = large
    path = clf.save(tmp_path / "people.setwise")
    before = path.read_bytes()
    setwise.load(path).enroll(probes[:2], [8, 9])
    assert path.read_bytes() == before
    np.testing.assert_array_equal(
        setwise.load(path).predict_proba(probes), clf.predict_proba(probes)
    )


def test_another_index_than_that_of_the_file_can_be_given(large, tmp_path):
    clf, probes = large
    again = setwise.load(clf.save(tmp_path / "people.setwise"), index="exact")
    assert isinstance(again.index, ExactIndex)
    assert again.predict(probes).tolist() == clf.predict(probes).tolist()
    with pytest.raises(ParameterError, match="load: index must be"):
        setwise.load(tmp_path / "people.setwise", index="nearest")
