"""Optional dependencies, imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from setwise.errors import MissingExtraError


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module; where it is missing, the error names the extra to install."""
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        msg = f'{package} is needed here and not installed: pip install "setwise[{extra}]"'
        raise MissingExtraError(msg) from error
