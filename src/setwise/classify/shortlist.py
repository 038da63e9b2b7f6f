"""Which classes of a large gallery are looked at: those around the probe.

Cost must follow the neighbourhood of the probe, not the gallery. An index over the means of
the sets finds classes that are near (:mod:`setwise.index`); of these, the vectors themselves
are compared; and the nearest are judged by the whole method, on their columns alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from setwise._support.parameters import check_count
from setwise._support.parts import Part

__all__ = ["Shortlist"]


@dataclass(frozen=True)
class Shortlist(Part):
    """How many classes are looked at, where there are many.

    Parameters
    ----------
    n_classes : int, default=32
        Classes that are judged by the whole method.
    n_compared : int, default=128
        Classes, the nearest by the means of their sets, whose vectors are compared with the
        probe's to find these.
    above : int, default=256
        Galleries of at most so many classes are judged whole.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.classify import Shortlist
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets(n_classes=8)
    >>> clf = CVC(shortlist=Shortlist(n_classes=3, n_compared=6, above=7)).fit(sets, labels)
    >>> (answer,) = clf.judge(sets[:1])
    >>> int(answer.label), len(answer.classes)
    (0, 3)
    """

    family: ClassVar[str] = "shortlist"
    name: ClassVar[str] = "near"
    n_classes: int = 32
    n_compared: int = 128
    above: int = 256

    def __post_init__(self) -> None:
        check_count("Shortlist", "n_classes", self.n_classes, at_least=2)
        check_count("Shortlist", "n_compared", self.n_compared, at_least=self.n_classes)
        check_count("Shortlist", "above", self.above, at_least=self.n_classes)

    @classmethod
    def given(cls, value: object, owner: str) -> Shortlist | None:
        """What a parameter of ``owner`` says: one, its name, or None for all classes always."""
        return None if value is None else cls.of(value, owner)
