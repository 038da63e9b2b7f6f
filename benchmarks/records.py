"""What was measured, as committed: docs/benchmarks/NAME.json, from which the pages are written.

A record is a group of tables. A table holds its cells as a page shows them, and where they
come from: the command, the day, the machine, the version of setwise, its revision in git and a
hash of its sources. Comments, docstrings and parts that only show things are not in the hash.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from setwise._support.files import write_whole

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "docs" / "benchmarks"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "onnxruntime", "spams-bin")
# Parts of the sources that show answers and change none.
SHOWN = ("cli", "demo", "page", "plots", "report")


@dataclass(frozen=True)
class Table:
    """A table as a page shows it, and where it comes from.

    Attributes
    ----------
    title, notes : str, sequence of str
        What stands above and below it.
    columns, rows : sequences of str
        Cells; the first of a row is its name.
    measured : mapping
        As from :func:`stamp`.
    values : mapping
        Numbers behind the cells, for pictures.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    measured: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def cell(self, row: str, column: str) -> str:
        """The cell of a named row; the first row of that name counts."""
        named = [cells for cells in self.rows if cells[0] == row]
        if not named or column not in self.columns:
            known = [cells[0] for cells in self.rows] if not named else list(self.columns)
            msg = f"{self.title!r} has no cell {row!r}, {column!r}. There are: {known}"
            raise LookupError(msg)
        return named[0][list(self.columns).index(column)]

    def number(self, row: str, column: str) -> str:
        """A cell without its error and its emphasis; empty where it holds no number."""
        text = self.cell(row, column).replace("*", "").split(" ±")[0].strip()
        return text if text[:1].isdigit() else ""

    def markdown(self) -> str:
        """The table: names to the left, numbers to the right."""
        rule = ["---"] + ["---:"] * (len(self.columns) - 1)
        escaped = [[cell.replace("|", "\\|") for cell in row] for row in self.rows]
        lines = [list(self.columns), rule, *escaped]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def source(self) -> str:
        """The command, the version and the day, in one sentence."""
        known = self.measured
        return f"`{known['command']}`, setwise {known['version']}, {known['date']}."


def stamp(command: str = "") -> dict[str, Any]:
    """Where and by which code something is measured now."""
    return {
        "command": command or shown_command(),
        "version": version(),
        "revision": revision(),
        "sources": sources_hash(),
        "date": date.today().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} cores",
        "libraries": libraries(),
    }


def version() -> str:
    """The version of these sources; that of an installation may be older."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def shown_command() -> str:
    """The command line of this process, as one types it in the checkout."""
    script, *arguments = sys.argv
    path = Path(script).resolve()
    name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
    return " ".join(["python", str(name), *arguments])


def libraries() -> dict[str, str]:
    """Versions of Python and of the libraries that matter."""
    found = {"Python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The processor's name as Linux has it, or as well as Python knows it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def revision() -> str:
    """The commit of this checkout; a copy without history has it from ``SETWISE_COMMIT``."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or os.environ.get("SETWISE_COMMIT", "unknown")


def sources_hash(package: Path = ROOT / "src" / "setwise") -> str:
    """SHA-256, shortened, of all code that can change a number."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[0] not in SHOWN:
            digest.update("/".join(parts).encode() + b"\0" + code_of(path).encode() + b"\0")
    return digest.hexdigest()[:12]


def code_of(path: Path) -> str:
    """The code of a file without comments and docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and ast.get_docstring(_documented(node)) is not None:
            body.pop(0)
    return ast.unparse(tree)


def _documented(node: ast.AST) -> Any:
    """The node where it may have a docstring, else an empty module."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return node if isinstance(node, kinds) else ast.Module([], [])


@cache
def measured_folder() -> Path:
    """Where results of today's code are kept until they are complete."""
    named = os.environ.get("SETWISE_MEASURED")
    return Path(named) if named else ROOT / "out" / "measured" / sources_hash()


def keep(record: str, name: str, table: Table, folder: Path | None = None) -> Path:
    """Keep a finished table of a record; `measure.py` commits the record when it has all."""
    place = (folder or measured_folder()) / record / f"{name}.json"
    stamped = vars(table) | {"measured": dict(table.measured) or stamp()}
    return write_whole(place, json.dumps(stamped, indent=1) + "\n")


def kept(record: str, folder: Path | None = None) -> dict[str, Table]:
    """The finished tables of a record."""
    place = (folder or measured_folder()) / record
    return {
        path.stem: Table(**json.loads(path.read_text(encoding="utf-8")))
        for path in sorted(place.glob("*.json"))
    }


def read(name: str, folder: Path = RECORDS) -> dict[str, Table]:
    """The tables of a record, by name."""
    content = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return {key: Table(**table) for key, table in content.items()}


def read_all(folder: Path = RECORDS) -> dict[str, dict[str, Table]]:
    """Every committed record."""
    return {path.stem: read(path.stem, folder) for path in sorted(folder.glob("*.json"))}


def write(name: str, tables: Mapping[str, Table], folder: Path = RECORDS) -> None:
    """Commit the tables of a record."""
    content = {key: vars(table) for key, table in tables.items()}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{name}.json", json.dumps(content, indent=1) + "\n")
