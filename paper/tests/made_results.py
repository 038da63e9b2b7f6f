"""Results of a small study, made by hand around real explanations of images of stripes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from tests.striped_sets import stripes

from setwise import CVC, SetBatch
from setwise.report.parts import Confusion
from setwise_paper.accuracy import AccuracyRow, Curve
from setwise_paper.kinds.distributions import (
    DistributionExample,
    DistributionRow,
    DistributionsSection,
)
from setwise_paper.kinds.fusion import FusionSection
from setwise_paper.kinds.gaussians import CloudRow, GaussiansSection, SwitchRow
from setwise_paper.kinds.methods import MethodsSection
from setwise_paper.kinds.robustness import RobustnessSection
from setwise_paper.report.parts import WrongProbe
from setwise_paper.study import Failure, Study, StudyResult

CLASSES = ("flat", "steep", "slanted")
PAPER = {"mean": 91.75, "std": 4.42, "min": 87.5, "max": 100.0}
MEANS = {
    **{"CVC": 96.5, "DCC": 90.0, "MSM": 92.25, "CMSM": 91.0, "GDA": 93.5},
    **{"RNP": 78.0, "AHISD": 77.0},
}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    'it\'s "quoted" & new\nline 日本 שלום {{ 7*7 }} $x^2$',
)


@dataclass(frozen=True)
class Made:
    """What a study found, and the data it is about: as ``prepared`` would give it."""

    result: StudyResult
    images: SetBatch
    sets: SetBatch
    labels: np.ndarray


def study(names=CLASSES, text=""):
    """One experiment of each kind; ``text`` is appended to all that may hold any text."""
    data = {"name": "eth80"}
    few = [{"of": "CVC", "name": f"CVC{text}"}, {"of": "DCC", "name": f"DCC{text}"}, "MSM"]
    methods = [*few, *list(MEANS)[3:]]
    published = {f"CVC{text}": PAPER, f"DCC{text}": {"mean": 95.0, "seconds": 1.5}}
    said = {
        "title": f"A title{text}",
        "shows": f"Table 9{text}",
        "about": f"One.\n\nTwo.{text}",
    }
    fusion = {"of": "CVC as in paper", "fusions": ["mode", "sum"]}
    return Study.model_validate(
        {
            "title": f"Stripes{text}",
            "about": f"What it is.{text}",
            "experiments": [
                {"kind": "fusion", "name": "fusion", "data": data, "method": fusion, **said}
                | {"published": {"mode": PAPER}},
                {"kind": "methods", "name": "methods", "data": data, "methods": methods, **said}
                | {"explain": f"CVC{text}", "published": published},
                {"kind": "robustness", "name": "robustness", "data": data, **said}
                | {"methods": few, "published": {"gallery 1": {"mean": 88.0}}},
                {"kind": "distributions", "name": "distributions", "data": data, **said}
                | {"clusterers": ["shc", "kmeans"]},
                {"kind": "gaussians", "name": "gaussians", **said},
            ],
        }
    )


def made(names=CLASSES, text="", *, n_wrong=4, failures=(), n_finished=60) -> Made:
    """A whole result about classes of these names."""
    images = striped_images(names)
    asked = study(names, text)
    fusion, methods, robustness, distributions, gaussians = asked.experiments
    result = StudyResult(
        study=asked,
        sections=(
            fusion_section(fusion),
            methods_section(methods, images, names, n_wrong),
            robustness_section(robustness),
            distributions_section(distributions, names),
            gaussians_section(gaussians),
        ),
        failures=tuple(failures),
        n_items=60,
        n_finished=n_finished,
        data_notes={f"eth80{text}": f"read from somewhere{text}"},
        versions={"setwise": f"0.1{text}", "numpy": "2.0"},
        machine=f"a machine{text}",
        warnings={f"ConvergenceWarning{text}": 12},
    )
    return Made(result, images, images, np.asarray(images.labels))


def only(given: Made, *kinds: str, **changes) -> Made:
    """The result with the sections of these kinds alone, which are drawn sooner."""
    kept = tuple(one for one in given.result.sections if one.experiment.kind in kinds)
    return replace(given, result=replace(given.result, sections=kept, **changes))


def failure(text="") -> Failure:
    return Failure(
        "methods", f"DCC on fold 3{text}", f"LinAlgError: bad{text}", f"/tmp/t{text}"
    )


def striped_images(names, n_sets=4, seed=0) -> SetBatch:
    rng = np.random.default_rng(seed)
    labels = [name for name in names for _ in range(n_sets)]
    angles = dict(zip(names, np.linspace(0.1, 1.5, len(names)), strict=True))
    sets = [stripes(angles[label], 7, rng, (12, 16)) for label in labels]
    called = [f"{label}/{i}" for i, label in enumerate(labels)]
    return SetBatch.from_images(sets, names=called, labels=np.array(labels))


def row(name, mean, published=None, **times) -> AccuracyRow:
    spread = {"std": 3.0, "low": mean - 5, "high": mean + 5}
    return AccuracyRow(
        name=name, mean=mean, **spread, n_folds=9, n_probes=90, published=published, **times
    )


def fusion_section(experiment) -> FusionSection:
    curve = Curve("mode", (1.0, 2.0, 3.0), (80.0, 85.0, 91.0), (3.0, 2.0, 2.0))
    rows = (row("mode", 91.0, experiment.published["mode"]), row("sum", 89.0))
    return FusionSection(experiment, rows, (curve,))


def methods_section(experiment, images, names, n_wrong) -> MethodsSection:
    rows = tuple(
        row(
            one.label,
            mean,
            experiment.published.get(one.label),
            fit_seconds=0.4 / (1 + i),
            probe_seconds=0.02 / (1 + i),
        )
        for i, (one, mean) in enumerate(zip(experiment.methods, MEANS.values(), strict=True))
    )
    wrong = wrong_probes(experiment.explain, images, names, n_wrong)
    counts = 10 * np.eye(len(names), dtype=int)
    for one in wrong:
        counts[names.index(one.truth), names.index(one.answer)] += 1
    confusion = Confusion(tuple(names), tuple(map(tuple, counts.tolist())))
    return MethodsSection(experiment, rows, confusion, wrong)


def wrong_probes(method, images, names, n_wrong) -> tuple[WrongProbe, ...]:
    """Real explanations of the last set of each class, under a truth that they are not."""
    is_probe = np.arange(len(images)) % 4 == 3
    labels = np.asarray(images.labels)
    gallery = images[~is_probe]
    classifier = CVC(dims=(1, 2, 3), fusion="mode", weights=None, random_state=0).fit(
        gallery, labels[~is_probe]
    )
    found = []
    for place, index in enumerate(np.resize(np.flatnonzero(is_probe), n_wrong)):
        why = classifier.explain(images[[int(index)]])
        answer = str(why.label)
        truth = names[(names.index(answer) + 1) % len(names)]
        pair = {"image": 1, "set": 0, "set_name": images.names[0], "label": str(labels[0])}
        pair |= {"gallery_image": 2, "distance": 0.25}
        explanation = {
            **{"place": place, "index": int(index), "probe": images.names[index]},
            **{"truth": truth, "answer": answer, "why": why.to_dict()},
            **{"nearest": [pair], "nearest_of_truth": [pair | {"gallery_image": 3}]},
        }
        found.append(
            WrongProbe(
                method=method,
                fold=place,
                seed=0,
                probe=images.names[index],
                truth=truth,
                answer=answer,
                index=int(index),
                explanation=explanation,
            )
        )
    return tuple(found)


def robustness_section(experiment) -> RobustnessSection:
    curves = tuple(
        Curve(one.label, (0.0, 1.0), (90.0 - i, 80.0 - i), (3.0, 4.0))
        for i, one in enumerate(experiment.methods)
    )
    return RobustnessSection(experiment, curves, curves, (0.0, 17.0), (0.0, 20.0))


def distributions_section(experiment, names) -> DistributionsSection:
    n = len(names)
    table = tuple(map(tuple, np.vstack([np.eye(n), np.eye(n)[:1]]).tolist()))
    examples = tuple(
        DistributionExample(
            clusterer=name,
            classes=tuple(names),
            truth=names[0],
            answer=names[0],
            table=table,
            distances=(0.01, 0.5, *[None] * (n - 2)),
            snr=50.0,
            points=tuple((float(i), float(i % 3), 0.0) for i in range(2 * n + 2)),
            point_rows=(*range(n), *range(n), n, n),
            point_clusters=(*range(n), *range(n), 0, 0),
        )
        for name in experiment.clusterers
    )
    rows = tuple(
        DistributionRow(name, 90.0, None, 0.01, 5.5, 10, 78.84, 0.004)
        for name in experiment.clusterers
    )
    return DistributionsSection(experiment, rows, examples)


def gaussians_section(experiment) -> GaussiansSection:
    rows = tuple(
        CloudRow(float(distance), size, 0.1 / distance, 30.0 / distance, 29.0 / distance, 0.1)
        for distance in (2, 4)
        for size in (100, 200)
    )
    switches = (SwitchRow(0, 1000, 1.0), SwitchRow(1, 100, 20.0), SwitchRow(2, 10, 40.0))
    example = {"distance": 2.0, "size": 2, "points": [(0.0, 0.0), (1.0, 0.0), (2.0, 1.0)]}
    example |= {"is_second": [False, False, True], "is_wrong": [False, True, False]}
    return GaussiansSection(experiment, rows, switches, switches, example)
