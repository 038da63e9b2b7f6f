"""A new kind of experiment is one class and its parts, and one line of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pytest

from setwise.errors import DataError
from setwise_paper.accuracy import numbers
from setwise_paper.kinds import KINDS
from setwise_paper.kinds.base import Experiment, Section
from setwise_paper.report.render import render
from setwise_paper.reproduction import reproduce
from setwise_paper.study import read_study
from setwise_paper.worker import Item

COINS = """
title = "Coins"
[[experiments]]
kind = "coins"
name = "fair"
title = "Fair coins"
n_throws = [10, 1000]
seeds = [0, 1]
"""


class CoinsItem(Item):
    kind: Literal["coins"] = "coins"
    n_throws: int
    seed: int

    def perform(self, folder=None):
        return {"heads": sum((i * 7919 + self.seed) % 2 for i in range(self.n_throws))}


class Coins(Experiment):
    kind: Literal["coins"] = "coins"
    n_throws: tuple[int, ...]

    def plan(self, planner) -> Iterator:
        for seed in self.seeds:
            for n in self.n_throws:
                yield planner.planned(CoinsItem(n_throws=n, seed=seed), f"{n}", seed)

    def follow_up(self, finished, planner) -> Iterator:
        """Throw again, once, as often as there were heads."""
        for planned, result in finished:
            if planned.turn == 0:
                again = CoinsItem(n_throws=result["heads"], seed=9)
                yield planner.planned(again, "again", 0)

    def summarise(self, finished):
        rows = tuple(
            (one.label, one.item.n_throws, result["heads"]) for one, result in finished
        )
        return CoinsSection(self, rows)


@dataclass(frozen=True)
class CoinsSection(Section):
    experiment: Coins
    rows: tuple[tuple[str, int, int], ...]

    def tabulate(self):
        rows = [(label, f"{n}", f"{heads}") for label, n, heads in self.rows]
        yield self.experiment.title, ("of", "throws", "heads"), rows


@pytest.fixture
def coins(tmp_path, monkeypatch):
    monkeypatch.setitem(KINDS, "coins", Coins)
    path = tmp_path / "coins.toml"
    path.write_text(COINS)
    return read_study(path)


def test_it_runs_from_toml_to_the_report(coins, tmp_path):
    pytest.importorskip("jinja2")
    run = reproduce(coins, tmp_path / "out", n_jobs=1)
    assert (run.n_done, run.result.is_complete) == (6, True)
    (section,) = run.result.sections
    (table,) = section.tables()
    assert table.columns == ("of", "throws", "heads")
    assert ("1000", "1000", "500") in table.rows
    assert ("again", "500", "250") in table.rows
    content = json.loads(json.dumps(numbers(run.result)))
    assert len(content["experiments"]["fair"]["rows"]) == 6
    page = render(run.result)
    assert 'id="section-fair"' in page
    assert "<caption>Fair coins</caption>" in page
    assert reproduce(coins, tmp_path / "out", n_jobs=1).n_done == 0, "it goes on"


def test_a_result_that_lost_its_keys_is_told(coins, tmp_path):
    out = tmp_path / "out"
    reproduce(coins, out, n_jobs=1)
    file = out / "results.jsonl"
    file.write_text(file.read_text().replace('"heads"', '"tails"'))
    with pytest.raises(DataError, match=r"results\.jsonl: a result has no 'heads'.*--fresh"):
        reproduce(coins, out, n_jobs=1)
