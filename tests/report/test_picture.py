"""One picture per set."""

import io
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from tests.conftest import toy_sets
from tests.report.made_albums import HOSTILE, STRANGE

from setwise import CVC, SetBatch
from setwise.errors import DataError
from setwise.plots.sheet import Sheet
from setwise.report import draw_answer, draw_answers


@pytest.fixture
def drawn(monkeypatch):
    """What was written and which images were framed, in order."""
    said, frames = [], []
    write, image = Sheet.write, Sheet.image

    def written(self, x, y, text, **style):
        said.append(text)
        return write(self, x, y, text, **style)

    def framed(self, x, y, side, picture, frame=""):
        frames.append((picture is not None, bool(frame)))
        image(self, x, y, side, picture, frame)

    monkeypatch.setattr(Sheet, "write", written)
    monkeypatch.setattr(Sheet, "image", framed)
    return said, frames


def test_it_names_the_set_the_answer_and_what_is_out_of_place(albums, tmp_path, drawn):
    said, frames = drawn
    answer = albums.answers[2]
    file = draw_answer(tmp_path / "a.png", albums.gallery, albums.probes, 2, answer)
    assert said[1] == albums.probes.names[2]
    assert said[2] == f"Probably {answer.label}, but unsure: 0.60; next comes flat, with 0.30."
    assert "2 out of place: IMG_2.jpg, IMG_5.jpg" in said
    assert f"Most alike of {answer.runner_up}" in said
    assert [j for j, (_, is_framed) in enumerate(frames) if is_framed] == list(STRANGE)
    assert len(frames) == 8 + 2 * 4 * 2  # its photos, and two times four pairs
    assert all(has_image for has_image, _ in frames)
    for word in ("NCut", "SNR", "column", "cluster", "member"):
        assert not any(word in text for text in said), word
    with Image.open(file) as picture:
        assert picture.width == 1320
        assert 500 < picture.height < 900


def test_photos_are_the_thumbnails_in_colour(albums, tmp_path):
    file = draw_answer(tmp_path / "a.png", albums.gallery, albums.probes, 1, albums.answers[1])
    with Image.open(file) as picture:
        first = picture.convert("RGB").getpixel((100, 180))  # in the first photo
    red = Image.open(io.BytesIO(albums.probes.of_set(1).thumbnails[0])).getpixel((4, 3))
    np.testing.assert_allclose(first, red, atol=6)


def test_unknown_is_said(albums, tmp_path, drawn):
    draw_answer(tmp_path / "a.png", albums.gallery, albums.probes, 1, albums.answers[1])
    assert drawn[0][2].startswith("Unknown: nothing in the gallery is near enough.")


def test_without_photos_there_are_bars(tmp_path, drawn):
    sets, labels = toy_sets(0)
    classifier = CVC(dims=(1, 2), weights=None, random_state=0).fit(sets[1:], labels[1:])
    probes = SetBatch.from_list(sets[:1], ["one"])
    (file,) = draw_answers(
        tmp_path, classifier.gallery_, probes, list(classifier.judge(probes))
    )
    said, frames = drawn
    assert file.name == "one.png"
    assert frames == []
    assert {"0", "1", "2"} <= set(said)  # the classes
    assert f"{len(sets[0])} vectors" in said


def test_a_gallery_without_vectors_says_so(albums, tmp_path, drawn):
    gallery = replace(albums.gallery)
    object.__setattr__(gallery, "has_vectors", False)
    draw_answer(tmp_path / "a.png", gallery, albums.probes, 1, albums.answers[1])
    said, frames = drawn
    assert any(text.startswith("The gallery was saved without its photos") for text in said)
    assert len(frames) == 8


def test_every_set_has_a_file_in_the_folder(albums, tmp_path):
    probes, steps = albums.probes[[0, 1]].replaced(names=["../../x", "a/b"]), []

    def progress(*step):
        steps.append(step)

    folder = tmp_path / "pictures"
    paths = draw_answers(folder, albums.gallery, probes, albums.answers[:2], progress=progress)
    assert sorted(folder.iterdir()) == sorted(paths)
    assert [path.name for path in paths] == ["_.._x.png", "a_b.png"]
    assert steps == [("draw", 0, 2), ("draw", 1, 2), ("draw", 2, 2)]


def test_hostile_names_are_drawn_as_they_are(albums, tmp_path):
    probes = albums.probes[[0]].replaced(names=[HOSTILE[2]])
    draw_answer(tmp_path / "a.png", albums.gallery, probes, 0, albums.answers[0])


def test_a_damaged_thumbnail_is_replaced_by_the_pixels(albums, tmp_path, drawn):
    origins = albums.probes.origins
    broken = replace(origins, thumbnails=(b"\xff\xd8\xff broken",) * len(origins))
    probes = albums.probes.replaced(origins=broken)
    draw_answer(tmp_path / "a.png", albums.gallery, probes, 0, albums.answers[0])
    assert all(has_image for has_image, _ in drawn[1])


def test_what_cannot_be_written_or_does_not_fit_is_refused(albums, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        draw_answers(tmp_path / "file", albums.gallery, albums.probes, albums.answers)
    with pytest.raises(DataError, match="1 answers for 6 sets"):
        draw_answers(tmp_path, albums.gallery, albums.probes, albums.answers[:1])
