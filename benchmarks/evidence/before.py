"""CVC of another version of setwise, in a process of its own.

Run as a script, with ``PYTHONPATH`` at the other version's ``src``, this file answers splits
that come through standard input; so it imports nothing of this version at its top.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


class Before:
    """The method "before": starts the other version when it is first asked.

    Parameters
    ----------
    source : Path
        The folder ``src`` of the other version.
    """

    def __init__(self, source: Path) -> None:
        if not (source / "setwise" / "__init__.py").is_file():
            msg = f"--before {source}: no setwise there. Expected the folder src of a checkout."
            raise FileNotFoundError(msg)
        self.source = source

    def __call__(self, split: Any, n_jobs: int) -> Any:
        """What the other version's default says of the probes of a split."""
        from evidence.methods import Opinion

        process = _started(self.source)
        work = (list(split.gallery), split.gallery_labels, list(split.probes), n_jobs)
        pickle.dump(work, process.stdin)
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            msg = f"setwise of {self.source} ended with status {process.wait()}."
            raise RuntimeError(msg)
        codes, probability = map(np.array, json.loads(line))
        classes = np.unique(split.gallery_labels)
        return Opinion(
            classes[codes], probability, nearness=probability, scored_by="probability"
        )


@cache
def _started(source: Path) -> subprocess.Popen[bytes]:
    """The process of a version; each process of this one has one."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return subprocess.Popen(
        [sys.executable, __file__],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def answer_splits() -> None:
    """Answer one split after the other, until nobody asks any more."""
    from setwise import CVC

    warnings.simplefilter("ignore")
    while True:
        try:
            gallery, labels, probes, n_jobs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        clf = CVC(random_state=0, n_jobs=n_jobs).fit(gallery, labels)
        probabilities = clf.predict_proba(probes)
        codes, largest = probabilities.argmax(axis=1), probabilities.max(axis=1)
        print(json.dumps([codes.tolist(), largest.tolist()]), flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        answer_splits()
