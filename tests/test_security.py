"""SECURITY.md names a test for each promise, and the tests are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
ROWS = re.findall(r"^\| (?!promise|-)(.+?) \| (.+) \|$", PAGE, re.MULTILINE)


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("promise", [promise for promise, _ in ROWS])
def test_each_promise_has_a_test_that_exists(promise):
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", dict(ROWS)[promise])
    assert named
    for file, name in named:
        assert name in functions(ROOT / file), f"{file} has no {name}"


def test_other_files_that_are_named_exist():
    assert len(ROWS) > 30
    for file in re.findall(r"`((?:tests|docs|paper)/[\w/]+\.\w+)", PAGE):
        assert (ROOT / file).is_file(), file
