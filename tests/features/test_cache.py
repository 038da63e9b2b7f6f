"""Features of images are computed once, and found by nothing but their content."""

from __future__ import annotations

import json
import pickle
import sqlite3
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from tests.features.test_embedding import OnnxEmbedding, network

from setwise import CVC, SetBatch, Whitener
from setwise.errors import DataError, ParameterError
from setwise.features import cache
from setwise.features.cache import Cached, FeatureFile, MemoryCache, through_cache
from setwise.features.descriptors import HOG, LBP
from setwise.features.embedding import Embedding
from setwise.features.images import Equalised, ImageFeature, Pixels
from setwise.features.vectors import PerVector


@pytest.fixture
def sets(seed):
    rng = np.random.default_rng(seed)
    images = [rng.integers(0, 256, (n, 16, 16), dtype=np.uint8) for n in (3, 1, 4)]
    return SetBatch.from_images(images, ["x", "y", "z"], np.array([0, 1, 0]))


def counts(cached):
    return cached.n_hits_, cached.n_misses_


@pytest.mark.parametrize(
    "feature",
    [HOG(), Equalised(), Pixels(size=(4, np.int64(5))), make_pipeline(Equalised(), LBP())],
    ids=lambda feature: type(feature).__name__,
)
def test_gives_what_the_feature_gives_and_computes_it_once(tmp_path, sets, feature):
    expected = feature.fit_transform(sets)
    cached = Cached(feature, tmp_path / "new" / "folder").fit(sets)
    for turn in range(3):
        made = cached.transform(sets)
        assert made.vectors.dtype == expected.vectors.dtype
        assert np.array_equal(made.vectors, expected.vectors)
        assert made.image_shape == expected.image_shape
        assert made.names == sets.names
        assert made.labels.tolist() == [0, 1, 0]
        assert counts(cached) == (8 * turn, 8)
    assert isinstance(cached, ImageFeature)


def test_images_are_found_one_by_one_in_sets_and_arrays(tmp_path, sets):
    Cached(HOG(), tmp_path).transform(sets)
    cached = Cached(HOG(), str(tmp_path)).fit(sets)
    rows = cached.transform(sets.images[3:4])
    assert np.array_equal(rows, HOG().transform(sets.images[3:4]))
    assert counts(cached) == (1, 0)
    cached.transform(sets[[2, 0]])
    assert counts(cached) == (8, 0)
    cached.transform(np.concatenate([sets.images, 255 - sets.images[:1]]))
    assert counts(cached) == (16, 1)
    assert counts(cached.fit(sets)) == (0, 0)


def test_copies_find_what_was_kept(tmp_path, sets):
    cached = Cached(HOG(), tmp_path).fit(sets)
    expected = cached.transform(sets).vectors
    for copy in (clone(cached), pickle.loads(pickle.dumps(cached))):
        assert np.array_equal(copy.fit(sets).transform(sets).vectors, expected)
        assert counts(copy) == (8, 0)
    changed = clone(cached).set_params(feature__cell=4).fit(sets)
    changed.transform(sets)
    assert counts(changed) == (0, 8)


def test_any_other_pixels_are_other_images(tmp_path, sets):
    cached = Cached(Pixels(), tmp_path).fit(sets)
    images = np.arange(16, dtype=np.uint8).reshape(1, 4, 4)
    changed = images.copy()
    changed[0, 3, 3] += 1
    forms = [images, changed, images.astype(np.int8), images.reshape(1, 2, 8)]
    forms += [images.astype(">i4"), images.astype("<i4"), images[..., None]]
    for n, form in enumerate(forms):
        cached.transform(form)
        assert counts(cached) == (0, n + 1)
    cached.transform(np.asfortranarray(images))
    assert counts(cached) == (1, len(forms))


def test_errors_name_the_set_of_an_image(tmp_path, sets):
    Cached(Equalised(), tmp_path).transform(sets[:2])
    bad = sets.vectors.astype(float)
    bad[5] += 1000
    with pytest.raises(DataError, match="image 1 of z has values"):
        Cached(Equalised(), tmp_path).transform(sets.replaced(vectors=bad))


def means(images):
    return images.mean(axis=(1, 2))[:, None]


CHANGES = [
    (Pixels(), {"size": 8, "grey": True, "unit_norm": True}),
    (Equalised(), {}),
    (
        LBP(),
        {"size": 8, "patch": 4, "points": 4, "radius": 2, "method": "uniform", "root": False},
    ),
    (HOG(), {"size": 32, "cell": 4, "block": 1, "orientations": 8, "norm": "L2"}),
    (Embedding(means, name="a"), {"function": None, "batch_size": 3, "name": "b"}),
    (
        OnnxEmbedding("a.onnx"),
        {
            "model_path": "b.onnx",
            "input_name": "images",
            "size": (8, 6),
            "layout": "nhwc",
            "mean": (1, 2, 3),
            "std": 2,
            "batch_size": 3,
            "providers": ["CPUExecutionProvider", "CPUExecutionProvider"],
        },
    ),
]


