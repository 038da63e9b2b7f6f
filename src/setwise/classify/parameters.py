"""What the parameters of CVC may be; errors name the parameter, the choices and the value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from setwise._support.parameters import check_choice, check_count, is_whole, refuse
from setwise.classify.fusion import FUSIONS
from setwise.classify.members import BASES
from setwise.classify.verdict import DISTANCES
from setwise.cut import CUTS

__all__ = ["check_parameters", "named_looks", "named_views"]

_CHOICES: dict[str, Collection[Any]] = {
    "cut": CUTS,
    "distance": DISTANCES,
    "fusion": FUSIONS,
    "weights": ("gallery", None),
    "compare": ("classes", "sets"),
}


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse the first parameter outside what CVC accepts."""
    for name, choices in _CHOICES.items():
        check_choice("CVC", name, parameters[name], choices)
    dims = _as_tuple("dims", parameters["dims"])
    if not all(is_whole(d) and d >= 1 for d in dims):
        refuse("CVC", "dims", "a sequence of ints of at least 1", parameters["dims"])
    bases = parameters["bases"]
    if bases is not None and not all(basis in BASES for basis in _as_tuple("bases", bases)):
        refuse("CVC", "bases", f"a sequence from {', '.join(map(repr, BASES))}", bases)
    radii = _as_tuple("radii", parameters["radii"])
    if not all(isinstance(r, int | float) and 0 < r < np.inf for r in radii):
        refuse("CVC", "radii", "a sequence of positive numbers", parameters["radii"])
    check_count("CVC", "n_seeds", parameters["n_seeds"])


def named_views(views: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """Views by name: known names, transformers, or (name, transformer) pairs."""
    named: dict[str, Any] = {}
    for view in _as_tuple("views", views):
        if isinstance(view, str) and view in known:
            name, transformer = view, known[view]
        elif _is_named_transformer(view):
            name, transformer = view
        elif hasattr(view, "transform"):
            name, transformer = type(view).__name__.lower(), view
        else:
            expected = (
                f"a sequence of {', '.join(map(repr, known))}, transformers or "
                "(name, transformer) pairs"
            )
            refuse("CVC", "views", expected, view)
        if name in named:
            refuse(
                "CVC", "views", "views of different names; give (name, transformer) pairs", name
            )
        named[name] = transformer
    return named


def named_looks(looks: Any, bases: Any, views: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Pairs of a view and a basis, each known by its name."""
    if bases is not None:
        refuse("CVC", "bases", "None where looks are given", bases)
    pairs = tuple(dict.fromkeys(tuple(look) for look in _as_tuple("looks", looks)))
    for pair in pairs:
        if len(pair) != 2 or pair[0] not in views or pair[1] not in BASES:
            expected = (
                f"pairs of a view ({', '.join(map(repr, views))}) and a basis "
                f"({', '.join(map(repr, BASES))})"
            )
            refuse("CVC", "looks", expected, pair)
    return pairs


def _is_named_transformer(view: Any) -> bool:
    if not isinstance(view, tuple) or len(view) != 2 or not isinstance(view[0], str):
        return False
    return view[1] is None or hasattr(view[1], "transform")


def _as_tuple(name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable) or not len(tuple(value)):
        refuse("CVC", name, "a sequence with at least one entry", value)
    return tuple(value)
