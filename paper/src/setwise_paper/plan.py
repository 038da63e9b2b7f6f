"""From a study to its items, the smallest pieces of work.

An item says everything its result depends on, and nothing else. Its key is a hash of that, of
the data and of the code: experiments that need the same item share it, and a changed study
repeats only what changed.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from threadpoolctl import threadpool_limits

import setwise
from setwise.errors import DataError
from setwise_paper.data import StudyData, read_data
from setwise_paper.spec import Data
from setwise_paper.worker import Item

if TYPE_CHECKING:
    from setwise_paper.study import Study


# Code that shows results and changes none. All other code counts, new rooms too.
SHOWING = ("cli", "commands", "page", "plots", "report", "figures")
LIBRARIES = (
    "setwise",
    "setwise-paper",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "scikit-image",
)


@cache
def code_fingerprint() -> str:
    """A hash of the source that computes results, and of the versions it rests on."""
    digest = hashlib.sha256(repr(versions()).encode())
    for root in (Path(setwise.__file__).parent, Path(__file__).parent):
        for path in sorted(root.rglob("*.py")):
            place = path.relative_to(root).as_posix()
            if not place.startswith(SHOWING):
                digest.update(place.encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Of setwise, and of the libraries that results may depend on."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> str:
    """What kind of machine this is, without naming it."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"


def perform(item: Item, folder: Path | None = None) -> dict[str, Any]:
    """Do an item with BLAS kept to one thread, so that times do not depend on the cores."""
    with threadpool_limits(1, "blas"):
        return item.perform(folder)


def key_of(item: Item, fingerprints: str) -> str:
    """What the item is filed under: a hash of it, and of the data and code it rests on."""
    content = f"{fingerprints}\n{item.model_dump_json()}"
    return hashlib.sha256(content.encode()).hexdigest()[:24]


# What came out of an item.
Result: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Planned:
    """An item in its place in an experiment."""

    key: str
    item: Item
    label: str
    turn: int


Finished: TypeAlias = tuple[Planned, Result]


@dataclass(frozen=True)
class Plan:
    """The items of a study."""

    of: Mapping[str, tuple[Planned, ...]]
    exclusive: frozenset[str]
    data_notes: Mapping[str, str]

    @property
    def work(self) -> dict[str, Item]:
        """Every item once, in the order to be done."""
        everything = [one for planned in self.of.values() for one in planned]
        return {one.key: one.item for one in sorted(everything, key=lambda one: one.turn)}

    def finished(self, name: str, results: Mapping[str, Result]) -> list[Finished]:
        """The items of an experiment that have a result, with it."""
        return [(one, results[one.key]) for one in self.of[name] if one.key in results]


class Planner:
    """Where experiments look at data, and where their items get keys."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.notes: dict[str, str] = {}

    def sets_of(self, data: Data) -> StudyData:
        """The sets of an experiment."""
        return read_data(data, self.folder)

    def planned(self, item: Item, label: str, turn: int, data: Data | None = None) -> Planned:
        """An item under its key; ``data`` is what its result depends on."""
        fingerprints = code_fingerprint() + item.code()
        if data is not None:
            sets = self.sets_of(data)
            fingerprints += sets.digest
            self.notes[_short_name(data)] = sets.note
        return Planned(key_of(item, fingerprints), item, label, turn)


def plan(study: Study, folder: Path | None = None) -> Plan:
    """Find out what there is to do; data are read to know their folds and fingerprints."""
    planner = Planner(folder)
    try:
        of = {one.name: tuple(one.plan(planner)) for one in study.experiments}
    except DataError as error:
        msg = f"{error} {study.missing}".strip()
        raise type(error)(msg) from None
    timed = [one.name for one in study.experiments if one.is_timed]
    exclusive = frozenset(planned.key for name in timed for planned in of[name])
    return Plan(of, exclusive, planner.notes)


def follow_up(
    study: Study, before: Plan, results: Mapping[str, Result], folder: Path | None
) -> Plan:
    """The plan with what there is to do on top of it, now that these results are known."""
    planner = Planner(folder)
    of = {
        one.name: (
            *before.of[one.name],
            *one.follow_up(before.finished(one.name, results), planner),
        )
        for one in study.experiments
    }
    return Plan(of, before.exclusive, before.data_notes)


def _short_name(data: Data) -> str:
    """The dataset's name, with what makes it another than the dataset itself."""
    kept = "" if data.n_vectors is None else f"{data.n_vectors} images"
    ways = ["" if data.protocol == "given" else data.protocol, kept]
    return ", ".join([data.name, *filter(None, ways)])
