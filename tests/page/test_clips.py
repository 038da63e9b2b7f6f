"""Clips, asked of a gallery of faces: faces are cut out, and a clip without any is said so."""

from __future__ import annotations

import numpy as np
import pytest
from tests.features.test_faces_feature import drawn_face
from tests.io.made_videos import write_video
from tests.page.page_server import served, settings_for

from setwise import CVC, SetBatch
from setwise.features.sface import has_sface

pytest.importorskip("av")
data = pytest.importorskip("skimage.data")
pytestmark = pytest.mark.skipif(not has_sface(), reason='needs pip install "setwise[faces]"')
SIDE = 120


def shifted(picture: np.ndarray, n_images: int, left: int) -> np.ndarray:
    """Crops of a face, a few pixels apart."""
    return np.stack([picture[20 + i :, left + i :][:SIDE, :SIDE] for i in range(n_images)])


@pytest.fixture(scope="module")
def gallery_file(tmp_path_factory):
    photo = data.astronaut()
    drawn = np.pad(drawn_face(), ((30, 40), (30, 40), (0, 0)), mode="edge")
    images = [shifted(photo, 4, 160), shifted(photo, 4, 168), shifted(drawn, 4, 20),
              shifted(drawn, 4, 26)]  # fmt: skip
    sets = SetBatch.from_images(images, names=["e1", "e2", "d1", "d2"])
    clf = CVC.for_images("faces", dims=(1,), weights=None, random_state=0)
    path = tmp_path_factory.mktemp("faces") / "people.setwise"
    return clf.fit(sets, ["eileen", "eileen", "drawing", "drawing"]).save(path)


def asked(page, path) -> dict:
    return page.answered([("files", ("holiday.mp4", path.read_bytes(), "video/mp4"))])


def test_the_faces_of_a_clip_are_judged(gallery_file, tmp_path):
    photo = data.astronaut()
    frames = [photo[i : i + 240, 80 + i : 400 + i] for i in range(16)]
    clip = write_video(tmp_path / "clip.mp4", frames)
    with served(settings_for(gallery_file, tmp_path)) as page:
        (answer,) = asked(page, clip)["answers"]
    assert answer["set"]["name"] == "holiday"
    assert answer["most_like"] == "eileen"
    assert answer["set"]["n_images"] >= 5


def test_a_clip_without_faces_is_looked_at_whole_and_says_so(gallery_file, tmp_path):
    down, across = np.mgrid[:96, :128]
    slope = np.stack([down, across, 220 - down], axis=2).astype(np.uint8)
    clip = write_video(tmp_path / "clip.mp4", [slope] * 10)
    with served(settings_for(gallery_file, tmp_path)) as page:
        (answer,) = asked(page, clip)["answers"]
    assert any("no face was found" in note for note in answer["notes"])