def bytes_of(feature):
    return json.dumps(feature.fingerprint(), sort_keys=True, default=str)


@pytest.mark.parametrize(
    ("feature", "changes"), CHANGES, ids=lambda value: type(value).__name__
)
def test_every_parameter_changes_the_fingerprint(feature, changes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network("a.onnx")
    network("b.onnx", shape=("n", 3, 8, 7))
    assert set(changes) == set(feature.get_params(deep=False)), "a parameter is not tried"
    for name, value in changes.items():
        if name == "function":
            continue  # a function is known by its name alone
        changed = clone(feature).set_params(**{name: value})
        assert bytes_of(changed) != bytes_of(feature), name
    assert bytes_of(clone(feature)) == bytes_of(feature)


def test_features_inside_others_change_the_fingerprint():
    def about(feature):
        return json.dumps(Cached(feature, "x").fingerprint())

    nested = [
        HOG(),
        LBP(),
        make_pipeline(HOG()),
        make_pipeline(Equalised(), HOG()),
        make_pipeline(Equalised(), HOG(cell=4)),
    ]
    assert len({about(feature) for feature in nested}) == len(nested)
    assert about(Cached(HOG(), "y")) == about(HOG())


@pytest.mark.parametrize("library", ["setwise", "numpy", "scikit-image", "pillow"])
def test_every_version_changes_the_key(library, tmp_path, sets, monkeypatch):
    cached = Cached(LBP(), tmp_path).fit(sets)
    cached.transform(sets)
    monkeypatch.setattr(
        "setwise.features.images.version", lambda name: "0.1" if name == library else "0"
    )
    first = Cached(LBP(), tmp_path).fit(sets)
    first.transform(sets)
    monkeypatch.setattr("setwise.features.images.version", lambda name: "0")
    second = Cached(LBP(), tmp_path).fit(sets)
    second.transform(sets)
    assert counts(first) == counts(second) == (0, 8)


def test_what_is_kept_needs_no_library_to_be_found(tmp_path, sets, monkeypatch):
    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("setwise.features.images.version", absent)
    cached = Cached(HOG(), tmp_path).fit(sets)
    cached.transform(sets)
    cached.transform(sets)
    assert counts(cached) == (8, 8)


@pytest.mark.parametrize("damage", ["cut", "empty", "flip", "other"])
def test_damaged_values_are_computed_again_and_replaced(tmp_path, sets, damage):
    expected = Cached(HOG(), tmp_path).transform(sets).vectors
    with sqlite3.connect(tmp_path / "features.sqlite") as table:
        for key, content in table.execute("SELECT key, value FROM features").fetchall():
            damaged = {
                "cut": content[:-20],
                "empty": b"",
                "flip": content[:200] + bytes([content[200] ^ 1]) + content[201:],
                "other": content + b"x",
            }[damage]
            table.execute("UPDATE features SET value = ? WHERE key = ?", (damaged, key))
    cached = Cached(HOG(), tmp_path).fit(sets)
    assert np.array_equal(cached.transform(sets).vectors, expected)
    assert np.array_equal(cached.transform(sets).vectors, expected)
    assert counts(cached) == (8, 8)


@pytest.mark.parametrize("content", [b"no database at all, however long it may be", b"folder"])
def test_a_file_that_is_no_database_is_named(tmp_path, sets, content):
    path = tmp_path / "features.sqlite"
    path.mkdir() if content == b"folder" else path.write_bytes(content)
    with pytest.raises(DataError, match=r"features\.sqlite cannot be used .* delete the file"):
        Cached(HOG(), tmp_path).transform(sets)


def test_a_file_that_is_read_only_serves_what_it_has(tmp_path, sets, monkeypatch):
    Cached(HOG(), tmp_path).transform(sets[:2])
    connect = sqlite3.connect

    def read_only(path, **options):
        return connect(f"file:{path}?mode=ro", uri=True, **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    cached = Cached(HOG(), tmp_path).fit(sets)
    cached.transform(sets[:2])
    assert counts(cached) == (4, 0)
    with pytest.raises(DataError, match=r"cannot be used .*readonly database"):
        cached.transform(sets)


def test_refuses_a_folder_that_is_a_file(tmp_path, sets):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match=r"features\.sqlite cannot be used"):
        Cached(HOG(), tmp_path / "file").transform(sets)


class Tagged(Pixels):
    def __init__(self, tag=None):
        super().__init__()
        self.tag = tag


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (PCA(2), "not an image feature"),
        (PerVector(PCA(2)), "not an image feature"),
        (Whitener(), r"Whitener\(\) is not an image feature"),
        (make_pipeline(HOG(), PerVector(PCA(2))), "not an image feature"),
        (None, "not an image feature"),
        (Embedding(means), "means has no name"),
        (make_pipeline(Equalised(), Embedding(means)), "means has no name"),
        (Tagged({1, 2}), "neither text nor number"),
        (Tagged(Path("x")), "neither text nor number"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "transform"])
