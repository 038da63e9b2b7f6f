"""All set classifiers of the library by name, ready to be compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from setwise import baselines
from setwise._support.parameters import check_known, refuse
from setwise.classify import CVC
from setwise.errors import ParameterError


def _no_fusion(clusterer: Any) -> Callable[[int], CVC]:
    """CVC as in the paper's comparison of clusterers: largest dimensionality only."""
    return lambda seed: CVC.as_in_paper(
        dims=(10,), fusion="none", clusterer=clusterer, random_state=seed
    )


# name -> what makes the classifier, from a seed; first what people do without a library
METHODS: dict[str, Callable[[int], Any]] = {
    "mean cosine": lambda seed: baselines.MeanCosine(),
    "mean cosine, robust": lambda seed: baselines.MeanCosine(robust=True),
    "frame vote, cosine": lambda seed: baselines.FrameVote(metric="cosine"),
    "CVC": lambda seed: CVC(random_state=seed),
    "committee": lambda seed: baselines.Committee(random_state=seed),
    "CVC as in paper": lambda seed: CVC.as_in_paper(random_state=seed),
    "CVC no fusion, SHC": _no_fusion(None),
    "CVC no fusion, k-means": _no_fusion("kmeans"),
    "CVC no fusion, spectral": _no_fusion("spectral"),
    "CVC no fusion, SSC": _no_fusion("ssc"),
    "CVC no fusion, SSC by ADMM": _no_fusion("ssc-admm"),
    "CVC no fusion, SKMS": _no_fusion("skms"),
    "DCC": lambda seed: baselines.DCC(),
    "MMD": lambda seed: baselines.MMD(),
    "MDA": lambda seed: baselines.MDA(),
    "AHISD": lambda seed: baselines.AHISD(),
    "CHISD": lambda seed: baselines.CHISD(),
    "CHISD, rbf kernel": lambda seed: baselines.CHISD(kernel="rbf"),
    "SANP": lambda seed: baselines.SANP(),
    "CDL-LDA": lambda seed: baselines.CDL("lda"),
    "CDL-PLS": lambda seed: baselines.CDL("pls"),
    "MSM": lambda seed: baselines.MSM(),
    "MSM, smallest angle": lambda seed: baselines.MSM(n_angles=1),
    "CMSM": lambda seed: baselines.CMSM(),
    "GDA": lambda seed: baselines.GDA(),
    "GDA, centred": lambda seed: baselines.GDA(3, centred=True),
    "RNP": lambda seed: baselines.RNP(),
    "ISCRC": lambda seed: baselines.ISCRC(random_state=seed),
    "frame vote": lambda seed: baselines.FrameVote(),
    "mean vector": lambda seed: baselines.MeanVector(),
    "minimum distance": lambda seed: baselines.MinimumDistance(),
    "log-Euclidean": lambda seed: baselines.LogEuclidean(),
}
# Seconds per probe, where the others take milliseconds: compared only when named.
SLOW = ("CVC no fusion, SSC by ADMM", "CVC no fusion, SKMS")


def check_methods(names: Iterable[str], others: Collection[str] = ()) -> list[str]:
    """Split and check names of methods, before anything is loaded.

    Each of ``names`` is one name or several separated by commas, which names may contain;
    duplicates are removed. ``others`` are known beside :data:`METHODS`.

    Examples
    --------
    >>> check_methods(["CVC, CHISD, rbf kernel", "MSM"])
    ['CVC', 'CHISD, rbf kernel', 'MSM']
    """
    known = (*METHODS, *others)
    return list(dict.fromkeys(name for text in names for name in _split(text, known)))


def _split(text: str, known: Collection[str]) -> Iterator[str]:
    """The known names in a text with commas, the longest match first."""
    words = [word.strip() for word in text.split(",")]
    while words:
        starts = (", ".join(words[:n]) for n in range(len(words), 0, -1))
        name = next((start for start in starts if start in known), words[0])
        check_known("compare", "method", name, known)
        yield name
        words = words[name.count(",") + 1 :]


def named_methods(methods: Any, seed: int) -> dict[str, Any]:
    """Checked classifiers by name, made with ``seed`` where ``methods`` are names."""
    if methods is None:
        methods = [name for name in METHODS if name not in SLOW]
    if isinstance(methods, Mapping):
        return _checked(dict(methods))
    if isinstance(methods, str | bytes) or not np.iterable(methods):
        refuse("compare", "methods", "a sequence of names or classifiers", methods)
    named = [_named(method, seed) for method in methods]
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            msg = (
                f"compare: methods holds two called {name!r}. Expected different names: give a "
                "mapping of names to classifiers."
            )
            raise ParameterError(msg)
    return _checked(dict(named))


def _checked(named: dict[str, Any]) -> dict[str, Any]:
    """Refuse what is not a classifier, and an empty selection."""
    for name, classifier in named.items():
        if not is_classifier(classifier):
            msg = (
                f"compare: method {name!r} is {classifier!r}. Expected a classifier with fit "
                "and predict, like scikit-learn's."
            )
            raise ParameterError(msg)
    if not named:
        msg = "compare: methods is empty. Expected at least one; None compares all."
        raise ParameterError(msg)
    return named


def is_classifier(thing: Any) -> bool:
    """Whether a thing can be cloned, fitted and asked for labels."""
    needs = ("fit", "predict", "get_params")
    return not isinstance(thing, type) and all(hasattr(thing, need) for need in needs)


def _named(method: Any, seed: int) -> tuple[str, Any]:
    if not isinstance(method, str):
        return type(method).__name__, method
    check_known("compare", "method", method, METHODS)
    return method, METHODS[method](seed)
