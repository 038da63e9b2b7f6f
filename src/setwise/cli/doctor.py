"""``setwise doctor``: what is installed, what works, and what to do about the rest.

``--json`` prints one object; null stands for what is missing or unknown:

- ``ok``: whether everything that is needed works;
- ``versions``: of setwise, Python and the packages that setwise always needs;
- ``platform``, ``cpus``, ``memory`` (bytes), ``blas`` (``library``, ``version``, ``threads``);
- ``extras``: by name, ``installed``, ``packages`` (version or null), ``install``, a command;
- ``kernels``: compiled files, as before the self-test; ``folders``: of data and caches;
- ``gallery``: of the file that was given; ``checks``: each with ``advice`` where it failed.
"""

from __future__ import annotations

import os
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument

from setwise.cli.options import Output, command
from setwise.cli.reading import gallery_document

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
    gallery: Annotated[Path | None, Argument(help="A gallery file to check too.")] = None,
) -> None:
    """Check the installation and a gallery file, and say what to do where something is broken.

    The exit status is 0 when all that is needed works, else 1. The first use on a machine
    compiles, for some 15 s.

    Example:
      setwise doctor
      setwise doctor people.setwise
    """
    with output.progress():
        report = _report(gallery)
    output.show(report, _summary(report), "\n".join(_lines(report)))
    if not report["ok"]:
        raise typer.Exit(1)


def _report(gallery: Path | None) -> dict[str, Any]:
    """All findings as plain values, without the name of the home folder."""
    from importlib.metadata import version

    from setwise._support import environment
    from setwise._support.memory import available_memory, total_memory

    packages = environment.needed_packages()
    own = {"setwise": version("setwise"), "python": platform.python_version()}
    kernels, kernel_check = _kernels()  # before the self-test compiles them
    file: dict[str, Any] = {"path": str(gallery)}
    checks = [
        _check_packages(packages),
        _tried("temporary folder", _try_temporary, "Set TMPDIR to a folder with room."),
        _tried("files of arrays", _try_tensors),
        _tried("self-test", _try_job),
        kernel_check,
    ]
    if gallery is not None:
        advice = "Copy the file again, or fit and save anew."
        checks.append(_tried(f"gallery {gallery}", lambda: _try_gallery(gallery, file), advice))
    found = {
        "ok": all(check.ok for check in checks if check.is_needed),
        "versions": own | packages,
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": environment.n_cpus(),
        "memory": {"total_bytes": total_memory(), "available_bytes": available_memory()},
        "blas": _or_nothing(environment.blas_libraries),
        "extras": {extra.name: extra.to_dict() for extra in environment.extras()},
        "kernels": None if kernels is None else asdict(kernels),
        "folders": _or_nothing(_folders),
        "gallery": None if gallery is None else file,
        "checks": [asdict(check) for check in checks],
    }
    return dict(_plain(found))


def _plain(value: Any) -> Any:
    """A value as JSON knows it, with the home folder shortened in every text."""
    from setwise._support.environment import shortened

    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return shortened(str(value)) if isinstance(value, str | Path) else value


