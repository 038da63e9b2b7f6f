"""The classifiers of a study: by name, by import path, or objects of your own.

A name is one of :data:`RECIPES`. A path such as ``"my_module:MyClassifier"`` names a class with
``fit(sets, labels)`` and ``predict(sets)``, found as ``import`` finds it, or in the current
folder. Classifiers of scikit-learn take vectors, and get them: :class:`VectorVote`.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from setwise import CVC, SetBatch
from setwise.errors import ParameterError
from setwise.evaluation import METHODS
from setwise_paper.spec import Recipe
from setwise_paper.support import check_known

# Name -> a classifier, given a seed. The settings for images are named here, so that a study
# does not depend on what is installed.
RECIPES: dict[str, Callable[[int], Any]] = METHODS | {
    "CVC for images": lambda seed: CVC.for_images(("pixels", "edges"), random_state=seed),
    "CVC for turntables": lambda seed: CVC.for_turntables(random_state=seed),
}


class VectorVote(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of vectors as one of sets: the mean of what it says of each vector.

    It is fitted on all vectors, each with the label of its set. Probabilities are averaged
    over a set where it has them, else its labels are counted.
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, sets: SetBatch, labels: npt.ArrayLike) -> VectorVote:
        """Fit on every vector."""
        each = np.repeat(np.asarray(labels), sets.sizes)
        self.classifier_ = clone(self.classifier).fit(np.asarray(sets.vectors, float), each)
        self.classes_ = np.unique(each)
        return self

    def predict(self, sets: SetBatch) -> npt.NDArray[Any]:
        """The class with the largest mean for each set."""
        vectors = np.asarray(sets.vectors, float)
        if hasattr(self.classifier_, "predict_proba"):
            scores = self.classifier_.predict_proba(vectors)
        else:
            scores = self.classifier_.predict(vectors)[:, None] == self.classes_
        sums = np.add.reduceat(np.asarray(scores, float), sets.offsets[:-1])
        chosen: npt.NDArray[Any] = self.classes_[sums.argmax(axis=1)]
        return chosen


def made_by(recipe: Recipe, seed: int) -> Any:
    """The classifier of a recipe, with its seed, not fitted yet."""
    if recipe.estimator is not None:
        made = copy.deepcopy(recipe.estimator)
    elif ":" in recipe.of:
        made = _imported(recipe)
    else:
        return _known(recipe, seed)
    is_unseeded = getattr(made, "random_state", 0) is None
    if is_unseeded and hasattr(made, "set_params"):
        made.set_params(random_state=seed)
    missing = [part for part in ("fit", "predict") if not hasattr(made, part)]
    if missing:
        msg = (
            f"method {recipe.of!r} has no {missing[0]}. Expected fit(sets, labels) and predict."
        )
        raise ParameterError(msg)
    is_of_vectors = type(made).__module__.split(".")[0] == "sklearn"
    if recipe.takes == "vectors" or (recipe.takes == "auto" and is_of_vectors):
        return VectorVote(made)
    return made


def _known(recipe: Recipe, seed: int) -> Any:
    check_known("recipe", "method", recipe.of, RECIPES)
    made = RECIPES[recipe.of](seed)
    known = made.get_params(deep=False)
    for name in recipe.parameters:
        check_known(f"recipe {recipe.of!r}", "parameter", name, known)
    return made.set_params(**recipe.parameters)


def _imported(recipe: Recipe) -> Any:
    thing = _thing(recipe.of)
    known = inspect.signature(thing).parameters
    if all(one.kind is not one.VAR_KEYWORD for one in known.values()):
        for name in recipe.parameters:
            check_known(f"recipe {recipe.of!r}", "parameter", name, known)
    return thing(**recipe.parameters)


def _thing(path: str) -> Any:
    """The class or function that an import path names; the current folder is searched last."""
    module, _, name = path.partition(":")
    here = str(Path.cwd())
    try:
        sys.path.append(here)
        try:
            thing = importlib.import_module(module)
        finally:
            sys.path.remove(here)
        for part in name.split("."):
            thing = getattr(thing, part)
    except (ImportError, AttributeError, ValueError) as error:
        msg = (
            f"method {path!r} cannot be imported: {error}. Expected module:name of a class "
            "with fit and predict, in an installed package or in the current folder."
        )
        raise ParameterError(msg) from error
    if not callable(thing):
        msg = f"method {path!r} is {thing!r}. Expected a class, or a function that makes one."
        raise ParameterError(msg)
    return thing


def code_of(recipe: Recipe) -> str:
    """A hash of a method of your own: of its file, and of the object where one is given."""
    if recipe.estimator is None and ":" not in recipe.of:
        return ""
    thing = type(recipe.estimator) if recipe.estimator is not None else _thing(recipe.of)
    digest = hashlib.sha256(str(joblib.hash(recipe.estimator)).encode())
    with suppress(OSError, TypeError):  # of a notebook or a compiled module
        digest.update(Path(inspect.getfile(thing)).read_bytes())
    return digest.hexdigest()
