import subprocess
import sys

import pytest
from tests.plots.drawn import SEEN_BY, contrast, least_difference

from setwise.errors import MissingExtraError
from setwise.plots.style import OURS, PALETTE, new_figure, tidy


@pytest.mark.parametrize("reader", SEEN_BY)
def test_the_first_colours_differ_for_everyone(reader):
    assert least_difference((*PALETTE[:4], OURS), reader) > 20


@pytest.mark.parametrize("colour", [*PALETTE, OURS])
@pytest.mark.parametrize("paper", ["#ffffff", "#16181d"])
def test_all_colours_are_seen_on_white_and_on_dark(colour, paper):
    assert contrast(colour, paper) > 2


def test_a_figure_without_background():
    pytest.importorskip("matplotlib")
    figure = new_figure(4, 3)
    assert tuple(figure.get_size_inches()) == (4, 3)
    assert figure.get_facecolor()[3] == 0
    axes = tidy(figure.subplots())
    assert axes.get_facecolor()[3] == 0
    assert not axes.spines["top"].get_visible()
    assert axes.spines["left"].get_visible()


def test_missing_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "setwise\[plot\]"'):
        new_figure(3, 3)


def test_importing_takes_no_matplotlib():
    code = """
import sys
sys.modules["matplotlib"] = None
import setwise.plots, setwise.report
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_global_changes(tmp_path):
    """In a fresh interpreter, in which pyplot is not imported and no backend is set."""
    pytest.importorskip("matplotlib")
    code = """
import sys
import matplotlib
# Reading the backend the usual way would choose one, and import pyplot.
before = dict(dict.items(matplotlib.rcParams))
import numpy as np
from setwise import CVC
from setwise.plots import *
figure = new_figure(4, 4)
axes = tidy(figure.subplots())
plot_accuracy_time(axes, [("CVC", 0.1, 0.9, 0.8, 1.0)])
figure.savefig(sys.argv[1])
rng = np.random.default_rng(0)
sets = [rng.normal(size=(6, 5)) + 3 * np.eye(5)[i % 2] for i in range(4)]
CVC(dims=(1,), weights=None).fit(sets, [0, 1, 0, 1]).explain(sets[0]).plot(sys.argv[1])
assert dict(dict.items(matplotlib.rcParams)) == before
assert "matplotlib.pyplot" not in sys.modules
"""
    program = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "why.png")]
    subprocess.run(program, check=True)
