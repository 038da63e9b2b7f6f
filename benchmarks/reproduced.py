"""The paper's tables and figures beside ours: all studies, into the record `reproduced`.

    python benchmarks/reproduced.py                  what is missing: 50 minutes on two cores
    python benchmarks/reproduced.py eth80 objects    some studies

Each item is done once for the same data and code, as by `setwise reproduce`, whose folder of
results this shares. Methods are timed two at a time, but for the table of times.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from datasets import ROOT, data_folder
from records import Table, keep
from render_objects import write_archive
from rendering import make_object_views
from setwise_paper import StudyResult, run

# The studies of the datasets at hand, and one that is not shipped: it needs the renderer.
STUDIES = ("eth80", "eth80-64", "yaleb", "coil20", "hands", "vowels", "objects")
OWN = ROOT / "benchmarks" / "objects.toml"
OBJECTS = ROOT / "out" / "objects" / "objects.npz"
# Of a method, what the pictures need.
DRAWN = ("name", "mean", "std", "n_folds", "probe_seconds")


def study(name: str, out: Path, jobs: int) -> StudyResult:
    """Run a study, or what is missing of it."""
    if name != "objects":
        return run(name, out=out, data=data_folder(), n_jobs=jobs)
    if not OBJECTS.is_file():
        write_archive(make_object_views(20, 4, 100, size=24), OBJECTS)
    return run(OWN, out=out, data=OBJECTS.parent, n_jobs=jobs)


def tables(name: str, result: StudyResult) -> Iterator[tuple[str, Table]]:
    """The tables of a study: named by study and experiment, numbered from the second on."""
    for section in result.sections:
        drawn = [
            {key: row[key] for key in DRAWN if key in row}
            for row in section.numbers().get("rows", [])
            if isinstance(row, dict)
        ]
        for number, table in enumerate(section.tables(), start=1):
            key = f"{name}-{section.experiment.name}" + (f"-{number}" if number > 1 else "")
            values = {"rows": drawn} if number == 1 and drawn else {}
            yield key, Table(table.heading, table.columns, table.rows, values=values)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(STUDIES))
    parser.add_argument("--jobs", type=int, default=2, help="items at a time")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "reproduce")
    options = parser.parse_args()
    for name in options.studies or STUDIES:
        if name not in STUDIES:
            sys.exit(f"{name}: no such study. There are: {', '.join(STUDIES)}")
        result = study(name, options.out, options.jobs)
        if not result.is_complete:
            sys.exit(f"{name}: {result.n_finished} of {result.n_items} items; run it again.")
        for key, table in tables(name, result):
            print(f"kept {keep('reproduced', key, table)}", flush=True)


if __name__ == "__main__":
    main()
