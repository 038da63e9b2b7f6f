"""The table of *Which method when*, read off docs/evidence_table.md when the site is built.

No number is typed a second time, so none can differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Tasks of the evidence table, and what a reader calls them.
TASKS = {
    "Yale B ArcFace, mixed light": "faces, embeddings (ArcFace), clean",
    "Yale B ArcFace, mixed light: 20 % from many strangers": "... 20 % of a set from others",
    "Yale B ArcFace, mixed light: 40 % from one stranger": "... 40 % of a set from one other",
    "COIL-20 EfficientNet": "objects, embeddings (EfficientNet), clean",
    "ETH-80 EfficientNet, 1 gallery object per class": "categories, embeddings, one set known",
    "ETH-80 EfficientNet: 40 % from one stranger": "... 40 % of a set from one other",
    "ETH-80 EfficientNet: 3 images, probe only": "... probes of 3 images",
    "ETH-80 20x20": "categories, pixels (objects on a turntable)",
    "Yale B 24x21": "faces, pixels, changing light",
    "COIL-20 32x32": "objects, pixels, quarters of a turn",
    "vowels": "speakers, 12 coefficients per frame",
}
METHODS = ("mean cosine", "trimmed mean cosine", "frame vote (cosine)", "MSM", "CVC")


def rows_of(text: str) -> dict[str, dict[str, float]]:
    """Task to method to percent, the first time that a task is in the tables of a page."""
    rows: dict[str, dict[str, float]] = {}
    header: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] == "task":
            header = cells
        elif line.startswith("| ") and header and cells[0] in TASKS:
            pairs = dict(zip(header, cells, strict=True))
            values = {m: float(pairs[m].split()[0]) for m in METHODS if m in pairs}
            if len(values) == len(METHODS):
                rows.setdefault(cells[0], values)
    return rows


def table(text: str) -> str:
    """A Markdown table; the best of each row is bold."""
    measured = rows_of(text)
    missing = set(TASKS) - set(measured)
    if missing:
        msg = f"docs/evidence_table.md has no row of {sorted(missing)}: mend TASKS."
        raise LookupError(msg)
    lines = [f"| sets | {' | '.join(METHODS)} |", "|---" * (len(METHODS) + 1) + "|"]
    for task, words in TASKS.items():
        best = max(measured[task].values())
        cells = [
            f"**{value:.1f}**" if value == best else f"{value:.1f}"
            for value in (measured[task][method] for method in METHODS)
        ]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Write the table where the guide includes it."""
    docs = Path(app.srcdir)
    text = table((docs / "evidence_table.md").read_text(encoding="utf-8"))
    target = docs / "guide" / "_measured.txt"
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
