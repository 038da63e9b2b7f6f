"""What is built: the package alone, small, and with metadata that is true."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import PurePosixPath

import pytest
from tests.release.project import EXTRAS, PROJECT, ROOT

pytest.importorskip("hatchling", reason="pip install hatchling: it builds the wheel")

CODE = {".py", ".typed", ".json", ".toml", ".css", ".js", ".html", ".jinja", ".svg"}
MOST_BYTES = 1_000_000


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    for project in (ROOT, ROOT / "paper"):
        subprocess.run(command, cwd=project, check=True, capture_output=True)
    (wheel,), (sdist,) = folder.glob("setwise-*.whl"), folder.glob("setwise-*.tar.gz")
    return wheel, sdist


def tracked(folder):
    """Files of a folder that belong to the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout: what belongs to it is not known")
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(built[0]) as wheel:
        names = {PurePosixPath(name) for name in wheel.namelist()}
    package = {str(name) for name in names if name.parts[0] == "setwise"}
    assert {f"src/{name}" for name in package} == tracked("src/setwise")
    others = {name.parts[0] for name in names} - {"setwise"}
    assert others == {f"setwise-{PROJECT['version']}.dist-info"}


def test_the_wheel_is_code_and_small(built):
    with zipfile.ZipFile(built[0]) as wheel:
        package = [PurePosixPath(name) for name in wheel.namelist() if "dist-info" not in name]
    assert {name.suffix for name in package} <= CODE
    assert built[0].stat().st_size <= MOST_BYTES


def test_the_sdist_has_neither_data_nor_tests_nor_results(built):
    with tarfile.open(built[1]) as sdist:
        names = {PurePosixPath(name) for name in sdist.getnames()}
    tops = {name.parts[1] for name in names if len(name.parts) > 1}
    files = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff"}
    assert tops == {"src", "pyproject.toml", "PKG-INFO", ".gitignore", *files}
    assert built[1].stat().st_size <= MOST_BYTES


def test_metadata_says_what_pyproject_says(built):
    with zipfile.ZipFile(built[0]) as wheel:
        folder = f"setwise-{PROJECT['version']}.dist-info"
        metadata = Parser().parsestr(wheel.read(f"{folder}/METADATA").decode("utf-8"))
        scripts = wheel.read(f"{folder}/entry_points.txt").decode("utf-8")
        assert f"{folder}/licenses/LICENSE" in wheel.namelist()
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert set(metadata.get_all("Provides-Extra")) == set(EXTRAS)
    versions = [c for c in metadata.get_all("Classifier") if ":: 3." in c]
    assert [c.rpartition(" ")[2] for c in versions] == ["3.11", "3.12", "3.13", "3.14"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "**Whose set is this?**" in metadata.get_payload()
    assert "setwise = setwise.cli:run" in scripts


def test_the_papers_wheel_is_its_package_with_studies_and_templates(built):
    (path,) = built[0].parent.glob("setwise_paper-*.whl")
    with zipfile.ZipFile(path) as wheel:
        package = {name for name in wheel.namelist() if ".dist-info/" not in name}
        (points,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        commands = wheel.read(points).decode("utf-8")
    assert {f"paper/src/{name}" for name in package} == tracked("paper/src")
    assert "reproduce = setwise_paper.commands:reproduce_app" in commands
    assert {PurePosixPath(name).suffix for name in package} <= CODE
