"""The API reference, written from the ``__all__`` of the public rooms when the site is built.

A name has one page, under the first room that exports it: :data:`ROOMS` begins with what
``import setwise`` gives. A new public name thus needs nothing but a docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

# Rooms, in the order of the reference, and what a reader looks for there.
ROOMS = {
    "setwise": "What `import setwise` gives: enough for most uses.",
    "setwise.sets": "What a set is; the input gate; splits that never cut a set.",
    "setwise.io": "From photos, clips, MATLAB and NumPy files to sets, and back.",
    "setwise.faces": "From clips to one set of face images per person.",
    "setwise.features": "Images to vectors, vectors to vectors.",
    "setwise.basis": "A set becomes a few unit columns.",
    "setwise.lasso": "The exact lasso under bases and graphs.",
    "setwise.graph": "Columns become a graph of proximities.",
    "setwise.cut": "A graph falls in two.",
    "setwise.cluster": "Cuts become clusters.",
    "setwise.together": "Sets without labels: their graph, groups, labels spread, suggestions.",
    "setwise.index": "Where the sets of a large gallery are.",
    "setwise.gallery": "Labelled sets, solved once, and what is learnt from them.",
    "setwise.classify": "Clusters, edges and angles become an answer.",
    "setwise.baselines": "The other ways to classify sets, behind the same interface.",
    "setwise.baselines.clusterers": "The other ways to cluster.",
    "setwise.evaluation": "Every method on your own sets.",
    "setwise.evaluation.testing": "Checks for a set classifier of your own.",
    "setwise.report": "Answers as a page and as pictures.",
    "setwise.plots": "Pictures as functions on axes.",
    "setwise.page": "The page in the browser, and its HTTP API.",
    "setwise.errors": "Every error and warning that is raised on purpose.",
}
# What a reader wants to do, and the names that do it; each with its first line as description.
TASKS = {
    "Read sets": (
        *(
            "setwise.load_images",
            "setwise.load_sets",
            "setwise.load_videos",
            "setwise.load_mat",
        ),
        *(
            "setwise.load_arrays",
            "setwise.SetBatch",
            "setwise.find_faces",
            "setwise.face_tracks",
        ),
    ),
    "Label sets": ("setwise.CVC", "setwise.Answer", "setwise.edit", "setwise.load"),
    "Group sets without labels": (
        *("setwise.SetClusters", "setwise.together.Links", "setwise.together.suggest"),
        *("setwise.together.relate", "setwise.together.Grouping"),
    ),
    "See why": (
        *("setwise.Explanation", "setwise.report.write_answers", "setwise.report.write_groups"),
        *("setwise.report.draw_answer", "setwise.plots.plot_set_graph"),
    ),
    "Compare methods on your own sets": (
        *("setwise.compare", "setwise.cross_validate", "setwise.gallery_probe_split"),
        *("setwise.evaluation.compare_datasets", "setwise.baselines.MeanCosine"),
        *("setwise.baselines.FrameVote", "setwise.baselines.MSM", "setwise.baselines.GDA"),
    ),
    "Turn images into vectors": (
        *("setwise.Pixels", "setwise.HOG", "setwise.LBP", "setwise.features.Network"),
        *("setwise.features.OnnxEmbedding", "setwise.features.Embedding", "setwise.Whitener"),
        *("setwise.features.PerVector", "setwise.features.Cached"),
    ),
    "Build a method of your own": (
        *("setwise.sets.SetClassifier", "setwise.gallery.Representation", "setwise.basis.SVD"),
        *("setwise.LassoGraph", "setwise.SHC", "setwise.cut.bisect", "setwise.cluster.shc"),
        "setwise.evaluation.testing.check_set_classifier",
    ),
    "Serve, and search large galleries": (
        *("setwise.page.create_app", "setwise.page.Settings", "setwise.gallery.Shortlist"),
        *("setwise.index.FaissIndex", "setwise.index.PgvectorIndex"),
    ),
}


def public_names() -> Iterator[tuple[str, str, Any]]:
    """Yield room, name and object of every public class and function, each once."""
    seen: set[int] = set()
    for room in ROOMS:
        module = import_module(room)
        for name in module.__all__:
            thing = getattr(module, name)
            if _has_page(room, name) and id(thing) not in seen:
                seen.add(id(thing))
                yield room, name, thing


def _has_page(room: str, name: str) -> bool:
    """Whether a name has a docstring of its own; numbers, tables and aliases have none."""
    thing = getattr(import_module(room), name)
    return inspect.isclass(thing) or inspect.isfunction(thing)


def write_pages(folder: Path) -> None:
    """Write one page per room into the folder, and touch none that is as it should be."""
    names: dict[str, list[str]] = {room: [] for room in ROOMS}
    for room, name, _ in public_names():
        names[room].append(name)
    texts = {
        f"{room}.rst": _page(room, sorted(exported, key=str.lower))
        for room, exported in names.items()
    }
    texts |= {"_tasks.txt": tasks_page(), "_rooms.txt": rooms_page()}
    for name, text in texts.items():
        page = folder / name
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def tasks_page() -> str:
    """A section per task, with a line for each of its names."""
    parts = []
    for task, names in TASKS.items():
        listed = "\n".join(f"   ~{name}" for name in names)
        parts.append(
            f"{task}\n{'-' * len(task)}\n\n.. autosummary::\n   :nosignatures:\n\n{listed}\n"
        )
    return "\n".join(parts)


def rooms_page() -> str:
    """A line for each room."""
    lines = [
        f"* - :doc:`{room} <{room}>`\n     - {what.replace('`', '``')}"
        for room, what in ROOMS.items()
    ]
    return ".. list-table::\n\n   " + "\n   ".join(lines) + "\n"


def _page(room: str, names: list[str]) -> str:
    title = f"{room}\n{'=' * len(room)}"
    listed = "\n".join(f"   {name}" for name in names)
    what = ROOMS[room].replace("`", "``")
    values = [name for name in import_module(room).__all__ if not _has_page(room, name)]
    also = "Values: " + ", ".join(f"``{name}``" for name in values) + ".\n\n" if values else ""
    summary = f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{listed}"
    return f"{title}\n\n{what}\n\n{also}.. currentmodule:: {room}\n\n{summary}\n"


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    write_pages(Path(app.srcdir) / "api")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
