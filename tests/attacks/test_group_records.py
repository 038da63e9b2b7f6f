"""The record of `setwise group --into`, as a stranger may have written it."""

from __future__ import annotations

import json

import pytest

from setwise.cli.group_record import Record
from setwise.errors import DataError

SOUND = {
    "format": 1, "groups": {"a": "group 1"}, "given": {}, "folders": {"group 1": "family/anna"},
    "entries": {"a": "a.jpg"}, "together": [], "apart": [],
}  # fmt: skip


def test_a_record_is_read(tmp_path):
    (tmp_path / "record").write_text(json.dumps(SOUND))
    assert Record.read(tmp_path / "record").folders == {"group 1": "family/anna"}


@pytest.mark.parametrize(
    "lie",
    [{"folders": {"group 1": "../home"}}, {"folders": {"group 1": "/etc"}},
     {"entries": {"a": "../../.bashrc"}}, {"entries": {"a": ""}}, {"entries": []}],
)  # fmt: skip
def test_a_record_names_no_place_outside_of_its_folder(tmp_path, lie):
    (tmp_path / "record").write_text(json.dumps(SOUND | lie))
    with pytest.raises(DataError, match="cannot be read"):
        Record.read(tmp_path / "record")


def test_a_deep_record_is_refused(tmp_path):
    (tmp_path / "record").write_text("[" * 100_000)
    with pytest.raises(DataError, match="cannot be read"):
        Record.read(tmp_path / "record")
