"""What pyproject.toml says: dependencies, extras, and the lowest versions of both."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
_OWN = re.compile(r"setwise\[([\w,]+)\]")


def needed_by(extra: str) -> list[str]:
    """Requirements of an extra, those of the extras it is made of included."""
    requirements = []
    for requirement in EXTRAS[extra]:
        own = _OWN.fullmatch(requirement)
        parts = own[1].split(",") if own else []
        requirements += [line for part in parts for line in needed_by(part)]
        requirements += [] if own else [requirement]
    return requirements


def lowest_versions() -> list[str]:
    """Every dependency and extra, pinned to the lowest version that pyproject.toml allows."""
    every = {*PROJECT["dependencies"], *(line for extra in EXTRAS for line in needed_by(extra))}
    return sorted(re.sub(r">=([\w.]+)(,<[\w.]+)?$", r"==\1", line) for line in every)
