"""Methods side by side: accuracy, time, p values, and wrong answers (Tables 2, 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import model_validator

from setwise.plots import plot_accuracy_time
from setwise.report.parts import Confusion, confusion_table
from setwise_paper.accuracy import AccuracyRow, accuracy_cells, p_values
from setwise_paper.figures.svg import picture
from setwise_paper.kinds.base import PicturesOf, Section, Words
from setwise_paper.kinds.classify import ClassifyItem, ExplainItem, OnFolds
from setwise_paper.plan import Finished, Planned, Planner, Result
from setwise_paper.report.parts import Fact, Pictures, WrongProbe, probe_pages
from setwise_paper.spec import OneLabelEach
from setwise_paper.support import duration


class Methods(OnFolds):
    """Methods on the folds of some data."""

    kind: Literal["methods"] = "methods"
    methods: OneLabelEach
    explain: str | None = None

    @model_validator(mode="after")
    def _knows_what_to_explain(self) -> Methods:
        if self.explain is not None and self.explain not in [m.label for m in self.methods]:
            msg = f"explain is {self.explain!r}, which is no name of a method here"
            raise ValueError(msg)
        return self

    def plan(self, planner: Planner) -> Iterator[Planned]:
        """Every method on every fold."""
        return self.plan_folds(self.methods, planner)

    def follow_up(self, finished: Sequence[Finished], planner: Planner) -> Iterator[Planned]:
        """The wrong answers of one method are to be explained."""
        for planned, result in finished:
            if planned.label != self.explain or not isinstance(planned.item, ClassifyItem):
                continue
            answers = zip(result["answers"][""], result["truth"], strict=True)
            wrong = tuple(i for i, (answer, truth) in enumerate(answers) if answer != truth)
            if wrong:
                item = ExplainItem(of=planned.item, probes=wrong)
                yield planner.planned(item, planned.label, planned.turn, self.data)

    def summarise(self, finished: Sequence[Finished]) -> MethodsSection:
        """A row per method; of the one that is explained, what was taken for what and why."""
        judged: dict[str, dict[Any, Result]] = {}
        wrong: list[WrongProbe] = []
        for planned, result in finished:
            if isinstance(planned.item, ExplainItem):
                wrong += _wrong_probes(planned.label, planned.item, result)
            else:
                item = planned.item
                fold = (item.fold, item.seed) if isinstance(item, ClassifyItem) else planned.key
                judged.setdefault(planned.label, {})[fold] = result
        labels = [method.label for method in self.methods if method.label in judged]
        chances = p_values({name: judged[name] for name in labels})
        rows = (
            AccuracyRow.of(
                name, [*judged[name].values()], self.published.get(name), p_value=chances[name]
            )
            for name in labels
        )
        return MethodsSection(
            self,
            tuple(rows),
            _confusion([*judged.get(self.explain or "", {}).values()]),
            tuple(wrong),
        )


def _wrong_probes(method: str, item: ExplainItem, result: Result) -> Iterator[WrongProbe]:
    for why in result["explanations"]:
        same = {name: why[name] for name in ("probe", "truth", "answer", "index")}
        yield WrongProbe(method, item.of.fold, item.of.seed, explanation=why, **same)


def _confusion(results: Sequence[Result]) -> Confusion | None:
    if not results:
        return None
    pairs = [
        pair
        for result in results
        for pair in zip(result["truth"], result["answers"][""], strict=True)
    ]
    classes = sorted({name for pair in pairs for name in pair})
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    for truth, answer in pairs:
        counts[classes.index(truth), classes.index(answer)] += 1
    return Confusion(tuple(classes), tuple(map(tuple, counts.tolist())))


@dataclass(frozen=True)
class MethodsSection(Section):
    """Methods side by side."""

    experiment: Methods
    rows: tuple[AccuracyRow, ...]
    confusion: Confusion | None = None
    wrong: tuple[WrongProbe, ...] = ()

    template: ClassVar[str] = "sections/methods.html.jinja"
    pictured: ClassVar[tuple[str, ...]] = ("wrong",)

    def numbers(self) -> dict[str, Any]:
        """Rows, confusion and wrong probes, without why they were wrong."""
        names = ("fold", "seed", "probe", "truth", "answer")
        wrong = [{name: getattr(one, name) for name in names} for one in self.wrong]
        return super().numbers() | {"wrong": wrong}

    def ratios(self) -> list[tuple[float | None, float | None]]:
        """Times over those of the first row, the paper's and ours: what machines agree in."""
        ours = [row.probe_seconds for row in self.rows]
        paper = [row.published.seconds if row.published else None for row in self.rows]
        return [
            (_ratio(theirs, paper[0]), _ratio(own, ours[0]))
            for theirs, own in zip(paper, ours, strict=True)
        ]

    def tabulate(self) -> Iterator[Words]:
        """Accuracies and times; times and their ratios, where these are what it is about."""
        if self.experiment.is_timed:
            columns: tuple[str, ...] = (
                *("method", "paper, a probe", "ours, a probe"),
                *("paper, ratio", "ours, ratio"),
            )
            rows: list[tuple[str, ...]] = [
                (
                    row.name,
                    _time(row.published.seconds if row.published else None),
                    _time(row.probe_seconds),
                    *("" if one is None else f"{one:.2f}" for one in ratios),
                )
                for row, ratios in zip(self.rows, self.ratios(), strict=True)
            ]
        else:
            columns = ("method", "paper", "ours", "difference", "p", "fit", "a probe")
            rows = [accuracy_cells(row) for row in self.rows]
        yield self.experiment.title, columns, rows

    def accuracies(self) -> Iterator[tuple[str, AccuracyRow]]:
        """All rows; none where times are what it is about, for which a few probes do."""
        if not self.experiment.is_timed:
            yield from ((row.name, row) for row in self.rows)

    def facts(self) -> Iterator[Fact]:
        """How many probes were wrong, where they are explained."""
        if not self.wrong:
            return
        rows = [row for row in self.rows if row.name == self.experiment.explain]
        of = f"of {rows[0].n_probes} by {rows[0].name}, " if rows else ""
        yield Fact(
            label="Wrong probes",
            value=str(len(self.wrong)),
            unit="",
            note=f"{of}each explained",
            anchor=f"wrong-{self.experiment.name}",
        )

    def for_template(self, pictures_of: PicturesOf) -> Mapping[str, Any]:
        """Which columns the table has, the figure, the confusion and the wrong probes."""
        experiment, rows = self.experiment, self.rows
        shows_sets = bool(self.confusion or self.wrong)
        pictures = pictures_of(experiment.data) if shows_sets else Pictures.none()
        pages = probe_pages(experiment.name, self.wrong, pictures)
        published = [row.published for row in rows if row.published is not None]
        return {
            "has_means": any(one.mean is not None for one in published),
            "has_seconds": any(one.seconds is not None for one in published),
            "has_fit": any(row.fit_seconds is not None for row in rows),
            "ratios": self.ratios() if experiment.is_timed else [],
            "has_p": any(row.p_value is not None for row in rows),
            "has_times": any(row.probe_seconds is not None for row in rows),
            # A few probes tell times, and next to nothing of accuracy.
            "time_figure": "" if experiment.is_timed else self.time_figure(),
            "confusion": self.confusion
            and confusion_table(self.confusion, pictures.of_classes),
            "cards": self._cards(pages, pictures),
            "pages": pages,
            "classes_of_truth": sorted({one.truth for one in self.wrong}),
            "classes_of_answer": sorted({one.answer for one in self.wrong}),
            "why_no_images": pictures.why_none,
        }

    def _cards(self, pages: Sequence[Any], pictures: Pictures) -> list[Mapping[str, Any]]:
        """The wrong probes, each with its page where it is explained."""
        page_of = {id(page.wrong): page for page in pages}
        return [
            {
                "wrong": one,
                "page": page_of.get(id(one)),
                "thumbnail": pictures.one(one.index, pictures.size(one.index) // 2),
            }
            for one in self.wrong
        ]

    def time_figure(self) -> Any:
        """Accuracy against the time to judge a probe, for the methods that were timed."""
        points = [
            (
                row.name,
                row.probe_seconds,
                row.mean / 100,
                max(row.mean - row.standard_error, 0.0) / 100,
                min(row.mean + row.standard_error, 100.0) / 100,
            )
            for row in self.rows
            if row.probe_seconds
        ]
        height = min(max(3.2, 0.21 * len(points) + 0.8), 8.0)
        return picture(
            (8.2, height),
            f"{self.experiment.title}: accuracy against the time to judge a probe",
            lambda axes: plot_accuracy_time(axes, points),
            is_drawn=len(points) > 1,
        )


def _time(seconds: float | None) -> str:
    return "" if seconds is None else duration(seconds)


def _ratio(value: float | None, to: float | None) -> float | None:
    return None if value is None or not to else value / to
