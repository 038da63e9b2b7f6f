"""Tables made of several records, as benchmarks/write_pages.py shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from records import Table

Records = Mapping[str, Mapping[str, Table]]
NOTHING = "-"
EVIDENCE = ("pixels", "embeddings", "strangers", "small")
# Columns of README's table, by the methods of the evidence.
SIMPLE = {
    "mean cosine": "mean cosine",
    "robust mean cosine": "robust mean",
    "frame vote (cosine)": "frame vote",
}
# What the best rival is called there.
SHORT = {
    **SIMPLE,
    "trimmed mean cosine": "trimmed mean",
    "MSM (smallest angle)": "MSM, smallest angle",
}
# Columns of the evidence that are no rivals of CVC.
NO_RIVALS = ("task", "probes", "splits", "rival", "CVC : rival", "p", "CVC")
ETH80_NET, ARCFACE = "ETH-80 EfficientNet", "Yale B ArcFace, mixed light"


@dataclass(frozen=True)
class Row:
    """A row of README's table: what it is called there, and in the evidence.

    ``study`` is the table of reproduced.json on the same splits, whose methods are rivals too.
    """

    title: str
    task: str
    study: str = ""


README = (
    Row("ETH-80, pixels (objects on a turntable)", "ETH-80 20x20", "eth80-methods"),
    Row("Extended Yale B, pixels (faces, light)", "Yale B 24x21", "yaleb-methods"),
    Row("COIL-20, pixels (quarters of a turntable)", "COIL-20 32x32", "coil20-methods"),
    Row("Japanese vowels (speakers, 12 coefficients)", "vowels", "vowels-methods"),
    Row("ETH-80, network, one object per class", f"{ETH80_NET}, 1 gallery object per class"),
    Row("ETH-80, network, five objects per class", f"{ETH80_NET}, published 5 + 5"),
    Row("Yale B, face network, one set per person", ARCFACE),
    Row("ETH-80, network, 40 % strangers in a set", f"{ETH80_NET}: 40 % from one stranger"),
    Row("Yale B, face network, 40 % strangers", f"{ARCFACE}: 40 % from one stranger"),
)
# Tasks of *Which method when*, and what a reader calls them.
WHICH = {
    ARCFACE: "faces, embeddings (ArcFace), clean",
    f"{ARCFACE}: 20 % from many strangers": "... 20 % of a set from others",
    f"{ARCFACE}: 40 % from one stranger": "... 40 % of a set from one other",
    "COIL-20 EfficientNet": "objects, embeddings (EfficientNet), clean",
    f"{ETH80_NET}, 1 gallery object per class": "categories, embeddings, one set known",
    f"{ETH80_NET}: 40 % from one stranger": "... 40 % of a set from one other",
    f"{ETH80_NET}: 3 images, probe only": "... probes of 3 images",
    "ETH-80 20x20": "categories, pixels (objects on a turntable)",
    "Yale B 24x21": "faces, pixels, changing light",
    "COIL-20 32x32": "objects, pixels, quarters of a turn",
    "vowels": "speakers, 12 coefficients per frame",
}
WHICH_METHODS = ("mean cosine", "robust mean cosine", "frame vote (cosine)", "MSM", "CVC")
FEW = {
    "ETH-80 EfficientNet, 1 per class": "objects, network",
    "ETH-80 20x20, 1 per class": "objects, pixels",
    "COIL-20 32x32, 1 per class": "quarters of a turntable, pixels",
    "Yale B pixels, 1 per class": "faces, pixels",
    "Yale B ArcFace, 1 per class": "faces, face network",
}
OUTLIERS = {
    "yaleb": "Yale B",
    "eth80": "ETH-80",
    "hands": "Hands",
    "objects": "Rendered objects",
}
OUTLIER_METHODS = ("CVC", "CVC as in paper", "CDL-LDA", "SANP", "MSM")
FEW_METHODS = ("alone", "together", "label spreading")


def numbers(records: Records, task: str) -> dict[str, str]:
    """What the evidence says of a task, by method."""
    for name in EVIDENCE:
        table = records["evidence"].get(name)
        if table is not None and any(row[0] == task for row in table.rows):
            found = {column: table.number(task, column) for column in table.columns[1:]}
            return {method: value for method, value in found.items() if value}
    msg = f"the evidence has no task {task!r}: mend benchmarks/views.py"
    raise LookupError(msg)


def best_rival(records: Records, row: Row) -> tuple[str, str]:
    """Number and name of the best method beside CVC."""
    found = {k: v for k, v in numbers(records, row.task).items() if k not in NO_RIVALS}
    if row.study:
        table = records["reproduced"][row.study]
        column = "ours" if "ours" in table.columns else table.columns[1]
        for name, *_ in table.rows:
            if not name.startswith("CVC") and (value := table.number(name, column)):
                found.setdefault(name.removesuffix("-LDA").removesuffix("-PLS"), value)
    name = max(found, key=lambda one: float(found[one]))
    return found[name], SHORT.get(name, name)


def readme(records: Records) -> str:
    """The honest table."""
    rows = []
    for row in README:
        found = numbers(records, row.task)
        value, name = best_rival(records, row)
        simple = [found.get(method, NOTHING) for method in SIMPLE]
        rows.append([row.title, *simple, f"{value} ({name})", found["CVC"]])
    return bold_table(["% right", *SIMPLE.values(), "best other", "CVC"], rows)


def which(records: Records) -> str:
    """The table of *Which method when*."""
    rows = []
    for task, words in WHICH.items():
        found = numbers(records, task)
        rows.append([words, *(found.get(method, NOTHING) for method in WHICH_METHODS)])
    return bold_table(["sets", *WHICH_METHODS], rows)


def few(records: Records) -> str:
    """One labelled set per class: alone, together, and a rival."""
    table = records["together"]["even"]
    rows = [
        [words, *(table.number(task, method) for method in FEW_METHODS)]
        for task, words in FEW.items()
    ]
    return bold_table(["% right, one labelled set per class", *FEW_METHODS], rows)


def outliers(records: Records) -> str:
    """Fig. 9: accuracy without outliers in the probes, and with the most of them."""
    rows = []
    for study, title in OUTLIERS.items():
        table = records["reproduced"][f"{study}-robustness-2"]
        most = table.columns[-1]
        ends = [
            f"{table.number(method, 'clean')} to {table.number(method, most)}"
            for method in OUTLIER_METHODS
        ]
        rows.append([f"{title}, {most}", *ends])
    columns = ["% right, clean to most outliers in the probes", *OUTLIER_METHODS]
    return Table("", columns, rows).markdown()


def bold_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in which the largest number of each row is bold."""
    return Table("", columns, [_bold(row) for row in rows]).markdown()


def _bold(row: Sequence[str]) -> list[str]:
    values = [cell.split(" (")[0] for cell in row[1:]]
    largest = max(float(value) for value in values if value != NOTHING)
    cells = [
        cell.replace(value, f"**{value}**", 1)
        if value != NOTHING and float(value) == largest
        else cell
        for cell, value in zip(row[1:], values, strict=True)
    ]
    return [row[0], *cells]


VIEWS: dict[str, Callable[[Records], str]] = {
    "readme": readme,
    "which": which,
    "few": few,
    "outliers": outliers,
}
