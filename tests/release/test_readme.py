"""The README is short, and what it shows runs as it stands."""

from __future__ import annotations

import os

import pytest
from tests.release.project import ROOT
from tests.release.readme import blocks, commands, make_folders
from typer.testing import CliRunner

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 85


@pytest.fixture
def folders(tmp_path, monkeypatch):
    make_folders(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_one_screen_with_one_picture_and_two_tables():
    assert len(README.splitlines()) <= MOST_LINES
    assert README.count("![") == 1
    assert README.count("\n| --- |") == 2
    (code,) = blocks(README, "python")
    statements = [line for line in code.splitlines() if line and not line.startswith("#")]
    assert len(statements) <= 10


@pytest.mark.filterwarnings("ignore::setwise.errors.SetwiseWarning")
def test_its_python_runs(folders, capsys, no_networks):
    (code,) = blocks(README, "python")
    exec(compile(code, "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [["day", "1"], ["day", "2"], ["day", "3"]]
    assert [line.split()[2] for line in lines] == ["anna", "bert", "carl"]
    assert (folders / "why.png").stat().st_size > 10_000
    assert (folders / "people.setwise").exists()


@pytest.mark.filterwarnings("ignore::setwise.errors.SetwiseWarning")
def test_its_commands_run(folders):
    from setwise.cli import app

    for _, *arguments in commands(README):
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        assert result.exit_code == 0, f"{' '.join(arguments)}{os.linesep}{result.output}"
    assert "group" in result.output
    assert (folders / "why.html").stat().st_size > 10_000
