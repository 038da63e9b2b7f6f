"""Numbers in the README are those that `make evidence` and `make reproduce` wrote down."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REPRODUCED = (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")
EVIDENCE = (ROOT / "docs" / "evidence_table.md").read_text(encoding="utf-8")
# Rows of the README's table, by those of docs/evidence_table.md.
ROWS = {
    "ETH-80, 20x20 pixels": "ETH-80 20x20",
    "Extended Yale B": "Yale B 24x21",
    "COIL-20, 32x32": "COIL-20 32x32",
    "Tsukuba hands": "hands 24x24",
    "Japanese vowels": "vowels",
    "*mean of these five*": "mean of the 5",
    "ETH-80, EfficientNet, one": "ETH-80 EfficientNet, 1 gallery object per class",
    "ETH-80, EfficientNet, published": "ETH-80 EfficientNet, published 5 + 5",
    "Yale B, ArcFace, each": "Yale B ArcFace, mixed light",
    "COIL-20, EfficientNet": "COIL-20 EfficientNet",
    "ETH-80, EfficientNet, 40": "ETH-80 EfficientNet: 40 % from one stranger",
    "Yale B, ArcFace, 40": "Yale B ArcFace, mixed light: 40 % from one stranger",
}
COLUMNS = {1: "mean cosine", 2: "frame vote (cosine)", 4: "CVC"}


def section(title: str) -> str:
    """What docs/reproduced.md says of one study."""
    return next(part for part in REPRODUCED.split("\n## ") if part.startswith(title))


def cells(line: str) -> list[str]:
    return [cell.strip().strip("*") for cell in line.strip().strip("|").split("|")]


def measured(task: str) -> dict[str, str]:
    """What docs/evidence_table.md says of a task, by method, without standard errors."""
    lines = EVIDENCE.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {task} |"))
    header = next(line for line in reversed(lines[:at]) if line.startswith("| task |"))
    pairs = zip(cells(header), cells(lines[at]), strict=True)
    return {method: value.split(" ±")[0] for method, value in pairs}


@pytest.mark.parametrize("name", ROWS)
def test_the_readme_has_the_numbers_that_were_measured(name):
    (line,) = [line for line in README.splitlines() if line.startswith(f"| {name}")]
    found = measured(ROWS[name])
    for column, method in COLUMNS.items():
        assert float(cells(line)[column]) == float(found[method]), method


def test_the_papers_setting_has_the_numbers_that_were_measured():
    (line,) = [line for line in README.splitlines() if line.startswith("| setwise |")]
    part = section("ETH-80, 20 x 20")
    for fusion, said in zip(("mode", "sum", "none"), cells(line)[1:], strict=True):
        assert re.search(rf"\| {fusion} \|.*\| {re.escape(said)} \|", part), fusion


def test_links_between_documents_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
