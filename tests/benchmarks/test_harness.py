"""The benchmarks' harness: contenders take turns, and a busy machine publishes nothing."""

import json
import sys

import pytest

import harness
from quiet import MOST_OTHERS, Watch, fixed_work, used_by_all, used_here


class Machine:
    """Clocks that the test sets."""

    def __init__(self, *, others=0.0, loops=(1.0,)):
        self.now, self.others, self.loops = 0.0, others, list(loops)

    def watch(self, seconds=10.0):
        """What is seen in so many seconds, all of them spent by the benchmark."""
        watch = Watch(self.everybody, lambda: self.now, lambda: self.now, self.loop)
        for _ in range(len(self.loops) // 2):
            watch.calibrate()
        self.now += seconds
        return watch

    def everybody(self):
        return None if self.others is None else self.now * (1.0 + self.others)

    def loop(self):
        self.loops.append(self.loops.pop(0))
        return self.loops[-1]


@pytest.mark.parametrize(
    ("machine", "culprit"),
    [
        (Machine(), None),
        (Machine(others=0.5 * MOST_OTHERS), None),
        (Machine(others=2 * MOST_OTHERS), "others used 0.20 of its processors"),
        (Machine(loops=[1.0, 1.1] * 20), None),
        # The quicker of two counts: one that is interrupted now and then is no matter.
        (Machine(loops=[1.0, 9.0] * 20), None),
        (Machine(loops=[1.0, 1.0, 1.5, 1.5] * 10), "took at least 1.50 times as long"),
        (Machine(others=None), None),
    ],
)
def test_a_watch_says_what_disturbed_it(machine, culprit):
    disturbance = machine.watch().disturbance()
    assert disturbance is None if culprit is None else culprit in disturbance


def test_own_work_does_not_count_as_that_of_others():
    watch = Watch()
    before = used_here()
    while used_here() - before < 0.2:
        fixed_work()
    spent = used_by_all()
    if spent is None:
        pytest.skip("nobody counts here")
    # Whatever others did meanwhile, what this process did is taken off.
    mine = used_here() - watch._began[1]
    everybody = spent - watch._began[0]
    elapsed = watch.clock() - watch._began[2]
    assert watch.others() <= max(everybody - mine, 0.0) / elapsed + 0.2


def test_contenders_take_turns():
    order = []
    contenders = {name: lambda name=name: order.append(name) or name for name in "abc"}
    timings = harness.in_turns(contenders, repeats=3)
    assert order == list("abc") * 4  # one round to warm up
    assert {name: result for name, (_, result) in timings.items()} == {n: n for n in "abc"}
    assert all(timing.n_runs == 3 for timing, _ in timings.values())


def test_who_is_too_slow_is_not_run_again_and_who_gives_up_is_left_out():
    calls = []

    def gives_up():
        calls.append("gives up")
        raise TimeoutError

    timings = harness.in_turns(
        {"slow": lambda: calls.append("slow"), "out": gives_up}, budget=0
    )
    assert calls == ["slow", "gives up"]
    assert set(timings) == {"slow"}


def published(monkeypatch, folder, machine, **options):
    monkeypatch.setattr("records.measured_folder", lambda: folder)
    monkeypatch.setattr(harness, "WATCH", machine.watch())
    harness.publish("name", "Title", ["note"], ["what", "time"], [["a", "1 s"]], **options)


def test_a_quiet_machine_publishes(monkeypatch, tmp_path):
    published(monkeypatch, tmp_path, Machine())
    kept = json.loads((tmp_path / "speed" / "name.json").read_text())
    assert kept["rows"] == [["a", "1 s"]]
    assert kept["measured"]["version"]


def test_a_busy_machine_does_not_publish_and_says_so(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit) as refused:
        published(monkeypatch, tmp_path, Machine(others=1.0))
    assert refused.value.code == 1
    assert not list(tmp_path.iterdir())
    said = capsys.readouterr()
    assert "1 s" in said.out
    assert "not kept" in said.err
    assert "others used 1.00" in said.err


def test_a_busy_machine_may_be_looked_at(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark", harness.EVEN_IF_BUSY])
    published(monkeypatch, tmp_path, Machine(others=1.0))
    assert not list(tmp_path.iterdir())
    assert "1 s" in capsys.readouterr().out


def test_a_table_without_times_is_published_anyway(monkeypatch, tmp_path):
    published(monkeypatch, tmp_path, Machine(others=1.0), has_times=False)
    assert (tmp_path / "speed" / "name.json").is_file()
