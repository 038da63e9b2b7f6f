"""Explanations as plain dicts, to be written down as JSON and drawn later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from setwise._support.types import FloatArray
from setwise.classify.explanation import CutStep, Explanation, MemberVote
from setwise.errors import DataError

__all__ = ["explanation_from_dict", "explanation_to_dict"]

DIGITS = 6
# Fields that hold labels, which may be of any type.
LABELS = ("label", "runner_up", "classes", "fell_away")
# Images are for pictures that are drawn at once.
_LEFT_OUT = ("pictured",)


def explanation_to_dict(why: Explanation) -> dict[str, Any]:
    """Everything in types that JSON knows; what is not finite is None."""
    return _fields(why)


def _fields(value: Any) -> dict[str, Any]:
    return {
        field.name: (_labels if field.name in LABELS else _plain)(getattr(value, field.name))
        for field in fields(value)
        if field.name not in _LEFT_OUT
    }


def _labels(value: Any) -> Any:
    if isinstance(value, tuple | np.ndarray):
        return [str(label) for label in value]
    return None if value is None else str(value)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return _fields(value)
    if isinstance(value, tuple | np.ndarray):
        return [_plain(part) for part in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value


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
    arrays = ("probabilities", "scores", "class_cluster", "support", "sign_switches")
    points = ("probe_points", "gallery_points")
    return Explanation(
        pictured=None,
        **{name: _array(content[name]) for name in arrays},
        **{name: _array(content[name]).reshape(-1, 2) for name in points},
        label=content["label"],
        runner_up=content.get("runner_up"),
        name=content.get("name", ""),
        classes=np.array(content["classes"]),
        is_informed=bool(content["is_informed"]),
        is_known=content["is_known"],
        nearness=float(content["nearness"]),
        is_typical=np.array(content["is_typical"], dtype=np.bool_),
        votes=tuple(_vote(vote) for vote in content["votes"]),
        shown=content["shown"],
        snr=_number(content["snr"], np.inf),
        tree=tuple(_step(step) for step in content["tree"]),
        gallery_point_classes=np.array(content["gallery_point_classes"], dtype=np.int64),
    )


def _vote(content: Mapping[str, Any]) -> MemberVote:
    distances, snr = _array(content["distances"], np.inf), _number(content["snr"], np.inf)
    return MemberVote(**dict(content) | {"distances": distances, "snr": snr})


def _step(content: Mapping[str, Any]) -> CutStep:
    read = {
        "children": tuple(content["children"]),
        "class_counts": np.array(content["class_counts"], dtype=np.int64),
        "connectivity": _number(content["connectivity"], np.nan),
        "ncut": _number(content["ncut"], np.nan),
        "fell_away": tuple(content["fell_away"]),
    }
    return CutStep(**dict(content) | read)


def _array(values: Any, missing: float = np.nan) -> FloatArray:
    array = np.array(values, dtype=np.float64)  # None becomes NaN
    return np.where(np.isnan(array), missing, array)


def _number(value: float | None, missing: float) -> float:
    return missing if value is None else float(value)