def test_refuses_what_is_not_known_by_its_parameters(tmp_path, sets, feature, message, method):
    with pytest.raises(ParameterError, match=message):
        getattr(Cached(feature, tmp_path), method)(sets)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("folder", [None, 3, ""])
def test_refuses_what_is_no_folder(sets, folder):
    with pytest.raises(ParameterError, match="folder must be the path"):
        Cached(HOG(), folder).fit(sets)


def test_values_that_are_not_finite_are_not_kept(tmp_path):
    class Endless(Pixels):
        def compute(self, images):
            return np.full((len(images), 2), np.inf)

        def _check(self, values, X):
            """Let them through, as a faulty feature would."""

    with pytest.raises(DataError, match="Cached of image 0 is not finite"):
        Cached(Endless(), tmp_path).transform(np.ones((2, 4, 4)))
    assert list(tmp_path.iterdir()) == []


PROCESS = """
import sys
import numpy as np
from setwise.features.cache import Cached
from setwise.features.images import Pixels

for i in range(10):
    images = np.full((20, 8, 8), i + 1.0)
    images[:, 0, 0] = range(20)
    made = Cached(Pixels(), sys.argv[1]).transform(images)
    assert np.array_equal(made, images.reshape(20, 64)), i
"""


def test_processes_share_a_folder(tmp_path):
    command = [sys.executable, "-c", PROCESS, str(tmp_path)]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    for process in processes:
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["features.sqlite"]


def test_in_a_pipeline_with_a_classifier(tmp_path, seed):
    rng = np.random.default_rng(seed)
    wave = 100 + 50 * np.sin(np.arange(16))
    sets = SetBatch.from_images(
        [
            np.broadcast_to(wave[:, None] if i % 2 else wave, (6, 16, 16))
            + rng.uniform(0, 5, (6, 16, 16))
            for i in range(6)
        ]
    )
    labels = np.arange(6) % 2
    model = make_pipeline(Cached(HOG(cell=4), tmp_path), CVC(dims=(1, 2)))
    assert (model.fit(sets, labels).predict(sets) == labels).all()
    assert counts(model[0]) == (36, 36)


@pytest.fixture
def counted(monkeypatch):
    """What was computed, by a fresh memory without a file."""
    monkeypatch.setattr(cache, "_SHARED", MemoryCache(10**6))
    seen = []

    def embed(images, made_by="a network"):
        def compute(places):
            seen.extend(places)
            return images[places].reshape(len(places), -1).astype(np.float32) + 0.5

        return through_cache(images, made_by, compute)

    return embed, seen


def test_each_image_is_computed_once(counted):
    embed, seen = counted
    images = np.random.default_rng(0).integers(0, 255, (6, 4, 4), dtype=np.uint8)
    images[3] = images[1]
    expected = images.reshape(6, -1).astype(np.float32) + 0.5
    np.testing.assert_array_equal(embed(images), expected)
    assert seen == [0, 1, 2, 4, 5]
    np.testing.assert_array_equal(embed(images[::-1]), expected[::-1])
    assert len(seen) == 5
    embed(images[:2], "another network")
    embed(images[:2].astype(float))  # the same numbers of another type
    assert len(seen) == 9


def test_what_is_used_last_is_forgotten_last():
    small = MemoryCache(3 * 40)
    vectors = {bytes([i]): np.full(10, i, dtype=np.float32) for i in range(4)}
    small.keep({key: vectors[key] for key in list(vectors)[:3]})
    small.find([b"\x00"])
    small.keep({b"\x03": vectors[b"\x03"]})
    assert sorted(small.find(list(vectors))) == [b"\x00", b"\x02", b"\x03"]


def test_a_file_is_found_by_the_next_process(counted, tmp_path):
    embed, _ = counted
    cache._SHARED.file = FeatureFile(tmp_path / "new" / "vectors.sqlite")
    images = np.random.default_rng(0).integers(0, 255, (700, 2, 2), dtype=np.uint8)
    first = embed(images)
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from setwise.features import cache\n"
        "cache.keep_in_file(Path(sys.argv[1]))\n"
        "images = np.random.default_rng(0).integers(0, 255, (700, 2, 2), dtype=np.uint8)\n"
        "def never(places): raise SystemExit('computed')\n"
        "print(cache.through_cache(images, 'a network', never).sum())"
    )
    path = tmp_path / "new" / "vectors.sqlite"
    found = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert found.stdout.strip() == str(first.sum()), found.stderr


@pytest.mark.parametrize("content", [b"no database", b""])
def test_a_broken_file_is_reported_once_and_left(counted, tmp_path, caplog, content):
    embed, seen = counted
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(content)
    if not content:
        path.chmod(0o400)
        with sqlite3.connect(path):
            pass
        path.unlink()
        path.mkdir()
    cache._SHARED.file = FeatureFile(path)
    images = np.ones((3, 2, 2), dtype=np.uint8) * np.arange(3, dtype=np.uint8)[:, None, None]
    embed(images)
    embed(images[:1])
    assert len(seen) == 3
    assert caplog.text.count("cannot be used") == 1
