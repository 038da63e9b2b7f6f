"""The parts that experiments of any kind are made of: TOML in, checked models out.

Each kind of experiment (:mod:`setwise.studies.kinds`) adds what it alone asks for. Nothing here
computes. Wrong or unknown entries are refused by name and place.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

__all__ = [
    "Count",
    "Data",
    "Feature",
    "Method",
    "OneLabelEach",
    "Published",
    "Recipe",
    "Seed",
    "Strict",
    "refuse_doubles",
]

Count: TypeAlias = Annotated[int, Field(ge=1)]
Seed: TypeAlias = Annotated[int, Field(ge=0, lt=2**32)]


class Strict(BaseModel):
    """A model that refuses what it does not know, and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, allow_inf_nan=False)


class Feature(Strict):
    """A feature of images, computed before anything else.

    Attributes
    ----------
    name : str
        Which one.
    parameters : dict
        Of its class in :mod:`setwise.features`.
    """

    name: Literal["pixels", "equalised", "lbp", "hog"]
    parameters: dict[str, Any] = {}


class Data(Strict):
    """Which sets, what is taken of their images, and what is gallery and what is probe.

    Attributes
    ----------
    name : str
        A name that :func:`setwise.io.datasets.load` knows, or the name of an ``.npz`` file of
        yours in the folder of the data, without its ending; ``"youtube"`` or ``"cambridge"``.
    feature : Feature, optional
        What is computed of each image; pixels as they are by default.
    protocol : str
        ``"given"``, the folds of the dataset; ``"halves"``, the images of each class in two
        random halves, a gallery set and a probe; or ``"pairs"``, of each class one random set
        in the gallery and another one as probe.
    n_classes : int, optional
        Classes of a fold, for ``"halves"`` and ``"pairs"``: fold after fold takes the next
        ones. All by default.
    n_folds : int
        How many folds, for ``"halves"`` and ``"pairs"``.
    n_vectors : int, optional
        Most images of a set, chosen at random.
    """

    name: str
    feature: Feature | None = None
    protocol: Literal["given", "halves", "pairs"] = "given"
    n_classes: Annotated[int, Field(ge=2)] | None = None
    n_folds: Count = 1
    n_vectors: Count | None = None


class Recipe(Strict):
    """How a classifier is made.

    Attributes
    ----------
    of : str
        Its name in :data:`setwise.evaluation.METHODS`.
    parameters : dict
        Parameters other than it has there.
    fusions : tuple of str
        For CVC: fuse the votes of its members in each of these ways, for 1, 2, ... of its
        dimensionalities, instead of asking for one label.
    """

    of: str
    parameters: dict[str, Any] = {}
    fusions: tuple[Literal["mode", "sum", "coefficient", "none"], ...] = ()


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
        return self.name or self.of

    @property
    def recipe(self) -> Recipe:
        """The method without its name, which its results do not depend on."""
        return Recipe(of=self.of, parameters=self.parameters, fusions=self.fusions)


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
