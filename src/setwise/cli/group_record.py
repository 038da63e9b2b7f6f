"""What a person said of groups: names and corrections, kept beside what a run has written."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

from setwise.errors import DataError, reject

# Groups without a name, and what a set of no group has for one.
UNNAMED = re.compile(r"group \d+")
UNSURE = ""
FORMAT = 1
# Two sets, by name and in order, or by index.
Pair = tuple[str, str]
Link = tuple[int, int]
_UNREADABLE = OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError
_NAMES, _PAIRS = ("groups", "given", "folders", "entries"), ("together", "apart")


def is_named(group: str) -> bool:
    """Whether a person, or a gallery, has given a group its name."""
    return group != UNSURE and not UNNAMED.fullmatch(group)


def ordered(one: str, other: str) -> Pair:
    """A pair of sets, the same in either order."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True)
class Record:
    """Groups as they were last written, and what a person said of them."""

    groups: Mapping[str, str] = field(default_factory=dict)  # of each set
    given: Mapping[str, str] = field(default_factory=dict)  # those that a person named
    together: frozenset[Pair] = frozenset()  # sets that a person brought into one group
    apart: frozenset[Pair] = frozenset()  # and those that a person parted
    folders: Mapping[str, str] = field(default_factory=dict)  # of groups, in that of --into
    entries: Mapping[str, str] = field(default_factory=dict)  # of sets, in these folders

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record of an earlier run; an empty one where there was none."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] > FORMAT:
                msg = f"{path} is of a later version of setwise. Expected format {FORMAT}."
                raise DataError(msg)
            found: dict[str, Any] = {
                kind: frozenset(ordered(str(a), str(b)) for a, b in content[kind])
                for kind in _PAIRS
            }
            found |= {
                kind: {str(key): str(value) for key, value in content[kind].items()}
                for kind in _NAMES
            }
            _check_places([*found["folders"].values(), *found["entries"].values()])
        except FileNotFoundError:
            return cls()
        except _UNREADABLE as error:
            msg = (
                f"{path} cannot be read ({type(error).__name__}). Expected what `setwise "
                "group` wrote. Put it back; if it is deleted, names and corrections are lost."
            )
            raise DataError(msg) from error
        return cls(**found)

    def write(self, path: Path) -> None:
        """Write all of it, or nothing."""
        from setwise._support.files import write_whole

        content: dict[str, Any] = {"format": FORMAT}
        content |= {kind: dict(getattr(self, kind)) for kind in _NAMES}
        content |= {kind: sorted(getattr(self, kind)) for kind in _PAIRS}
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False))

    def changed_by_hand(self, now: Mapping[str, str]) -> Record:
        """The record after a person has renamed groups, and moved sets.

        ``now`` has the group in which each set is found. Sets of one group that are now in
        several were parted. Sets of several groups that are now in one were brought together.
        A set that is gone was taken out, unless all of its group is gone.
        """
        found = {self.groups[one] for one in now if one in self.groups}
        before = {one: group for one, group in self.groups.items() if group in found}
        after = {one: now.get(one, UNSURE) for one in before}
        moved = {one: group for one, group in after.items() if group != before[one]}
        if not moved:
            return self
        apart, together = set(self.apart), set(self.together)
        for group, members in _by_value(before).items():
            if group != UNSURE:
                places = _by_value({one: after[one] for one in members})
                apart |= _between(list(places.values()))
        for group, members in _by_value(after).items():
            if group != UNSURE and not is_named(group) and not moved.keys().isdisjoint(members):
                together |= set(pairwise(sorted(members)))
        given = {one: name for one, name in self.given.items() if one not in moved}
        given |= {one: group for one, group in moved.items() if is_named(group)}

        def is_one(pair: Pair) -> bool:
            return set(pair) <= after.keys() and after[pair[0]] == after[pair[1]] != UNSURE

        def is_two(pair: Pair) -> bool:
            return set(pair) <= after.keys() and after[pair[0]] != after[pair[1]]

        return replace(
            self,
            groups={**self.groups, **after},
            given=given,
            together=frozenset(pair for pair in together if not is_two(pair)),
            apart=frozenset(pair for pair in apart if not is_one(pair)),
        )

    def over(self, other: Record) -> Record:
        """Both records; where they differ, what this one says."""
        return Record(
            groups={**other.groups, **self.groups},
            given={**other.given, **self.given},
            together=self.together | other.together,
            apart=self.apart | other.apart,
            folders={**other.folders, **self.folders},
            entries={**other.entries, **self.entries},
        )

    def links(
        self, sets: Sequence[str], together: Iterable[Pair] = (), apart: Iterable[Pair] = ()
    ) -> tuple[list[Link], list[Link]]:
        """Pairs of indices that stay together and that stay apart, by pairs and by names."""
        place = {name: i for i, name in enumerate(sets)}
        of_name = _by_value({one: self.given[one] for one in sets if one in self.given})
        joined = {*self.together, *together}
        for members in of_name.values():
            joined |= set(pairwise(members))
        parted = {*self.apart, *apart}
        parted |= {(one[0], other[0]) for one, other in combinations(of_name.values(), 2)}
        must, cannot = (
            sorted((place[a], place[b]) for a, b in pairs if a in place and b in place)
            for pairs in (joined, parted)
        )
        _check_links(sets, must, cannot)
        return must, cannot


