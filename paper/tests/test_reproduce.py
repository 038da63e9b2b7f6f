"""The command `setwise reproduce`, on a small study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paper.tests.small_sets import objects_at_hand
from typer.main import get_command
from typer.testing import CliRunner

from setwise_paper.commands import data_app, reproduce_app

STUDY = """
title = "Small <b>study</b>"
missing = "Nothing is missing."

[[experiments]]
kind = "fusion"
name = "fusion"
shows = "Table 1"
title = "Fusions"
data = { name = "objects", protocol = "pairs", n_folds = 2 }
method = { of = "CVC as in paper", parameters = { dims = [1, 2, 3] }, fusions = ["mode", "none"] }
[experiments.published]
mode = { mean = 50.0, std = 1.0 }

[[experiments]]
kind = "methods"
name = "methods"
title = "Methods"
data = { name = "objects", protocol = "pairs", n_folds = 2 }
methods = ["MSM", { of = "CVC", parameters = { dims = [1, 2] } }, "mean vector"]
explain = "CVC"

[[experiments]]
kind = "gaussians"
name = "clouds"
shows = "Fig. 4"
title = "Clouds"
distances = [4]
sizes = [20, 30]
n_draws = 1
"""  # noqa: E501

at_hand = objects_at_hand(n_classes=4, n_sets=2, n_views=8, size=12)


@pytest.fixture
def study(tmp_path) -> Path:
    return written(tmp_path)


def written(folder: Path, content: str = STUDY) -> Path:
    path = folder / "small.toml"
    path.write_text(content, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory, at_hand) -> bytes:
    """The tables when nothing is done beside anything else."""
    folder = tmp_path_factory.mktemp("alone")
    return tables_of(written(folder), folder / "out")


def run(*arguments: object):
    """One item at a time, in this process, unless the arguments say otherwise."""
    return CliRunner().invoke(reproduce_app, ["--jobs", "1", *map(str, arguments)])


@pytest.mark.parametrize(
    ("app", "words"), [(reproduce_app, []), (data_app, ["list"]), (data_app, ["fetch"])]
)
def test_help_ends_with_an_example_that_parses(app, words):
    found = CliRunner().invoke(app, [*words, "--help"])
    assert found.exit_code == 0
    name = " ".join(["setwise", "reproduce" if app is reproduce_app else "data", *words])
    example = found.stdout.strip().splitlines()[-1].strip()
    assert example.startswith(name)
    arguments = example.removeprefix(name).split()
    command = get_command(app)
    for word in words:
        command = command.commands[word]
    command.make_context(name, arguments).close()


def test_list_shows_studies_and_what_they_show():
    found = run("--list")
    assert found.exit_code == 0
    for word in ("eth80:", "Table 1 and Fig. 7b", "Fig. 9", "folder of honda_heq.mat"):
        assert word in found.stdout
    assert found.stdout == run().stdout
    plain = json.loads(run("--list", "--json").stdout)
    assert plain["eth80"]["experiments"][0]["published"]["mode"]["mean"] == 91.75


def test_a_study_ends_in_tables_and_a_report(study, tmp_path):
    found = run(study, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    folder = tmp_path / "out" / "small"
    for word in ("Table 1: Fusions", "50.00 ± 1.00", "MSM", "Fig. 4: Clouds"):
        assert word in found.stdout
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "Small &lt;b&gt;study&lt;/b&gt;" in report
    tables = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    assert tables["is_complete"]
    assert "MSM" in (folder / "tables.md").read_text(encoding="utf-8")
    again = run(study, "--out", tmp_path / "out", "--quiet", "--no-report")
    assert again.exit_code == 0
    assert "0 now" in again.stdout


def tables_of(study: Path, out: Path, *options: object) -> bytes:
    found = run(study, "--out", out, "--no-report", "--quiet", *options)
    assert found.exit_code == 0, found.output
    return (out / "small" / "tables.json").read_bytes()


# paper/tests/test_runner.py has every backend, on items that take no time.
@pytest.mark.parametrize(
    "backend", ["threads", "processes", pytest.param("dask", marks=pytest.mark.slow)]
)
def test_the_same_tables_whatever_does_the_work(study, tmp_path, backend, one_by_one):
    found = tables_of(study, tmp_path / "many", "--jobs", 2, "--backend", backend)
    assert found == one_by_one


def test_fresh_does_all_again_and_keeps_the_old(study, tmp_path):
    only = ("--only", "clouds")
    tables_of(study, tmp_path, *only)
    found = run(
        study, "--out", tmp_path, "--no-report", "--only", "clouds", "--fresh", "--json"
    )
    (content,) = json.loads(found.stdout).values()
    assert (content["n_items"], content["n_done"], content["was_interrupted"]) == (2, 2, False)
    assert (tmp_path / "small" / "results.1.jsonl").exists()


def test_a_method_that_fails_is_told_and_the_rest_goes_on(study, tmp_path):
    broken = STUDY.replace(
        '"mean vector"]', '{ of = "MSM", name = "bad", parameters = { n_dims = -1 } }]'
    )
    written(tmp_path, broken)
    found = run(study, "--out", tmp_path, "--no-report", "--only", "methods")
    assert found.exit_code == 1
    assert "bad" in found.stderr
    assert "n_dims" in found.stderr
    assert "Traceback" not in found.output
    assert "MSM" in found.stdout
    assert list((tmp_path / "small" / "failures").iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("eth8",), "Did you mean 'eth80'"),
        (("none.toml",), "cannot be read"),
        (
            ("gaussians", "--only", "tables"),
            "--only: there is no experiment 'tables'. Expected one of '",
        ),
        (("gaussians", "--backend", "magic"), "magic"),
        (("gaussians", "--jobs", "0"), "n_jobs"),
        (("gaussians", "--scheduler", "tcp://127.0.0.1:1"), 'backend "dask" only'),
    ],
)
def test_mistakes_end_in_one_line(arguments, said, tmp_path):
    found = run(*arguments, "--out", tmp_path, "--no-report")
    assert found.exit_code == 1
    assert said in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_absent_data_are_told_and_the_other_studies_go_on(study, tmp_path, at_hand):
    options = ("--out", tmp_path / "out", "--data", at_hand, "--no-report", "--only", "methods")
    found = run("honda", study, *options)
    assert found.exit_code == 1
    assert "honda_heq.mat" in found.stderr
    assert "small: " in found.stdout


HOSTILE = r"""
title = "t [/x]"
[[experiments]]
kind = "methods"
name = "m"
title = "methods [/b]"
data = { name = "objects", protocol = "pairs" }
methods = [
    { of = "mean vector", name = "x [/b]" },
    { of = "MSM", name = "<script>alert(1)</script> | *s*" },
    { of = "frame vote", name = "\u001B[31mred\u001B[0m\u202E" },
]
"""


def test_names_are_shown_as_they_are_and_escaped(tmp_path):
    path = written(tmp_path, HOSTILE)
    found = run(path, "--out", tmp_path, "--no-report")
    assert found.exit_code == 0, found.output
    assert "x [/b]" in found.stdout
    assert "methods [/b]" in found.stdout
    assert "\x1b" not in found.output
    assert "\u202e" not in found.output
    page = (tmp_path / "small" / "tables.md").read_text(encoding="utf-8")
    assert "<script>" not in page
    assert r"&lt;script&gt;alert(1)&lt;/script&gt; \| \*s\*" in page
    assert "\x1b" not in page


@pytest.mark.parametrize("file", ["tables.json", "tables.md", "report.html"])
def test_a_file_that_cannot_be_written_is_named(study, tmp_path, file):
    (tmp_path / "small" / file).mkdir(parents=True)
    found = run(study, "--out", tmp_path, "--only", "clouds", "-q")
    assert found.exit_code == 1
    assert f"{file}: cannot be written" in found.stderr
    assert len(found.stderr.splitlines()) == 1
