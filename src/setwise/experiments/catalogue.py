"""The studies that are shipped, and any other by its file."""

from __future__ import annotations

import difflib
from pathlib import Path

from setwise.errors import ParameterError
from setwise.experiments.spec import Study, read_study

__all__ = ["shipped_studies", "study_named"]

FOLDER = Path(__file__).parent / "specs"


def shipped_studies() -> dict[str, Study]:
    """All shipped studies by name."""
    return {path.stem: read_study(path) for path in sorted(FOLDER.glob("*.toml"))}


def study_named(name: str) -> tuple[str, Study]:
    """A shipped study by its name, or one of yours by the path of its TOML file.

    Parameters
    ----------
    name : str
        As ``setwise reproduce --list`` shows it, or a path that ends in ``.toml``.

    Returns
    -------
    name, study
        The name is the file's without its ending: what its folder of results is called.
    """
    if name.endswith(".toml"):
        return Path(name).stem, read_study(name)
    known = [path.stem for path in sorted(FOLDER.glob("*.toml"))]
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        msg = (
            f"No study is called {name!r}. Expected one of {', '.join(known)}, or the path of "
            f"a TOML file.{hint}"
        )
        raise ParameterError(msg)
    return name, read_study(FOLDER / f"{name}.toml")
