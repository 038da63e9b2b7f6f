"""A study: experiments that belong together, and what came out of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from setwise.studies.kinds import KINDS
from setwise.studies.kinds.base import Experiment, Section
from setwise.studies.spec import Strict, refuse_doubles

__all__ = ["Failure", "Study", "StudyResult"]


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
    """Experiments that belong together, mostly those on one dataset.

    Attributes
    ----------
    title : str
        Above its report.
    about : str
        What the data is, and what was done to it.
    missing : str
        What to do where the data is not at hand.
    experiments : tuple
        In the order of the report.
    """

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
    """An item that could not be done: which experiment, what it was, why, and where to read on.

    ``traceback`` is the path of a file, or empty.
    """

    experiment: str
    what: str
    error: str
    traceback: str = ""


@dataclass(frozen=True)
class StudyResult:
    """Everything a report of a study shows.

    Attributes
    ----------
    study : Study
        What was asked.
    sections : tuple of Section
        One per experiment that has any finished item, in the order of the study.
    failures : tuple of Failure
        What could not be done.
    n_items, n_finished : int
        How much work there is, and how much of it is done.
    data_notes : dict of str to str
        Where each dataset was read from, and which folds it has.
    versions : dict of str to str
        Of setwise and of what it rests on.
    machine : str
        On which the times were taken, and with how many jobs.
    warnings : dict of str to int
        How often which warning was heard: answers that stand, but are weaker than usual.
    """

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
