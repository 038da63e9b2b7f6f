"""Who of a committee voted what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.text import printable
from setwise._support.types import FloatArray

__all__ = ["CommitteeExplanation", "MemberVote"]


@dataclass(frozen=True)
class MemberVote:
    """What one member of a committee said of a set.

    Attributes
    ----------
    member : str
        Its name.
    weight : float
        How much it counts.
    label : object
        The class it ranks first; None where several share the first rank.
    ranks : array of shape (n_classes,)
        Rank of each class, 1 for the best; equals share the mean of theirs.
    scores : array of shape (n_classes,)
        What it ranks the classes by, in its own units.
    """

    member: str
    weight: float
    label: Any
    ranks: FloatArray
    scores: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Everything in types that JSON knows; the label is a string, or None."""
        return {
            "member": self.member,
            "weight": self.weight,
            "label": None if self.label is None else str(self.label),
            "ranks": self.ranks.tolist(),
            "scores": self.scores.tolist(),
        }


@dataclass(frozen=True)
class CommitteeExplanation:
    """The answer of a committee for one set, and the votes it is the sum of.

    Attributes
    ----------
    label : object
        The answer.
    classes : array of shape (n_classes,)
        All labels.
    scores : array of shape (n_classes,)
        Sum over the votes of ``-weight * log(rank)``; largest for the answer.
    probabilities : array of shape (n_classes,)
        As ``predict_proba`` gives them.
    votes : tuple of MemberVote
        One per member that counts.
    dropped : tuple of str
        Members that the gallery has dropped, and that were not asked.
    """

    label: Any
    classes: npt.NDArray[Any]
    scores: FloatArray
    probabilities: FloatArray
    votes: tuple[MemberVote, ...]
    dropped: tuple[str, ...]

    def __str__(self) -> str:
        answer = int((self.classes == self.label).argmax())
        order = np.argsort(-self.probabilities, kind="stable")[:3]
        ranking = ", ".join(
            f"{printable(str(self.classes[i]))} {self.probabilities[i]:.2f}" for i in order
        )
        n_agree = sum(bool(vote.label == self.label) for vote in self.votes)
        shown = printable(str(self.label))
        lines = [
            f"{shown}: {ranking}; {n_agree} of {len(self.votes)} members agree.",
            f"{'member':20}{'weight':>7}  {f'rank of {shown}':>14}  votes for",
        ]
        for vote in self.votes:
            label = "several alike" if vote.label is None else printable(str(vote.label))
            place = f"{vote.ranks[answer]:g}"
            lines.append(f"{vote.member:20}{vote.weight:7.2g}  {place:>14}  {label}")
        if self.dropped:
            lines.append(f"Dropped by the gallery: {', '.join(self.dropped)}.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything in types that JSON knows; labels become strings."""
        return {
            "label": str(self.label),
            "classes": [str(label) for label in self.classes],
            "scores": self.scores.tolist(),
            "probabilities": self.probabilities.tolist(),
            "votes": [vote.to_dict() for vote in self.votes],
            "dropped": list(self.dropped),
        }
