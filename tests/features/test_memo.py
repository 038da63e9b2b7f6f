"""Vectors of images are computed once, and found by nothing but content."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from setwise.features import memo
from setwise.features.memo import Memo, VectorFile, remembered


@pytest.fixture
def counted(monkeypatch):
    """What was computed, by a fresh memory without a file."""
    monkeypatch.setattr(memo, "_MEMO", Memo(10**6))
    seen = []

    def embed(images, made_by="a network"):
        def compute(places):
            seen.extend(places)
            return images[places].reshape(len(places), -1).astype(np.float32) + 0.5

        return remembered(images, made_by, compute)

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
    small = Memo(3 * 40)
    vectors = {bytes([i]): np.full(10, i, dtype=np.float32) for i in range(4)}
    small.keep({key: vectors[key] for key in list(vectors)[:3]})
    small.find([b"\x00"])
    small.keep({b"\x03": vectors[b"\x03"]})
    assert sorted(small.find(list(vectors))) == [b"\x00", b"\x02", b"\x03"]


def test_a_file_is_found_by_the_next_process(counted, tmp_path):
    embed, _ = counted
    memo._MEMO.file = VectorFile(tmp_path / "new" / "vectors.sqlite")
    images = np.random.default_rng(0).integers(0, 255, (700, 2, 2), dtype=np.uint8)
    first = embed(images)
    code = (
        "import sys, numpy as np; from pathlib import Path\n"
        "from setwise.features import memo\n"
        "memo.keep_in_file(Path(sys.argv[1]))\n"
        "images = np.random.default_rng(0).integers(0, 255, (700, 2, 2), dtype=np.uint8)\n"
        "def never(places): raise SystemExit('computed')\n"
        "print(memo.remembered(images, 'a network', never).sum())"
    )
    path = tmp_path / "new" / "vectors.sqlite"
    found = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert found.stdout.strip() == str(first.sum()), found.stderr


@pytest.mark.parametrize("content", [b"no database", b""])
def test_a_broken_file_is_spoken_of_once_and_left(counted, tmp_path, caplog, content):
    embed, seen = counted
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(content)
    if not content:
        path.chmod(0o400)
        with sqlite3.connect(path):
            pass
        path.unlink()
        path.mkdir()
    memo._MEMO.file = VectorFile(path)
    images = np.ones((3, 2, 2), dtype=np.uint8) * np.arange(3, dtype=np.uint8)[:, None, None]
    embed(images)
    embed(images[:1])
    assert len(seen) == 3
    assert caplog.text.count("cannot be used") == 1
