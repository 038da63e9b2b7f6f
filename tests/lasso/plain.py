"""The kernels of the lasso as plain Python all through, to compare with the compiled ones."""

from __future__ import annotations

import importlib
import sys
from types import SimpleNamespace

import setwise.lasso
from setwise._support import compiled

NAMES = ["descent_kernels", "inverse_kernels", "pool_kernels", "kernels", "ball_kernels"]


def plain_kernels() -> SimpleNamespace:
    """Each module of kernels imported again, with decorators that do nothing."""
    full = [f"setwise.lasso.{name}" for name in NAMES]
    compiled_modules = {name: importlib.import_module(name) for name in full}
    decorators = compiled.kernel, compiled.inner
    try:
        compiled.kernel = compiled.inner = lambda function: function
        for name in full:
            del sys.modules[name]
        plain = [importlib.import_module(name) for name in full]
    finally:
        compiled.kernel, compiled.inner = decorators
        sys.modules.update(compiled_modules)
        for name in NAMES:
            setattr(setwise.lasso, name, compiled_modules[f"setwise.lasso.{name}"])
    return SimpleNamespace(**dict(zip(NAMES, plain, strict=True)))


PLAIN = plain_kernels()
