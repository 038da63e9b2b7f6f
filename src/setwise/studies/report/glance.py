"""The few numbers at the top of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from setwise.studies.report.numbers import accuracy, agreement, signed
from setwise.studies.sections import (
    AccuracyRow,
    FusionSection,
    MethodsSection,
    Section,
    StudyResult,
)

__all__ = ["Fact", "at_a_glance"]


@dataclass(frozen=True)
class Fact:
    """One number at the top.

    Attributes
    ----------
    label : str
        What it is.
    value : str
        The number.
    unit : str
        Behind it, smaller.
    note : str
        Below it.
    mark : str
        ``"above"``, ``"below"``, ``"within"`` or nothing, for its colour.
    anchor : str
        Where to read on.
    """

    label: str
    value: str
    unit: str
    note: str
    anchor: str
    mark: str = ""


def at_a_glance(result: StudyResult) -> tuple[Fact, ...]:
    """The paper's best figure beside ours, our best one, and how much of the work is done."""
    rows = list(_all_rows(result))
    facts = [*_beside_paper(rows), *_best(rows), *_wrong(result), _progress(result)]
    return tuple(facts)


def _all_rows(result: StudyResult) -> Iterator[tuple[Section, AccuracyRow]]:
    for section in result.sections:
        # Where times are what it is about, a few probes do.
        is_timed = isinstance(section, MethodsSection) and section.experiment.is_timed
        if isinstance(section, FusionSection | MethodsSection) and not is_timed:
            yield from ((section, row) for row in section.rows)


def _beside_paper(rows: list[tuple[Section, AccuracyRow]]) -> Iterator[Fact]:
    """The best figure of the paper for CVC itself, whose fusions come first in a study."""
    known = [(section, row) for section, row in rows if row.difference is not None]
    ours = [
        (section, row)
        for section, row in known
        if isinstance(section, FusionSection) or row.name.startswith("CVC")
    ]
    for section, row in sorted(ours or known, key=lambda one: -_published(one[1]))[:1]:
        yield Fact(
            label="The paper says",
            value=accuracy(_published(row)),
            unit="%",
            note=_called(section, row),
            anchor=f"section-{section.experiment.name}",
        )
        yield Fact(
            label="We find",
            value=accuracy(row.mean),
            unit="%",
            note=f"{signed(row.difference)} points, over {_folds(row)}",
            anchor=f"section-{section.experiment.name}",
            mark=agreement(row),
        )


def _published(row: AccuracyRow) -> float:
    published = row.published
    return published.mean if published is not None and published.mean is not None else 0.0


def _best(rows: list[tuple[Section, AccuracyRow]]) -> Iterator[Fact]:
    for section, row in sorted(rows, key=lambda one: -one[1].mean)[:1]:
        yield Fact(
            label="Best of all here",
            value=accuracy(row.mean),
            unit="%",
            note=_called(section, row),
            anchor=f"section-{section.experiment.name}",
        )


def _called(section: Section, row: AccuracyRow) -> str:
    shows = f", {section.experiment.shows}" if section.experiment.shows else ""
    name = f"{row.name} fusion" if isinstance(section, FusionSection) else row.name
    return f"{name}{shows}"


def _wrong(result: StudyResult) -> Iterator[Fact]:
    explained = [
        one for one in result.sections if isinstance(one, MethodsSection) and one.wrong
    ]
    for section in explained[:1]:
        rows = [row for row in section.rows if row.name == section.experiment.explain]
        of = f"of {rows[0].n_probes} by {rows[0].name}" if rows else ""
        yield Fact(
            label="Wrong probes",
            value=str(len(section.wrong)),
            unit="",
            note=f"{of}, each explained" if of else "each explained",
            anchor=f"wrong-{section.experiment.name}",
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
