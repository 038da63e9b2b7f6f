"""Work spread over processes or a Dask cluster; the object it shares is sent once to each.

Only where ``joblib.parallel_config("dask")``, or ``("loky", n_jobs=8)``, asks for it.
"""

from __future__ import annotations

import os
import pickle
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

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import LokyBackend, get_active_backend

from setwise._support.extras import require
from setwise._support.memory import keep_freed_memory
from setwise._support.parallel import one_blas_thread
from setwise.errors import SetwiseError

try:
    import cloudpickle
except ImportError:  # joblib has had a copy of its own up to 1.5
    from joblib.externals import cloudpickle


Item = TypeVar("Item")
Result = TypeVar("Result")
Shared = TypeVar("Shared")

# Items in flight per core of the cluster: enough to keep it busy, few enough that they need
# little memory and that Ctrl-C takes effect soon.
PER_CORE = 4
# How often the shared object is sent again after all workers that had it were lost.
MOST_SENDS = 4
# Mapped arrays begin at multiples of what processors and BLAS like.
ALIGNMENT = 64


def spread(
    work: Callable[[Shared, Item], Result],
    shared: Shared,
    items: Iterable[Item],
    here: Callable[[Callable[[Item], Result], Iterable[Item]], Iterator[Result]],
) -> Iterator[Result]:
    """Results of ``work(shared, item)``, in order: on a cluster if one is in use, else here."""
    client = _active_client()
    if client is not None:
        return _Spread(client, work, shared).results(items)
    n_processes = _active_processes()
    if n_processes > 1:
        return _in_processes(work, shared, items, n_processes)
    return here(partial(work, shared), items)


def _active_processes() -> int:
    """Number of processes that joblib was told to use; 1 by default."""
    backend, n_jobs = get_active_backend()
    is_loky = isinstance(backend, LokyBackend)
    return int(backend.effective_n_jobs(n_jobs)) if is_loky and n_jobs not in (None, 1) else 1


def _in_processes(
    work: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any], n_processes: int
) -> Iterator[Any]:
    """In processes of this machine, which map the arrays of the shared object once together."""
    key = "processes", id(shared)
    if key not in _HANDLES:
        _HANDLES[key] = _written(shared, _folder_of(shared, key))
    run = Parallel(n_jobs=n_processes, backend="loky", return_as="generator")
    return iter(run(delayed(_at_worker)(work, _HANDLES[key], item) for item in items))


def _active_client() -> Any:
    """The client of the cluster in use; None without, or in a worker, which must not wait."""
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
        self._send()
        most = PER_CORE * max(1, sum(self._client.ncores().values()))
        try:
            for item in items:
                self._submit(item)
                if len(self._waiting) >= most:
                    yield self._first()
            while self._waiting:
                yield self._first()
        finally:  # an error, Ctrl-C, or an abandoned iterator
            self._client.cancel([future for future, _ in self._waiting])

    def _submit(self, item: Any) -> None:
        future = self._client.submit(_at_worker, self._work, self._handle, item, pure=False)
        self._waiting.append((future, item))

    def _first(self) -> Any:
        """The first result that is waited for."""
        while True:
            try:
                result = self._waiting[0][0].result()
            except CancelledError:  # the shared object is lost with all workers that had it
                _HANDLES.pop((self._client.id, id(self._shared)), None)
                self._send()
                lost, self._waiting = self._waiting, deque()
                for _, item in lost:
                    self._submit(item)
            except require("distributed", "dask").KilledWorker as error:
                msg = (
                    f"the cluster gave up: one worker after another died at the same work "
                    f"({error}). Perhaps they have too little memory: give each more of it, "
                    "or start fewer per machine."
                )
                raise SetwiseError(msg) from error
            else:
                self._waiting.popleft()
                return result

    def _send(self) -> None:
        """Send the shared object, again if a worker dies meanwhile."""
        while True:
            self._n_sends += 1
            try:
                self._handle = _broadcast(self._client, self._shared)
            except OSError as error:  # Dask's for a connection that is closed
                if self._n_sends >= MOST_SENDS:
                    msg = (
                        f"the shared data could not be sent to the cluster, {MOST_SENDS} times "
                        f"({error}): its workers die, or the client is closed. See their logs."
                    )
                    raise SetwiseError(msg) from error
            else:
                return


