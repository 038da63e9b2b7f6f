"""Explanations as plain dicts, to be written down as JSON and drawn later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import FloatArray
from setwise.classify.explanation import CutStep, Explanation, MemberVote
from setwise.classify.members import Look, Member
from setwise.errors import DataError

__all__ = ["explanation_from_dict", "explanation_to_dict"]

DIGITS = 6


def explanation_to_dict(why: Explanation) -> dict[str, Any]:
    """Everything in types that JSON knows; what is not finite is None."""
    return {
        "label": str(why.label),
        "classes": [str(label) for label in why.classes],
        "probabilities": _numbers(why.probabilities),
        "scores": _numbers(why.scores),
        "is_degenerate": bool(why.is_degenerate),
        "votes": [
            {
                "member": _member(vote.member),
                "weight": _numbers(vote.weight),
                "label": None if vote.label is None else str(vote.label),
                "distances": _numbers(vote.distances),
                "snr": _numbers(vote.snr),
            }
            for vote in why.votes
        ],
        "shown": _member(why.shown),
        "snr": _numbers(why.snr),
        "tree": [_step(step) for step in why.tree],
        "class_cluster": _numbers(why.class_cluster),
        "support": _numbers(why.support),
        "sign_switches": _numbers(why.sign_switches),
        "probe_points": _numbers(why.probe_points),
        "gallery_points": _numbers(why.gallery_points),
        "gallery_point_classes": np.asarray(why.gallery_point_classes).tolist(),
    }


def explanation_from_dict(content: Mapping[str, Any]) -> Explanation:
    """The explanation a dict was made of; distances that are None were infinite."""
    try:
        return _explanation(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = (
            f"Explanation.from_dict: {type(error).__name__}: {error}. Expected what "
            "Explanation.to_dict gave, all of it."
        )
        raise DataError(msg) from error


def _explanation(content: Mapping[str, Any]) -> Explanation:
    return Explanation(
        label=content["label"],
        classes=np.array(content["classes"]),
        probabilities=_array(content["probabilities"]),
        scores=_array(content["scores"]),
        is_degenerate=bool(content["is_degenerate"]),
        votes=tuple(
            MemberVote(
                member=_member_of(vote["member"]),
                weight=float(vote["weight"]),
                label=vote["label"],
                distances=_array(vote["distances"], np.inf),
                snr=_number(vote["snr"], np.inf),
            )
            for vote in content["votes"]
        ),
        shown=_member_of(content["shown"]),
        snr=_number(content["snr"], np.inf),
        tree=tuple(_step_of(step) for step in content["tree"]),
        class_cluster=_array(content["class_cluster"]),
        support=_array(content["support"]),
        sign_switches=_array(content["sign_switches"]),
        probe_points=_array(content["probe_points"]).reshape(-1, 2),
        gallery_points=_array(content["gallery_points"]).reshape(-1, 2),
        gallery_point_classes=np.array(content["gallery_point_classes"], dtype=np.int64),
    )


def _numbers(values: npt.ArrayLike) -> Any:
    """A number, or lists of them, to a few digits; None where it is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [_numbers(part) for part in array]
    return float(f"{array:.{DIGITS}g}") if np.isfinite(array) else None


def _array(values: Any, missing: float = np.nan) -> FloatArray:
    array = np.array(values, dtype=np.float64)  # None becomes NaN
    return np.where(np.isnan(array), missing, array)


def _number(value: float | None, missing: float) -> float:
    return missing if value is None else float(value)


def _member(member: Member) -> dict[str, Any]:
    look = member.look
    return {
        "name": str(member),
        "view": look.view,
        "basis": look.basis,
        "radius": float(look.radius),
        "seed": int(look.seed),
        "n_columns": int(member.n_columns),
    }


def _member_of(content: Mapping[str, Any]) -> Member:
    look = Look(content["view"], content["basis"], content["radius"], content["seed"])
    return Member(look, content["n_columns"])


def _step(step: CutStep) -> dict[str, Any]:
    return {
        "node": int(step.node),
        "parent": int(step.parent),
        "children": [int(child) for child in step.children],
        "depth": int(step.depth),
        "n_columns": int(step.n_columns),
        "n_probe": int(step.n_probe),
        "class_counts": np.asarray(step.class_counts).tolist(),
        "kind": step.kind,
        "connectivity": _numbers(step.connectivity),
        "ncut": _numbers(step.ncut),
        "fell_away": [str(label) for label in step.fell_away],
    }


def _step_of(content: Mapping[str, Any]) -> CutStep:
    return CutStep(
        node=content["node"],
        parent=content["parent"],
        children=tuple(content["children"]),
        depth=content["depth"],
        n_columns=content["n_columns"],
        n_probe=content["n_probe"],
        class_counts=np.array(content["class_counts"], dtype=np.int64),
        kind=content["kind"],
        connectivity=_number(content["connectivity"], np.nan),
        ncut=_number(content["ncut"], np.nan),
        fell_away=tuple(content["fell_away"]),
    )
