"""The paper's evaluation: studies, their work items, a runner that resumes, and results.

``setwise reproduce eth80`` is :func:`setwise.experiments.reproduce.reproduce` of the study that
``specs/eth80.toml`` describes. A study (:mod:`~setwise.experiments.spec`) is planned
(:mod:`~setwise.experiments.plan`) as items (:mod:`~setwise.experiments.items`), each of which
is performed once (:mod:`~setwise.experiments.tasks`) by the runner
(:mod:`~setwise.experiments.runner`) and kept in the store (:mod:`~setwise.experiments.store`);
what is finished is summed up (:mod:`~setwise.experiments.summary`) in sections
(:mod:`~setwise.experiments.sections`) for tables and the report.
"""

from setwise.extras import require

require("pydantic", "reproduce")
