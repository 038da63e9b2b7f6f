"""``setwise doctor``: what it finds, what it says, and that it gives nothing away."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from setwise import CVC
from setwise._support import environment
from setwise.cli import app
from setwise.gallery import file as gallery_file
from setwise.io import tensors

doctor_module = sys.modules["setwise.cli.doctor"]


@pytest.fixture
def quick(monkeypatch):
    """Without the self-test, which the JSON document is made with."""
    monkeypatch.setattr(doctor_module, "_try_job", lambda: "left out")


def run(*arguments, **variables):
    return CliRunner().invoke(app, ["doctor", *arguments], env=variables)


@pytest.fixture(scope="module")
def document():
    found = run("--json")
    assert found.exit_code == 0
    return json.loads(found.stdout)


@pytest.fixture
def gallery(tmp_path):
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(8, 12)) + 4.0 * np.eye(12)[i % 2] for i in range(4)]
    return (
        CVC(dims=(1, 2), random_state=0).fit(sets, ["a", "b"] * 2).save(tmp_path / "g.setwise")
    )


def test_the_document_has_the_documented_shape(document):
    documented = re.findall(r"^- (.*?)(?=^- |\Z)", doctor_module.__doc__, re.M | re.S)
    names = {name for text in documented for name in re.findall(r"``(\w+)``", text)}
    assert set(document) <= names
    assert document["ok"] is True
    assert document["versions"]["numpy"] == np.__version__
    assert document["versions"]["python"].split(".")[0] == "3"
    assert {b["library"] for b in document["blas"]}
    assert 0 < document["memory"]["available_bytes"] <= document["memory"]["total_bytes"]
    assert document["extras"]["plot"]["install"] == 'pip install "setwise[plot]"'
    assert document["extras"]["plot"]["packages"].keys() == {"matplotlib"}
    assert document["gallery"] is None
    assert [check["name"] for check in document["checks"]] == [
        "packages",
        "temporary folder",
        "files of arrays",
        "self-test",
        "kernels",
    ]
    assert document["checks"][3]["detail"].startswith("6 sets labelled as expected, ")


def test_a_gallery_file_is_loaded_once(gallery, monkeypatch):
    """Of the second look at it, only the short document at its start is read."""
    read, asked = tensors.read_tensors, []
    monkeypatch.setattr(
        tensors, "read_tensors", lambda *a, **k: asked.append(a) or read(*a, **k)
    )
    monkeypatch.setattr(gallery_file, "read_tensors", tensors.read_tensors)
    assert run(str(gallery)).exit_code == 0
    assert [path for path, *_ in asked].count(gallery) == 1


def test_the_text_says_it_all(quick):
    found = run()
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    names = [line[:14].strip() for line in lines[: lines.index("")]]
    for name in ("setwise", "packages", "extras", "kernels", "cache", "BLAS", "CPUs", "memory"):
        assert name in names
    assert lines[-1] == "Everything works."
    assert "ok      files of arrays: written and read again" in lines


def test_quiet_is_one_line(quick):
    found = run("--quiet")
    assert re.fullmatch(r"setwise \S+: everything works\.\n", found.stdout)


def test_help_ends_with_an_example_that_works(document):
    last = run("--help").stdout.strip().splitlines()[-1].strip()
    assert last == "setwise doctor people.setwise"


def test_a_gallery_file_is_described(gallery):
    found = run("--json", str(gallery))
    assert found.exit_code == 0
    described = json.loads(found.stdout)["gallery"]
    assert described["n_classes"] == 2
    assert described["n_sets"] == 4
    assert described["n_vectors"] == 32
    assert described["n_features"] == 12
    assert described["bytes"] == gallery.stat().st_size
    assert isinstance(described["format"], int)
    text = run(str(gallery)).stdout
    assert "2 classes, 4 sets of 32 vectors, " in text


@pytest.mark.parametrize("content", [b"", b"nonsense" * 40, None])
def test_a_broken_gallery_file_is_status_1(gallery, content, quick):
    if content is None:
        gallery.unlink()
    else:
        gallery.write_bytes(content)
    found = run(str(gallery))
    assert found.exit_code == 1
    assert "BROKEN  gallery " in found.stdout
    assert "Traceback" not in found.output
    assert found.stdout.endswith("1 problem, see above.\n")
    assert run("--quiet", str(gallery)).stdout.count("\n") == 1


def test_a_missing_package_is_status_1_with_a_way_out(monkeypatch, quick):
    monkeypatch.setattr(
        environment, "needed_packages", lambda: {"numpy": "2.0", "safetensors": None}
    )
    found = run()
    assert found.exit_code == 1
    assert "BROKEN  packages: missing: safetensors" in found.stdout
    assert "pip install" in found.stdout
    assert "safetensors MISSING" in found.stdout


def test_a_missing_extra_is_no_problem_and_says_what_to_install(monkeypatch, quick):
    extra = environment.Extra("video", {"av": None})
    monkeypatch.setattr(environment, "extras", lambda: [extra])
    found = run()
    assert found.exit_code == 0
    assert 'no video       pip install "setwise[video]"' in found.stdout


def test_kernels_that_cannot_be_kept_are_weak_not_broken(monkeypatch, quick):
    kept = environment.KernelCache((), False, 8, 0)
    monkeypatch.setattr(environment, "kernel_cache", lambda: kept)
    found = run()
    assert found.exit_code == 0
    assert "weak    kernels: cannot be kept" in found.stdout
    assert "NUMBA_CACHE_DIR" in found.stdout
    assert found.stdout.endswith("1 problem, see above. The main job works.\n")


def test_wrong_labels_of_the_self_test_are_noticed(monkeypatch):
    monkeypatch.setattr(CVC, "predict", lambda self, X: np.array(["anna"] * len(X)))
    found = run()
    assert found.exit_code == 1
    assert "BROKEN  self-test: ArithmeticError: expected [" in found.stdout


def test_no_temporary_folder_is_noticed(monkeypatch, tmp_path, quick):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    found = run()
    assert found.exit_code == 1
    assert "BROKEN  temporary folder: FileNotFoundError" in found.stdout
    assert "Set TMPDIR" in found.stdout


def test_without_numba_it_still_says_what_is_wrong():
    code = "import sys; sys.modules['numba'] = None; from setwise.cli import app; app()"
    found = subprocess.run(
        [sys.executable, "-c", code, "doctor"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "Traceback" not in found.stderr + found.stdout
    assert "BROKEN  self-test: " in found.stdout


def test_nothing_secret_gets_out(monkeypatch, tmp_path, quick):
    home = tmp_path / "home" / "anna"
    (home / "data").mkdir(parents=True)
    (home / "data" / "file").write_bytes(b"x" * 2048)
    found = run(
        HOME=str(home),
        USERPROFILE=str(home),
        SETWISE_DATA=str(home / "data"),
        API_TOKEN="hunter2",
    )
    assert "hunter2" not in found.output
    assert str(home) not in found.output
    data = Path("~") / "data"
    assert f"$SETWISE_DATA  {data}, 2.0 KiB" in found.stdout


def test_home_is_shortened_as_a_whole_folder_alone(monkeypatch):
    monkeypatch.setattr(Path, "home", lambda: Path("/home/an"))
    assert environment.shortened("/home/an/x and /home/anna/y") == "~/x and /home/anna/y"
    monkeypatch.setattr(Path, "home", lambda: Path("/"))
    assert environment.shortened("/tmp/x") == "/tmp/x"


def test_extras_within_extras_are_followed(monkeypatch):
    lines = [
        "numpy>=2.0",
        'matplotlib>=3.9; extra == "plot"',
        "jinja2>=3.1; python_version > '3' and extra == 'report'",
        "setwise[plot,all]; extra == 'all'",
        "nosuchpackage; extra == 'all'",
    ]
    monkeypatch.setattr(environment.metadata, "requires", lambda name: lines)
    monkeypatch.setattr(
        environment.metadata, "metadata", lambda name: Named(["all", "plot", "report"])
    )
    assert list(environment.needed_packages()) == ["numpy"]
    found = {extra.name: extra for extra in environment.extras()}
    assert set(found["all"].packages) == {"matplotlib", "nosuchpackage"}
    assert not found["all"].is_installed
    assert found["plot"].is_installed


class Named:
    def __init__(self, extras):
        self.extras = extras

    def get_all(self, key):
        return self.extras


def test_large_folders_are_counted_in_part(tmp_path):
    for i in range(5):
        (tmp_path / str(i)).write_bytes(b"12")
    assert environment.folder_size(tmp_path) == (10, True)
    assert environment.folder_size(tmp_path, most_files=3) == (6, False)
    assert environment.folder_size(tmp_path / "nowhere") == (0, True)


def test_a_folder_to_be_made_is_writable_where_the_one_above_is(tmp_path):
    assert environment.is_writable(tmp_path / "new" / "er")
    (tmp_path / "file").touch()
    assert not environment.is_writable(tmp_path / "file")


def test_kernels_are_found_without_compiling():
    kernels = environment.kernel_cache()
    sources = Path(environment.__file__).parents[1].rglob("*kernels.py")
    # Others have inner functions alone.
    with_kernels = [source for source in sources if "\n@kernel\n" in source.read_text()]
    assert kernels.n_modules == len(with_kernels)
    assert 0 <= kernels.n_compiled <= kernels.n_modules
    assert kernels.folders


def test_nothing_heavy_is_imported_for_help():
    code = (
        "import sys; from setwise.cli import app\n"
        "app(['doctor', '--help'], standalone_mode=False)\n"
        "print([m for m in ('numpy', 'numba', 'scipy') if m in sys.modules], file=sys.stderr)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert found.stderr == "[]\n"
