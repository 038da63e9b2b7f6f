import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from setwise.errors import MissingExtraError
from setwise.plots.style import OURS, PALETTE, PUBLISHED, line_looks, new_figure, tidy

# Machado, Oliveira and Fernandes (2009), on linear RGB.
SEEN_BY = {
    "all": np.eye(3),
    "protanopes": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopes": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopes": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def linear(colour):
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("reader", SEEN_BY)
def test_the_first_colours_differ_for_everyone(reader):
    colour = pytest.importorskip("skimage.color")
    seen = [
        np.clip(SEEN_BY[reader] @ linear(one), 0, 1) for one in (*PALETTE[:4], OURS, PUBLISHED)
    ]
    rgb = [np.where(s <= 0.0031308, s * 12.92, 1.055 * s ** (1 / 2.4) - 0.055) for s in seen]
    lab = [colour.rgb2lab(one[None, None])[0, 0] for one in rgb]
    assert min(np.linalg.norm(one - other) for one, other in combinations(lab, 2)) > 20


@pytest.mark.parametrize("colour", [*PALETTE, OURS, PUBLISHED])
@pytest.mark.parametrize("paper", ["#ffffff", "#16181d"])
def test_all_colours_are_seen_on_white_and_on_dark(colour, paper):
    low, high = sorted((luminance(colour), luminance(paper)))
    assert (high + 0.05) / (low + 0.05) > 2


def test_lines_look_different_and_ours_stand_out():
    names = ["CVC", *(f"method {i}" for i in range(26)), "CVC (SSC)"]
    looks = line_looks(names)
    assert looks[0]["color"] == looks[-1]["color"] == OURS
    assert len({(look["color"], look["linestyle"]) for look in looks}) == len(names)


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
import setwise.plots, setwise.plots.svg, setwise.report
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
from setwise.plots.svg import svg
figure = new_figure(4, 4)
axes = tidy(figure.subplots())
plot_accuracy_time(axes, [("CVC", 0.1, 0.9, 0.8, 1.0)])
assert svg(figure).startswith("<svg")
rng = np.random.default_rng(0)
sets = [rng.normal(size=(6, 5)) + 3 * np.eye(5)[i % 2] for i in range(4)]
CVC(dims=(1,), weights=None).fit(sets, [0, 1, 0, 1]).explain(sets[0]).plot(sys.argv[1])
assert dict(dict.items(matplotlib.rcParams)) == before
assert "matplotlib.pyplot" not in sys.modules
"""
    program = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "why.png")]
    subprocess.run(program, check=True)