def _or_nothing(find: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The findings, none where a package is broken: the self-test says which."""
    try:
        return find()
    except Exception:
        return []


def _tried(name: str, work: Callable[[], str], advice: str = _REINSTALL) -> Check:
    """Do something that should work; an error is the detail of the check."""
    from setwise.errors import SetwiseError

    try:
        return Check(name, True, work())
    except SetwiseError as error:  # its text says what to do
        return Check(name, False, str(error))
    except Exception as error:  # a broken installation can raise anything
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        return Check(name, False, detail, advice)


def _check_packages(packages: dict[str, str | None]) -> Check:
    missing = ", ".join(sorted(name for name, version in packages.items() if version is None))
    detail = f"missing: {missing}" if missing else f"all {len(packages)} are installed"
    return Check("packages", not missing, detail, _REINSTALL if missing else "")


def _kernels() -> tuple[Any, Check]:
    """The state of the compiled kernels; without a folder for them all works, but slowly."""
    from setwise._support.environment import kernel_cache

    try:
        kernels = kernel_cache()
    except Exception as error:  # without Numba, say; the self-test tells what is needed
        return None, Check("kernels", False, f"{type(error).__name__}: {error}", _REINSTALL)
    if not kernels.is_writable:
        advice = "Set NUMBA_CACHE_DIR to a folder with room that can be written"
        detail = "cannot be kept: each start compiles again, some 15 s"
        return kernels, Check("kernels", False, detail, advice, is_needed=False)
    detail = "compiled" if kernels.n_compiled else "not compiled yet: first use takes some 15 s"
    return kernels, Check("kernels", True, detail)


def _try_temporary() -> str:
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"setwise")
        return str(Path(file.name).parent)


def _try_tensors() -> str:
    """Write arrays and read them again."""
    import numpy as np

    from setwise.io.tensors import read_tensors, write_tensors

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "check.setwise"
        write_tensors(path, {"name": "é"}, {"numbers": np.arange(7.0)})
        document, arrays = read_tensors(path, "doctor")
    if document["name"] != "é" or not np.array_equal(arrays["numbers"], np.arange(7.0)):
        msg = "what was read is not what was written"
        raise OSError(msg)
    return "written and read again"


def _try_job() -> str:
    """Fit a small gallery and label sets of which the labels are clear."""
    import numpy as np

    from setwise import CVC

    start, rng, labels = time.perf_counter(), np.random.default_rng(0), ["anna", "bert"] * 3
    sets = [rng.normal(size=(8, 12)) + 4.0 * np.eye(12)[i % 2] for i in range(2 * len(labels))]
    clf = CVC(dims=(1, 2), random_state=0).fit(sets[: len(labels)], labels)
    answers = clf.predict(sets[len(labels) :]).tolist()
    if answers != labels:
        msg = f"expected {labels}, got {answers}"
        raise ArithmeticError(msg)
    return f"{len(answers)} sets labelled as expected, {time.perf_counter() - start:.1f} s"


def _try_gallery(path: Path, facts: dict[str, Any]) -> str:
    """Load a gallery file, and note what it is."""
    import setwise

    gallery = setwise.load(path).gallery_
    document, sets = gallery_document(path), gallery.sets
    facts |= {key: document.get(key) for key in ("format", "versions")}
    facts |= {"n_classes": gallery.n_classes, "n_sets": len(sets), "bytes": path.stat().st_size}
    facts |= {"n_vectors": len(sets.vectors), "n_features": sets.n_features}
    return f"loads: {facts['n_classes']} classes, {facts['n_sets']} sets"


def _folders() -> list[dict[str, Any]]:
    """The folders of data, and how much is there."""
    from setwise._support.environment import folder_size
    from setwise._support.files import cache_folder

    named = os.environ.get("SETWISE_DATA")
    places = {"$SETWISE_DATA": Path(named).expanduser()} if named else {}
    rows = []
    for what, folder in {**places, "cache": cache_folder()}.items():
        total, is_complete = folder_size(folder)
        row = {"what": what, "folder": str(folder), "exists": folder.is_dir()}
        rows.append(row | {"bytes": total, "is_complete": is_complete})
    return rows


def _summary(report: dict[str, Any]) -> str:
    failed = [f"{one['name']}: {one['detail']}" for one in report["checks"] if not one["ok"]]
    words = ("works, but " if failed and report["ok"] else "") + "; ".join(failed)
    return f"setwise {report['versions']['setwise']}: {words or 'everything works.'}"


def _lines(report: dict[str, Any]) -> list[str]:
    versions = dict(report["versions"])
    own, python = versions.pop("setwise"), versions.pop("python")
    free, total = (_size(report["memory"][f"{kind}_bytes"]) for kind in ("available", "total"))
    extras = report["extras"].items()
    there = [name for name, extra in extras if extra["installed"]]
    blas = "{library} {version}, {threads} threads"
    rows = [
        ("setwise", f"{own}, Python {python}, {report['platform']}"),
        ("packages", ", ".join(f"{name} {one or 'MISSING'}" for name, one in versions.items())),
        ("extras", ", ".join(there) or "none"),
        *((f"no {name}", extra["install"]) for name, extra in extras if name not in there),
        ("kernels", _kernel_words(report["kernels"])),
        *((row["what"], _folder_words(row)) for row in report["folders"]),
        ("BLAS", "; ".join(blas.format(**one) for one in report["blas"]) or "not found"),
        ("CPUs", str(report["cpus"])),
        ("memory", f"{free} of {total} available; work that needs more is refused"),
    ]
    if "format" in (report["gallery"] or {}):
        rows.append(("gallery", _gallery_words(report["gallery"])))
    lines = [*(f"{name:<14} {text}" for name, text in rows), ""]
    for check in report["checks"]:
        state = "ok" if check["ok"] else "BROKEN" if check["is_needed"] else "weak"
        lines.append(f"{state:<7} {check['name']}: {check['detail']}")
        lines += [f"        {check['advice']}"] if check["advice"] else []
    n_broken = sum(not check["ok"] for check in report["checks"])
    problems = f"{n_broken} problem{'' if n_broken == 1 else 's'}, see above."
    problems += " The main job works." if report["ok"] else ""
    return [*lines, "", problems if n_broken else "Everything works."]


def _kernel_words(kernels: dict[str, Any] | None) -> str:
    if kernels is None:
        return "not known"
    where = os.path.commonpath(kernels["folders"]) if kernels["folders"] else "memory alone"
    return "{n_compiled} of {n_modules} modules compiled, kept in ".format(**kernels) + where


def _folder_words(row: dict[str, Any]) -> str:
    size = ("" if row["is_complete"] else "more than ") + _size(row["bytes"])
    return f"{row['folder']}, {size if row['exists'] else 'not there'}"


def _gallery_words(gallery: dict[str, Any]) -> str:
    written = (gallery["versions"] or {}).items()
    by = ", ".join(f"{name} {version}" for name, version in written) or "not recorded"
    of_file = (
        "{path}, format {format}, {n_classes} classes, {n_sets} sets of {n_vectors} vectors"
    )
    return f"{of_file.format(**gallery)}, {_size(gallery['bytes'])}; written by: {by}"


def _size(amount: int | None) -> str:
    if amount is None:
        return "not known"
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if amount >= unit:
            return f"{amount / unit:.1f} {name}"
    return f"{amount} bytes"
