"""What people said about the items of a heap: which are one, whose they are, which are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Corrections:
    """Corrections of groups; items are named by keys that outlive the server.

    Examples
    --------
    >>> said = Corrections().same(["a", "b"]).named(["c"], "Anna")
    >>> said.same(["b", "c"]).groups
    {'a': 0, 'b': 0, 'c': 0}
    """

    groups: Mapping[str, int] = field(default_factory=dict)  # of the items that are settled
    names: Mapping[int, str] = field(default_factory=dict)
    apart: tuple[tuple[str, int], ...] = ()  # an item, and a group that it is not of

    def same(self, keys: Sequence[str]) -> Corrections:
        """These items are one, and so is all that was one with any of them."""
        numbers = sorted({self.groups[key] for key in keys if key in self.groups})
        number = numbers[0] if numbers else max(self.groups.values(), default=-1) + 1
        joined = {key: number for key, old in self.groups.items() if old in numbers}
        own = set(keys)
        return Corrections(
            dict(self.groups) | joined | dict.fromkeys(keys, number),
            self._names_after(numbers, number),
            tuple((k, n) for k, n in self.apart if k not in own or n not in (number, *numbers)),
        )

    def _names_after(self, numbers: Sequence[int], number: int) -> dict[int, str]:
        name = next((self.names[n] for n in numbers if n in self.names), None)
        rest = {n: one for n, one in self.names.items() if n not in numbers}
        return rest if name is None else rest | {number: name}

    def named(self, keys: Sequence[str], name: str | None) -> Corrections:
        """These items are one and have a name; who has that name already is the same."""
        alike = [n for n, one in self.names.items() if one == name]
        others = [key for key, n in self.groups.items() if n in alike]
        joined = self.same([*keys, *others])
        number = joined.groups[keys[0]]
        names = {n: one for n, one in joined.names.items() if n != number}
        return replace(joined, names=names if name is None else names | {number: name})

    def different(self, keys: Sequence[str], others: Sequence[str]) -> Corrections:
        """These items are one, the others are one, and the two are not the same."""
        return self.same(keys).same(others)  # settled groups are never joined

    def split(self, keys: Sequence[str], others: Sequence[str]) -> Corrections:
        """These items, which were in one group with the others, are one of their own."""
        gone = set(keys)
        freed = replace(self, groups={k: n for k, n in self.groups.items() if k not in gone})
        return freed.same(others).same(keys)

    def out(self, keys: Sequence[str], others: Sequence[str]) -> Corrections:
        """The others are one, and these items, whoever they are, are not of them."""
        gone = set(keys)
        freed = replace(self, groups={k: n for k, n in self.groups.items() if k not in gone})
        settled = freed.same(others)
        number = settled.groups[others[0]]
        more = ((key, number) for key in keys if (key, number) not in settled.apart)
        return replace(settled, apart=(*settled.apart, *more))

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        names = {str(number): name for number, name in self.names.items()}
        return {"groups": dict(self.groups), "names": names, "apart": list(self.apart)}

    @classmethod
    def of_dict(cls, said: Mapping[str, Any]) -> Corrections:
        """What :meth:`to_dict` gave; ValueError, TypeError or KeyError for anything else."""
        return cls(
            {str(key): int(number) for key, number in said["groups"].items()},
            {int(number): str(name) for number, name in said["names"].items()},
            tuple((str(key), int(number)) for key, number in said["apart"]),
        )


@dataclass(frozen=True)
class Stack:
    """Items that are one person or thing, by what was computed and what people said."""

    items: tuple[int, ...]
    name: str | None = None
    is_settled: bool = False


def stacks(
    keys: Sequence[str], labels: Iterable[int], said: Corrections
) -> tuple[list[Stack], list[int]]:
    """The groups, the largest first, and the items that are with no other.

    ``labels`` are computed groups, -1 for items that were not looked at yet, which are in
    neither list. What people said comes first, also where nothing was computed since.
    """
    computed = list(labels)
    of_label = {
        label: said.groups[key]
        for key, label in zip(reversed(keys), reversed(computed), strict=True)
        if label >= 0 and key in said.groups
    }
    homes: dict[tuple[str, int], list[int]] = {}
    apart = set(said.apart)
    for i, (key, label) in enumerate(zip(keys, computed, strict=True)):
        number = said.groups.get(key, of_label.get(label))
        if number is not None and (key, number) not in apart:
            homes.setdefault(("settled", number), []).append(i)
        elif label >= 0:
            homes.setdefault(
                ("alone", i) if number is not None else ("group", label), []
            ).append(i)
    found, unsure = [], []
    for (kind, number), items in homes.items():
        is_settled = kind == "settled"
        if len(items) == 1 and not (is_settled and number in said.names):
            unsure += items
        else:
            name = said.names.get(number) if is_settled else None
            found.append(Stack(tuple(items), name, is_settled))
    return sorted(found, key=lambda one: (-len(one.items), one.items[0])), sorted(unsure)
