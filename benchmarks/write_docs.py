"""Make docs/speed.md, speed.png and speed_table.md of what the benchmarks left in out/bench.

    python benchmarks/write_docs.py
    python benchmarks/write_docs.py --only per_probe cut --docs /tmp/docs

Nothing is measured here: run the benchmarks first, on the same machine, for that is the one
described. Benchmarks that have not been run are left out. A benchmark whose JSON holds
"sizes" and "seconds" (of one contender, or a list for each by its name, None where it was not
run) becomes a panel of the plot.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

ORDER = (
    "before_after",
    "per_probe",
    "lasso_graph",
    "cut",
    "growth",
    "enroll",
    "large_paths",
    "dictionary",
    "latency",
    "threads",
)
# A short table of all, which names its machine: a page of its own.
SHORT = ("quick_table",)
PLOTTED = {"growth": "one probe", "lasso_graph": "the lasso graph", "cut": "one cut"}
LIBRARIES = ("setwise", "numpy", "scipy", "scikit-learn", "numba", "spams-bin")

INTRODUCTION = """\
# Speed: what was measured, with which command

Written by `python benchmarks/write_docs.py` from what the benchmarks left in `out/bench`; no
number is typed in. Everybody runs on one thread of the same machine, on the same columns, in
turns; tables of a machine that was busy with anything else are refused. Trust ratios within a
table more than seconds; the notes below it say what each contender does.

Machine: {machine}."""
SHORT_INTRODUCTION = """\
# Speed at a glance

Written by `python benchmarks/write_docs.py` from what `python benchmarks/quick_table.py` left
on the machine that the table names; no number is typed in. [Speed](speed.md) has every
contender, and the [notes](speed_notes.md) say what limits each step."""


def machine() -> str:
    """Processor, cores and versions, in one line."""
    versions = [f"Python {platform.python_version()}"]
    for library in LIBRARIES:
        try:
            versions.append(f"{library} {metadata.version(library)}")
        except metadata.PackageNotFoundError:
            continue
    return f"{processor()}, {os.cpu_count()} cores; {', '.join(versions)}"


def processor() -> str:
    """The processor's name as Linux has it, or as well as Python knows it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """First column to the left, the others to the right."""
    rule = ["---"] + ["---:"] * (len(columns) - 1)
    lines = [columns, rule, *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def section(name: str, content: dict[str, Any], day: date) -> str:
    """One benchmark: title, command and date, table, notes."""
    parts = [
        f"## {content['title']}",
        f"`python benchmarks/{name}.py`, {day.isoformat()}.",
        markdown_table(content["columns"], content["rows"]),
        "\n".join(f"- {note}" for note in content["notes"]),
    ]
    return "\n\n".join(part for part in parts if part)


def curves(content: dict[str, Any]) -> Iterator[tuple[str, list[float], list[float]]]:
    """Name, sizes and seconds of every contender with at least two sizes."""
    sizes, times = content.get("sizes"), content.get("seconds")
    if not isinstance(sizes, list) or not isinstance(times, dict | list):
        return
    for name, of_sizes in times.items() if isinstance(times, dict) else [("setwise", times)]:
        measured = [(n, t) for n, t in zip(sizes, of_sizes, strict=False) if t is not None]
        if len(measured) > 1:
            yield name, *map(list, zip(*measured, strict=True))


def plot(contents: dict[str, dict[str, Any]], path: Path) -> bool:
    """Seconds against size, a panel for each benchmark that has both; whether any has."""
    panels = {
        name: found for name in PLOTTED if (found := list(curves(contents.get(name, {}))))
    }
    if not panels:
        return False
    figure, axes = plt.subplots(
        1, len(panels), figsize=(5.2 * len(panels), 4.6), squeeze=False, layout="constrained"
    )
    for ax, (name, found) in zip(axes[0], panels.items(), strict=True):
        others = iter(mpl.color_sequences["Dark2"] + mpl.color_sequences["Set2"])
        for contender, sizes, times in found:
            is_ours = contender.startswith("setwise")
            style = {"lw": 2.6, "zorder": 3} if is_ours else {"lw": 1.3, "ls": "--"}
            colour = {} if is_ours else {"color": next(others)}
            ax.plot(sizes, times, marker="o", ms=4, label=contender, **style, **colour)
        ax.set(xscale="log", yscale="log", xlabel=contents[name].get("x_label", "columns"))
        ticks = sorted({n for _, sizes, _ in found for n in sizes})
        ax.set_xticks(ticks, [f"{n:,}" for n in ticks])
        ax.minorticks_off()
        ax.set_title(PLOTTED[name])
        ax.grid(which="major", color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
        # Below the axes, where no curve can be.
        ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    axes[0, 0].set_ylabel("seconds, one thread")
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return True


def write_page(path: Path, introduction: str, names: Sequence[str], bench: Path) -> bool:
    """Write one page of the tables that there are; False where there are none."""
    files = {name: bench / f"{name}.json" for name in names}
    files = {name: file for name, file in files.items() if file.is_file()}
    if not files:
        return False
    contents = {name: json.loads(file.read_text()) for name, file in files.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [introduction]
    if plot(contents, path.with_suffix(".png")):
        parts.append(f"![Seconds against size]({path.stem}.png)")
    for name, content in contents.items():
        day = date.fromtimestamp(files[name].stat().st_mtime)
        parts.append(section(name, content, day))
        print(name, file=sys.stderr)
    path.write_text("\n\n".join(parts) + "\n")
    return True


def main() -> None:
    """Write both pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    everything = (*ORDER, *SHORT)
    parser.add_argument("--only", nargs="+", choices=everything, default=everything)
    parser.add_argument("--bench", type=Path, default=Path("out/bench"), help="what to read")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="where to write")
    args = parser.parse_args()
    here, short = ([name for name in of if name in args.only] for of in (ORDER, SHORT))
    introduction = INTRODUCTION.format(machine=machine())
    written = [
        write_page(args.docs / "speed.md", introduction, here, args.bench),
        write_page(args.docs / "speed_table.md", SHORT_INTRODUCTION, short, args.bench),
    ]
    if not any(written):
        sys.exit(f"no results in {args.bench}: run benchmarks first")


if __name__ == "__main__":
    main()
