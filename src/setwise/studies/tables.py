"""Sections as tables of words: for the terminal, for Markdown, and as plain numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

from setwise._support.progress import duration
from setwise.studies.sections import (
    AccuracyRow,
    DistributionsSection,
    FusionSection,
    GaussiansSection,
    MethodsSection,
    RobustnessSection,
    Section,
    StudyResult,
)

__all__ = ["Table", "numbers", "tables_of"]

# What depends on the machine and on what else it did: not what two runs must agree in.
TIMES = ("fit_seconds", "probe_seconds")
# Title, columns and rows of a table.
Words: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[str]]]
TIMED_COLUMNS = ("method", "paper, a probe", "ours, a probe", "paper, ratio", "ours, ratio")


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of words.

    Attributes
    ----------
    shows : str
        Which table or figure of the paper it stands for.
    title : str
        What it is about.
    columns : tuple of str
        Their names.
    rows : tuple of tuple of str
        As many words each as there are columns; empty where nothing is known.
    """

    shows: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def heading(self) -> str:
        """What it shows and what it is about, on one line."""
        return f"{self.shows}: {self.title}" if self.shows else self.title

    def to_markdown(self) -> str:
        """The table for a Markdown page."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        escaped = (tuple(cell.replace("|", r"\|") for cell in line) for line in lines)
        return "\n".join(f"| {' | '.join(line)} |" for line in escaped)


def tables_of(section: Section) -> Iterator[Table]:
    """The tables of one section; columns that would be empty are left out."""
    for title, columns, rows in _tables(section):
        kept = [i for i in range(len(columns)) if i == 0 or any(row[i] for row in rows)]
        yield Table(
            section.experiment.shows,
            title,
            tuple(columns[i] for i in kept),
            tuple(tuple(row[i] for i in kept) for row in rows),
        )


def _tables(
    section: Section,
) -> Iterator[Words]:
    title = section.experiment.title
    if isinstance(section, MethodsSection) and section.experiment.is_timed:
        yield title, TIMED_COLUMNS, list(_timed_rows(section))
    elif isinstance(section, FusionSection | MethodsSection):
        first = "fusion" if isinstance(section, FusionSection) else "method"
        columns = (first, "paper", "ours", "difference", "fit", "a probe")
        yield title, columns, [_accuracy_cells(row) for row in section.rows]
    elif isinstance(section, RobustnessSection):
        yield from _robustness(section)
    elif isinstance(section, DistributionsSection):
        yield from _distributions(section)
    else:
        yield from _gaussians(section)


def _distributions(section: DistributionsSection) -> Iterator[Words]:
    columns = (
        *("clusterer", "right", "SNR", "paper's SNR"),
        *("distance", "paper's distance", "clusters"),
    )
    rows = [
        (
            row.clusterer,
            f"{row.accuracy:.0f} %",
            _signal(row.median_snr),
            _number(row.published_snr),
            _signal(row.median_distance),
            _number(row.published_distance),
            f"{row.mean_clusters:.1f}",
        )
        for row in section.rows
    ]
    title = f"{section.experiment.title}: medians over {section.experiment.n_draws} draws"
    yield title, columns, rows


def _accuracy_cells(row: AccuracyRow) -> tuple[str, ...]:
    published = row.published
    paper = "" if published is None else _mean(published.mean, published.std)
    return (
        row.name,
        paper,
        _mean(row.mean, row.std if row.n_folds > 1 else None),
        "" if row.difference is None else f"{row.difference:+.2f}",
        "" if row.fit_seconds is None else duration(row.fit_seconds),
        "" if row.probe_seconds is None else duration(row.probe_seconds),
    )


def _timed_rows(section: MethodsSection) -> Iterator[tuple[str, ...]]:
    """Seconds a probe and their ratios to the first row, which is what machines agree in."""
    first = section.rows[0]
    for row in section.rows:
        ours, paper = row.probe_seconds, _published_seconds(row)
        yield (
            row.name,
            "" if paper is None else duration(paper),
            "" if ours is None else duration(ours),
            _ratio(paper, _published_seconds(first)),
            _ratio(ours, first.probe_seconds),
        )


def _published_seconds(row: AccuracyRow) -> float | None:
    return None if row.published is None else row.published.seconds


def _ratio(value: float | None, to: float | None) -> str:
    return "" if value is None or not to else f"{value / to:.2f}"


def _mean(mean: float | None, std: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ± {std:.2f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _signal(value: float | None) -> str:
    return "∞" if value is None else f"{value:.3g}"


def _robustness(
    section: RobustnessSection,
) -> Iterator[Words]:
    sides = (
        ("gallery", section.gallery, section.gallery_share),
        ("probes", section.probes, section.probes_share),
    )
    for side, curves, shares in sides:
        if not curves:
            continue
        percents = [f"{share:.0f} % outliers" if share else "clean" for share in shares]
        rows = [
            (
                curve.name,
                *(_mean(m, s) for m, s in zip(curve.mean, curve.std, strict=True)),
            )
            for curve in curves
        ]
        said = [section.experiment.published.get(f"{side} {at:g}") for at in curves[0].x]
        paper = tuple("" if one is None else _mean(one.mean, None) for one in said)
        if any(paper):
            rows.append(("the paper's CVC", *paper))
        yield f"{section.experiment.title}: {side}", ("method", *percents), rows


def _gaussians(
    section: GaussiansSection,
) -> Iterator[Words]:
    columns = ("distance", "connectivity (by size)", "error", "exact error", "switches")
    rows = []
    for distance in dict.fromkeys(row.distance for row in section.rows):
        mine = [row for row in section.rows if row.distance == distance]
        found = [row.connectivity for row in mine]
        rows.append(
            (
                f"{distance:g}",
                f"{sum(found) / len(found):.4f} ({min(found):.4f} - {max(found):.4f})",
                f"{sum(row.error for row in mine) / len(mine):.2f} %",
                f"{sum(row.exact_error for row in mine) / len(mine):.2f} %",
                f"{sum(row.switches for row in mine) / len(mine):.3f}",
            )
        )
    yield section.experiment.title, columns, rows
    by_switches = [
        (
            f"{row.switches}{' or more' if row is section.switches[-1] else ''}",
            f"{row.n_points}",
            f"{row.error:.2f} %",
        )
        for row in section.switches
    ]
    yield "Error of points by sign switches", ("switches", "points", "error"), by_switches


def numbers(result: StudyResult, *, with_times: bool = True) -> dict[str, Any]:
    """Everything but pictures and explanations, in types that JSON knows.

    Parameters
    ----------
    result : StudyResult
        What came out.
    with_times : bool, default=True
        Without them, the same study gives the same numbers on every run.
    """
    content: dict[str, Any] = {
        "title": result.study.title,
        "is_complete": result.is_complete,
        "experiments": {
            section.experiment.name: _plain(section, with_times) for section in result.sections
        },
        "failures": [asdict(failure) for failure in result.failures],
    }
    if with_times:
        content |= {
            "n_items": result.n_items,
            "n_finished": result.n_finished,
            "warnings": dict(result.warnings),
            "versions": dict(result.versions),
            "machine": result.machine,
            "data": dict(result.data_notes),
        }
    return content


def _plain(section: Section, with_times: bool) -> dict[str, Any]:
    content: dict[str, Any] = {"shows": section.experiment.shows}
    for field in fields(section):
        value = getattr(section, field.name)
        if field.name in ("experiment", "wrong", "examples", "example"):
            continue
        content[field.name] = _value(value, with_times)
    if isinstance(section, MethodsSection):
        content["wrong"] = [
            {key: getattr(one, key) for key in ("fold", "seed", "probe", "truth", "answer")}
            for one in section.wrong
        ]
    return content


def _value(value: Any, with_times: bool) -> Any:
    if isinstance(value, tuple):
        return [_value(one, with_times) for one in value]
    if isinstance(value, AccuracyRow):
        published = value.published
        plain = asdict(value) | {
            "difference": value.difference,
            "published": None if published is None else published.model_dump(exclude_none=True),
        }
        return {key: plain[key] for key in plain if with_times or key not in TIMES}
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
