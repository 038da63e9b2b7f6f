"""The paper's evaluation: studies, their work items, a runner that resumes, and results.

``setwise reproduce eth80`` is :func:`setwise.studies.reproduce.reproduce` of the study that
``specs/eth80.toml`` describes. A :mod:`~setwise.studies.study` holds experiments, each of some
kind (:mod:`~setwise.studies.kinds`). They :mod:`~setwise.studies.plan` items
(:mod:`~setwise.studies.items`), each of which is performed once by the runner
(:mod:`~setwise.studies.runner`) and kept in the store (:mod:`~setwise.studies.store`); what is
finished is summed up by the kind in a section, for tables and the report.
"""

from setwise._support.extras import require

require("pydantic", "reproduce")
