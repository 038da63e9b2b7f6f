"""Small frozen value objects with a name, and one registry of them.

A basis, a graph, a distance: each is a dataclass whose fields are its parameters. Its family
derives from :class:`Part`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from setwise._support.parameters import check_known, refuse
from setwise.errors import ParameterError

__all__ = ["Part", "PartParameters"]

_KNOWN: dict[str, dict[str, type[Part]]] = {}


class Part:
    """A value object that describes one step of the method."""

    family: ClassVar[str] = ""  #: such as ``"graph"``; set by the family
    name: ClassVar[str] = ""  #: within the family; parts without a name are given as objects

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__dict__.get("name"):
            _KNOWN.setdefault(cls.family, {})[cls.name] = cls

    @classmethod
    def known(cls) -> dict[str, type[Self]]:
        """The parts of this family that have a name."""
        return dict(_KNOWN.get(cls.family, {}))  # type: ignore[arg-type]

    @classmethod
    def of(cls, value: Any, owner: str) -> Self:
        """The part that a parameter of ``owner`` is, names, or describes as a mapping."""
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping):
            return cls.from_config(value)
        known = cls.known()
        if isinstance(value, str) and value in known:
            return known[value]()
        names = ", ".join(map(repr, known))
        return refuse(owner, cls.family, f"one of {names}, or a {cls.__name__}", value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its parameters, as scikit-learn asks for them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def with_params(self, **parameters: Any) -> Self:
        """A copy with some parameters changed."""
        for parameter in parameters:
            check_known(type(self).__name__, "parameter", parameter, self.get_params())
        return replace(self, **parameters)  # type: ignore[type-var]

    def to_config(self) -> dict[str, Any]:
        """Its name and parameters, as JSON values."""
        if not self.name:
            expected = "a part of setwise, or one whose class has a name"
            msg = f"{self!r} cannot be written down: it has no name. Expected {expected}."
            raise ParameterError(msg)
        return {"name": self.name, **{key: _plain(v) for key, v in self.get_params().items()}}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The part of this family for the result of :meth:`to_config`."""
        if not isinstance(config, Mapping) or not isinstance(config.get("name"), str):
            refuse(cls.family, "config", "a mapping with the name of the part", config)
        known, parameters = cls.known(), dict(config)
        name = parameters.pop("name")
        check_known(cls.family, cls.family, name, known)
        for parameter in parameters:
            check_known(name, "parameter", parameter, [f.name for f in fields(known[name])])  # type: ignore[arg-type]
        return known[name](**parameters)


def _plain(value: Any) -> Any:
    """A parameter as a JSON value."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


class PartParameters:
    """For estimators: ``graph__alpha`` reaches into a frozen part, and replaces it."""

    #: parameter -> family of parts
    part_parameters: ClassVar[Mapping[str, type[Part]]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the estimator and, where ``deep``, of its parts."""
        params: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        if deep:
            for name, family in self.part_parameters.items():
                value = params[name]
                if isinstance(value, str) and self._holds_part(name):
                    inner = family.of(value, type(self).__name__).get_params()
                    params |= {f"{name}__{key}": item for key, item in inner.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator and, as ``graph__alpha``, of its parts."""
        nested: dict[str, dict[str, Any]] = {}
        own = {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if inner and self._holds_part(name):
                nested.setdefault(name, {})[inner] = value
            else:
                own[key] = value
        super().set_params(**own)  # type: ignore[misc]
        for name, changes in nested.items():
            part = self.part_parameters[name].of(getattr(self, name), type(self).__name__)
            setattr(self, name, part.with_params(**changes))
        return self

    def _holds_part(self, name: str) -> bool:
        """Whether a parameter is a part, or the name of one."""
        family, value = self.part_parameters.get(name), getattr(self, name, None)
        if family is None:
            return False
        return isinstance(value, Part) or (isinstance(value, str) and value in family.known())