# --------------------------------------------------------------------- the shared object

# Handles of objects that were sent, by client and object, for as long as the object exists.
_HANDLES: dict[tuple[str, int], Any] = {}


def _broadcast(client: Any, shared: Any) -> Any:
    """A handle of a large object: a folder that all workers can read, or the object sent."""
    key = client.id, id(shared)
    if key not in _HANDLES:
        folder = _folder_of(shared, key)
        if _all_can_read(client, folder):
            _HANDLES[key] = _written(shared, folder)
        else:
            _HANDLES[key] = client.scatter(shared, broadcast=True, hash=False)
    return _HANDLES[key]


def _folder_of(shared: Any, key: tuple[str, int]) -> Path:
    """A new folder, which is removed with the object."""
    folder = Path(tempfile.mkdtemp(prefix="setwise-"))
    weakref.finalize(shared, _dispose, key, folder)
    return folder


def _dispose(key: tuple[str, int], folder: Path) -> None:
    _HANDLES.pop(key, None)
    shutil.rmtree(folder, ignore_errors=True)  # Windows removes no mapped files


def _written(shared: Any, folder: Path) -> Path:
    try:
        write_mapped(shared, folder)
    except OSError as error:
        what = f"the data of the workers could not be written there ({error})"
        msg = f"{folder}: {what}. Set TMPDIR to a folder with room."
        raise SetwiseError(msg) from error
    return folder


def _all_can_read(client: Any, folder: Path) -> bool:
    """Whether all workers see a folder; workers with another setwise are refused."""
    mark, mine = folder / "mark", version("setwise")
    mark.write_text(str(os.getpid()))
    try:
        found = client.run(_look, mark)
    except (ImportError, AttributeError) as error:
        what = f"the workers of the cluster cannot import what this process has ({error})"
        msg = f"{what}. Install setwise {mine} in their environment too."
        raise SetwiseError(msg) from error
    for address, (there, _) in found.items():
        if there != mine:
            what = f"the worker at {address} has setwise {there}, and this process has {mine}"
            msg = f"{what}: answers may differ. Install the same one everywhere."
            raise SetwiseError(msg)
    return bool(found) and all(text == mark.read_text() for _, text in found.values())


def write_mapped(thing: Any, folder: Path) -> None:
    """Write a picklable object into an empty private folder, its arrays apart from the rest."""
    buffers: list[pickle.PickleBuffer] = []
    # cloudpickle also takes classes of __main__ and functions without a name.
    document = cloudpickle.dumps(thing, protocol=5, buffer_callback=buffers.append)
    spans = []
    with (folder / "arrays").open("wb") as file:
        file.write(bytes(ALIGNMENT))  # an empty file cannot be mapped
        for buffer in buffers:
            file.write(bytes(-file.tell() % ALIGNMENT))
            raw = buffer.raw()
            spans.append((file.tell(), file.tell() + raw.nbytes))
            file.write(raw)
    (folder / "document").write_bytes(pickle.dumps((document, spans)))


def read_mapped(folder: Path) -> Any:
    """The object that was written; changes of its mapped arrays stay in this process."""
    document, spans = pickle.loads((folder / "document").read_bytes())  # noqa: S301
    # Arrays can be changed: kernels would be compiled again for others.
    arrays = np.memmap(folder / "arrays", mode="c").data
    return pickle.loads(document, buffers=[arrays[slice(*span)] for span in spans])  # noqa: S301


_READING = Lock()


def _look(mark: Path) -> tuple[str, str | None]:
    """The version of setwise here, and the content of a file, if it can be read here."""
    try:
        return version("setwise"), mark.read_text()
    except OSError:
        return version("setwise"), None


def _at_worker(work: Callable[[Any, Any], Any], handle: Any, item: Any) -> Any:
    keep_freed_memory()
    with _READING:  # once, however many threads ask
        shared = _read(handle) if isinstance(handle, Path) else handle
    with one_blas_thread():
        return work(shared, item)


@lru_cache(maxsize=2)
def _read(folder: Path) -> Any:
    return read_mapped(folder)
