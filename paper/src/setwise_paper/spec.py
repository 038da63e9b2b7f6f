"""The parts that experiments of any kind are made of: TOML in, checked models out."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, model_validator

Count: TypeAlias = Annotated[int, Field(ge=1)]
Seed: TypeAlias = Annotated[int, Field(ge=0, lt=2**32)]


class Strict(BaseModel):
    """A model that refuses what it does not know, and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class Feature(Strict):
    """A feature of images, computed before anything else."""

    name: Literal["pixels", "equalised", "lbp", "hog"]
    parameters: dict[str, Any] = {}


class Data(Strict):
    """Which sets, what is taken of their images, and what is gallery and what is probe."""

    name: str
    feature: Feature | None = None
    protocol: Literal["given", "halves", "pairs"] = "given"
    n_classes: Annotated[int, Field(ge=2)] | None = None
    n_folds: Count = 1
    n_vectors: Count | None = None


class Recipe(Strict):
    """How a classifier is made: see :mod:`setwise_paper.recipes`.

    ``takes`` says whether a method of your own is fitted on sets or on their vectors: by
    default on sets, and those of scikit-learn on vectors. ``fusions`` are of CVC: its votes
    are fused in each of these ways, up to 1, 2, ... of its dimensionalities.
    """

    of: str
    parameters: dict[str, Any] = {}
    fusions: tuple[Literal["mode", "sum", "coefficient", "none"], ...] = ()
    takes: Literal["auto", "sets", "vectors"] = "auto"
    _estimator: Any = PrivateAttr(default=None)  # given from Python; no file can set it

    @property
    def estimator(self) -> Any:
        """The object that was given from Python, or None."""
        return self._estimator


class Method(Recipe):
    """A recipe, and what tables call it: the name of the recipe by default."""

    name: str = ""

    @model_validator(mode="before")
    @classmethod
    def _name_alone(cls, given: Any) -> Any:
        """Let a bare name stand for the method of that name."""
        return {"of": given} if isinstance(given, str) else given

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.name or self.of.rpartition(":")[2]

    @property
    def recipe(self) -> Recipe:
        """The method without its name, which its results do not depend on."""
        recipe = Recipe(
            of=self.of, parameters=self.parameters, fusions=self.fusions, takes=self.takes
        )
        recipe._estimator = self._estimator
        return recipe

    @classmethod
    def given(cls, name: str, method: Any) -> Method:
        """A method from Python: an import path, the name of a recipe, or an object."""
        if isinstance(method, str):
            return cls(of=method, name=name)
        kind = type(method)
        made = cls(of=f"{kind.__module__}:{kind.__qualname__}", name=name)
        made._estimator = method
        return made


def refuse_doubles(names: list[str], what: str) -> None:
    """Refuse two things of the same name."""
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        msg = f"two {what} are called {doubles[0]!r}: give one of them another name"
        raise ValueError(msg)


def _check_labels(methods: tuple[Method, ...]) -> tuple[Method, ...]:
    refuse_doubles([method.label for method in methods], "methods")
    fused = [method.label for method in methods if method.fusions]
    if fused:
        msg = f"{fused[0]!r} has fusions, which only experiments of kind 'fusion' have"
        raise ValueError(msg)
    return methods


# Methods that give one label each, under different names.
OneLabelEach: TypeAlias = Annotated[
    tuple[Method, ...], Field(min_length=1), AfterValidator(_check_labels)
]


class Published(Strict):
    """What the paper reports for one row; what it does not report is None."""

    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None
    seconds: float | None = None
