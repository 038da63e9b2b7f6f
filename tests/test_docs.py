"""One truth about every number: README, accuracy and reproduction agree with the tables.

Tables are written by commands: docs/evidence_table.md by `make evidence`, docs/reproduced.md by
`make reproduce`. Everything else that repeats a number of theirs is compared with them here.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from write_numbers import with_default, with_numbers

ROOT = Path(__file__).resolve().parents[1]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


README = text_of("README.md")
ACCURACY = text_of("docs/accuracy.md")
REPRODUCED = text_of("docs/reproduced.md")
REPRODUCTION = text_of("docs/reproduction.md")
EVIDENCE = text_of("docs/evidence_table.md")
LARGE = text_of("docs/large.md")
# Rows of the README's table, by those of docs/evidence_table.md.
ROWS = {
    "ETH-80, 20x20 pixels": "ETH-80 20x20",
    "Extended Yale B": "Yale B 24x21",
    "COIL-20, 32x32": "COIL-20 32x32",
    "Japanese vowels": "vowels",
    "*mean of these": "mean of the 5",
    "ETH-80, EfficientNet, one": "ETH-80 EfficientNet, 1 gallery object per class",
    "ETH-80, EfficientNet, published": "ETH-80 EfficientNet, published 5 + 5",
    "Yale B, ArcFace, each": "Yale B ArcFace, mixed light",
    "ETH-80, EfficientNet, 40": "ETH-80 EfficientNet: 40 % from one stranger",
    "Yale B, ArcFace, 40": "Yale B ArcFace, mixed light: 40 % from one stranger",
}
COLUMNS = {
    1: "mean cosine", 2: "robust mean cosine", 3: "frame vote (cosine)", 5: "CVC",
}  # fmt: skip
RIVAL = 4
# Rivals that only docs/reproduced.md has: the study, and the name of the row there.
ELSEWHERE = {"CDL": ("ETH-80, 20 x 20", "CDL-LDA"), "AHISD": ("COIL-20", "AHISD")}
NAMES = {
    "frame vote": "frame vote (cosine)",
    "robust mean": "robust mean cosine",
    "MSM, smallest angle": "MSM (smallest angle)",
}
# The five datasets, as docs/accuracy.md lists them and docs/reproduced.md calls them.
FIVE = {
    "ETH-80, 20 x 20": "ETH-80 20x20",
    "Extended Yale B": "Yale B 24x21",
    "COIL-20": "COIL-20 32x32",
    "Tsukuba hand": "hands 24x24",
    "Japanese vowels": "vowels",
}


def section(title: str) -> str:
    """What docs/reproduced.md says of one study."""
    return next(part for part in REPRODUCED.split("\n## ") if part.startswith(title))


def cells(line: str) -> list[str]:
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def measured(task: str, after: str = "") -> dict[str, str]:
    """What docs/evidence_table.md says of a task, by method, without standard errors."""
    lines = EVIDENCE[EVIDENCE.index(after) :].splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {task} |"))
    header = next(line for line in reversed(lines[:at]) if line.startswith("| task |"))
    pairs = zip(cells(header), cells(lines[at]), strict=True)
    return {method: value.split(" ±")[0] for method, value in pairs}


def reproduced(study: str, method: str, column: str = "ours") -> str:
    """What docs/reproduced.md says of a method on a study, without the deviation."""
    lines = section(study).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {method} |"))
    rule = max(i for i in range(at) if lines[i].startswith("| --"))
    names = cells(lines[rule - 1])
    place = names.index(column) if column in names else 1
    return cells(lines[at])[place].split(" ±")[0]


def row_of(name: str) -> list[str]:
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {name}")]
    return cells(line)


@pytest.mark.parametrize("name", ROWS)
def test_the_readme_has_the_numbers_that_were_measured(name):
    found = measured(ROWS[name])
    for column, method in COLUMNS.items():
        assert row_of(name)[column] == found.get(method, "-"), method


@pytest.mark.parametrize("name", ROWS)
def test_the_best_rival_of_the_readme_is_the_best_that_was_measured(name):
    said, _, rival = row_of(name)[RIVAL].replace("*", "").rstrip(")").partition(" (")
    found = measured(ROWS[name])
    methods = ("mean cosine", "trimmed mean cosine", *COLUMNS.values(), "MSM", "GDA")
    known = [found.get(m, "-") for m in (*methods, "MSM (smallest angle)") if m != "CVC"]
    best = max(float(value) for value in known if value != "-")
    if rival in ELSEWHERE:
        assert float(said) == float(reproduced(*ELSEWHERE[rival])) >= best
    else:
        assert float(said) == float(found[NAMES.get(rival, rival)]) == best


@pytest.mark.parametrize("name", ROWS)
def test_who_is_best_is_bold_in_the_readme(name):
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {name}")]
    shown = [cell.strip() for cell in line.strip("|").split("|")][1:]
    shown = [cell for cell in shown if cell != "-"]
    numbers = [float(re.search(r"[\d.]+", cell)[0]) for cell in shown]
    is_bold = [cell.startswith("**") for cell in shown]
    bold = {number for number, bold in zip(numbers, is_bold, strict=True) if bold}
    assert bold == {max(numbers)}


def papers_setting(text: str) -> list[tuple[float, ...]]:
    """Triples of mode, sum and no fusion on ETH-80 in a text."""
    triples = re.findall(r"(\d\d\.\d\d) / (\d\d\.\d\d) / (\d\d\.\d\d)", text)
    return [tuple(map(float, triple)) for triple in triples]


def test_the_papers_setting_is_the_same_everywhere():
    fusions = ("mode", "sum", "none")
    paper, ours = (
        tuple(float(reproduced("ETH-80, 20 x 20", fusion, column)) for fusion in fusions)
        for column in ("paper", "ours")
    )
    assert papers_setting(README) == [paper, ours]
    for source, numbers in (("paper", paper), ("setwise", ours)):
        (line,) = [line for line in ACCURACY.splitlines() if line.startswith(f"| {source} |")]
        assert tuple(float(cell.split(" ±")[0]) for cell in cells(line)[1:]) == numbers
    mode, total, none = ours
    words = (
        f"Mode {mode:.2f} (published 91.75), sum {total:.2f} (88.75), none {none:.2f} (84.75)"
    )
    assert words in REPRODUCTION


def test_the_default_is_the_same_in_accuracy_and_evidence():
    now = re.search(r"where this one has ([\d./\s]+), a mean of ([\d.]+)", ACCURACY)
    shown = [float(number) for number in now[1].split("/")]
    assert shown == [float(measured(task)["CVC"]) for task in FIVE.values()]
    assert float(now[2]) == float(measured("mean of the 5")["CVC"])
    words = "The library's default setting, which is not the paper's, has"
    assert f"{words} {measured('ETH-80 20x20')['CVC']}." in " ".join(REPRODUCTION.split())
    arcface = re.search(r"on ArcFace in mixed light, where this one has (\d+\.\d+)", ACCURACY)
    expected = float(measured("Yale B ArcFace, mixed light")["CVC"])
    assert float(arcface[1]) == round(expected, 1)


def test_reproduced_has_the_default_of_today_or_says_that_it_has_the_one_before():
    before = re.search(
        r"had ([\d./\s]+) on ETH-80, Yale B, COIL-20, hands and vowels", ACCURACY
    )
    former = [float(number) for number in before[1].split("/")]
    today = [float(measured(task)["CVC"]) for task in FIVE.values()]
    there = [float(reproduced(study, "CVC")) for study in FIVE]
    if there != today:
        assert there == former
        assert "Rows called CVC are of the default before" in REPRODUCED


def test_unknowns_of_the_readme_are_those_that_were_measured():
    title = "## Known against unknown"
    words = " ".join(README.split())
    arcface = measured("Yale B ArcFace, mixed light", title)
    pixels = measured("ETH-80 20x20", title)
    assert f"ArcFace {arcface['CVC']}, ETH-80 pixels {pixels['CVC']}" in words
    assert f"has {arcface['mean cosine']} and {pixels['mean cosine']}" in words
    small = re.search(r"\| mean of all \| ([\d.]+) \| ([\d.]+) \|", EVIDENCE)
    if small:
        assert f"{small[1]} % of the unknown sets were accepted, and {small[2]} %" in words


def test_the_command_that_writes_the_numbers_has_nothing_to_change():
    for page in (README, ACCURACY, REPRODUCTION):
        assert with_default(with_numbers(page, EVIDENCE, REPRODUCED), EVIDENCE) == page


def test_other_numbers_in_the_tables_are_written_into_the_readme():
    changed = re.sub(r"(\| vowels \| 370 \| 1 \| )[\d.]+", r"\g<1>99.99", EVIDENCE, count=1)
    (line,) = [
        line
        for line in with_numbers(README, changed, REPRODUCED).splitlines()
        if line.startswith("| Japanese vowels")
    ]
    assert line.endswith("| **99.99** |")
    assert line.count("**") == 2


def test_scale_in_the_readme_is_what_was_measured():
    (line,) = [line for line in LARGE.splitlines() if line.startswith("| 100,000 |")]
    _, fit, probe, memory, *_ = cells(line)
    words = " ".join(README.split())
    expected = f"fitting 100,000 people takes {fit}, one probe {probe}, and memory {memory}"
    assert expected in words


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
