"""The order of the examples: jobs first, then parts of the method."""

from __future__ import annotations

ORDER = (
    *("film_cast", "camera_trap", "product_photos", "speakers", "embeddings", "few_labels"),
    *("first_answer", "unknown", "strangers", "set_size", "growing_gallery"),
    *("compare_methods", "own_method", "graph", "tree_of_cuts", "two_clouds"),
)


class JobsFirst:
    """Sort key of sphinx-gallery; a folder has one."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> int:
        """The place of an example in the gallery."""
        return ORDER.index(file.removeprefix("plot_").removesuffix(".py"))

    def __repr__(self) -> str:
        return "jobs first"
