"""Kill `setwise reproduce` at random moments, again and again: is anything lost or redone?

    python benchmarks/kill_resume.py [eth80] [--kills 20] [--seconds 20] [--only methods]

Runs the study once without disturbance and once more into another folder, killed (SIGKILL, the
whole process group) after a random time, 20 times, then to its end. Compares the tables byte by
byte, and looks at the store before and after each life: a line of it must stay as it is, and no
item may be in it twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from datasets import data_folder


def command(options: argparse.Namespace, out: Path) -> list[str]:
    setwise = Path(sys.executable).with_name("setwise")
    where = ["--data", str(data_folder()), "--out", str(out), "--backend", options.backend]
    parts = [word for name in options.only for word in ("--only", name)]
    return [str(setwise), "reproduce", options.study, *where, *parts, "--quiet", "--no-report"]


def lines(folder: Path) -> list[bytes]:
    """The whole lines of the store."""
    file = folder / "results.jsonl"
    return file.read_bytes().split(b"\n")[:-1] if file.exists() else []


def killed(arguments: list[str], after: float) -> bool:
    """Whether it was still running when it was killed."""
    process = subprocess.Popen(arguments, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", nargs="?", default="eth80")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0, help="longest life")
    parser.add_argument("--backend", default="processes")
    parser.add_argument("--only", action="append", default=[], help="experiment of the study")
    parser.add_argument("--out", type=Path, default=Path("out/kill_resume"))
    options = parser.parse_args()
    whole, torn = options.out / "whole", options.out / "killed"
    shutil.rmtree(torn, ignore_errors=True)
    started = time.perf_counter()
    subprocess.run(command(options, whole), check=True)
    print(f"without disturbance: {time.perf_counter() - started:.0f} s", flush=True)
    rng, n_kills, before = random.Random(0), 0, []
    folder = torn / options.study
    for _ in range(options.kills):
        time_left = rng.uniform(0.5, options.seconds)
        n_kills += killed(command(options, torn), time_left)
        now = lines(folder)
        assert now[: len(before)] == before, "finished lines changed"
        print(
            f"lived {time_left:4.1f} s: {len(now) - len(before)} items more, {len(now)} in all"
        )
        before = now
    started = time.perf_counter()
    subprocess.run(command(options, torn), check=True)
    keys = [json.loads(line)["key"] for line in lines(folder)]
    same = (folder / "tables.json").read_bytes() == (
        whole / options.study / "tables.json"
    ).read_bytes()
    print(f"killed {n_kills} times, then {time.perf_counter() - started:.0f} s to the end")
    print(f"items {len(keys)}, done twice {len(keys) - len(set(keys))}; same tables: {same}")
    if not same or len(keys) != len(set(keys)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
