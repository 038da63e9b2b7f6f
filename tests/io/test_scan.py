from __future__ import annotations

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.made_images import files

from setwise.errors import DataError, ParameterError
from setwise.io import scan as module
from setwise.io.scan import check_exclude, natural_key, scan


def names(found):
    return ["/".join(image.parts) for image in found.images]


def test_natural_order_of_folders_and_files(tmp_path):
    paths = ["b/s1/i1.png", "a/s10/i1.png", "a/s2/i10.png", "a/s2/i2.png", "a/s2/i02.png"]
    found = scan(files(tmp_path, *paths), 100)
    assert names(found) == ["a/s2/i02.png", "a/s2/i2.png", "a/s2/i10.png", "a/s10/i1.png",
                            "b/s1/i1.png"]  # fmt: skip


def test_order_does_not_depend_on_the_file_system(tmp_path, monkeypatch):
    files(tmp_path, *(f"s{i}/x{j}.png" for i in range(5) for j in range(12)))
    expected = names(scan(tmp_path, 1000))
    listed = os.scandir

    class Shuffled:
        def __init__(self, folder):
            with listed(folder) as entries:
                self.entries = random.Random(3).sample(found := list(entries), len(found))

        def __enter__(self):
            return iter(self.entries)

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(os, "scandir", Shuffled)
    assert names(scan(tmp_path, 1000)) == expected


@given(st.lists(st.text(alphabet="ab019.", max_size=8), unique=True))
def test_natural_order_is_total(given_names):
    backwards = given_names[::-1]
    assert sorted(given_names, key=natural_key) == sorted(backwards, key=natural_key)


@given(st.integers(0, 10**30), st.integers(0, 10**30))
def test_numbers_count_as_numbers(a, b):
    assert (natural_key(f"x{a}.png") < natural_key(f"x{b}.png")) == (a < b)


def test_what_is_no_image_is_counted(tmp_path):
    files(tmp_path, "s/a.JPG", "s/b.Tiff", "s/.DS_Store", "s/notes.txt", "s/README")
    files(tmp_path, "Thumbs.db", ".git/x.png", "empty/notes.txt")
    found = scan(tmp_path, 100)
    assert names(found) == ["s/a.JPG", "s/b.Tiff"]
    notes = found.notes()
    assert notes == [
        "ignored, hidden: 2, such as .git",
        "ignored, no images: 4 (2 .txt such as empty/notes.txt, 1 .db such as Thumbs.db, "
        "1 without extension such as s/README)",
        "folders without images: 1, such as empty",
    ]


def test_odd_extensions_do_not_break_a_line(tmp_path):
    found = scan(files(tmp_path, "a.png", "b.\n", "Icon\r"), 100)
    (note,) = found.notes()
    assert note == r"ignored, no images: 2 (2 without extension such as 'Icon\r')"


def test_only_some_of_very_many_kinds_are_named(tmp_path):
    found = scan(files(tmp_path, *(f"x.{i:03d}" for i in range(50))), 100)
    (note,) = found.notes()
    assert note.startswith("ignored, no images: 50 (1 .000 such as x.000, ")
    assert note.endswith("1 .019 such as x.019, further kinds)")


def test_no_folder(tmp_path):
    with pytest.raises(DataError, match="nowhere does not exist"):
        scan(tmp_path / "nowhere", 100)
    with pytest.raises(DataError, match=r"a\.png is a file. Expected a folder"):
        scan(files(tmp_path, "a.png") / "a.png", 100)


def test_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    def denied(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(DataError, match="cannot be listed: Permission denied"):
        scan(tmp_path, 100)


def test_more_entries_than_allowed(tmp_path):
    files(tmp_path, *(f"s/{i}.txt" for i in range(9)))
    assert scan(tmp_path, 10).n_entries == 10
    with pytest.raises(DataError, match="more than max_files=9 files and folders"):
        scan(tmp_path, 9)


def test_looking_stops_at_the_limit(tmp_path, monkeypatch):
    files(tmp_path, *(f"{i}.png" for i in range(50)))
    listed, seen = module._entries, []

    def counted(folder):
        for entry in listed(folder):
            seen.append(entry.name)
            yield entry

    monkeypatch.setattr(module, "_entries", counted)
    with pytest.raises(DataError, match="max_files=5"):
        scan(tmp_path, 5)
    assert len(seen) == 5 + 1


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2J", "a\x7f", "a\u2028b", "a\udcff"])
@pytest.mark.parametrize("kind", ["folder/x.png", "file.png"])
def test_names_that_cannot_be_shown_are_refused(tmp_path, name, kind):
    path = kind.replace("folder", name).replace("file", name)
    files(tmp_path, path)
    with pytest.raises(DataError, match="valid Unicode") as raised:
        scan(tmp_path, 100)
    assert repr(name)[1:-1] in str(raised.value)
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    "name", ["Zoë", "猫", "👩‍👩‍👧", "-rf", "a..b", "a b", "x<script>", "a\u00a0b"]
)
def test_any_other_name_is_welcome(tmp_path, name):
    files(tmp_path, f"{name}/{name}.png")
    assert names(scan(tmp_path, 100)) == [f"{name}/{name}.png"]


def test_links_inside_the_root_are_followed(tmp_path):
    files(tmp_path, "s/a.png")
    (tmp_path / "t").symlink_to(tmp_path / "s")
    (tmp_path / "s/b.png").symlink_to("a.png")
    found = scan(tmp_path, 100)
    assert names(found) == ["s/a.png", "s/b.png", "t/a.png", "t/b.png"]
    assert all(image.problem is None for image in found.images)


