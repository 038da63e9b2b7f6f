"""Write the numbers of docs/evidence_table.md wherever other pages repeat them.

    python benchmarks/write_numbers.py

README.md has a table of some tasks, and a paragraph on unknown sets; docs/accuracy.md and
docs/reproduction.md name the default's figures. benchmarks/evidence_table.py does this too,
after its own page; tests/test_docs.py compares.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 132
NOTHING = "-"
# Columns of README's table, by those of the evidence table.
SIMPLE = {
    "mean cosine": "mean cosine",
    "robust mean cosine": "robust mean",
    "frame vote (cosine)": "frame vote",
}
# What the sentence calls methods that have other names in the tables.
SHORT = {
    "frame vote (cosine)": "frame vote",
    "robust mean cosine": "robust mean",
    "MSM (smallest angle)": "MSM, smallest angle",
}
# CVC itself, or methods that hold it.
NO_RIVALS = ("CVC", "before")
FIVE = ("ETH-80 20x20", "Yale B 24x21", "COIL-20 32x32", "hands 24x24", "vowels")
ARCFACE = "Yale B ArcFace, mixed light"
ETH80_NET = "ETH-80 EfficientNet"


@dataclass(frozen=True)
class Row:
    """A row of README's table.

    Attributes
    ----------
    title, task : str
        What it is called there, and in the evidence table.
    study : str
        The study of docs/reproduced.md on the same splits, whose methods are rivals too.
    """

    title: str
    task: str
    study: str = ""


ROWS = (
    Row("ETH-80, 20x20 pixels (objects on a turntable)", FIVE[0], "ETH-80, 20 x 20"),
    Row("Extended Yale B, 24x21 pixels (faces, light)", FIVE[1], "Extended Yale B"),
    Row("COIL-20, 32x32 pixels (quarters of a turntable)", FIVE[2], "COIL-20"),
    Row("Japanese vowels (speakers, 12 coefficients)", FIVE[4], "Japanese vowels"),
    Row("*mean of these and Tsukuba hands*", "mean of the 5"),
    Row(
        "ETH-80, EfficientNet, one object per class known",
        f"{ETH80_NET}, 1 gallery object per class",
    ),
    Row("ETH-80, EfficientNet, published 5 + 5", f"{ETH80_NET}, published 5 + 5"),
    Row("Yale B, ArcFace, each person known in one random light", ARCFACE),
    Row(
        "ETH-80, EfficientNet, 40 % of each probe from another class",
        f"{ETH80_NET}: 40 % from one stranger",
    ),
    Row(
        "Yale B, ArcFace, 40 % of each probe from another person",
        f"{ARCFACE}: 40 % from one stranger",
    ),
)


def cells(line: str) -> list[str]:
    """The cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(cell: str) -> str:
    """The number of a cell without its error; a part of the splits is no number."""
    return NOTHING if " of " in cell or not cell[:1].isdigit() else cell.split(" ±")[0]


def measured(page: str, task: str, after: str = "") -> dict[str, str]:
    """Numbers of a task by method: of its first row behind a heading."""
    lines = page[page.index(after) :].splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"| {task} |"))
    header = next(line for line in reversed(lines[:at]) if line.startswith("| task |"))
    pairs = zip(cells(header), cells(lines[at]), strict=True)
    return {name: number(cell) for name, cell in pairs if name not in ("task", "probes")}


def reproduced(page: str, study: str) -> dict[str, str]:
    """Numbers of the methods of one study of docs/reproduced.md, all its splits."""
    text = next(part for part in page.split("\n## ") if part.startswith(study))
    found: dict[str, str] = {}
    place = 0
    for line in text.splitlines():
        if line.startswith("| method"):
            place = cells(line).index("ours") if "ours" in cells(line) else 1
        elif place and line.startswith("| ") and not line.startswith("| --"):
            found.setdefault(cells(line)[0], number(cells(line)[place]))
        elif not line.startswith("|"):
            place = 0
    return found


def best_rival(numbers: Mapping[str, str]) -> tuple[str, str]:
    """Number and name of the best method beside CVC."""
    rivals = {
        name: value
        for name, value in numbers.items()
        if value != NOTHING and not name.startswith(NO_RIVALS)
    }
    name = max(rivals, key=lambda one: float(rivals[one]))
    return rivals[name], SHORT.get(name, name.removesuffix("-LDA").removesuffix("-PLS"))


