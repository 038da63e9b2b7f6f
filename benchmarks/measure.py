"""Measure what the docs tell, a page at a time, and write the pages: `make measure`.

    python benchmarks/measure.py                   what is missing; goes on where it stopped
    python benchmarks/measure.py evidence speed    the numbers of some pages
    python benchmarks/measure.py --list            what is of today's code

Results are kept in out/measured/HASH, by the hash of the sources that they are of: the same
code goes on, other code begins anew. What is finished becomes docs/benchmarks/NAME.json, of
which benchmarks/write_pages.py writes the pages. Tables of times refuse a busy machine.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence

from records import ROOT, kept, measured_folder, read_all, sources_hash, write
from write_pages import draw_pictures, write_pages

# The commands of each record, in their order; {jobs} are processes.
RECORDS: dict[str, tuple[str, ...]] = {
    "reproduced": ("benchmarks/reproduced.py --jobs {jobs}", "benchmarks/n_clusters.py"),
    "evidence": (
        "benchmarks/evidence_table.py --jobs {jobs}",
        "benchmarks/alone.py --jobs {jobs}",
    ),
    "together": ("benchmarks/together.py --jobs {jobs}", "benchmarks/groups.py --jobs {jobs}"),
    "heaps": ("benchmarks/heaps.py",),
    "speed": ("benchmarks/quick_table.py",),
    "page": ("benchmarks/page_load.py",),
}


def measure(record: str, jobs: int, *, again: bool) -> bool:
    """Run the commands of a record that are not done; whether all of them are.

    A command that fails, as on a machine that is busy, leaves the others their turn.
    """
    n_failed = 0
    for number, words in enumerate(RECORDS[record]):
        mark = measured_folder() / record / f".done-{number}"
        if mark.is_file() and not again:
            continue
        line = [sys.executable, *shlex.split(words.format(jobs=jobs))]
        print(f"{record}: {shlex.join(line)}", flush=True)
        if subprocess.run(line, cwd=ROOT, check=False).returncode:
            n_failed += 1
            continue
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    if n_failed:
        print(f"{record}: not finished; the same command goes on.", file=sys.stderr)
    return not n_failed


def show(records: Sequence[str]) -> None:
    """Which tables are of today's code."""
    today, known = sources_hash(), read_all()
    for record in records:
        for name, table in known.get(record, {}).items():
            told = table.measured
            state = "today's code" if told["sources"] == today else "older code"
            print(f"{record}/{name}: {state} (setwise {told['version']}, {told['date']})")
        if record not in known:
            print(f"{record}: not measured")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", nargs="*", metavar="RECORD", help=", ".join(RECORDS))
    parser.add_argument(
        "--jobs", type=int, default=2, help="processes, where times do not matter"
    )
    parser.add_argument("--again", action="store_true", help="measure what is done once more")
    parser.add_argument(
        "--list", action="store_true", help="measure nothing, show what there is"
    )
    options = parser.parse_args()
    chosen = options.records or list(RECORDS)
    for record in chosen:
        if record not in RECORDS:
            sys.exit(f"{record}: no such record. There are: {', '.join(RECORDS)}")
    if options.list:
        show(chosen)
        return
    finished = []
    for record in chosen:
        if measure(record, options.jobs, again=options.again):
            write(record, kept(record))
            finished.append(record)
            write_pages()
            draw_pictures([record])
    sys.exit(len(finished) < len(chosen))


if __name__ == "__main__":
    main()