def test_the_root_itself_may_be_a_link(tmp_path):
    files(tmp_path, "real/s/a.png")
    (tmp_path / "root").symlink_to("real")
    (tmp_path / "real/s/b.png").symlink_to(tmp_path / "real/s/a.png")
    found = scan(tmp_path / "root", 100)
    assert [image.problem for image in found.images] == [None, None]
    assert found.images[0].path == tmp_path / "root/s/a.png"


def test_a_link_to_a_file_outside_is_a_problem_of_that_file(tmp_path):
    files(tmp_path, "root/s/a.png", "secret.png")
    (tmp_path / "root/s/b.png").symlink_to(tmp_path / "secret.png")
    first, second = scan(tmp_path / "root", 100).images
    assert first.problem is None
    assert "is a link out of" in second.problem


def test_a_neighbour_whose_name_begins_like_the_root_is_outside(tmp_path):
    files(tmp_path, "root/a.png", "root2/b.png")
    (tmp_path / "root/b.png").symlink_to(tmp_path / "root2/b.png")
    assert "is a link out of" in scan(tmp_path / "root", 100).images[1].problem


def test_a_link_to_a_folder_outside_is_refused(tmp_path):
    files(tmp_path, "root/s/a.png", "other/b.png")
    (tmp_path / "root/t").symlink_to(tmp_path / "other")
    with pytest.raises(DataError, match="t is a link out of"):
        scan(tmp_path / "root", 100)


@pytest.mark.parametrize("target", [".", "..", "../t"])
def test_loops_of_folders_are_refused(tmp_path, target):
    files(tmp_path, "s/a.png", "t/b.png")
    (tmp_path / "s/loop").symlink_to(target)
    (tmp_path / "t/loop").symlink_to("../s")
    with pytest.raises(DataError, match="loop is a link to a folder above it"):
        scan(tmp_path, 100)


def test_links_that_lead_nowhere_are_a_problem(tmp_path):
    files(tmp_path, "s/a.png")
    (tmp_path / "s/gone.png").symlink_to("nowhere.png")
    (tmp_path / "s/self.png").symlink_to("self.png")
    problems = [image.problem for image in scan(tmp_path, 100).images]
    assert problems[0] is None
    assert all("is a link that leads nowhere" in problem for problem in problems[1:])


def test_a_folder_comes_before_the_folders_in_it(tmp_path):
    found = scan(files(tmp_path, "s/a.png", "s/m/b.png", "s/z.png"), 100)
    assert names(found) == ["s/a.png", "s/z.png", "s/m/b.png"]


@pytest.mark.parametrize(
    ("exclude", "left"),
    [
        (["thumbs"], ["a/raw/3.png", "a/1.png", "b/2.tmp.png"]),
        (["*.TMP.*"], ["a/1.png", "a/Thumbs/x.png", "a/raw/3.png"]),
        (["a/raw/*"], ["a/1.png", "a/Thumbs/x.png", "b/2.tmp.png"]),
        (["raw/*"], ["a/1.png", "a/Thumbs/x.png", "a/raw/3.png", "b/2.tmp.png"]),
        (["A/"], ["b/2.tmp.png"]),
        (["?.png", "b"], []),
    ],
)
def test_excluded_by_name_or_path(tmp_path, exclude, left):
    files(tmp_path, "a/1.png", "a/Thumbs/x.png", "a/raw/3.png", "b/2.tmp.png")
    assert sorted(names(scan(tmp_path, 100, exclude=exclude))) == sorted(left)


def test_what_is_excluded_is_counted(tmp_path):
    files(tmp_path, "a/1.png", "a/raw/1.png", "a/raw/2.png", "b/raw/1.png", "c.tmp")
    found = scan(tmp_path, 100, exclude=["raw", "*.tmp", "nothing"])
    assert found.notes() == [
        "excluded by 'raw': 2, such as a/raw/",
        "excluded by '*.tmp': 1, such as c.tmp",
        "excluded by 'nothing': nothing",
        "folders without images: 1, such as b",
    ]


def test_an_excluded_link_or_name_harms_nobody(tmp_path):
    files(tmp_path, "root/s/a.png", "other/b.png", "root/a\nb.tmp.png")
    (tmp_path / "root/t").symlink_to(tmp_path / "other")
    assert names(scan(tmp_path / "root", 100, exclude=["t", "*.tmp.png"])) == ["s/a.png"]


@pytest.mark.parametrize("wrong", [None, 7, [""], ["/"], [7], {"a": 1}, {"a"}])
def test_patterns_are_text(wrong):
    with pytest.raises(ParameterError, match=r"load_images: exclude must be patterns .*, got "):
        check_exclude("load_images", wrong)
    assert check_exclude("load_images", "raw") == ("raw",)


def test_links_outside_are_followed_on_request(tmp_path):
    files(tmp_path, "root/s/a.png", "other/b.png", "c.png")
    (tmp_path / "root/t").symlink_to(tmp_path / "other")
    (tmp_path / "root/s/c.png").symlink_to(tmp_path / "c.png")
    found = scan(tmp_path / "root", 100, follow_links=True)
    assert names(found) == ["s/a.png", "s/c.png", "t/b.png"]
    assert [image.problem for image in found.images] == [None, None, None]


@pytest.mark.parametrize("target", ["..", "../root", "."])
def test_loops_are_refused_also_where_links_are_followed(tmp_path, target):
    files(tmp_path, "root/a.png")
    (tmp_path / "root/loop").symlink_to(target)
    with pytest.raises(DataError, match="is a link to a folder above it"):
        scan(tmp_path / "root", 1000, follow_links=True)
