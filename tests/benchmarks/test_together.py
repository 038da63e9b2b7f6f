"""The benchmark of few labels: its splits, what is kept of them, and the tables."""

import json

import numpy as np
import pytest

import together
from together import ROWS, Row, line_of, split_of, table

LABELS = np.repeat(np.arange(4), 5)


def test_every_row_has_labelled_and_unlabelled_sets_of_each_class(real):
    for row in ROWS:
        labels = together.sets_of(row.file)[1]
        gallery, probes = split_of(row, labels, 0)
        n_classes = len(np.unique(labels)) // (2 if row.kind == "strangers" else 1)
        assert len(gallery) == row.n_labelled * n_classes, row.name
        assert len(probes) > 0, row.name
        assert not set(gallery) & set(probes), row.name


@pytest.mark.parametrize("kind", ["even", "uneven", "strangers"])
def test_splits_follow_their_number(kind):
    row = Row("made", "made", 1, 3, kind)
    first, again, other = (split_of(row, LABELS, seed) for seed in (0, 0, 1))
    assert all(a.tolist() == b.tolist() for a, b in zip(first, again, strict=True))
    assert first[0].tolist() != other[0].tolist()
    assert len(first[0]) == (2 if kind == "strangers" else 4)
    assert (len(first[1]) == 16) == (kind == "even") or kind == "strangers"


def test_what_is_kept_becomes_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr(together, "measured_folder", lambda: tmp_path)
    for seed, both in enumerate((90.0, 92.0)):
        path = together.kept_in(ROWS[0], seed)
        path.parent.mkdir(exist_ok=True)
        found = {"alone": 80.0 + seed, "together": both, "label spreading": 70.0}
        path.write_text(json.dumps(found))
    line = line_of(ROWS[0])
    assert line["together"] == (91.0, 1.0)
    assert line_of(ROWS[1]) is None
    (row,) = table("even", [line]).rows
    cells = ["2 of 20", "80.5 ± 0.5", "**91.0 ± 1.0**", "70.0 ± 0.0", "0.5"]
    assert row == [ROWS[0].name, *cells]
