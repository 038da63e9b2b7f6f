"""A quick start changes nothing but the time."""

from __future__ import annotations

import subprocess
import sys

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


def test_leaving_at_once_keeps_output_and_status():
    code = (
        "import sys; from setwise.cli.quick_start import leave_at_once\n"
        "def work():\n    print('said'); print('noted', file=sys.stderr); sys.exit({})\n"
        "leave_at_once(work)"
    )
    for status, expected in ((0, 0), (3, 3), (None, 0), ("'words'", 1)):
        found = python(code.format(status))
        assert (found.returncode, found.stdout, found.stderr) == (expected, "said\n", "noted\n")


def test_the_program_answers_as_the_command_does():
    run = "from setwise.cli import run; import sys; sys.argv[0] = 'setwise'; run()"
    missing = python(run, "identify", "none.setwise", "nowhere")
    assert missing.returncode == 1
    assert "none.setwise" in missing.stderr
    assert python(run, "identify", "--help").stdout.startswith("Usage: setwise identify")
    assert python(run, "--version").stdout.startswith("setwise ")
