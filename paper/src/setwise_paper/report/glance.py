"""The few numbers at the top of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setwise_paper.accuracy import AccuracyRow, accuracy, agreement, signed

if TYPE_CHECKING:
    from setwise_paper.study import StudyResult


@dataclass(frozen=True)
class Fact:
    """One number at the top."""

    label: str
    value: str
    unit: str
    note: str
    anchor: str
    mark: str = ""


@dataclass(frozen=True)
class _Entry:
    """An accuracy, what has it, and the experiment it is from."""

    called: str
    row: AccuracyRow
    experiment: str
    shows: str

    @property
    def note(self) -> str:
        return f"{self.called}, {self.shows}" if self.shows else self.called

    @property
    def anchor(self) -> str:
        return f"section-{self.experiment}"


def at_a_glance(result: StudyResult) -> tuple[Fact, ...]:
    """The paper's best figure beside ours, our best one, and how much of the work is done."""
    entries = [
        _Entry(called, row, section.experiment.name, section.experiment.shows)
        for section in result.sections
        for called, row in section.accuracies()
    ]
    more = [fact for section in result.sections for fact in section.facts()]
    return (*_beside_paper(entries), *_best(entries), *more[:1], _progress(result))


def _beside_paper(entries: list[_Entry]) -> Iterator[Fact]:
    """The best figure of the paper for CVC itself, whose fusions come first in a study."""
    known = [one for one in entries if one.row.difference is not None]
    ours = [one for one in known if one.called.startswith("CVC")]
    for best in sorted(ours or known, key=lambda one: -_published(one.row))[:1]:
        yield Fact(
            label="The paper says",
            value=accuracy(_published(best.row)),
            unit="%",
            note=best.note,
            anchor=best.anchor,
        )
        yield Fact(
            label="We find",
            value=accuracy(best.row.mean),
            unit="%",
            note=f"{signed(best.row.difference)} points, over {_folds(best.row)}",
            anchor=best.anchor,
            mark=agreement(best.row),
        )


def _published(row: AccuracyRow) -> float:
    published = row.published
    return published.mean if published is not None and published.mean is not None else 0.0


def _best(entries: list[_Entry]) -> Iterator[Fact]:
    """The best accuracy, and whose it is: all of those that share it."""
    if not entries:
        return
    value = accuracy(max(one.row.mean for one in entries))
    best = [one for one in entries if accuracy(one.row.mean) == value]
    names = list(dict.fromkeys(one.called for one in best))
    many = f"{len(names)} methods: {', '.join(names[:2])}" + (", …" if len(names) > 2 else "")
    yield Fact(
        label="Best of all here" if len(names) == 1 else "Best here, shared",
        value=value,
        unit="%",
        note=best[0].note if len(names) == 1 else many,
        anchor=best[0].anchor,
    )


def _progress(result: StudyResult) -> Fact:
    n_failed = len(result.failures)
    left = result.n_items - result.n_finished
    failed = f", {n_failed} failed" if n_failed else ""
    return Fact(
        label="Finished",
        value=str(result.n_finished),
        unit=f"of {result.n_items}",
        note="items of work" + (f": {left} to go{failed}" if left else ""),
        anchor="unfinished" if left or n_failed else "about",
        mark="below" if left or n_failed else "",
    )


def _folds(row: AccuracyRow) -> str:
    return f"{row.n_folds} fold{'' if row.n_folds == 1 else 's'}"
