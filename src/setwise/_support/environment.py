"""Packages, compiled kernels, BLAS and folders of this machine, without any secrets."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
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
        return {
            "installed": self.is_installed,
            "packages": self.packages,
            "install": f'pip install "setwise[{self.name}]"',
        }


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
    named = metadata.metadata("setwise").get_all("Provides-Extra") or []
    return [
        Extra(name, {package: _version(package) for package in _packages_of(name, set())})
        for name in sorted(named)
    ]


def kernel_cache() -> KernelCache:
    """The state of the compiled kernels; nothing is compiled to find out."""
    root = Path(__file__).parents[1]
    sources = sorted(root.rglob("*kernels.py"))
    # Some modules have nothing but what the kernels of others are made of.
    names = [_module_name(source, root) for source in sources if source.parent.name != "device"]
    caches = [kept for name in names if (kept := _caches(name))]
    folders = {Path(str(kept.cache_path)) for of_module in caches for kept in of_module}
    return KernelCache(
        folders=tuple(sorted(folders)),
        is_writable=all(map(is_writable, folders)) and bool(folders),
        n_modules=len(caches),
        n_compiled=sum(any(kept.is_warm() for kept in of_module) for of_module in caches),
    )


def blas_libraries() -> list[dict[str, Any]]:
    """Name, version and number of threads of each BLAS that NumPy and SciPy bring."""
    import numpy.linalg  # noqa: F401 (brings a BLAS)
    import scipy.linalg  # noqa: F401 (brings a BLAS of its own)
    from threadpoolctl import threadpool_info

    return [
        {
            "library": library["internal_api"],
            "version": library["version"],
            "threads": library["num_threads"],
        }
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]


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
    total, n_files = 0, 0
    for path, _, names in os.walk(folder):
        for name in names:
            n_files += 1
            if n_files > most_files:
                return total, False
            try:
                total += (Path(path) / name).lstat().st_size
            except OSError:  # gone meanwhile
                continue
    return total, True


def shortened(text: str) -> str:
    """The text with ~ for the home folder."""
    home = str(Path.home())
    return text if home in ("", "/") else re.sub(rf"{re.escape(home)}(?![\w.-])", "~", text)


def _requirements() -> Iterator[tuple[str, list[str], str | None]]:
    """Package, its extras, and the extra of setwise that wants it; None for always."""
    for line in metadata.requires("setwise") or []:
        named = _REQUIREMENT.match(line)
        wanted = _EXTRA.search(line)
        if named is not None:
            inner = [part.strip() for part in (named[2] or "").split(",") if part.strip()]
            yield named[1], inner, wanted[1] if wanted else None


def _packages_of(extra: str, known: set[str]) -> list[str]:
    """Packages of an extra, and of the extras of setwise that it names."""
    known.add(extra)
    packages: list[str] = []
    for name, inner, wanted in _requirements():
        if wanted != extra:
            continue
        if name != "setwise":
            packages.append(name)
        for other in inner if name == "setwise" else ():
            if other not in known:
                packages += _packages_of(other, known)
    return sorted(set(packages))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _module_name(source: Path, root: Path) -> str:
    return ".".join([root.name, *source.relative_to(root).with_suffix("").parts])


def _caches(module: str) -> list[Any]:
    """The caches of the kernels of a module."""
    kernels = vars(import_module(module)).values()
    kept = [getattr(kernel, "_cache", None) for kernel in kernels]
    return [one for one in kept if hasattr(one, "is_warm")]
