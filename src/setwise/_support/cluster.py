"""Work spread over processes or a Dask cluster; what all of it needs is sent once to each.

Where ``joblib.parallel_config("dask")``, or ``("loky", n_jobs=8)`` with more than one process,
says so, and nowhere else.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from functools import lru_cache, partial
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.parallel import LokyBackend, get_active_backend

from setwise._support.extras import require
from setwise._support.mapped import read_mapped, write_mapped
from setwise._support.parallel import one_blas_thread
from setwise.errors import SetwiseError

__all__ = ["spread"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Shared = TypeVar("Shared")

# Items per core of the cluster that are under way at a time: enough that nobody waits for the
# next one, and few enough that they need little memory and that Ctrl-C is heard soon.
PER_CORE = 4
# How often what all work needs is sent again when it was lost with the workers that had it.
MOST_SENDS = 4


def spread(
    work: Callable[[Shared, Item], Result],
    shared: Shared,
    items: Iterable[Item],
    here: Callable[[Callable[[Item], Result], Iterable[Item]], Iterator[Result]],
) -> Iterator[Result]:
    """Results of ``work(shared, item)``, in order: on a cluster if one is in use, else here.

    Parameters
    ----------
    work : callable
        A function of a module, so that it travels by its name.
    shared : object
        What every item needs. It is sent when first used, and stays with the workers for as
        long as it exists here.
    items : iterable
        Small things; they travel with the work.
    here : callable
        How the work is done without a cluster: given a function of an item, and the items.
    """
    client = _active_client()
    if client is not None:
        return _Spread(client, work, shared).results(items)
    n_processes = _active_processes()
    if n_processes > 1:
        return _in_processes(work, shared, items, n_processes)
    return here(partial(work, shared), items)


def _active_processes() -> int:
    """How many processes joblib was told to use; 1 where nobody said."""
    backend, n_jobs = get_active_backend()
    is_loky = isinstance(backend, LokyBackend)
    return int(backend.effective_n_jobs(n_jobs)) if is_loky and n_jobs not in (None, 1) else 1


def _in_processes(
    work: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any], n_processes: int
) -> Iterator[Any]:
    """In processes of this machine: threads share one Python, and wait for each other there.

    They map the arrays of what is shared, and so have them in memory once together.
    """
    key = "processes", id(shared)
    if key not in _PARCELS:
        folder = Path(tempfile.mkdtemp(prefix="setwise-"))
        weakref.finalize(shared, _dispose, key, folder)
        _PARCELS[key] = _written(shared, folder)
    run = Parallel(n_jobs=n_processes, backend="loky", return_as="generator")
    return iter(run(delayed(_at_worker)(work, _PARCELS[key], item) for item in items))


def _active_client() -> Any:
    """The client of the cluster that joblib was told to use; None without, or in a worker.

    Work that runs on a worker keeps to it: if it waited there for other work, all workers
    could wait for each other.
    """
    client = getattr(get_active_backend()[0], "client", None)
    if client is None:
        return None
    try:
        require("distributed", "dask").get_worker()
    except ValueError:
        return client
    return None


class _Spread:
    """Work under way on a cluster."""

    def __init__(self, client: Any, work: Callable[[Any, Any], Any], shared: Any) -> None:
        self._client, self._work, self._shared = client, work, shared
        self._waiting: deque[tuple[Any, Any]] = deque()  # futures, and their items
        self._n_sends = 0

    def results(self, items: Iterable[Any]) -> Iterator[Any]:
        """Results in the order of the items, some items being under way ahead of them."""
        self._parcel = self._send()
        most = PER_CORE * max(1, sum(self._client.ncores().values()))
        try:
            for item in items:
                self._submit(item)
                if len(self._waiting) >= most:
                    yield self._first()
            while self._waiting:
                yield self._first()
        finally:  # an error, Ctrl-C, or nobody wants the rest
            self._client.cancel([future for future, _ in self._waiting])

    def _submit(self, item: Any) -> None:
        future = self._client.submit(_at_worker, self._work, self._parcel, item, pure=False)
        self._waiting.append((future, item))

    def _first(self) -> Any:
        """The first result that is waited for."""
        killed = require("distributed", "dask").KilledWorker
        while True:
            try:
                result = self._waiting[0][0].result()
            except CancelledError:  # what was sent is lost with all workers that had it
                self._start_again()
            except killed as error:
                msg = (
                    f"the cluster gave up: one worker after another died at the same work "
                    f"({error}). Perhaps they have too little memory: give each more of it, "
                    "or start fewer per machine."
                )
                raise SetwiseError(msg) from error
            else:
                self._waiting.popleft()
                return result

    def _start_again(self) -> None:
        _PARCELS.pop((self._client.id, id(self._shared)), None)
        self._parcel = self._send()
        lost, self._waiting = self._waiting, deque()
        for _, item in lost:
            self._submit(item)

    def _send(self) -> Any:
        """Send what all work needs, again if a worker dies meanwhile."""
        while True:
            self._n_sends += 1
            try:
                return _parcel(self._client, self._shared)
            except OSError as error:  # Dask's for a connection that is closed
                last = str(error)
            if self._n_sends >= MOST_SENDS:
                msg = (
                    f"what all work needs could not be sent to the cluster, {MOST_SENDS} times "
                    f"({last}): its workers die, or the client is closed. Look at their logs."
                )
                raise SetwiseError(msg)


# ------------------------------------------------------------------- what all work needs

# What was sent, by client and object, for as long as the object exists.
_PARCELS: dict[tuple[str, int], Any] = {}


def _parcel(client: Any, shared: Any) -> Any:
    """What to give to each piece of work in place of a large object.

    Where all workers can read this process' temporary files, as those of the same machine
    can, the place of a file, whose arrays they map and have in memory once together. Else
    the object, sent to each of them now; those that come later ask the others for it.
    """
    key = client.id, id(shared)
    if key not in _PARCELS:
        folder = Path(tempfile.mkdtemp(prefix="setwise-"))
        weakref.finalize(shared, _dispose, key, folder)
        if _all_can_read(client, folder):
            _PARCELS[key] = _written(shared, folder)
        else:
            _PARCELS[key] = client.scatter(shared, broadcast=True, hash=False)
    return _PARCELS[key]


def _written(shared: Any, folder: Path) -> Path:
    try:
        write_mapped(shared, folder)
    except OSError as error:
        msg = (
            f"{folder}: what the workers need could not be written there ({error}). Set TMPDIR "
            "to a folder with room."
        )
        raise SetwiseError(msg) from error
    return folder


def _dispose(key: tuple[str, int], folder: Path) -> None:
    _PARCELS.pop(key, None)
    shutil.rmtree(folder, ignore_errors=True)  # mapped files cannot go where Windows runs


def _all_can_read(client: Any, folder: Path) -> bool:
    """Whether all workers see a folder; refuse them if they have another setwise, or none."""
    mark = folder / "mark"
    mark.write_text(str(os.getpid()))
    try:
        found = client.run(_look, mark)
    except (ImportError, AttributeError) as error:
        msg = (
            f"the workers of the cluster cannot import what this process has ({error}). "
            f"Install setwise {version('setwise')} in their environment too."
        )
        raise SetwiseError(msg) from error
    for address, (there, _) in found.items():
        if there != version("setwise"):
            msg = (
                f"the worker at {address} has setwise {there}, and this process has "
                f"{version('setwise')}: answers may differ. Install the same one everywhere."
            )
            raise SetwiseError(msg)
    return bool(found) and all(text == mark.read_text() for _, text in found.values())


# ------------------------------------------------------------------------- on the workers

_READING = Lock()


def _look(mark: Path) -> tuple[str, str | None]:
    """The version of setwise here, and what is in a file, if it can be read here."""
    try:
        return version("setwise"), mark.read_text()
    except OSError:
        return version("setwise"), None


def _at_worker(work: Callable[[Any, Any], Any], parcel: Any, item: Any) -> Any:
    shared = parcel
    if isinstance(parcel, Path):
        with _READING:  # once, however many threads ask
            shared = _read(parcel)
    with one_blas_thread():
        return work(shared, item)


@lru_cache(maxsize=2)
def _read(folder: Path) -> Any:
    return read_mapped(folder)
