"""From a study to its work items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from setwise.errors import DataError
from setwise.studies.data import StudyData, read_data
from setwise.studies.fingerprint import code_fingerprint
from setwise.studies.items import Item, key_of
from setwise.studies.spec import Data

if TYPE_CHECKING:
    from setwise.studies.study import Study

__all__ = ["Desk", "Finished", "Plan", "Planned", "Result", "follow_up", "plan"]

# What came out of an item.
Result: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Planned:
    """An item in its place in an experiment.

    Attributes
    ----------
    key : str
        What its result is filed under.
    item : Item
        The work.
    label : str
        Row or line of the experiment that it counts for.
    turn : int
        Fold or draw: items of the first turn are done first, all experiments together, so
        that a table fills evenly and the time left can be told.
    """

    key: str
    item: Item
    label: str
    turn: int


Finished: TypeAlias = tuple[Planned, Result]


@dataclass(frozen=True)
class Plan:
    """The items of a study.

    Attributes
    ----------
    of : dict of str to tuple of Planned
        Items by the name of their experiment.
    alone : frozenset of str
        Keys of those that are timed.
    data_notes : dict of str to str
        Where each dataset was read from.
    """

    of: Mapping[str, tuple[Planned, ...]]
    alone: frozenset[str]
    data_notes: Mapping[str, str]

    @property
    def work(self) -> dict[str, Item]:
        """Every item once, in the order to be done."""
        everything = [one for planned in self.of.values() for one in planned]
        return {one.key: one.item for one in sorted(everything, key=lambda one: one.turn)}

    def finished(self, name: str, results: Mapping[str, Result]) -> list[Finished]:
        """The items of an experiment that have a result, with it."""
        return [(one, results[one.key]) for one in self.of[name] if one.key in results]


class Desk:
    """Where experiments look at data, and where their items get keys.

    Parameters
    ----------
    folder : Path, optional
        Where data are looked for.

    Attributes
    ----------
    notes : dict of str to str
        Where the data of all items so far were read from.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.notes: dict[str, str] = {}

    def look_at(self, data: Data) -> StudyData:
        """The sets of an experiment."""
        return read_data(data, self.folder)

    def file(self, item: Item, label: str, turn: int, data: Data | None = None) -> Planned:
        """An item under its key; ``data`` is what its result depends on."""
        fingerprints = code_fingerprint()
        if data is not None:
            sets = self.look_at(data)
            fingerprints += sets.digest
            self.notes[_short_name(data)] = sets.note
        return Planned(key_of(item, fingerprints), item, label, turn)


def plan(study: Study, folder: Path | None = None) -> Plan:
    """Find out what there is to do; data are read to know their folds and fingerprints.

    Parameters
    ----------
    study : Study
        What is asked.
    folder : Path, optional
        Where data are looked for, see :func:`setwise.io.datasets.load`.

    Raises
    ------
    DataError
        Where data are missing, or a fold has the same image on both sides.
    ParameterError
        Where a method, or a parameter of one, is unknown.
    """
    desk = Desk(folder)
    try:
        of = {one.name: tuple(one.plan(desk)) for one in study.experiments}
    except DataError as error:
        msg = f"{error} {study.missing}".strip()
        raise type(error)(msg) from None
    timed = [one.name for one in study.experiments if one.is_timed]
    alone = frozenset(planned.key for name in timed for planned in of[name])
    return Plan(of, alone, desk.notes)


def follow_up(
    study: Study, before: Plan, results: Mapping[str, Result], folder: Path | None
) -> Plan:
    """The plan with what there is to do on top of it, now that these results are known."""
    desk = Desk(folder)
    of = {
        one.name: (
            *before.of[one.name],
            *one.follow_up(before.finished(one.name, results), desk),
        )
        for one in study.experiments
    }
    return Plan(of, before.alone, before.data_notes)


def _short_name(data: Data) -> str:
    """The dataset's name, with what makes it another than the dataset itself."""
    kept = "" if data.n_vectors is None else f"{data.n_vectors} images"
    ways = ["" if data.protocol == "given" else data.protocol, kept]
    return ", ".join([data.name, *filter(None, ways)])
