"""One call for whatever is there, and folders written that it reads."""

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat
from tests.io.made_images import photo
from tests.io.made_videos import numbered_frames, write_video
from tests.striped_sets import striped_sets

from setwise import (
    SetBatch,
    face_tracks,
    load_arrays,
    load_images,
    load_mat,
    load_sets,
    load_video,
    load_videos,
)
from setwise.errors import DataError, ParameterError, SkippedFilesWarning
from setwise.io import save_images


@pytest.fixture
def sets():
    return striped_sets(2)


def test_what_is_saved_is_read_again(sets, tmp_path):
    again = load_sets(save_images(sets, tmp_path / "album"), size=None)
    order = np.argsort(sets.labels, kind="stable")
    assert again.names == tuple(f"{sets.labels[i]}/{sets.names[i]}" for i in order)
    assert again.labels.tolist() == sets.labels[order].tolist()
    np.testing.assert_array_equal(again.images, sets[order].images)


def test_sets_without_labels_and_in_colour(tmp_path):
    rng = np.random.default_rng(0)
    sets = SetBatch.from_images([rng.integers(0, 256, (2, 5, 4, 3), dtype=np.uint8)], ["one"])
    again = load_sets(save_images(sets, tmp_path / "new" / "album"), size=None, colour=True)
    assert again.names == ("one",)
    np.testing.assert_array_equal(again.images, sets.images)


def test_names_that_are_no_folder_names(sets, tmp_path):
    odd = SetBatch(sets.vectors[:8], np.array([0, 4, 8]), ["../a", "b\n/c"], None, (16, 24))
    folder = save_images(odd, tmp_path / "album")
    assert sorted(path.name for path in folder.iterdir()) == ["_a", "b__c"]
    assert {path.parent.parent for path in tmp_path.glob("**/*.png")} == {folder}


@pytest.mark.parametrize("case", ["there already", "uint8", "vectors", "different names"])
def test_what_cannot_be_saved(sets, tmp_path, case):
    folder = tmp_path / "album"
    if case == "there already":
        folder.mkdir()
    elif case == "uint8":
        sets = SetBatch.from_images([np.ones((2, 3, 3))])
    elif case == "vectors":
        sets = SetBatch.from_rows(np.eye(3))
    else:
        sets = SetBatch(sets.vectors[:2], np.arange(3), ["a?", "a!"], None, (16, 24))
    with pytest.raises(DataError, match=case):
        save_images(sets, folder)
    assert not any(tmp_path.glob("**/*.png"))
    assert [path for path in tmp_path.iterdir() if path != folder] == []


