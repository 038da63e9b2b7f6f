"""A quicker start, and end, for commands that answer at once.

scikit-learn imports SciPy's statistics and, where it is installed, pandas, to have them at
hand. Together they take longer than an answer, which needs neither. And an interpreter with so
much in it takes long to look for garbage while it starts, and to tidy up when it ends.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["import_estimators", "leave_at_once", "put_off"]


class _Later(ModuleType):
    """Stands for a module until somebody asks for something in it."""

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
    """Modules that are imported meanwhile only by name, and really when they are used."""
    later = {name: _Later(name) for name in names if name not in sys.modules}
    sys.modules.update(later)
    try:
        yield
    finally:
        for name, module in later.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def import_estimators() -> None:
    """Import scikit-learn's base without what takes it so long."""
    with put_off("scipy.stats", "pandas"):
        import sklearn.base  # noqa: F401


def leave_at_once(work: Callable[[], None]) -> None:
    """Do something and end the process, without taking everything in it apart first.

    Garbage is not looked for either, until the work says so: what is imported is none.
    """
    gc.disable()
    status: Any = 0
    try:
        work()
    except SystemExit as end:
        status = end.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))
