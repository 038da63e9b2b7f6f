"""Help, exit codes, tracebacks, completion: what every command owes its users."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from setwise.cli import app
from setwise.cli.common import EXIT_CODES
from setwise.errors import CalibrationWarning, DataError

COMMANDS = sorted(set(get_command(app).commands) - {"version"})


def run(*arguments, **environment):
    return CliRunner(env=environment).invoke(app, [str(argument) for argument in arguments])


def test_the_issue_s_commands_are_there():
    wanted = "fit enroll forget identify classify inspect compare evaluate faces demo"
    assert {*wanted.split(), "doctor"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_ends_with_an_example_that_parses(name):
    found = run(*name.split(), "--help")
    assert found.exit_code == 0
    *_, last = re.split(r"\n *Examples?: *", found.stdout)
    lines = [line.strip() for line in last.strip().splitlines()]
    assert lines[0].startswith(f"setwise {name}")
    for line in lines:
        words = shlex.split(re.sub(r" {2,}\(.*\)$", "", line).split("&&")[0])
        command = get_command(app)
        for word in name.split():
            command = command.commands[word]
        arguments = words[1 + len(name.split()) :]
        command.make_context(name, list(arguments), resilient_parsing=False).close()


def test_exit_codes_are_documented():
    found = run("--help").stdout
    for code, words in EXIT_CODES.items():
        assert re.search(rf"^ *{code} +{re.escape(words)}", found, flags=re.MULTILINE)


def fail_with(monkeypatch, error):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("setwise.io.load_sets", fail)


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (DataError("a set is bad"), 1, "setwise: a set is bad"),
        (OSError(28, "No space"), 1, "No space"),
        (ZeroDivisionError("oh\nno"), 3, "setwise: a bug (ZeroDivisionError: oh no)"),
    ],
)
def test_no_traceback_without_debug(monkeypatch, error, status, words):
    fail_with(monkeypatch, error)
    found = run("inspect", "somewhere", SETWISE_DEBUG="")
    assert found.exit_code == status
    assert words in found.stderr
    assert "Traceback" not in found.output
    again = run("--debug", "inspect", "somewhere", SETWISE_DEBUG="")
    assert type(again.exception) is type(error)


def test_warnings_are_one_line(monkeypatch, capsys):
    import warnings

    def warn(*arguments, **options):
        warnings.warn("few\nclasses", CalibrationWarning, stacklevel=2)
        raise DataError("enough")

    monkeypatch.setattr("setwise.io.load_sets", warn)
    found = run("inspect", "somewhere")
    assert found.stderr.splitlines()[-2:] == ["setwise: note: few classes", "setwise: enough"]


def test_completion_can_be_had():
    asked = {
        "_SETWISE_COMPLETE": "complete_bash",
        "COMP_WORDS": "setwise id",
        "COMP_CWORD": "1",
    }
    environment = os.environ | asked
    program = [sys.executable, "-c", "from setwise.cli import app; app(prog_name='setwise')"]
    found = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert "identify" in found.stdout.split()