def test_nothing_is_left_of_a_save_that_breaks_off(sets, tmp_path, monkeypatch):
    def interrupted(self, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(Image.Image, "save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_images(sets, tmp_path / "album")
    assert list(tmp_path.iterdir()) == []


def test_a_video_and_a_folder_of_them(tmp_path):
    clip = write_video(tmp_path / "class" / "clip.mp4", numbered_frames(5))
    assert load_sets(clip, size=16).sizes.tolist() == [5]
    found = load_sets(tmp_path, size=16, n_jobs=2)
    assert found.labels.tolist() == ["class"]
    assert found.image_shape == (16, 16)


def test_a_stray_gif_does_not_make_a_folder_of_photos_one_of_clips(sets, tmp_path):
    folder = save_images(sets, tmp_path / "album")
    (folder / "party.gif").write_bytes(b"GIF89a")
    with pytest.warns(SkippedFilesWarning, match=r"1 of the .*party\.gif, which is a video"):
        assert load_sets(folder).report.layout == "class/set"


def test_a_clip_among_photos_is_left_out_and_named(sets, tmp_path):
    """As in the album of a phone: every photo is read, and the clip is not forgotten."""
    folder = save_images(sets, tmp_path / "album")
    photos = load_sets(folder)
    clip = write_video(folder / "class 0" / "IMG_7.mov", numbered_frames(5))
    with pytest.warns(SkippedFilesWarning, match=r"IMG_7\.mov, which is a video among images"):
        both = load_sets(folder)
    np.testing.assert_array_equal(both.vectors, photos.vectors)
    assert both.names == photos.names
    assert [left.path for left in both.report.skipped] == [clip]
    assert "IMG_7.mov" in str(both.report)


def test_a_photo_among_clips_is_left_out_and_named(sets, tmp_path):
    for i in range(2):
        write_video(tmp_path / "class" / f"{i}.mp4", numbered_frames(3))
    photo = tmp_path / "class" / "cover.png"
    Image.fromarray(sets.images[0]).save(photo)
    with pytest.warns(SkippedFilesWarning, match=r"cover\.png, which is an image among videos"):
        clips = load_sets(tmp_path, size=16)
    assert clips.names == ("class/0", "class/1")
    assert [left.path for left in clips.report.skipped] == [photo]


def test_live_photos_are_photos(sets, tmp_path):
    """As many clips as photos, each the same moment."""
    Image.fromarray(sets.images[0]).save(tmp_path / "IMG_1.png")
    write_video(tmp_path / "IMG_1.mov", numbered_frames(3))
    with pytest.warns(SkippedFilesWarning, match="IMG_1.mov"):
        assert load_sets(tmp_path).sizes.tolist() == [1]


def test_layouts_have_one_vocabulary(sets, tmp_path):
    """The words for folders of photos hold for folders of clips."""
    photos = save_images(sets, tmp_path / "photos")
    for label in "ab":
        write_video(tmp_path / "clips" / label / "1.mp4", numbered_frames(3))
    for root in (photos, tmp_path / "clips"):
        loaded = load_sets(root, layout="class/set")
        assert loaded.report.layout == "class/set"
        assert loaded.labels is not None
    assert load_sets(tmp_path / "clips" / "a", layout="set").labels is None
    with pytest.raises(ParameterError, match="load_sets: layout must be one of"):
        load_sets(photos, layout="class/clip")


@pytest.mark.parametrize(
    "load",
    [load_sets, load_images, load_video, load_videos, load_mat, load_arrays, face_tracks],
)
@pytest.mark.parametrize(
    "path", ["a/" * 3000, "a" * 300, "a\0b"], ids=["path too long", "name too long", "null"]
)
def test_a_path_that_no_system_knows(load, path):
    with pytest.raises(DataError, match=rf"{load.__name__}: .* has {len(path)} characters, 'a"):
        load(path)


@pytest.mark.parametrize("load", [load_sets, load_video, load_videos, face_tracks])
@pytest.mark.parametrize("progress", [3, "yes", np.array([1, 2])])
def test_progress_is_a_callable(load, progress):
    with pytest.raises(ParameterError, match="progress must be a callable"):
        load("nowhere", progress=progress)


@pytest.mark.parametrize("load", [load_video, load_videos, face_tracks])
@pytest.mark.parametrize("name", ["max_bad", "start_s", "stop_s"])
def test_an_array_is_no_number(load, name):
    with pytest.raises(ParameterError, match=f"{name} must be a number"):
        load("nowhere", **{name: np.array([1, 2])})


def test_a_matlab_file(tmp_path):
    cells = np.empty(2, dtype=object)
    cells[:] = [np.eye(4)[:, :3], np.eye(4)]
    savemat(tmp_path / "sets.mat", {"faces": cells, "other": np.eye(2)})
    assert load_sets(tmp_path / "sets.mat").sizes.tolist() == [3, 4]
    with pytest.raises(DataError, match="'people'"):
        load_sets(tmp_path / "sets.mat", variable="people")


def test_an_archive(tmp_path):
    np.save(tmp_path / "sets.npy", np.ones((2, 3, 4)))
    assert load_sets(tmp_path / "sets.npy").sizes.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("name", "words"), [("nothing", "no such file"), ("a.doc", r"ending in '\.doc'")]
)
def test_what_is_no_source(tmp_path, name, words):
    (tmp_path / "a.doc").write_bytes(b"")
    with pytest.raises(DataError, match=words):
        load_sets(tmp_path / name)


def test_a_gallery_of_photos_has_classes(sets, tmp_path):
    folder = save_images(sets.replaced(labels=None), tmp_path / "album")
    assert load_sets(folder).labels is None
    gallery = load_sets(folder, labelled=True)
    assert gallery.report.layout == "class"
    assert gallery.labels.tolist() == list(gallery.names)


def test_what_has_no_classes_is_no_gallery(sets, tmp_path):
    folder = save_images(sets.replaced(labels=None), tmp_path / "album")
    cells = np.empty(2, dtype=object)
    cells[:] = [np.eye(4), np.eye(4)]
    savemat(tmp_path / "sets.mat", {"faces": cells})
    np.save(tmp_path / "sets.npy", np.ones((2, 3, 4)))
    clip = write_video(tmp_path / "clips" / "1.mp4", numbered_frames(3))
    sources = [next(folder.iterdir()), tmp_path / "sets.mat", tmp_path / "sets.npy", clip]
    for source in (*sources, clip.parent):
        with pytest.raises(DataError, match=r"the sets need classes.*gallery/anna/\*\.jpg"):
            load_sets(source, labelled=True)


def test_labels_and_groups_of_a_matrix(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
    groups = np.array([0, 0, 1, 2, 2, 2])
    savemat(tmp_path / "a.mat", {"X": X, "gnd": y, "clip": groups})
    np.savez(tmp_path / "a.npz", X=X, gnd=y, clip=groups)
    for source in ("a.mat", "a.npz"):
        options = {"variable": "X", "labels": "gnd", "labelled": True}
        sets = load_sets(tmp_path / source, groups="clip", **options)
        assert sets.sizes.tolist() == [2, 1, 3]
        assert sets.labels.tolist() == [0, 0, 1]
        assert load_sets(tmp_path / source, **options).sizes.tolist() == [3, 3]


def test_options_are_passed_on(tmp_path):
    photo(tmp_path / "DCIM/1.jpg", "2024:05:01 12:00:00")
    photo(tmp_path / "DCIM/2.jpg", "2024:05:01 12:01:00")
    photo(tmp_path / "raw/3.jpg", "2024:05:01 12:01:00")
    bursts = {"layout": "bursts", "exclude": ["raw"]}
    assert load_sets(tmp_path, **bursts).sizes.tolist() == [1, 1]
    slow = load_sets(tmp_path, **bursts, gap_s=90, thumbnails=False)
    assert slow.sizes.tolist() == [2]
    assert slow.origins.thumbnails == (b"", b"")
    with pytest.raises(DataError, match="max_files=3"):
        load_sets(tmp_path, max_files=3)
    with pytest.raises(DataError, match="max_pixels=100"):
        load_sets(tmp_path, max_pixels=100)
    (tmp_path / "raw/4.jpg").write_bytes(b"junk")
    with pytest.warns(SkippedFilesWarning, match="4.jpg"):
        assert load_sets(tmp_path, on_error="skip", max_bad=0.5).sizes.tolist() == [2, 1]


def test_links_are_followed_on_request_by_load_sets(sets, tmp_path):
    folder = save_images(sets, tmp_path / "album")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/x").symlink_to(next(folder.iterdir()))
    with pytest.raises(DataError, match="is a link out of"):
        load_sets(tmp_path / "root")
    assert load_sets(tmp_path / "root", follow_links=True).report.layout == "class/set"
