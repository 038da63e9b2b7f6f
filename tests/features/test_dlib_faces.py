"""dlib's faces: by the real models, which tests skip where they are absent."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.features.test_faces_feature import made_images

from setwise.errors import DataError, MissingExtraError
from setwise.features import HOG, Faces, dlib_faces
from setwise.features import weights as weights_file
from setwise.features.face_networks import DLIB, SFACE, face_network, network_of

needs_models = pytest.mark.skipif(
    not dlib_faces.has_dlib(), reason='needs pip install "setwise[dlib]"'
)

# Made by dlib 20.0.1 of the images above, and of the photograph.
REFERENCE = np.array(
    [
        [-0.0922, -0.2431, 0.0643, -0.0158, 0.0892, -0.0649],
        [-0.0516, -0.2366, -0.0073, 0.0803, 0.1082, -0.0741],
        [-0.1041, -0.2433, -0.0212, 0.0706, -0.0449, -0.1248],
        [-0.0642, -0.2732, 0.0191, -0.0174, -0.0596, -0.0473],
    ]
)


@needs_models
def test_numbers_of_three_made_images_and_of_a_real_face():
    astronaut = pytest.importorskip("skimage.data").astronaut()
    made = Faces("dlib").transform(made_images())
    real = Faces("dlib").transform(astronaut[None])
    vectors = np.concatenate([made, real])
    assert vectors.shape == (4, 128)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors[:, ::25], REFERENCE, atol=0.05)


# -------------------------------------------------------- models that are missing or damaged


def place_models(monkeypatch, folder):
    """Make the package of models be found in another folder."""
    package = SimpleNamespace(submodule_search_locations=[str(folder)])
    monkeypatch.setattr(weights_file, "find_spec", lambda name: package)
    return folder / "models" / dlib_faces.NETWORK


def test_a_damaged_model_is_named(monkeypatch, tmp_path):
    path = place_models(monkeypatch, tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"half a network")
    with pytest.raises(DataError, match="is damaged, or another version") as refused:
        dlib_faces.model_path(dlib_faces.NETWORK)
    assert str(path) in str(refused.value)
    assert dlib_faces.SHA256[dlib_faces.NETWORK] in str(refused.value)


def test_a_model_that_is_not_there_is_named(monkeypatch, tmp_path):
    path = place_models(monkeypatch, tmp_path)
    with pytest.raises(DataError, match="cannot be read") as refused:
        dlib_faces.model_path(dlib_faces.NETWORK)
    assert str(path) in str(refused.value)


def test_the_extra_is_named_where_the_models_are_missing(monkeypatch):
    for module in (dlib_faces, weights_file):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert not dlib_faces.has_dlib()
    with pytest.raises(MissingExtraError, match=r"pip install \"setwise\[dlib\]\""):
        dlib_faces.model_path(dlib_faces.LANDMARKS)


def test_the_extra_is_named_where_dlib_is_missing(monkeypatch):
    monkeypatch.setitem(dlib_faces.__dict__, "_OF_THREAD", SimpleNamespace())
    monkeypatch.setitem(__import__("sys").modules, "dlib", None)
    with pytest.raises(MissingExtraError, match=r"dlib is needed .*setwise\[dlib\]"):
        Faces("dlib").transform(made_images())


def test_other_features_do_without_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "dlib", None)
    pytest.importorskip("skimage")
    assert HOG(size=32).transform(made_images()).shape == (3, 324)


@needs_models
def test_vectors_say_by_which_network_they_are():
    images = made_images()
    assert network_of(Faces("dlib").transform(images)) is DLIB
    assert network_of(Faces("sface").transform(images)) is SFACE
    with pytest.raises(DataError, match="are not of faces"):
        network_of(np.ones((2, 64)))


def test_dlib_stands_in_where_nothing_else_is(monkeypatch):
    monkeypatch.setattr("setwise.features.sface.has_sface", lambda: False)
    monkeypatch.setattr("setwise.features.dlib_faces.has_dlib", lambda: True)
    assert face_network() is DLIB
    with pytest.raises(MissingExtraError, match=r"setwise\[faces\]"):
        face_network("sface")
    monkeypatch.setattr("setwise.features.dlib_faces.has_dlib", lambda: False)
    with pytest.raises(MissingExtraError, match=r"setwise\[faces\]"):
        face_network()
