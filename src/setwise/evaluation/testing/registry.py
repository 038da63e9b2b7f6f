"""Where checks are entered, with what a classifier needs to be asked them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

__all__ = ["ENTRIES", "CheckFunction", "check"]

CheckFunction: TypeAlias = Callable[[Any], None]

# function -> attributes without which a classifier is not asked; in the order of definition
ENTRIES: dict[CheckFunction, tuple[str, ...]] = {}


def check(*needs: str) -> Callable[[CheckFunction], CheckFunction]:
    """Enter a function as a check of all classifiers that have some methods or parameters."""

    def enter(function: CheckFunction) -> CheckFunction:
        ENTRIES[function] = needs
        return function

    return enter
