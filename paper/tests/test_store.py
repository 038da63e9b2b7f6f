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

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)  # fmt: skip


def record(key="a", **changes):
    whole = Record(
        key=key,
        item={"draw": 1},
        result={"answer": [1, 2.5, "ü"]},
        seconds=0.5,
        memory_mb=10.0,
        backend="threads",
        n_jobs=2,
    )
    return replace(whole, **changes)


def failure(key="a"):
    return record(key, result=None, error="ValueError: no", traceback=f"failures/{key}.txt")


@pytest.fixture
def three(tmp_path):
    """A store of three results."""
    with Store(tmp_path) as store:
        for key in "abc":
            store.add(record(key))
    return tmp_path


def test_what_was_added_is_there_again(tmp_path):
    with Store(tmp_path / "new" / "one") as store:
        store.add(record("a"))
        assert read_records(store.folder) == {"a": record("a")}, "at once, not when it closes"
        store.add(failure("b"))
    with Store(store.folder) as again:
        assert again.finished == {"a": record("a")}
        assert again.failed == {"b": failure("b")}
    assert read_records(store.folder) == {"a": record("a"), "b": failure("b")}


@settings(max_examples=25)
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
        store.add(record(result={"n": 1}))
        store.add(record(result={"n": 2}))
        store.add(failure())
        assert store.finished["a"].result == {"n": 2}
        assert not store.failed
    with Store(tmp_path) as store:
        assert store.finished["a"].result == {"n": 2}
        assert not store.failed
    assert read_records(tmp_path)["a"].result == {"n": 2}


def test_what_is_no_plain_data_is_refused_before_it_is_written(tmp_path):
    with Store(tmp_path) as store:
        with pytest.raises(ValueError, match="JSON"):
            store.add(record(result={"a": float("nan")}))
        assert (tmp_path / "results.jsonl").read_bytes() == b""


def test_a_line_torn_anywhere_is_dropped_with_a_warning(three):
    path = three / "results.jsonl"
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    for end in (start + 1, (start + len(whole)) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert list(read_records(three)) == ["a", "b"], "reading is silent"
        with pytest.warns(TornLineWarning, match=r"results\.jsonl"):
            store = Store(three)
        with store:
            assert list(store.finished) == ["a", "b"]
            assert path.read_bytes() == whole[:start]
            store.add(record("c"))
        assert path.read_bytes() == whole


def test_a_last_line_that_is_no_json_is_dropped_too(three):
    path = three / "results.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "d", "it\n')
    with pytest.warns(TornLineWarning), Store(three) as store:
        assert list(store.finished) == ["a", "b", "c"]
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "line", [b"{", b"", b"[1]", b'{"key": "b"}', b'{"key": 1', b'{"new": 2}', b"\xff\xfe"]
)
def test_a_broken_line_in_the_middle_is_an_error_that_says_where(three, line):
    path = three / "results.jsonl"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    before = path.read_bytes()
    with pytest.raises(DataError, match=r"results\.jsonl, line 2"):
        Store(three)
    with pytest.raises(DataError, match=r"results\.jsonl, line 2"):
        read_records(three)
    assert path.read_bytes() == before, "nothing is repaired that cannot be"


@pytest.mark.parametrize("change", [{"extra": 1}, {"seconds": "long"}, {"key": ["a"]}])
def test_a_line_that_is_no_record_is_an_error(three, change):
    path = three / "results.jsonl"
    lines = path.read_text().splitlines()
    lines[-1] = json.dumps({**json.loads(lines[-1]), **change})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match="line 3"):
        Store(three)


def test_two_cannot_add_to_one_store(tmp_path):
    with Store(tmp_path) as store:
        store.add(record())
        with pytest.raises(DataError, match="another run is working on it") as caught:
            Store(tmp_path)
        assert str(tmp_path) in str(caught.value)
        code = (
            "import sys\nfrom setwise_paper.store import Store\n"
            "from setwise.errors import DataError\n"
            "try:\n    Store(sys.argv[1])\nexcept DataError:\n    sys.exit(7)\n"
        )
        other = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
        assert other.returncode == 7
        store.add(record("b"))
    store.close()  # once more is no harm
    with Store(tmp_path) as store:
        assert list(store.finished) == ["a", "b"]


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
        with pytest.raises(DataError, match="No space left on device") as caught:
            store.add(record("b"))
        assert "\n" not in str(caught.value)
        assert written[0] > 10
        monkeypatch.undo()
        assert list(store.finished) == ["a"]
        store.add(record("c"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Store(tmp_path) as store:
            assert list(store.finished) == ["a", "c"]


def test_a_folder_that_cannot_be_made_is_a_clean_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="Cannot write to"):
        Store(tmp_path / "file" / "store")
    (tmp_path / "other" / "results.jsonl").mkdir(parents=True)
    with pytest.raises(DataError, match="Cannot write to"):
        Store(tmp_path / "other")
    with pytest.raises(DataError, match="Expected the results of a run"):
        read_records(tmp_path / "none")


def test_tracebacks_stay_in_their_folder_whatever_the_key(tmp_path):
    with Store(tmp_path / "store") as store:
        name = store.keep_traceback("../../a\n\0b", "it broke: \udcff")
        assert name.startswith("failures/")
        assert (store.folder / name).read_text(encoding="utf-8") == "it broke: ?"
    assert sorted(path.name for path in tmp_path.rglob("*.txt")) == [name.split("/")[1]]
    assert len(list((tmp_path / "store" / "failures").iterdir())) == 1


def test_fresh_puts_nothing_aside_while_another_run_adds(tmp_path):
    with Store(tmp_path) as store:
        store.add(record("a"))
        with pytest.raises(DataError, match="another run is working on it"):
            Store(tmp_path, fresh=True)
        store.add(record("b"))
    assert set(read_records(tmp_path)) == {"a", "b"}
    assert not (tmp_path / "results.1.jsonl").exists()
    with Store(tmp_path, fresh=True) as store:
        assert store.finished == {}
    assert (tmp_path / "results.1.jsonl").exists()


@pytest.mark.parametrize("line", ["[" * 100_000, '{"a":' * 100_000], ids=["list", "dict"])
@pytest.mark.parametrize("more", ["", "{}\n"], ids=["last", "before"])
def test_a_deeply_nested_line_is_named(tmp_path, line, more):
    (tmp_path / "results.jsonl").write_text(f"{line}\n{more}")
    with pytest.raises(DataError, match=r"results\.jsonl, line 1: expected one result"):
        Store(tmp_path)


def test_a_line_with_neither_result_nor_error_is_named(tmp_path):
    content = asdict(record("a")) | {"result": None}
    (tmp_path / "results.jsonl").write_text(json.dumps(content) + "\n")
    with pytest.raises(DataError, match="line 1: expected one result"):
        Store(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "results.jsonl")
    with pytest.raises(DataError, match=r"results\.jsonl: is no ordinary file"):
        Store(tmp_path)
