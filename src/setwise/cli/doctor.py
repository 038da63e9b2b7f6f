"""``setwise doctor``: what is installed, what works, and what to do about the rest.

``--json`` prints one object:

- ``ok``: whether everything that is needed works;
- ``versions``: of setwise, Python and the packages that setwise always needs (null: missing);
- ``platform``, ``cpus``, ``memory`` (``total_bytes``, ``available_bytes``: work that needs more
  than is available is refused), ``blas`` (``library``, ``version``, ``threads`` of each);
- ``extras``: by name, ``installed``, ``packages`` (version or null), ``install``, a command;
- ``kernels``: ``folders``, ``is_writable``, ``n_modules``, ``n_compiled`` before the self-test;
- ``folders``: of data and caches, ``what``, ``folder``, ``exists``, ``bytes``, ``is_complete``
  (whether all files were counted);
- ``gallery``: of the file that was given, or null; ``plan``: see :mod:`setwise.cli.plan`;
- ``checks``: ``name``, ``ok``, ``is_needed``, ``detail``, and ``advice`` where it failed.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setwise.cli.common import say
from setwise.cli.options import Output, command
from setwise.cli.plan import plan_of, plan_rows

if TYPE_CHECKING:
    from setwise._support.environment import KernelCache

__all__ = ["doctor"]

_REINSTALL = "Install setwise again: pip install --force-reinstall setwise"


@dataclass(frozen=True)
class Check:
    """Something that was tried, how it went, and what to do where it failed."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    is_needed: bool = True


@command
def doctor(
    output: Output,
    gallery: Annotated[
        Path | None, typer.Argument(help="A gallery file to check too, such as people.setwise.")
    ] = None,
    plan: Annotated[
        int | None,
        typer.Option(min=2, max=10**9, help="Classes of a gallery whose cost is foretold."),
    ] = None,
) -> None:
    """Say what is installed, whether the main job works here, and what to do where not.

    The exit status is 0 when all that is needed works, else 1. The first use on a machine
    compiles, for some 15 s.

    Example:
      setwise doctor --plan 1000000
      setwise doctor people.setwise
    """
    with output.progress():
        report = _report(gallery, plan)
    if output.as_json:
        typer.echo(json.dumps(report, indent=2))
    elif output.quiet:
        say(_summary(report))
    else:
        for line in _lines(report):
            say(line)
    if not report["ok"]:
        raise typer.Exit(1)


def _report(gallery: Path | None, n_planned: int | None = None) -> dict[str, Any]:
    """Everything that is found, as plain values, without the name of the home folder."""
    from setwise._support.environment import needed_packages

    packages = needed_packages()
    kernels, kernel_check = _kernels()  # before the self-test compiles them
    file, file_checks = _gallery(gallery)
    checks = [
        _check_packages(packages),
        _tried("temporary folder", _try_temporary, "Set TMPDIR to a folder with room."),
        _tried("files of arrays", _try_tensors, _REINSTALL),
        _tried("self-test", _try_job, _REINSTALL),
        kernel_check,
        *file_checks,
    ]
    found = {
        "ok": _all_ok(check for check in checks if check.is_needed),
        "versions": {
            "setwise": _own_version(),
            "python": platform.python_version(),
            **packages,
        },
        **_machine(),
        "kernels": None if kernels is None else asdict(kernels),
        "folders": _folders(),
        "gallery": file,
        "plan": plan_of(n_planned, gallery) if n_planned and _all_ok(file_checks) else None,
        "checks": [asdict(check) for check in checks],
    }
    return dict(_plain(found))


def _all_ok(checks: Iterable[Check]) -> bool:
    return all(check.ok for check in checks)


def _plain(value: Any) -> Any:
    """A value as JSON knows it, with the home folder shortened in every text."""
    from setwise._support.environment import shortened

    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return shortened(str(value)) if isinstance(value, str | Path) else value


def _machine() -> dict[str, Any]:
    from setwise._support import environment
    from setwise._support.memory import available_memory, total_memory

    return {
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": environment.n_cpus(),
        "memory": {
            "total_bytes": total_memory(),
            "available_bytes": available_memory(),
        },
        "blas": _blas(),
        "extras": {
            extra.name: {
                "installed": extra.is_installed,
                "packages": extra.packages,
                "install": extra.install,
            }
            for extra in environment.extras()
        },
    }


def _own_version() -> str:
    from importlib.metadata import version

    return version("setwise")


