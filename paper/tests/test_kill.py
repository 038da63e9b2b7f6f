"""Runs that are killed or interrupted: nothing finished is lost, and no worker lives on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from paper.tests.slow_work import draw, items, noted, read_records

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
import signal, sys
sys.path.insert(0, {root!r})
from paper.tests.slow_work import main
if __name__ == "__main__":
    # Whatever runs the tests may ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(*sys.argv[1:])
"""
TOO_LONG_S = 60
N_ITEMS = 80  # more than 10 short lives can do, however busy the machine is
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


class Run:
    """A program that runs items, in a process group of its own as in a terminal."""

    def __init__(self, folder, **settings):
        self.folder, self.log = folder / "store", folder / "log"
        script = folder / "driver.py"
        script.write_text(DRIVER.format(root=str(ROOT)))
        command = [sys.executable, script, self.folder, self.log, json.dumps(settings)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True,
        )  # fmt: skip
        self.before = len(noted(self.log))
        assert self.process.stdout.readline() == "ready\n", self.process.stderr.read()

    def wait_for_items(self, n_more):
        end = time.monotonic() + TOO_LONG_S
        while len(noted(self.log)) < self.before + n_more and self.process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.002)

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)
        return time.monotonic()

    def outcome(self):
        """What it says in the end, and what it logged."""
        out, err = self.process.communicate(timeout=TOO_LONG_S)
        assert self.process.returncode == 0, err
        return json.loads(out), err

    def relatives(self):
        """Living processes of its group."""
        alive = []
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, _, group = status.read_text().rpartition(")")[2].split()[:3]
            except (OSError, ValueError):
                continue
            if int(group) == self.process.pid and state not in "ZX":
                alive.append(int(status.parent.name))
        return alive


@contextmanager
def running(folder, **settings):
    """A run of which nothing is left afterwards, whatever the test finds."""
    run = Run(folder, **settings)
    try:
        yield run
    finally:
        for pid in [*run.relatives(), run.process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with run.process:
            run.process.wait(TOO_LONG_S)


def finished(folder):
    if not (folder / "results.jsonl").exists():
        return {}
    return {key: one for key, one in read_records(folder).items() if one.is_finished}


def test_killed_again_and_again_it_ends_as_if_nothing_had_been(tmp_path, seed):
    work, rng = items(N_ITEMS), random.Random(seed)
    folder, log = tmp_path / "store", tmp_path / "log"
    settings = {"n_items": N_ITEMS, "n_jobs": 2, "draw": {"seconds": 0.04}}
    for i in range(5):
        kept, before = finished(folder), Counter(one[0] for one in noted(log))
        backend = "processes" if i % 5 == 4 else "threads"
        with running(tmp_path, backend=backend, **settings) as run:
            run.wait_for_items(rng.choice([0, 1, 2]))
            time.sleep(rng.uniform(0, 0.04))
            assert run.process.poll() is None, "there is too little to do for so many kills"
            run.process.kill()
        now = Counter(one[0] for one in noted(log))
        draws = [one.item["draw"] for one in kept.values()]
        assert [now[one] for one in draws] == [before[one] for one in draws], "done again"
        assert finished(folder).items() >= kept.items()
    kept = finished(folder)
    assert 2 < len(kept) < N_ITEMS
    with running(tmp_path, n_items=N_ITEMS, backend="threads", n_jobs=2) as run:
        outcome, _ = run.outcome()
    assert outcome["n_finished_before"] == len(kept)
    assert outcome["n_done"] == N_ITEMS - len(kept)
    results = {key: one.result for key, one in finished(folder).items()}
    assert results == {key: draw(item) for key, item in work.items()}


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("backend", "n_items"),
    [
        ("processes", 4),
        pytest.param("processes", 0, marks=pytest.mark.slow),
        pytest.param("dask", 4, marks=pytest.mark.slow),
    ],
)
def test_workers_end_when_the_parent_is_killed(tmp_path, backend, n_items):
    settings = {"n_items": 400, "backend": backend, "n_jobs": 2}
    with running(tmp_path, **settings, draw={"seconds": 30.0, "slow_from": 4}) as run:
        run.wait_for_items(n_items)
        end = time.monotonic() + TOO_LONG_S
        while len(run.relatives()) < 3:
            assert time.monotonic() < end
        run.process.kill()
        run.process.wait()
        end = time.monotonic() + 10
        while run.relatives():
            assert time.monotonic() < end, "a worker lives on"
            time.sleep(0.05)


SLOW = pytest.mark.slow  # `make test-all` runs these too
WAYS = [
    ("threads", 2),
    ("processes", 2),
    pytest.param("processes", 1, marks=SLOW),
    pytest.param("dask", 2, marks=SLOW),
]


@pytest.mark.parametrize(("backend", "n_jobs"), WAYS)
def test_ctrl_c_lets_running_items_finish_and_begins_no_other(tmp_path, backend, n_jobs):
    settings = {"n_items": 400, "backend": backend, "n_jobs": n_jobs}
    with running(tmp_path, **settings, draw={"seconds": 0.5}) as run:
        run.wait_for_items(2)
        when = run.interrupt()
        outcome, said = run.outcome()
    assert outcome["was_interrupted"]
    assert outcome["n_failed"] == 0
    performed = noted(run.log)
    assert {f"item{one[0]}" for one in performed} == set(finished(run.folder))
    assert len(performed) == outcome["n_done"] == 400 - outcome["n_left"]
    # Half a second each: had Ctrl-C not been heard, there would be hundreds.
    assert max(one[1] for one in performed) < when + 2.0, "one was begun after Ctrl-C"
    assert len(performed) <= 2 + 3 * n_jobs
    # Some may have ended whose results are still on the way, and none be running just then.
    assert int(said.partition("interrupted: ")[2].split()[0]) <= 2 * n_jobs
    assert "running items are being finished; Ctrl-C again stops at once" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("backend", "n_jobs"), WAYS[1:])
def test_ctrl_c_twice_stops_at_once(tmp_path, backend, n_jobs):
    settings = {"n_items": 400, "backend": backend, "n_jobs": n_jobs}
    with running(tmp_path, **settings, draw={"seconds": 30.0, "slow_from": 4}) as run:
        run.wait_for_items(4)
        time.sleep(0.2)
        run.interrupt()
        time.sleep(0.2)
        assert run.process.poll() is None, "once does not stop it"
        when = run.interrupt()
        _, said = run.process.communicate(timeout=TOO_LONG_S)
        assert time.monotonic() - when < 10
        assert run.process.returncode == -signal.SIGINT
        assert "KeyboardInterrupt" in said
        assert set(finished(run.folder)) == {"item0", "item1", "item2", "item3"}


@pytest.mark.parametrize("delay", [0.2, pytest.param(0.0, marks=pytest.mark.slow)])
def test_ctrl_c_while_workers_start_breaks_nothing(tmp_path, delay):
    with running(tmp_path, n_items=6, backend="processes", n_jobs=2) as run:
        time.sleep(delay)
        run.interrupt()
        out, said = run.process.communicate(timeout=TOO_LONG_S)
    if run.process.returncode == -signal.SIGINT:  # it had not begun to listen
        assert not finished(run.folder)
        assert "joblib" not in said
        return
    outcome = json.loads(out)
    assert outcome["n_failed"] == 0
    assert outcome["n_done"] == len(finished(run.folder)) == 6 - outcome["n_left"]
