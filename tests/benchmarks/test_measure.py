"""Measuring a page: what is finished is kept, what failed is done again, and pages follow."""

import json
import sys

import pytest

import measure
import records

SCRIPT = """
import sys
sys.path.insert(0, {benchmarks!r})
from pathlib import Path
from records import Table, keep
name = sys.argv[1]
with open({log!r}, "a") as log:
    log.write(name)
if name == "b" and not Path({ready!r}).exists():
    sys.exit(1)
known = {{"command": " ".join(sys.argv), "version": "1.0.0"}}
keep("made", name, Table("Title", ["", "right"], [["x", "97.5"]], measured=known))
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A record of two commands, the second of which fails until a file is there."""
    script, log, ready = tmp_path / "script.py", tmp_path / "log", tmp_path / "ready"
    places = {
        "benchmarks": str(records.ROOT / "benchmarks"),
        "log": str(log),
        "ready": str(ready),
    }
    script.write_text(SCRIPT.format(**places))
    monkeypatch.setattr(measure, "RECORDS", {"made": (f"{script} a", f"{script} b")})
    monkeypatch.setenv("SETWISE_MEASURED", str(tmp_path / "measured"))
    records.measured_folder.cache_clear()
    yield log, ready
    records.measured_folder.cache_clear()


def test_a_record_goes_on_where_it_stopped(made, capfd):
    log, ready = made
    assert not measure.measure("made", 1, again=False)
    assert "not finished" in capfd.readouterr().err
    ready.touch()
    assert measure.measure("made", 1, again=False)
    assert log.read_text() == "abb"
    assert measure.measure("made", 1, again=False)
    assert log.read_text() == "abb"
    assert measure.measure("made", 1, again=True)
    assert log.read_text() == "abbab"
    assert list(records.kept("made")) == ["a", "b"]


def test_what_is_finished_is_committed_and_shown(made, monkeypatch, tmp_path):
    made[1].touch()
    monkeypatch.setattr(sys, "argv", ["measure.py", "made"])
    written = []
    monkeypatch.setattr(measure, "write_pages", lambda: written.append("pages"))
    monkeypatch.setattr(
        measure, "write", lambda name, tables: records.write(name, tables, tmp_path)
    )
    with pytest.raises(SystemExit) as done:
        measure.main()
    assert not done.value.code
    assert written == ["pages"]
    content = json.loads((tmp_path / "made.json").read_text())
    assert content["a"]["rows"] == [["x", "97.5"]]
    assert content["a"]["measured"]["command"].endswith("script.py a")


def test_a_record_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["measure.py", "nosuch"])
    with pytest.raises(SystemExit, match="nosuch: no such record"):
        measure.main()
