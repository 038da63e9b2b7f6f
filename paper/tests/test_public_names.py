"""Only public names of setwise are used: this package is its first outside user."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import setwise_paper

# Rooms, and the three modules that are made for packages like this one.
MODULES = {"setwise.cli.plugins", "setwise.evaluation.leakage", "setwise.report.parts"}


def imported():
    """Module and name of each import from setwise, and where it is."""
    for path in Path(setwise_paper.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").split(".")[0] == "setwise"
            ):
                yield from ((node.module, one.name, path.name) for one in node.names)
            elif isinstance(node, ast.Import):
                names = [one.name for one in node.names if one.name.startswith("setwise.")]
                assert not names, (path.name, names)


def test_every_name_is_exported_by_a_public_room():
    found = list(imported())
    assert len(found) > 40
    for module, name, file in found:
        assert "._" not in module, (file, module)
        assert module.count(".") < 2 or module in MODULES, (file, module)
        assert name in import_module(module).__all__, (file, module, name)