def _tried(name: str, work: Callable[[], str], advice: str) -> Check:
    """Do something that should work; whatever happens instead is what is wrong."""
    from setwise.errors import SetwiseError

    try:
        return Check(name, True, work())
    except SetwiseError as error:  # which says itself what to do
        return Check(name, False, str(error))
    except Exception as error:  # a broken installation can raise anything
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        return Check(name, False, detail, advice)


def _check_packages(packages: dict[str, str | None]) -> Check:
    missing = sorted(name for name, version in packages.items() if version is None)
    if missing:
        return Check("packages", False, f"missing: {', '.join(missing)}", _REINSTALL)
    return Check("packages", True, f"all {len(packages)} are installed")


def _kernels() -> tuple[KernelCache | None, Check]:
    """What is known of the kernels; without a place for them all works, but slowly."""
    from setwise._support.environment import kernel_cache

    try:
        kernels = kernel_cache()
    except Exception as error:  # without Numba, say; the self-test tells what is needed
        return None, Check("kernels", False, f"{type(error).__name__}: {error}", _REINSTALL)
    if not kernels.is_writable:
        advice = "Set NUMBA_CACHE_DIR to a folder with room that can be written"
        detail = "cannot be kept: each start compiles again, some 15 s"
        return kernels, Check("kernels", False, detail, advice, is_needed=False)
    if kernels.n_compiled == 0:
        return kernels, Check("kernels", True, "were not compiled yet: first use, some 15 s")
    return kernels, Check("kernels", True, "compiled")


def _blas() -> list[dict[str, Any]]:
    from setwise._support.environment import blas_libraries

    try:
        return blas_libraries()
    except Exception:  # the self-test says what is broken
        return []


def _try_temporary() -> str:
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"setwise")
        return str(Path(file.name).parent)


