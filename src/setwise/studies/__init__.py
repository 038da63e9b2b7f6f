"""The paper's evaluation: studies, their work items, a runner that resumes, and results.

``setwise reproduce eth80`` is :func:`setwise.studies.reproduce.reproduce` of the study that
``specs/eth80.toml`` describes. A study (:mod:`~setwise.studies.spec`) is planned
(:mod:`~setwise.studies.plan`) as items (:mod:`~setwise.studies.items`), each of which
is performed once (:mod:`~setwise.studies.tasks`) by the runner
(:mod:`~setwise.studies.runner`) and kept in the store (:mod:`~setwise.studies.store`);
what is finished is summed up (:mod:`~setwise.studies.summary`) in sections
(:mod:`~setwise.studies.sections`) for tables and the report.
"""

from setwise._support.extras import require

require("pydantic", "reproduce")
