"""An object written to files from which other processes map its arrays, not copy them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

try:
    import cloudpickle
except ImportError:  # joblib has had a copy of its own up to 1.5
    from joblib.externals import cloudpickle

__all__ = ["read_mapped", "write_mapped"]

# Where arrays begin: at multiples of what processors and BLAS like.
ALIGNMENT = 64


def write_mapped(thing: Any, folder: Path) -> None:
    """Write an object into a folder, its arrays apart from the rest.

    Parameters
    ----------
    thing : object
        Anything that can be pickled.
    folder : Path
        An empty folder that nobody else can write to: what is read is unpickled.
    """
    buffers: list[pickle.PickleBuffer] = []
    # Which knows what to do with classes of __main__ and functions without a name.
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
    """The object that was written; its arrays are those of the file, until they are changed.

    Changes stay in this process. They must be possible: kernels are compiled for arrays that
    can be written, and would be compiled again for others.
    """
    document, spans = pickle.loads((folder / "document").read_bytes())  # noqa: S301
    arrays = np.memmap(folder / "arrays", mode="c").data
    return pickle.loads(document, buffers=[arrays[slice(*span)] for span in spans])  # noqa: S301