def _try_tensors() -> str:
    """Write arrays and read them again."""
    import numpy as np

    from setwise.io.tensors import read_tensors, write_tensors

    numbers = np.linspace(0.0, 1.0, 7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.setwise"
        write_tensors(path, {"name": "é"}, {"numbers": numbers})
        document, arrays = read_tensors(path, "doctor")
    if document["name"] != "é" or not np.array_equal(arrays["numbers"], numbers):
        msg = "what was read is not what was written"
        raise OSError(msg)
    return "written and read again"


def _try_job() -> str:
    """Fit a small gallery and label sets of which the labels are clear."""
    import numpy as np

    from setwise import CVC

    start = time.perf_counter()
    rng = np.random.default_rng(0)
    labels = ["anna", "bert"] * 3
    sets = [rng.normal(size=(8, 12)) + 4.0 * np.eye(12)[i % 2] for i in range(2 * len(labels))]
    clf = CVC(dims=(1, 2), random_state=0).fit(sets[: len(labels)], labels)
    answers = clf.predict(sets[len(labels) :]).tolist()
    if answers != labels:
        msg = f"expected {labels}, got {answers}"
        raise ArithmeticError(msg)
    return f"{len(answers)} sets labelled as expected, {time.perf_counter() - start:.1f} s"


def _folders() -> list[dict[str, Any]]:
    """Where data is looked for, and how much is there."""
    from setwise._support.environment import folder_size

    try:
        from setwise._support.folders import cache_folder
    except ImportError:  # the self-test says what is broken
        return []
    named = os.environ.get("SETWISE_DATA")
    places = {"$SETWISE_DATA": Path(named).expanduser()} if named else {}
    rows = []
    for what, folder in {**places, "cache": cache_folder()}.items():
        total, is_complete = folder_size(folder)
        rows.append(
            {
                "what": what,
                "folder": str(folder),
                "exists": folder.is_dir(),
                "bytes": total,
                "is_complete": is_complete,
            }
        )
    return rows


def _gallery(path: Path | None) -> tuple[dict[str, Any] | None, list[Check]]:
    """What a gallery file is, by reading it as ``load`` does."""
    if path is None:
        return None, []
    facts: dict[str, Any] = {"path": str(path)}

    def read() -> str:
        import setwise
        from setwise.io.tensors import read_tensors

        gallery = setwise.load(path).gallery_
        document, _ = read_tensors(path, "doctor")
        facts.update(
            format=document.get("format"),
            versions=document.get("versions"),
            n_classes=gallery.n_classes,
            n_sets=len(gallery.sets),
            n_vectors=len(gallery.sets.vectors),
            n_features=gallery.sets.n_features,
            bytes=path.stat().st_size,
        )
        return f"loads: {facts['n_classes']} classes, {facts['n_sets']} sets"

    check = _tried(f"gallery {path}", read, "Copy the file again, or fit and save anew.")
    return facts, [check]


# ---------------------------------------------------------------------------------- words


def _summary(report: dict[str, Any]) -> str:
    """One line."""
    who = f"setwise {report['versions']['setwise']}"
    failed = [check for check in report["checks"] if not check["ok"]]
    if not failed:
        return f"{who}: everything works."
    problems = "; ".join(f"{check['name']}: {check['detail']}" for check in failed)
    return f"{who}: {'works, but ' if report['ok'] else ''}{problems}"


def _verdict(report: dict[str, Any]) -> str:
    n_broken = sum(not check["ok"] for check in report["checks"])
    if n_broken == 0:
        return "Everything works."
    problems = "1 problem" if n_broken == 1 else f"{n_broken} problems"
    return f"{problems}, see above." + (" The main job works." if report["ok"] else "")


def _lines(report: dict[str, Any]) -> list[str]:
    versions = dict(report["versions"])
    own, python = versions.pop("setwise"), versions.pop("python")
    packages = [f"{name} {version or 'MISSING'}" for name, version in versions.items()]
    free, total = (_size(report["memory"][f"{kind}_bytes"]) for kind in ("available", "total"))
    rows = [
        ("setwise", f"{own}, Python {python}, {report['platform']}"),
        ("packages", ", ".join(packages)),
        *_extra_rows(report["extras"]),
        ("kernels", _kernel_words(report["kernels"])),
        *((row["what"], _folder_words(row)) for row in report["folders"]),
        ("BLAS", _blas_words(report["blas"])),
        ("CPUs", str(report["cpus"])),
        ("memory", f"{free} of {total} available; work that needs more is refused"),
        *_gallery_rows(report["gallery"]),
        *(plan_rows(report["plan"]) if report["plan"] else ()),
    ]
    lines = [f"{name:<14} {text}" for name, text in rows]
    lines += ["", *(line for check in report["checks"] for line in _check_lines(check))]
    return [*lines, "", _verdict(report)]


def _extra_rows(extras: dict[str, Any]) -> list[tuple[str, str]]:
    there = [name for name, extra in extras.items() if extra["installed"]]
    missing = [(name, extra) for name, extra in extras.items() if not extra["installed"]]
    return [
        ("extras", ", ".join(there) or "none"),
        *((f"no {name}", extra["install"]) for name, extra in missing),
    ]


def _kernel_words(kernels: dict[str, Any] | None) -> str:
    if kernels is None:
        return "not known"
    folders = kernels["folders"]
    where = os.path.commonpath(folders) if folders else "memory alone"
    return "{n_compiled} of {n_modules} modules compiled, kept in ".format(**kernels) + where


def _blas_words(libraries: list[dict[str, Any]]) -> str:
    text = "{library} {version}, {threads} threads"
    return "; ".join(text.format(**library) for library in libraries) or "not found"


def _folder_words(row: dict[str, Any]) -> str:
    if not row["exists"]:
        return f"{row['folder']}, not there"
    return f"{row['folder']}, {'' if row['is_complete'] else 'more than '}{_size(row['bytes'])}"


def _gallery_rows(gallery: dict[str, Any] | None) -> list[tuple[str, str]]:
    if gallery is None or "format" not in gallery:
        return []
    written = gallery["versions"] or {}
    by = ", ".join(f"{name} {version}" for name, version in written.items()) or "not recorded"
    return [
        (
            "gallery",
            f"{gallery['path']}, format {gallery['format']}, {gallery['n_classes']} classes, "
            f"{gallery['n_sets']} sets of {gallery['n_vectors']} vectors, "
            f"{_size(gallery['bytes'])}; written by: {by}",
        )
    ]


def _check_lines(check: dict[str, Any]) -> list[str]:
    state = "ok" if check["ok"] else "BROKEN" if check["is_needed"] else "weak"
    line = f"{state:<7} {check['name']}: {check['detail']}"
    return [line, f"        {check['advice']}"] if check["advice"] else [line]


def _size(amount: int | None) -> str:
    if amount is None:
        return "not known"
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if amount >= unit:
            return f"{amount / unit:.1f} {name}"
    return f"{amount} bytes"
