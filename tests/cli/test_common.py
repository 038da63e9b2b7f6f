"""Plain lines for those who write progress to a file."""

from __future__ import annotations

from setwise.cli import common


def test_lines_come_now_and_then_with_an_estimate(monkeypatch, capsys):
    clock = iter([100.0, 105.0, 112.0, 113.0, 140.0])
    monkeypatch.setattr(common.time, "monotonic", lambda: next(clock))
    say = common._PlainLines()
    for done in range(5):
        say("items", done, 4)
    assert capsys.readouterr().err.splitlines() == [
        "items ...",
        "items: 50 % done, about 14 s left",
    ]
