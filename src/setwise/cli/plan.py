"""``setwise doctor --plan N``: what a gallery of N classes would cost on this machine.

In the JSON of the doctor, ``plan``: ``n_classes``, ``sets_per_class``, ``vectors_per_set``,
``n_features``, ``source`` (``"assumed"``, or the gallery file whose shape was taken),
``fit_seconds`` and ``probe_seconds`` (on one thread), ``peak_bytes``, ``vectors_bytes``,
``memory_bytes`` (what the machine has, or null), ``fits`` (null where that is not known) and
``advice``, a list of texts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["plan_of", "plan_rows"]

# What is assumed of a gallery that nobody has shown: sets per class, vectors per set, features
# of the vectors, and bytes of a number. Embeddings of a few photos.
ASSUMED = (2.0, 5.0, 512, 4)
# A probe that takes longer is worth a word.
LONG_PROBE_SECONDS = 1.0


def plan_of(n_classes: int, gallery: Path | None) -> dict[str, Any]:
    """What a gallery of so many classes would cost, and what to do where that is too much.

    Parameters
    ----------
    n_classes : int
        How many.
    gallery : Path, optional
        A gallery file, of which it is to be like.
    """
    import numpy as np

    import setwise
    from setwise._support.memory import total_memory
    from setwise.classify.cost import cost_of, machine_slowness
    from setwise.gallery.memory import GalleryShape

    how, (per_class, per_set, n_features, itemsize) = setwise.CVC().describe(), ASSUMED
    if gallery is not None:
        known = setwise.load(gallery).gallery_
        how, sets = known.description, known.sets
        per_class = len(sets) / known.n_classes
        per_set, n_features = float(np.mean(sets.sizes)), sets.n_features
        itemsize = sets.vectors.dtype.itemsize
    sizes = np.broadcast_to(np.int64(round(per_set)), round(n_classes * per_class))
    shape = GalleryShape(n_classes, sizes, n_features, int(per_class))
    cost = cost_of(how, shape, itemsize=itemsize, slowness=machine_slowness())
    memory = total_memory()
    fits = None if memory is None else cost.peak_bytes < memory
    return {
        "n_classes": n_classes,
        "sets_per_class": per_class,
        "vectors_per_set": per_set,
        "n_features": n_features,
        "source": "assumed" if gallery is None else str(gallery),
        "fit_seconds": cost.fit_seconds,
        "probe_seconds": cost.probe_seconds,
        "peak_bytes": cost.peak_bytes,
        "vectors_bytes": cost.kept_bytes,
        "memory_bytes": memory,
        "fits": fits,
        "advice": _advice(fits, cost.probe_seconds),
    }


def _advice(fits: bool | None, probe_seconds: float) -> list[str]:
    """What to do where a machine does not suffice, or a probe takes long."""
    advice = []
    if fits is False:
        advice += [
            "Keep fewer sets per class, or fewer vectors per set: the memory follows their "
            "number.",
            "Give vectors as bytes or in single precision (uint8, float32): they stay so.",
            "Put the index into a database that other machines share (CVC(index=...)), or fit "
            "on a machine with more memory, and ask on a Dask cluster: docs/cluster.md.",
        ]
    if probe_seconds > LONG_PROBE_SECONDS:
        advice.append(
            "Many probes at a time: n_jobs=-1 takes all cores, and a Dask cluster those of "
            "several machines (docs/cluster.md)."
        )
    return advice


def plan_rows(plan: dict[str, Any]) -> list[tuple[str, str]]:
    """The plan in words: a name and a text for each line."""
    source = "assumed: name a gallery file to take its own shape"
    if plan["source"] != "assumed":
        source = f"as in {plan['source']}"
    memory = f"about {_gib(plan['peak_bytes'])} at its peak, {_gib(plan['vectors_bytes'])} of "
    memory += "them vectors"
    if plan["fits"] is not None:
        enough = "which suffices" if plan["fits"] else "which DOES NOT SUFFICE"
        memory += f"; this machine has {_gib(plan['memory_bytes'])}, {enough}"
    return [
        (
            "plan",
            f"{plan['n_classes']:,} classes of {plan['sets_per_class']:.3g} sets of "
            f"{plan['vectors_per_set']:.3g} vectors of {plan['n_features']} numbers ({source})",
        ),
        ("  fit", f"about {_duration(plan['fit_seconds'])} on one thread"),
        ("  one probe", f"about {_duration(plan['probe_seconds'])} on one thread"),
        ("  memory", memory),
        *(("  advice", text) for text in plan["advice"]),
    ]


def _gib(amount: int) -> str:
    return f"{amount / 2**30:,.1f} GiB"


def _duration(seconds: float) -> str:
    """Two digits, in a unit that people use."""
    for unit, name in ((3600.0, "h"), (60.0, "min"), (1.0, "s")):
        if seconds >= 2 * unit:
            return (
                f"{seconds / unit:.2g} {name}"
                if seconds < 10 * unit
                else (f"{seconds / unit:,.0f} {name}")
            )
    return f"{1000 * seconds:.0f} ms"
