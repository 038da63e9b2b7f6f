"""A quick import of scikit-learn, without SciPy's statistics and pandas."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """A module that is imported when an attribute of it is read."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system looking around
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


@contextmanager
def put_off(*names: str) -> Iterator[None]:
    """Import these modules when they are used, not when they are imported in this block."""
    later = {name: _Later(name) for name in names if name not in sys.modules}
    sys.modules.update(later)
    try:
        yield
    finally:
        for name, module in later.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def import_estimators() -> None:
    """Import scikit-learn's base without SciPy's statistics and pandas."""
    with put_off("scipy.stats", "pandas"):
        import sklearn.base  # noqa: F401
