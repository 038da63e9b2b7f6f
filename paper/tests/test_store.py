"""What a store keeps, and what becomes of it when a run is killed or a disk is full."""

import errno
import json
import os
import subprocess
import sys
import warnings
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paper.tests.slow_work import read_records

from setwise.errors import DataError, TornLineWarning
from setwise_paper.store import Record, Store

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers()
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
OPEN = """
import sys
from setwise.errors import DataError
from setwise_paper.store import Store
try:
    Store(sys.argv[1])
except DataError:
    sys.exit(7)
"""


def record(key="a", **changes):
    result = {"answer": [1, 2.5, "ü"]}
    whole = Record(key, {"draw": 1}, result, 0.5, 10.0, backend="threads", n_jobs=2)
    return replace(whole, **changes)


def failure(key="a"):
    return record(key, result=None, error="ValueError: no", traceback=f"failures/{key}.txt")


@pytest.fixture
def three(tmp_path):
    """The file of a store of three results."""
    with Store(tmp_path) as store:
        for key in "abc":
            store.add(record(key))
    return tmp_path / "results.jsonl"


def test_what_was_added_is_there_again(tmp_path):
    with Store(tmp_path / "new" / "one") as store:
        store.add(record("a"))
        assert read_records(store.folder) == {"a": record("a")}, "at once, not when it closes"
        store.add(failure("b"))
        with pytest.raises(ValueError, match="JSON"):
            store.add(record(result={"a": float("nan")}))
    with Store(store.folder) as again:
        assert again.finished == {"a": record("a")}
        assert again.failed == {"b": failure("b")}


@settings(max_examples=15)
@given(content=st.dictionaries(st.text(), JSON))
def test_any_plain_data_survives(content, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    kept = record(result=content, error=str(content)[:20])
    with Store(folder) as store:
        store.add(kept)
    assert read_records(folder) == {"a": kept}
    assert (folder / "results.jsonl").read_bytes().count(b"\n") == 1


def test_the_last_result_of_an_item_counts_and_a_later_failure_does_not(tmp_path):
    with Store(tmp_path) as store:
        store.add(failure())
        assert list(store.failed) == ["a"]
        for one in (record(result={"n": 1}), record(result={"n": 2}), failure()):
            store.add(one)
    with Store(tmp_path) as store:
        assert store.finished["a"].result == {"n": 2}
        assert not store.failed


def test_a_line_torn_anywhere_is_dropped_with_a_warning(three):
    whole = three.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for end in (start + 1, (start + len(whole)) // 2, len(whole) - 1):
        three.write_bytes(whole[:end])
        with pytest.warns(TornLineWarning, match=r"results\.jsonl"):
            store = Store(three.parent)
        with store:
            assert list(store.finished) == ["a", "b"]
            assert three.read_bytes() == whole[:start]
            store.add(record("c"))
        assert three.read_bytes() == whole
    three.write_bytes(whole + b'{"key": "d", "it\n')
    with pytest.warns(TornLineWarning), Store(three.parent) as store:
        assert list(store.finished) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "line",
    [
        *(b"{", b"", b"[1]", b'{"key": "b"}', b'{"key": 1', b'{"new": 2}', b"\xff\xfe"),
        *(b"[" * 100_000, b'{"a":' * 100_000),
        *(json.dumps(asdict(record()) | more).encode()
          for more in ({"extra": 1}, {"seconds": "long"}, {"key": ["a"]}, {"result": None})),
    ],
    ids=range(13),
)  # fmt: skip
def test_a_broken_line_is_an_error_that_says_where(three, line):
    lines = three.read_bytes().split(b"\n")
    three.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    before = three.read_bytes()
    with pytest.raises(DataError, match=r"results\.jsonl, line 2: expected one result"):
        Store(three.parent)
    assert three.read_bytes() == before, "nothing is repaired that cannot be"


def test_two_cannot_add_to_one_store(tmp_path):
    with Store(tmp_path) as store:
        store.add(record())
        for more in ({}, {"fresh": True}):
            with pytest.raises(DataError, match="another run is working on it"):
                Store(tmp_path, **more)
        other = subprocess.run([sys.executable, "-c", OPEN, str(tmp_path)], check=False)
        assert other.returncode == 7
        store.add(record("b"))
    store.close()  # once more is no harm
    with Store(tmp_path) as store:
        assert list(store.finished) == ["a", "b"]
    assert not (tmp_path / "results.1.jsonl").exists()
    with Store(tmp_path, fresh=True) as store:
        assert store.finished == {}
    assert (tmp_path / "results.1.jsonl").exists()


def test_a_full_disk_is_a_clean_error_and_the_store_stays_whole(tmp_path, monkeypatch):
    write = os.write
    with Store(tmp_path) as store:
        store.add(record("a"))
        written = []

        def half(descriptor, content):
            if written:
                raise OSError(errno.ENOSPC, "No space left on device")
            written.append(write(descriptor, content[: len(content) // 2]))
            return written[0]

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(DataError, match=r"^[^\n]*No space left on device[^\n]*$"):
            store.add(record("b"))
        assert written[0] > 10
        monkeypatch.undo()
        assert list(store.finished) == ["a"]
        store.add(record("c"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Store(tmp_path) as store:
            assert list(store.finished) == ["a", "c"]


def test_places_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "other" / "results.jsonl").mkdir(parents=True)
    for name in ("file/store", "other"):
        with pytest.raises(DataError, match="Cannot write to"):
            Store(tmp_path / name)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "results.jsonl")
        with pytest.raises(DataError, match=r"results\.jsonl: is no ordinary file"):
            Store(tmp_path)


def test_tracebacks_stay_in_their_folder_whatever_the_key(tmp_path):
    with Store(tmp_path / "store") as store:
        name = store.keep_traceback("../../a\n\0b", "it broke: \udcff")
        assert name.startswith("failures/")
        assert (store.folder / name).read_text(encoding="utf-8") == "it broke: ?"
    assert sorted(path.name for path in tmp_path.rglob("*.txt")) == [name.split("/")[1]]
