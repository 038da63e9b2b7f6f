"""All set classifiers of the library by name, ready to be compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from setwise._support.parameters import check_known, refuse
from setwise.baselines import (
    AHISD,
    CDL,
    CHISD,
    CMSM,
    DCC,
    GDA,
    ISCRC,
    MDA,
    MMD,
    MSM,
    RNP,
    SANP,
    Committee,
    FrameVote,
    LogEuclidean,
    MeanCosine,
    MeanVector,
    MinimumDistance,
)
from setwise.classify import CVC
from setwise.errors import ParameterError

__all__ = ["METHODS", "SLOW", "check_methods", "named_methods"]


def _no_fusion(clusterer: Any) -> Callable[[int], CVC]:
    """CVC as in the paper's comparison of clusterers: largest dimensionality only."""
    return lambda seed: CVC.as_in_paper(
        dims=(10,), fusion="none", clusterer=clusterer, random_state=seed
    )


# name -> what makes the classifier, from a seed; first what people do without a library
METHODS: dict[str, Callable[[int], Any]] = {
    "mean cosine": lambda seed: MeanCosine(),
    "mean cosine, robust": lambda seed: MeanCosine(robust=True),
    "frame vote, cosine": lambda seed: FrameVote(metric="cosine"),
    "CVC": lambda seed: CVC(random_state=seed),
    "committee": lambda seed: Committee(random_state=seed),
    "CVC as in paper": lambda seed: CVC.as_in_paper(random_state=seed),
    "CVC no fusion, SHC": _no_fusion(None),
    "CVC no fusion, k-means": _no_fusion("kmeans"),
    "CVC no fusion, spectral": _no_fusion("spectral"),
    "CVC no fusion, SSC": _no_fusion("ssc"),
    "CVC no fusion, SSC by ADMM": _no_fusion("ssc-admm"),
    "CVC no fusion, SKMS": _no_fusion("skms"),
    "DCC": lambda seed: DCC(),
    "MMD": lambda seed: MMD(),
    "MDA": lambda seed: MDA(),
    "AHISD": lambda seed: AHISD(),
    "CHISD": lambda seed: CHISD(),
    "CHISD, rbf kernel": lambda seed: CHISD(kernel="rbf"),
    "SANP": lambda seed: SANP(),
    "CDL-LDA": lambda seed: CDL("lda"),
    "CDL-PLS": lambda seed: CDL("pls"),
    "MSM": lambda seed: MSM(),
    "MSM, smallest angle": lambda seed: MSM(n_angles=1),
    "CMSM": lambda seed: CMSM(),
    "GDA": lambda seed: GDA(),
    "GDA, centred": lambda seed: GDA(3, centred=True),
    "RNP": lambda seed: RNP(),
    "ISCRC": lambda seed: ISCRC(random_state=seed),
    "frame vote": lambda seed: FrameVote(),
    "mean vector": lambda seed: MeanVector(),
    "minimum distance": lambda seed: MinimumDistance(),
    "log-Euclidean": lambda seed: LogEuclidean(),
}
# Seconds per probe, where the others take milliseconds: compared only when named.
SLOW = ("CVC no fusion, SSC by ADMM", "CVC no fusion, SKMS")


def check_methods(names: Iterable[str], others: Collection[str] = ()) -> list[str]:
    """Split and check names of methods, before anything is loaded.

    Parameters
    ----------
    names : iterable of str
        Each is one name or several separated by commas; names that contain commas are
        recognised, and duplicates removed.
    others : collection of str
        Further known names beside :data:`METHODS`.

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
    try:
        given = None if isinstance(methods, str | bytes) else list(methods)
    except TypeError:  # such as a number, or an array without dimensions
        given = None
    if given is None:
        refuse("compare", "methods", "a sequence of names or classifiers", methods)
    named = [_named(method, seed) for method in given]
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
        is_whole = all(hasattr(classifier, part) for part in ("fit", "predict", "get_params"))
        if isinstance(classifier, type) or not is_whole:
            msg = (
                f"compare: method {name!r} is {classifier!r}. Expected a classifier with fit "
                "and predict, like scikit-learn's."
            )
            raise ParameterError(msg)
    if not named:
        msg = "compare: methods is empty. Expected at least one; None compares all."
        raise ParameterError(msg)
    return named


def _named(method: Any, seed: int) -> tuple[str, Any]:
    if not isinstance(method, str):
        return type(method).__name__, method
    check_known("compare", "method", method, METHODS)
    return method, METHODS[method](seed)
