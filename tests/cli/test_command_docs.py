"""docs/command.md says what the command does: its exit codes, its JSON, its commands."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.test_galleries import albums, document  # noqa: F401
from typer.main import get_command

from setwise.cli import app
from setwise.cli.common import EXIT_CODES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "command.md").read_text("utf-8")


def test_exit_codes():
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, flags=re.MULTILINE))
    assert {int(code): words for code, words in rows.items()} == EXIT_CODES


def test_every_command_has_a_row():
    told = set(re.findall(r"`(\w+)[ `]", PAGE))
    assert set(get_command(app).commands) - {"version"} <= told


def test_the_schema_has_every_key(albums):  # noqa: F811
    told = {
        key.removeprefix("answers[].").removeprefix("gallery.").removesuffix("[]")
        for key in re.findall(r"`([\w.\[\]]+)`", PAGE)
    }
    found = document("identify", albums / "people.setwise", albums / "probes")
    keys = {*found, *found["gallery"], *found["answers"][0], *found["left_out"][0]}
    assert keys - {"format", "gallery"} <= told
    assert found["format"] == 1
