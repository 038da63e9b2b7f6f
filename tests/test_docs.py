"""Numbers in the README are those that `make reproduce` wrote into docs/reproduced.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPRODUCED = (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")
# Rows of the README's table, by the title of their study.
ROWS = {
    "ETH-80, 20x20": "ETH-80, 20 x 20",
    "Extended Yale B": "Extended Yale B",
    "COIL-20": "COIL-20",
    "Tsukuba hands": "Tsukuba hand",
    "Japanese vowels": "Japanese vowels",
}


def section(title: str) -> str:
    """What docs/reproduced.md says of one study."""
    return next(part for part in REPRODUCED.split("\n## ") if part.startswith(title))


def cells(line: str) -> list[str]:
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def measured(part: str, method: str) -> str:
    """The accuracy of a method, as ``95.25 ± 2.61``."""
    rows = [cells(line) for line in part.splitlines() if line.startswith(f"| {method} |")]
    header = next(cells(line) for line in part.splitlines() if line.startswith("| method |"))
    return rows[0][header.index("ours")]


@pytest.mark.parametrize("name", ROWS)
def test_the_default_has_the_number_that_was_measured(name):
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {name}")]
    said, found = cells(line)[-1], measured(section(ROWS[name]), "CVC")
    assert float(said.split(" ±")[0]) == float(found.split(" ±")[0])
    assert ("±" in said) == ("±" in found)
    assert said.split(" ±")[1:] == found.split(" ±")[1:]


def test_the_papers_setting_has_the_numbers_that_were_measured():
    (line,) = [line for line in README.splitlines() if line.startswith("| setwise |")]
    part = section("ETH-80, 20 x 20")
    for fusion, said in zip(("mode", "sum", "none"), cells(line)[1:], strict=True):
        assert re.search(rf"\| {fusion} \|.*\| {re.escape(said)} \|", part), fusion


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
