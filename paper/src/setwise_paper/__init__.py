"""The evaluation of the paper: its studies, datasets, tables, figures and reports.

``setwise reproduce eth80`` runs the study that ``specs/eth80.toml`` describes. A study holds
experiments of some :mod:`kind <setwise_paper.kinds>`. They plan items
(:mod:`setwise_paper.plan`), the runner does each once (:mod:`setwise_paper.runner`), the store
keeps the results (:mod:`setwise_paper.store`), and the kind sums them up for tables and report.
Only public names of setwise are used here.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Study", "StudyResult", "read_study", "reproduce", "run", "study_named"]


def __getattr__(name: str) -> Any:
    """Import on first use: the command asks for its options long before any work."""
    if name in ("reproduce", "run"):
        from setwise_paper import reproduction as module

        return getattr(module, name)
    if name in __all__:
        from setwise_paper import study

        return getattr(study, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
