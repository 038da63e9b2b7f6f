"""A quick start changes nothing but the time."""

from __future__ import annotations

import subprocess
import sys

import pytest

CHECK = """
import sys
from setwise.cli.quick_start import import_estimators
import_estimators()
assert "scipy.stats" not in sys.modules and "pandas" not in sys.modules
import sklearn.utils.fixes as fixes
import numpy as np
assert fixes._mode(np.array([[1, 1, 2]]), axis=1)[0].ravel().tolist() == [1]  # loads it now
import scipy.stats, pandas
assert fixes.pd.DataFrame is pandas.DataFrame
assert scipy.stats.norm.cdf(0) == 0.5
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import StandardScaler
frame = pandas.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
scaled = StandardScaler().set_output(transform="pandas").fit_transform(frame)
assert isinstance(scaled, pandas.DataFrame)
print("fine")
"""


def python(code, *arguments):
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_what_was_put_off_is_there_when_it_is_needed():
    found = python(CHECK)
    assert (found.stdout.strip(), found.stderr) == ("fine", "")


@pytest.mark.parametrize("command", ["identify", "fit"])
def test_the_program_keeps_output_and_status(command):
    """Also of a command that ends without taking the interpreter apart."""
    code = (
        "import sys; from setwise import cli\n"
        "def work():\n    print('said'); print('noted', file=sys.stderr); return 3\n"
        "cli._status = work; cli.run()"
    )
    found = python(code, command)
    assert (found.returncode, found.stdout, found.stderr) == (3, "said\n", "noted\n")


@pytest.mark.parametrize("moment", ["import setwise.cli.program", "import typer", "exit"])
def test_ctrl_c_is_one_line_at_any_moment(moment):
    """Also while modules are imported, before the command has begun."""
    code = (
        "import builtins, sys, signal, os, atexit; from setwise.cli import run\n"
        # What starts the tests may ignore Ctrl-C, and its children inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "known = builtins.__import__\n"
        "def importing(name, *rest):\n"
        "    if name == {name!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "    return known(name, *rest)\n"
        "builtins.__import__ = importing\n"
        "atexit.register(lambda: {at_exit})\n"
        "run()"
    )
    at_exit = "os.kill(os.getpid(), signal.SIGINT)" if moment == "exit" else "None"
    name = moment.removeprefix("import ")
    found = python(code.format(name=name, at_exit=at_exit), "--version")
    if moment == "exit":
        assert (found.returncode, found.stderr) == (0, "")
    else:
        assert (found.returncode, found.stderr) == (130, "setwise: interrupted.\n")


def test_the_program_answers_as_the_command_does():
    run = "from setwise.cli import run; import sys; sys.argv[0] = 'setwise'; run()"
    missing = python(run, "identify", "none.setwise", "nowhere")
    assert missing.returncode == 1
    assert "none.setwise" in missing.stderr
    assert python(run, "identify", "--help").stdout.startswith("Usage: setwise identify")
    assert python(run, "--version").stdout.startswith("setwise ")
