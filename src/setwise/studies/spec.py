"""What a study is made of: TOML in, checked models out.

A *study* is one file: a title and some experiments, each of which shows a table or a figure of
the paper. Nothing here computes; :mod:`setwise.studies.items` makes the work of it. Wrong
or unknown entries are refused by name and place.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, Union

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    model_validator,
)

__all__ = [
    "Data",
    "Distributions",
    "Experiment",
    "Feature",
    "Fusion",
    "Gaussians",
    "Method",
    "Methods",
    "Outliers",
    "Published",
    "PublishedSignal",
    "Recipe",
    "Robustness",
    "Study",
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


def _labels(methods: tuple[Method, ...]) -> list[str]:
    return [method.label for method in methods]


def _refuse_twice(names: list[str], what: str) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"two {what} are called {twice[0]!r}: give one of them another name"
        raise ValueError(msg)


def _told_apart(methods: tuple[Method, ...]) -> tuple[Method, ...]:
    _refuse_twice(_labels(methods), "methods")
    fused = [method.label for method in methods if method.fusions]
    if fused:
        msg = f"{fused[0]!r} has fusions, which only experiments of kind 'fusion' have"
        raise ValueError(msg)
    return methods


# Methods that give one label each, under different names.
OneLabelEach: TypeAlias = Annotated[
    tuple[Method, ...], Field(min_length=1), AfterValidator(_told_apart)
]


class Published(Strict):
    """What the paper reports for one row; what it does not report is None."""

    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None
    seconds: float | None = None


class _Experiment(Strict):
    """What all experiments have.

    Attributes
    ----------
    name : str
        Short, for options and file names.
    title : str
        Above its table or figure.
    shows : str
        Which table or figure of the paper it stands for.
    about : str
        What else should be known.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=40)]
    title: str
    shows: str = ""
    about: str = ""
    seeds: tuple[Seed, ...] = (0,)


class PublishedSignal(Strict):
    """What the paper reports for one clusterer: its SNR, and the smallest distance."""

    snr: float | None = None
    distance: float | None = None


class _OnFolds(_Experiment):
    """What experiments on the folds of some data have.

    Attributes
    ----------
    data : Data
        The sets.
    folds : tuple of int, optional
        Which folds; all by default.
    n_probes : int, optional
        Most probes of a fold, evenly spread; all by default.
    published : dict of str to Published
        What the paper reports, by row.
    """

    data: Data
    folds: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    n_probes: Count | None = None
    published: dict[str, Published] = {}


class Fusion(_OnFolds):
    """Accuracy by fusion (Table 1), and by the number of dimensionalities (Figs. 6 to 8)."""

    kind: Literal["fusion"]
    method: Method

    @model_validator(mode="after")
    def _has_fusions(self) -> Fusion:
        if not self.method.fusions:
            msg = "method.fusions is empty: name at least one of mode, sum, coefficient, none"
            raise ValueError(msg)
        return self


class Methods(_OnFolds):
    """Methods side by side, accuracy and time (Tables 2, 3 and 4).

    Attributes
    ----------
    methods : tuple of Method
        Rows of the table. In TOML a bare name will do.
    is_timed : bool
        Whether times are what it is about: then its work is done one by one, with nothing
        beside it.
    explain : str, optional
        Name of a row with CVC whose wrong answers are explained.
    """

    kind: Literal["methods"]
    methods: OneLabelEach
    is_timed: bool = False
    explain: str | None = None

    @model_validator(mode="after")
    def _knows_what_to_explain(self) -> Methods:
        if self.explain is not None and self.explain not in _labels(self.methods):
            msg = f"explain is {self.explain!r}, which is no name of a method here"
            raise ValueError(msg)
        return self


class Outliers(Strict):
    """Images of other gallery sets mixed into the gallery, or into the probes.

    Attributes
    ----------
    into : {"gallery", "probes"}
        Where they go.
    n : int
        Images taken of each other gallery set, or for probes of each gallery set.
    """

    into: Literal["gallery", "probes"]
    n: Count


class Robustness(_OnFolds):
    """Accuracy with outliers in the gallery or in the probes (Fig. 9).

    Attributes
    ----------
    methods : tuple of Method
        Lines of the figure.
    n_outliers : tuple of int
        Images taken of each set; without any is always tried too.
    """

    kind: Literal["robustness"]
    methods: OneLabelEach
    n_outliers: Annotated[tuple[Count, ...], Field(min_length=1)] = (1, 2, 3)


class Distributions(_Experiment):
    """Class-cluster distributions, distances and SNR of clusterers (Figs. 1 and 3).

    The *images* of one set of each of some classes, and of one more set of one of them, the
    probe, are clustered.

    Attributes
    ----------
    data : Data
        The sets; their folds do not matter.
    clusterers : tuple of str
        Names that :class:`setwise.CVC` knows.
    n_classes : int
        Classes in the gallery; the paper has 5.
    n_draws : int
        How often classes and sets are drawn. The first draw is shown, all are counted.
    published : dict of str to PublishedSignal
        What the paper reports, by clusterer.
    """

    kind: Literal["distributions"]
    data: Data
    clusterers: Annotated[tuple[str, ...], Field(min_length=1)]
    n_classes: Annotated[int, Field(ge=2)] = 5
    n_draws: Count = 10
    published: dict[str, PublishedSignal] = {}


class Gaussians(_Experiment):
    """NCut on two clouds of normal points (Fig. 4).

    Attributes
    ----------
    distances : tuple of float
        Between the centres of the clouds.
    sizes : tuple of int
        Points of each cloud.
    variance : float
        Of each coordinate.
    n_draws : int
        Draws for each distance and size.
    """

    kind: Literal["gaussians"]
    distances: Annotated[tuple[float, ...], Field(min_length=1)] = (2, 3, 4, 5, 6, 7)
    sizes: Annotated[tuple[Count, ...], Field(min_length=1)] = tuple(range(100, 501, 25))
    variance: Annotated[float, Field(gt=0)] = 2.0
    n_draws: Count = 2


Experiment: TypeAlias = Annotated[
    Union[Fusion, Methods, Robustness, Distributions, Gaussians],  # noqa: UP007 (pydantic)
    Field(discriminator="kind"),
]


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
    experiments: Annotated[tuple[Experiment, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_differ(self) -> Study:
        _refuse_twice([one.name for one in self.experiments], "experiments")
        return self
