"""Warnings that point at the caller's line, however deep inside setwise they arise."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).resolve().parents[1]) + os.sep


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line of code that is not setwise's own."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
