"""Clips from the shell: whole frames are judged, and it is said."""

import numpy as np
import pytest
from tests.io.made_videos import write_video
from tests.striped_sets import striped_sets
from typer.testing import CliRunner

from setwise.cli import app

pytest.importorskip("av")
pytest.importorskip("skimage")


def test_whole_frames_are_judged_and_it_is_said(tmp_path):
    for seed, folder in ((0, "gallery"), (1, "probes")):
        sets = striped_sets(2 - seed, seed=seed)
        for i, (name, label) in enumerate(zip(sets.names, sets.labels, strict=True)):
            images = np.repeat(np.repeat(sets[i].reshape(-1, 16, 24), 2, axis=1), 2, axis=2)
            own = tmp_path / folder / (label if folder == "gallery" else "")
            own.mkdir(parents=True, exist_ok=True)
            write_video(own / f"{name}.mkv", images, codec="ffv1", pixel_format="gray")
    arguments = [
        "classify",
        tmp_path / "gallery",
        tmp_path / "probes",
        "--size",
        "16",
        "--features",
        "pixels,edges",
    ]
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert found.exit_code == 0, found.output
    assert found.stderr.count("to judge faces, cut them out first: `setwise faces`") == 2
    labels = [
        line.split()[2] for line in found.stdout.splitlines() if line.startswith(" set ")
    ][1:]
    assert labels == ["flat", "steep", "slanted"]