def _check_places(places: Sequence[str]) -> None:
    """Raise ValueError for a place outside of the folder: who wrote it may be a stranger."""
    for place in map(Path, places):
        if place.is_absolute() or ".." in place.parts or not place.parts:
            raise ValueError


def _by_value(of: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for key, value in of.items():
        found[value].append(key)
    return dict(found)


def _between(places: Sequence[Sequence[str]]) -> set[Pair]:
    """All pairs of sets of two places."""
    return {
        ordered(a, b)
        for one, other in combinations(places, 2)
        for a, b in product(one, other)
    }  # fmt: skip


def _check_links(sets: Sequence[str], must: Sequence[Link], cannot: Sequence[Link]) -> None:
    """Refuse links that contradict each other, by the names of the sets."""
    part = list(range(len(sets)))

    def root(i: int) -> int:
        while part[i] != i:
            part[i] = part[part[i]]
            i = part[i]
        return i

    for i, j in must:
        part[root(i)] = root(j)
    for i, j in cannot:
        if root(i) == root(j):
            reject(
                f"{sets[i]} and {sets[j]} are to be in two groups, and in one: by --must-link, "
                "--cannot-link, names, or corrections of an earlier run. Move one of them, or "
                "take one of the pairs out."
            )


def group_names(labels: Sequence[int], sets: Sequence[str], record: Record) -> list[str]:
    """Name of the group of each set: as given, else as before, else the next free number.

    ``labels`` are numbers of groups, -1 for none. A group without a given name keeps the
    number of the group that most of its sets were in.
    """
    members: dict[int, list[str]] = defaultdict(list)
    for label, one in zip(labels, sets, strict=True):
        if label >= 0:
            members[label].append(one)
    name_of: dict[int, str] = {}
    claims: Counter[tuple[int, str]] = Counter()
    for label, own in members.items():
        for one in own:
            if one in record.given:
                name_of[label] = record.given[one]
            elif UNNAMED.fullmatch(before := record.groups.get(one, UNSURE)):
                claims[label, before] += 1
    for (label, before), _ in sorted(claims.items(), key=lambda claim: (-claim[1], claim[0])):
        if label not in name_of and before not in name_of.values():
            name_of[label] = before
    free = free_groups([*name_of.values(), *record.groups.values()])
    for label in sorted(members.keys() - name_of.keys()):
        name_of[label] = next(free)
    pairs = zip(labels, sets, strict=True)
    return [name_of.get(label, record.given.get(one, UNSURE)) for label, one in pairs]


def free_groups(taken: Iterable[str]) -> Iterator[str]:
    """``"group 1"``, ``"group 2"``, ..., but those that are taken."""
    used, number = set(taken), 0
    while True:
        number += 1
        if f"group {number}" not in used:
            yield f"group {number}"


def read_pairs(path: Path | None, option: str, sets: Sequence[str]) -> list[Pair]:
    """Pairs of sets of a file: two names in each row, as in a CSV file."""
    if path is None:
        return []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        msg = f"{option} {path}: cannot be read ({error}). Expected two sets in each row."
        raise DataError(msg) from error
    found, known = [], set(sets)
    for number, row in enumerate(rows, start=1):
        names = tuple(cell.strip() for cell in row)
        if len(names) != 2 or names[0] == names[1]:
            msg = f"{option} {path}, row {number}: {row}. Expected two different sets."
            raise DataError(msg)
        for name in names:
            if name not in known:
                shown = ", ".join(list(sets)[:5])
                msg = (
                    f"{option} {path}, row {number}: there is no set {name!r}. Expected names "
                )
                msg += f"as in `setwise inspect`, such as {shown}."
                raise DataError(msg)
        found.append((names[0], names[1]))
    return found
