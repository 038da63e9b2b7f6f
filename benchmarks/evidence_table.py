"""The evidence table: CVC, its former self and its rivals on every task, in one command.

    python benchmarks/evidence_table.py                    all that is missing, and the page
    python benchmarks/evidence_table.py --before OLD/src   with CVC of another version
    python benchmarks/evidence_table.py --only 'small-*' --methods CVC --seeds 1
    python benchmarks/evidence_table.py --fresh CVC        forget CVC's results first
    python benchmarks/evidence_table.py --minutes 9 --no-page
                                           measure for so long, and leave the page alone
    python benchmarks/evidence_table.py --write-only       the pages from what is there

Every finished split is a line of out/evidence.jsonl, so that a run that is stopped goes on
where it was, and files of several machines are joined by ``cat``. The datasets are read from
$SETWISE_DATA. The page is docs/evidence_table.md; pages that repeat its numbers follow it.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path

from datasets import ROOT
from evidence.before import Before
from evidence.methods import Method, methods
from evidence.run import Clock, Store, in_words, missing_jobs, run
from evidence.tasks import Task, tasks
from write_numbers import write_numbers

PAGE = ROOT / "docs" / "evidence_table.md"


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", metavar="TASK", help="tasks; * stands for anything"
    )
    parser.add_argument(
        "--methods", nargs="+", metavar="METHOD", help="methods; all by default"
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="the first N splits of each task"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--before", type=Path, metavar="SRC", help="src of another version")
    parser.add_argument("--fresh", nargs="+", default=[], metavar="METHOD", help="forget these")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin nothing after these")
    parser.add_argument("--write-only", action="store_true", help="measure nothing")
    parser.add_argument("--no-page", action="store_true", help="write no page")
    parser.add_argument("--list", action="store_true", help="show tasks and methods, and stop")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "evidence.jsonl")
    parser.add_argument("--page", type=Path, default=PAGE)
    return parser.parse_args(arguments)


def chosen_tasks(patterns: list[str] | None) -> list[Task]:
    """Tasks by name or pattern; one that fits none is refused."""
    known = tasks()
    for pattern in patterns or []:
        if not any(fnmatch(name, pattern) for name in known):
            sys.exit(f"--only {pattern}: no such task. There are: {', '.join(known)}")
    return [
        task
        for name, task in known.items()
        if patterns is None or any(fnmatch(name, pattern) for pattern in patterns)
    ]


def known_methods(before: Path | None) -> dict[str, Method]:
    return methods() | ({"before": Before(before.resolve())} if before else {})


def check_names(names: list[str], option: str) -> None:
    """Refuse a method that no task knows."""
    known = list(dict.fromkeys(name for task in tasks().values() for name in task.methods))
    for name in names:
        if name not in known:
            sys.exit(f"{option} {name}: no such method. There are: {', '.join(known)}")


def measure(options: argparse.Namespace, store: Store) -> None:
    """Run what is asked for and missing."""
    chosen, available = chosen_tasks(options.only), known_methods(options.before)
    wanted = options.methods or list(available)
    for name in wanted:
        if name not in available:
            sys.exit(f"--methods {name}: cannot be run here ('before' needs --before SRC).")
    for name in options.fresh:
        print(f"forgot {store.forget([t.name for t in chosen], name)} splits of {name}")
    jobs = missing_jobs(chosen, wanted, store, options.seeds)
    clock = Clock(jobs, list(tasks().values()), store)
    print(
        f"{len(jobs)} splits to measure; {in_words(clock.left(jobs), options.jobs)}", flush=True
    )
    run(jobs, available, store, clock, options.jobs, options.minutes)


def main() -> None:
    options = parsed()
    check_names([*(options.methods or []), *options.fresh], "--methods / --fresh")
    if options.list:
        for task in chosen_tasks(options.only):
            print(
                f"{task.name}: {task.title} ({task.n_splits} splits; {', '.join(task.methods)})"
            )
        return
    store = Store(options.out)
    try:
        if not options.write_only:
            measure(options, store)
    except KeyboardInterrupt:
        sys.exit("stopped; what is finished is kept, the same command goes on")
    if options.no_page:
        return
    from evidence.write import write_page

    write_page(list(tasks().values()), store, options.page)
    print(f"wrote {options.page}")
    if options.page == PAGE:
        for path in write_numbers():
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
