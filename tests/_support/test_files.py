"""Files are written whole; links, devices and rights stay as they are."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from setwise._support.files import write_atomically, write_whole
from setwise.errors import DataError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, pipes and rights of POSIX")


def test_the_file_behind_a_link_is_replaced(tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to("target.csv")
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "target.csv"]


def test_a_link_to_nothing_makes_the_file(tmp_path):
    link = tmp_path / "link.csv"
    link.symlink_to("target.csv")
    write_whole(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "target.csv").read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "new")
    reader.join(10)
    assert found == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_device_stays_a_device(tmp_path):
    link = tmp_path / "full"
    link.symlink_to("/dev/full")
    with pytest.raises(DataError, match=r"full: cannot be written: No space left"):
        write_whole(link, "new")
    assert stat.S_ISCHR(link.stat().st_mode)


def test_rights_are_those_of_the_old_file_or_of_a_new_one(tmp_path, monkeypatch):
    def refuse(_):
        raise AssertionError("the umask belongs to all threads")

    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    old.chmod(0o640)
    mask = os.umask(0o027)
    monkeypatch.setattr(os, "umask", refuse)
    try:
        for file in (old, new):
            write_whole(file, "text")
    finally:
        monkeypatch.undo()
        os.umask(mask)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (old, new)] == [0o640, 0o640]


def test_an_error_leaves_the_file_and_nothing_beside_it(tmp_path):
    file = tmp_path / "a"
    file.write_text("old")

    def interrupted():
        with write_atomically(file) as unfinished:
            unfinished.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
