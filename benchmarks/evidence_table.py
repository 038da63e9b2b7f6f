"""The evidence: CVC and its rivals on every task, in one command.

    python benchmarks/evidence_table.py                    what is missing, and the record
    python benchmarks/evidence_table.py --only 'small-*' --methods CVC --seeds 1
    python benchmarks/evidence_table.py --fresh CVC        forget CVC's results first
    python benchmarks/evidence_table.py --minutes 9        begin nothing after so long

Every finished split is a line of evidence.jsonl below out/measured, so that a run that is
stopped goes on where it was, and files of several machines are joined by ``cat``. The datasets
are read from $SETWISE_DATA. `make measure` commits the tables and writes the pages.
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path

from evidence.methods import methods
from evidence.run import Clock, Store, in_words, missing_jobs, run
from evidence.tables import tables as tables_of
from evidence.tasks import Task, tasks
from records import keep, measured_folder


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
    parser.add_argument("--fresh", nargs="+", default=[], metavar="METHOD", help="forget these")
    parser.add_argument("--minutes", type=float, metavar="M", help="begin nothing after these")
    parser.add_argument("--list", action="store_true", help="show tasks and methods, and stop")
    parser.add_argument("--out", type=Path, help="the file of results")
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


def check_names(names: list[str], option: str) -> None:
    """Refuse a method that no task knows."""
    known = list(dict.fromkeys(name for task in tasks().values() for name in task.methods))
    for name in names:
        if name not in known:
            sys.exit(f"{option} {name}: no such method. There are: {', '.join(known)}")


def measure(options: argparse.Namespace, store: Store) -> None:
    """Run what is asked for and missing."""
    chosen, available = chosen_tasks(options.only), methods()
    wanted = options.methods or list(available)
    for name in wanted:
        if name not in available:
            sys.exit(f"--methods {name}: no such method. There are: {', '.join(available)}")
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
    store = Store(options.out or measured_folder() / "evidence.jsonl")
    try:
        measure(options, store)
    except KeyboardInterrupt:
        sys.exit("stopped; what is finished is kept, the same command goes on")
    every = list(tasks().values())
    for name, table in tables_of(every, store).items():
        print(f"kept {keep('evidence', name, table)}")
    if left := missing_jobs(every, list(methods()), store, None):
        sys.exit(f"{len(left)} splits are not measured yet: the same command goes on")


if __name__ == "__main__":
    main()
