"""Base classes of every kind: an experiment, and the section that shows its results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import Field

from setwise_paper.accuracy import AccuracyRow, Table
from setwise_paper.plan import Finished, Planned, Planner
from setwise_paper.report.parts import Fact, Pictures
from setwise_paper.spec import Data, Seed, Strict

# Title, columns and rows of a table.
Words: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[str]]]
PicturesOf: TypeAlias = Callable[[Data], Pictures]


class Experiment(Strict):
    """One table or figure of a study: its entries in TOML, its items, and its section."""

    kind: str
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)]
    title: str
    shows: str = ""
    about: str = ""
    seeds: tuple[Seed, ...] = (0,)
    is_timed: bool = False

    @abstractmethod
    def plan(self, planner: Planner) -> Iterator[Planned]:
        """Its items."""

    def follow_up(self, finished: Sequence[Finished], planner: Planner) -> Iterator[Planned]:
        """What there is to do now that these items are finished; nothing by default."""
        yield from ()

    @abstractmethod
    def summarise(self, finished: Sequence[Finished]) -> Section:
        """What is known from these items, at least one of which it planned."""


@dataclass(frozen=True)
class Section(ABC):
    """What came out of an experiment, ready to be shown: numbers and names, nothing drawn."""

    experiment: Experiment

    template: ClassVar[str] = "sections/tables.html.jinja"
    # Fields that only pictures show, and that are not among the numbers.
    pictured: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def tabulate(self) -> Iterator[Words]:
        """Its tables, with columns that may be empty."""

    def tables(self) -> Iterator[Table]:
        """Its tables; columns that would be empty are left out."""
        for title, columns, rows in self.tabulate():
            kept = [i for i in range(len(columns)) if i == 0 or any(row[i] for row in rows)]
            yield Table(
                self.experiment.shows,
                title,
                tuple(columns[i] for i in kept),
                tuple(tuple(row[i] for i in kept) for row in rows),
            )

    def numbers(self) -> dict[str, Any]:
        """Everything but pictures and explanations, in types that JSON knows."""
        hidden = ("experiment", *self.pictured)
        names = [one.name for one in fields(self) if one.name not in hidden]
        content = {name: _plain(getattr(self, name)) for name in names}
        return {"shows": self.experiment.shows, **content}

    def for_template(self, pictures_of: PicturesOf) -> Mapping[str, Any]:
        """What its template asks for; ``pages``, if any, get a page each."""
        return {"tables": list(self.tables())}

    def accuracies(self) -> Iterator[tuple[str, AccuracyRow]]:
        """Accuracies that the top of a report may tell, each with the name of what has it."""
        yield from ()

    def facts(self) -> Iterator[Fact]:
        """What else the top of a report should tell."""
        yield from ()


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, AccuracyRow):
        return value.numbers()
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