def row_of(row: Row, evidence: str, again: str) -> str:
    """A line of README's table; the best is bold."""
    numbers = {
        name: value
        for name, value in measured(evidence, row.task).items()
        if name not in ("splits", "rival", "CVC : rival", "p")
    }
    others = reproduced(again, row.study) if row.study else {}
    value, name = best_rival({**numbers, **{k: v for k, v in others.items() if k[:3] != "CVC"}})
    shown = [numbers.get(method, NOTHING) for method in SIMPLE]
    texts = [*shown, f"{value} ({name})", numbers["CVC"]]
    values = [*shown, value, numbers["CVC"]]
    largest = max(float(v) for v in values if v != NOTHING)
    is_bold = [v != NOTHING and float(v) == largest for v in values]
    return " | ".join(
        [f"| {row.title}"]
        + [
            text.replace(v, f"**{v}**", 1) if bold else text
            for text, v, bold in zip(texts, values, is_bold, strict=True)
        ]
    ) + " |"  # fmt: skip


def readme_table(evidence: str, again: str) -> str:
    """The whole table."""
    head = ["", *SIMPLE.values(), "best rival", "CVC"]
    lines = [f"| {' | '.join(head)} |".replace("|  |", "| |"), "|---" * len(head) + "|"]
    return "\n".join([*lines, *(row_of(row, evidence, again) for row in ROWS)]) + "\n"


def unknowns(evidence: str) -> str:
    """The paragraph of README on unknown sets."""
    title = "## Known against unknown"
    arcface, pixels = (measured(evidence, task, title) for task in (ARCFACE, FIVE[0]))
    small = rates(evidence, "mean of all")
    words = (
        "**Unknowns.** `CVC(unknown=0.05)` accepts about one set in twenty of an unknown class "
        'and labels the others "unknown". The threshold is learnt from classes left out of the '
        "gallery, so it needs 20 classes or more; below that it is estimated, and a warning "
        "says how far it may be off."
    )
    if small:
        words += (
            f" With 2 to 20 classes of five datasets, {small[0]} % of the unknown sets were "
            f"accepted, and {small[1]} % of the known ones kept."
        )
    words += (
        f" Known against unknown (AUROC): ArcFace {arcface['CVC']}, ETH-80 pixels "
        f"{pixels['CVC']}; the largest cosine of means has {arcface['mean cosine']} and "
        f"{pixels['mean cosine']}."
    )
    return textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def rates(evidence: str, row: str) -> list[str]:
    """Strangers let in and known sets kept, as the table of small galleries has them."""
    found = re.search(
        rf"^\| {re.escape(row)} \| ([\d.]+)[^|]*\| ([\d.]+)[^|]*\|$", evidence, re.M
    )
    return list(found.groups()) if found else []


def with_numbers(readme: str, evidence: str, again: str) -> str:
    """README.md with today's table and paragraph."""
    table = re.compile(r"^\| \| mean cosine .*\n(?:\|.*\n)+", re.M)
    paragraph = re.compile(r"^\*\*Unknowns\.\*\*.*\n(?:.+\n)*", re.M)
    readme = table.sub(lambda _: readme_table(evidence, again), readme, count=1)
    return paragraph.sub(lambda _: unknowns(evidence), readme, count=1)


def with_default(page: str, evidence: str) -> str:
    """A page with today's figures of the default."""
    five = [measured(evidence, task)["CVC"] for task in FIVE]
    mean = measured(evidence, "mean of the 5")["CVC"]
    arcface = measured(evidence, ARCFACE)["CVC"]
    page = re.sub(
        r"where this one has [\d./\s]+, a mean of [\d.]+;",
        f"where this one has {' / '.join(short(value) for value in five)}, a mean of {mean};",
        page,
    )
    page = re.sub(
        r"(mixed light, where this one has )\d+\.\d+",
        rf"\g<1>{float(arcface):.1f}",
        page,
    )
    return re.sub(
        r"(default setting, which is not the paper's, has )\d+\.\d+", rf"\g<1>{five[0]}", page
    )


def short(value: str) -> str:
    """100 for 100.00."""
    return value.removesuffix(".00") if value.startswith("100") else value


def write_numbers(root: Path = ROOT) -> list[Path]:
    """Write all pages; those that have changed."""
    evidence, again = (
        (root / "docs" / name).read_text(encoding="utf-8")
        for name in ("evidence_table.md", "reproduced.md")
    )
    changed = []
    for name in ("README.md", "docs/accuracy.md", "docs/reproduction.md"):
        path = root / name
        old = path.read_text(encoding="utf-8")
        new = with_default(with_numbers(old, evidence, again), evidence)
        if new != old:
            path.write_text(new, encoding="utf-8")
            changed.append(path)
    return changed


if __name__ == "__main__":
    for path in write_numbers():
        print(f"wrote {path}")
