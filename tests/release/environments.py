"""Environments that a release is tried in; run by `make`, outside the tests.

    python tests/release/environments.py release    build, check, and try in an empty folder
    python tests/release/environments.py extras     each extra alone, doing one small job
    python tests/release/environments.py min        the lowest versions, the quick tests
    python tests/release/environments.py pythons    every Python that is found, the quick tests

Everything is made below out/release. Needs the standard library alone; uses uv where it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from project import EXTRAS, ROOT, lowest_versions

HERE = Path(__file__).resolve().parent
OUT = ROOT / "out" / "release"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# The mathematics, the answers and the pictures: minutes, and no extra but those of ASIDE.
QUICK = (
    *("sets", "basis", "lasso", "graph", "cut", "cluster", "classify", "plots"),
    *("test_bad_input.py", "test_determinism.py"),
)
# What old packages need of others, whose newer versions warn them.
OF_THAT_TIME = ("pyparsing<3.3",)
ASIDE = "plot,image,report,mat,serve"
TOOLS = (
    *("pytest", "pytest-timeout", "pytest-xdist", "pytest-cov", "hypothesis"),
    *("pandas", "polars", "pyarrow", "httpx"),
)


def run(*command: str | Path, folder: Path = ROOT) -> None:
    """Run a command that sees nothing of this checkout but what is installed."""
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHONPATH"}
    subprocess.run([str(part) for part in command], check=True, cwd=folder, env=environment)


def new_environment(name: str, python: str = sys.executable) -> Path:
    """An empty environment, and the Python in it."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    uv = shutil.which("uv")
    make = [uv, "venv", "--quiet", "--python", python] if uv else [python, "-m", "venv"]
    run(*make, folder)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(python: Path, *requirements: str, constraints: Sequence[str] = ()) -> None:
    """Install into an environment, keeping to the constraints."""
    uv = shutil.which("uv")
    pip = [uv, "pip", "install"] if uv else [python, "-m", "pip", "install"]
    which = ["--python", python] if uv else ["--disable-pip-version-check"]
    pins = OUT / "constraints.txt"
    pins.write_text("\n".join(constraints), encoding="utf-8")
    run(*pip, "--quiet", *which, "--constraint", pins, *requirements)


def build() -> tuple[Path, Path]:
    """Build setwise and setwise-paper, have twine check all files, and return both wheels."""
    python = new_environment("tools")
    install(python, "build", "twine", "hatchling>=1.27")
    files = OUT / "dist"
    shutil.rmtree(files, ignore_errors=True)
    for project in (ROOT, ROOT / "paper"):
        run(python, "-m", "build", "--no-isolation", "--outdir", files, project)
    run(python, "-m", "twine", "check", "--strict", *sorted(files.iterdir()))
    for file in sorted(files.iterdir()):
        sys.stdout.write(f"{file.name}: {file.stat().st_size / 1000:.0f} kB\n")
    sys.stdout.flush()
    (wheel,), (paper,) = files.glob("setwise-*.whl"), files.glob("setwise_paper-*.whl")
    return wheel, paper


def empty_folder() -> Path:
    """A folder with nothing in it, from which no checkout can be imported."""
    folder = OUT / "empty"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def try_release() -> None:
    """What a user does first, with what a user gets."""
    wheel, paper = build()
    python = new_environment("clean")
    setwise = f"setwise[image,report] @ {wheel.as_uri()}"
    install(python, setwise)
    run(python, HERE / "smoke.py", ROOT / "README.md", folder=empty_folder())
    install(python, setwise, f"setwise-paper @ {paper.as_uri()}")
    command = python.with_name("setwise")
    study = ["gaussians", "--backend", "threads", "--quiet"]
    run(command, "reproduce", *study, folder=empty_folder())
    # What a user of all extras runs with, listed as tools for vulnerabilities read it.
    python = new_environment("all")
    install(python, f"setwise[all] @ {wheel.as_uri()}")
    listed = wheel.with_name(f"{wheel.name.split('-py')[0]}.cdx.json")
    run(python, HERE / "sbom.py", listed, folder=empty_folder())


def try_extras() -> None:
    """Each extra alone beside the core, doing what it is for."""
    wheel, _ = build()
    for extra in EXTRAS:
        python = new_environment("extra")
        install(python, f"setwise[{extra}] @ {wheel.as_uri()}")
        run(python, HERE / "use_extra.py", extra, folder=empty_folder())


def quick_tests(name: str, python: str, constraints: Sequence[str] = ()) -> None:
    """The quick tests in an environment of their own."""
    own = new_environment(name, python)
    install(own, f"-e{ROOT}[{ASIDE}]", f"-e{ROOT / 'paper'}", *TOOLS, constraints=constraints)
    places = [ROOT / "tests" / place for place in QUICK]
    run(own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *places)


def try_lowest() -> None:
    """The lowest versions that pyproject.toml allows, on the lowest Python."""
    python = find_python(VERSIONS[0]) or sys.executable
    quick_tests("min", python, [*lowest_versions(), *OF_THAT_TIME])


def find_python(version: str) -> str | None:
    """An interpreter of a version that starts: on the path, of pyenv, or of uv."""
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    uv = sorted(
        (Path.home() / ".local/share/uv/python").glob(f"cpython-{version}.*/bin/python")
    )
    for candidate in [shutil.which(f"python{version}"), *pyenv, *uv]:
        if candidate is None:
            continue
        asked = [str(candidate), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        if answer.stdout.strip() == version:
            return str(candidate)
    return None


def try_pythons() -> None:
    """Every Python that is supported and found; says which are not."""
    verdicts = []
    for version in VERSIONS:
        python = find_python(version)
        verdict = "not found"
        if python is not None:
            start = time.perf_counter()
            try:
                quick_tests(f"python{version}", python)
                verdict = f"passed, {time.perf_counter() - start:.0f} s"
            except subprocess.CalledProcessError as error:
                verdict = f"FAILED: {error}"
        verdicts.append(f"Python {version}: {verdict}")
    sys.stdout.write("\n".join([*verdicts, ""]))
    if any("FAILED" in verdict for verdict in verdicts):
        sys.exit(1)


JOBS: dict[str, Callable[[], None]] = {
    "release": try_release,
    "extras": try_extras,
    "min": try_lowest,
    "pythons": try_pythons,
}


def main() -> None:
    """Do one of the jobs."""
    if len(sys.argv) != 2 or sys.argv[1] not in JOBS:
        sys.exit(f"{sys.argv[0]}: expected one of {', '.join(JOBS)}")
    OUT.mkdir(parents=True, exist_ok=True)
    JOBS[sys.argv[1]]()
    sys.stdout.write(f"{sys.argv[1]}: done\n")


if __name__ == "__main__":
    main()
