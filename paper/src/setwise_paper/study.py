"""Studies: the shipped ones, yours by file, and what came out of one."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializeAsAny,
    ValidationError,
    model_validator,
)

from setwise.errors import ParameterError, reject
from setwise_paper.kinds import KINDS
from setwise_paper.kinds.base import Experiment, Section
from setwise_paper.spec import Data, Feature, Method, Published, Strict, refuse_doubles


def _of_its_kind(content: Any) -> Any:
    """The entries of an experiment as the model of its kind, which says what is wrong."""
    if not isinstance(content, Mapping):
        return content
    kind = content.get("kind")
    if kind not in KINDS:
        msg = f"kind is {kind!r}: expected one of {', '.join(KINDS)}"
        raise ValueError(msg)
    return KINDS[kind].model_validate(content)


AnyExperiment: TypeAlias = Annotated[SerializeAsAny[Experiment], BeforeValidator(_of_its_kind)]


class Study(Strict):
    """Experiments that belong together, mostly those on one dataset."""

    title: str
    about: str = ""
    missing: str = ""
    experiments: Annotated[tuple[AnyExperiment, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_differ(self) -> Study:
        refuse_doubles([one.name for one in self.experiments], "experiments")
        return self


@dataclass(frozen=True)
class Failure:
    """An item that failed; ``traceback`` is the path of a file, or empty."""

    experiment: str
    what: str
    error: str
    traceback: str = ""


@dataclass(frozen=True)
class StudyResult:
    """Everything a report of a study shows."""

    study: Study
    sections: tuple[Section, ...]
    failures: tuple[Failure, ...]
    n_items: int
    n_finished: int
    data_notes: Mapping[str, str]
    versions: Mapping[str, str]
    machine: str
    warnings: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.n_finished == self.n_items


FOLDER = Path(__file__).parent / "specs"
MOST_BYTES = 1_000_000  # of a file: the shipped ones have a few thousand


def shipped_studies() -> dict[str, Study]:
    """All shipped studies by name."""
    return {path.stem: read_study(path) for path in sorted(FOLDER.glob("*.toml"))}


def study_named(name: str) -> tuple[str, Study]:
    """A shipped study by its name, or one of yours by the path of its TOML file."""
    if name.endswith(".toml"):
        study = read_study(name)
        return _folder_name(Path(name)), study
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


def _folder_name(file: Path) -> str:
    """What the folder of results of a study file is called: one name, inside the folder."""
    if file.stem.strip(". "):
        return file.stem
    msg = (
        f"{file}: its name without '.toml' is {file.stem!r}, and the folder of its results "
        "would be called so. Expected a name with a letter or a digit: rename the file."
    )
    raise ParameterError(msg)


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study, or say which entry of which file is wrong, and why."""
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            reject(f"{file}: has {file.stat().st_size} bytes. Expected at most {MOST_BYTES}.")
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        reject(f"{file}: cannot be read: {error.strerror}. Expected a TOML file.")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        reject(f"{file}: is no TOML: {error}")
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        reject(f"{file}: {_first_mistake(error)}")


def _first_mistake(error: ValidationError) -> str:
    """One mistake in words: where it is, what is wrong, and what may be meant."""
    # A misspelt entry is also a missing one: say the former.
    mistakes = error.errors(include_url=False)
    first = min(mistakes, key=lambda mistake: mistake["type"] != "extra_forbidden")
    place = ".".join(str(part) for part in first["loc"]) or "the file"
    more = f" ({len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(first["loc"][-1]), _known_names(), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"{place} is unknown.{hint}{more}"
    if first["type"] == "missing":
        return f"{place} is missing.{more}"
    return f"{place}: {first['msg']}, got {first['input']!r:.80}.{more}"


def _known_names() -> list[str]:
    """The entries that could have been meant: all that any part of a study has."""
    parts: tuple[type[BaseModel], ...] = (Data, Feature, Method, Published)
    models: tuple[Any, ...] = (Study, *KINDS.values(), *parts)
    return sorted({name for model in models for name in model.model_fields})
