"""Packages, compiled kernels, BLAS and folders of this machine, without any secrets."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9._-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
# Files to count in a folder, which may have millions.
MOST_FILES = 50_000


@dataclass(frozen=True)
class Extra:
    """An optional part of setwise: the packages it needs, with the version of each or None."""

    name: str
    packages: dict[str, str | None]

    @property
    def is_installed(self) -> bool:
        """Whether all packages are installed."""
        return None not in self.packages.values()

    def to_dict(self) -> dict[str, Any]:
        """As JSON, with the command that installs it."""
        install = f'pip install "setwise[{self.name}]"'
        return {"installed": self.is_installed, "packages": self.packages, "install": install}


@dataclass(frozen=True)
class KernelCache:
    """The folders of compiled kernels, and how many modules have compiled ones."""

    folders: tuple[Path, ...]
    is_writable: bool
    n_modules: int
    n_compiled: int


def needed_packages() -> dict[str, str | None]:
    """Version of each package that setwise always needs; None where it is missing."""
    return {name: _version(name) for name, _, extra in _requirements() if extra is None}


def extras() -> list[Extra]:
    """The extras of setwise."""
    named = sorted(metadata.metadata("setwise").get_all("Provides-Extra") or [])
    return [Extra(name, {of: _version(of) for of in _packages_of(name)}) for name in named]


def kernel_cache() -> KernelCache:
    """The state of the compiled kernels; nothing is compiled to find out."""
    root = Path(__file__).parents[1]
    caches: list[list[Any]] = []
    for source in sorted(root.rglob("*kernels.py")):
        module = ".".join([root.name, *source.relative_to(root).with_suffix("").parts])
        kernels = vars(import_module(module)).values()
        kept: list[Any] = [getattr(kernel, "_cache", None) for kernel in kernels]
        caches.append([one for one in kept if hasattr(one, "is_warm")])
    caches = [of_module for of_module in caches if of_module]
    folders = {Path(str(kept.cache_path)) for of_module in caches for kept in of_module}
    n_compiled = sum(any(kept.is_warm() for kept in of_module) for of_module in caches)
    can_write = all(map(is_writable, folders)) and bool(folders)
    return KernelCache(tuple(sorted(folders)), can_write, len(caches), n_compiled)


def blas_libraries() -> list[dict[str, Any]]:
    """Name, version and number of threads of each BLAS that NumPy and SciPy bring."""
    import numpy.linalg  # noqa: F401 (brings a BLAS)
    import scipy.linalg  # noqa: F401 (brings a BLAS of its own)
    from threadpoolctl import threadpool_info

    names = {"library": "internal_api", "version": "version", "threads": "num_threads"}
    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return [{name: library[key] for name, key in names.items()} for library in found]


def n_cpus() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def is_writable(folder: Path) -> bool:
    """Whether a file can be made in a folder, or in the nearest existing one above."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def folder_size(folder: Path, most_files: int = MOST_FILES) -> tuple[int, bool]:
    """Bytes of the files in a folder, and whether all were counted."""
    total = 0
    files = (Path(path) / name for path, _, names in os.walk(folder) for name in names)
    for n_files, file in enumerate(files):
        if n_files == most_files:
            return total, False
        with suppress(OSError):  # gone meanwhile
            total += file.lstat().st_size
    return total, True


def shortened(text: str) -> str:
    """The text with ~ for the home folder."""
    home = str(Path.home())
    return text if home in ("", "/") else re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)


def _requirements() -> Iterator[tuple[str, list[str], str | None]]:
    """Package, its extras, and the extra of setwise that wants it; None for always."""
    for line in metadata.requires("setwise") or []:
        wanted = _EXTRA.search(line)
        if named := _REQUIREMENT.match(line):
            inner = [part.strip() for part in (named[2] or "").split(",") if part.strip()]
            yield named[1], inner, wanted[1] if wanted else None


def _packages_of(extra: str, known: tuple[str, ...] = ()) -> list[str]:
    """Packages of an extra, and of the extras of setwise that it names."""
    packages: set[str] = set()
    for name, inner, wanted in _requirements():
        if wanted == extra and name != "setwise":
            packages.add(name)
        elif wanted == extra:
            for other in {*inner} - {extra, *known}:
                packages.update(_packages_of(other, (*known, extra)))
    return sorted(packages)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
