"""What is done for each kind of work item, a file each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from setwise._support.parallel import one_blas_thread
from setwise.studies.items import Item
from setwise.studies.tasks.classify import classify
from setwise.studies.tasks.distributions import distributions
from setwise.studies.tasks.explain import explain
from setwise.studies.tasks.gaussians import gaussians

__all__ = ["TASKS", "perform"]

# kind of item -> what does it
TASKS: dict[str, Callable[[Any, Path | None], dict[str, Any]]] = {
    "classify": classify,
    "explain": explain,
    "distributions": distributions,
    "gaussians": gaussians,
}


def perform(item: Item, folder: Path | None = None) -> dict[str, Any]:
    """Do one work item; the same item always has the same result, but for times.

    BLAS keeps to one thread: items side by side are not in each other's way, and times do not
    depend on how many cores there are.

    Parameters
    ----------
    item : Item
        What to do.
    folder : Path, optional
        Where datasets are; ``$SETWISE_DATA`` by default, then the cache of this user.

    Returns
    -------
    dict
        What JSON knows; see the function of each kind.

    Examples
    --------
    >>> from setwise.studies.items import GaussiansItem
    >>> from setwise.studies.tasks import perform
    >>> found = perform(GaussiansItem(distance=7, size=50, variance=2, draw=1, seed=0))
    >>> found["error"] < 0.05
    True
    """
    with one_blas_thread():
        return TASKS[item.kind](item, folder)
