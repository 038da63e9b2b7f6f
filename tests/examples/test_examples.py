"""Every example runs as it is, with nothing downloaded, and ends in a picture."""

from __future__ import annotations

import ast
import runpy
import sys
import time
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs"))
from gallery_order import ORDER

matplotlib = pytest.importorskip("matplotlib")

FOLDER = Path(__file__).resolve().parents[2] / "examples"
MOST_SECONDS = 60.0  # of two cores
EXAMPLES = sorted(path.stem for path in FOLDER.glob("plot_*.py"))


@pytest.fixture
def pyplot(monkeypatch, tmp_path):
    """Pyplot without windows, in an empty folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context():
        matplotlib.use("agg")
        import matplotlib.pyplot as plt

        plt.close("all")
        yield plt
        plt.close("all")


def test_all_are_named_as_the_gallery_wants():
    assert sorted(f"plot_{name}" for name in ORDER) == EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_has_a_title_text_and_cells(name):
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    title, line, *text = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert len(" ".join(text)) > 80
    assert source.count("\n# %%\n") >= 2
    assert "shared/data" not in source


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_runs_and_ends_in_a_picture(name, pyplot, capsys, monkeypatch):
    def no_network(*_):
        raise AssertionError("an example wants the network")

    monkeypatch.setattr("socket.socket.connect", no_network)
    start = time.process_time()
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    # Of the processor, not of the clock: others may be at work on the machine.
    assert time.process_time() - start < MOST_SECONDS
    (number,) = pyplot.get_fignums()
    figure = pyplot.figure(number)
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    # A picture worth looking at: neither blank nor a single line.
    assert 0.02 < (pixels != pixels[0, 0]).any(axis=-1).mean() < 0.98
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 50
    assert "Traceback" not in capsys.readouterr().err
