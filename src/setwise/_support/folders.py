"""Where files of this user are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """The cache folder of this user for setwise."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
        return base / "setwise" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "setwise"
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "setwise"
