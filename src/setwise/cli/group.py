"""``setwise group``: which sets of a heap belong together, alone or beside a gallery.

``--json`` prints ``groups`` (each with ``group``, ``probability`` and its ``sets``),
``unsure``, ``suggestions`` and ``sets``: a row per set with the columns of ``--csv``.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from setwise._support.text import spreadsheet, spreadsheet_cell
from setwise.cli.common import check_output, counted, say, show_rows
from setwise.cli.group_folders import check_files, found_in, write_into
from setwise.cli.group_record import UNSURE, Record, group_names, is_named, read_pairs
from setwise.cli.options import Jobs, Output, Reading, command
from setwise.cli.reading import check_features, load, when_and_where
from setwise.errors import DataError, ParameterError

if TYPE_CHECKING:
    from setwise import CVC
    from setwise.io import LoadedSets
    from setwise.together import Suggestions

COLUMNS = (
    "set", "group", "probability", "n_images", "first_file", "first_time", "last_time",
)  # fmt: skip
# Beside what a run has written: names, corrections, and where everything was put.
RECORD = ".setwise-groups.json"
_HEAP = "Folder of sets without labels, clips, .mat, .npz, .csv, .parquet."
_GALLERY = "A file of `setwise fit --unknown RATE`: its classes are recognised."
_ENROLL = "Add sets whose group you have named to the gallery."
_N = "Number of groups; found by default."
_INTO = "Sort into DIR/group/: links, or --copy."
_PAIRS = "CSV file, two sets in each row that"


@dataclass(frozen=True)
class Outputs:
    """Options for what is written of the groups."""

    into: Annotated[Path | None, Option(metavar="DIR", help=_INTO)] = None
    copy: Annotated[bool, Option("--copy", help="Copy the files, in place of links.")] = False
    csv: Annotated[Path | None, Option(help="Write a table: a row per set.")] = None
    report: Annotated[Path | None, Option(help="Write a contact sheet, as HTML.")] = None

    def check(self) -> None:
        """Refuse, before any work, files that cannot be written."""
        check_output(self.into, "--into", is_folder=True)
        check_output(self.csv, "--csv")
        check_output(self.report, "--report")
        if self.copy and self.into is None:
            msg = "--copy copies into the folder of --into DIR, which is not given."
            raise typer.BadParameter(msg)

    @property
    def records(self) -> list[Path]:
        """The records of what is written: in the folder, and beside the table."""
        beside = [self.into / RECORD] if self.into else []
        if self.csv is not None:
            beside.append(self.csv.with_name(f"{self.csv.name}{RECORD}"))
        return beside


@dataclass(frozen=True)
class Found:
    """Name of the group of each set, and what the suggestions call the groups."""

    groups: tuple[str, ...]
    probabilities: tuple[float, ...]
    suggestions: Suggestions
    numbered: tuple[str, ...]


@command
def group(
    heap: Annotated[Path, Argument(help=_HEAP)],
    files: Outputs,
    reading: Reading,
    output: Output,
    gallery: Annotated[Path | None, Option(help=_GALLERY)] = None,
    enroll: Annotated[bool, Option("--enroll", help=_ENROLL)] = False,
    n_groups: Annotated[int | None, Option("-n", "--n-groups", min=1, help=_N)] = None,
    must_link: Annotated[Path | None, Option(help=f"{_PAIRS} belong together.")] = None,
    cannot_link: Annotated[Path | None, Option(help=f"{_PAIRS} do not.")] = None,
    jobs: Jobs = -1,
) -> None:
    """Group sets that belong together: no labels needed, and the number of groups is found.

    Sets that are like no other for sure are left out as unsure. Names and corrections stay:
    rename folders of --into, move sets between them, or change the column "group" of --csv,
    and run it again.

    Example:
      setwise group heap/ --report groups.html
      setwise group heap/ --into groups/ --copy --csv groups.csv
      setwise group heap/ --gallery people.setwise --into groups/ --enroll
    """
    _check(files, gallery, enroll, n_groups, output)
    reading.check()
    record = _said(files)
    with output.progress() as progress:
        clf = None if gallery is None else _classifier(gallery, reading, jobs)
        options = reading.of_probes() | {"layout": reading.probe_layout or reading.layout}
        if clf is not None:
            reading = reading.as_recorded(clf.reading_)
            options = reading.of_probes(clf.gallery_.sets.image_shape)
        sets = load(heap, options, output, progress)
        if files.into is not None:
            check_files(sets)
        must = read_pairs(must_link, "--must-link", sets.names)
        cannot = read_pairs(cannot_link, "--cannot-link", sets.names)
        links = dict(zip(("must_link", "cannot_link"), record.links(sets.names, must, cannot),
                         strict=True))  # fmt: skip
        report = progress or (lambda what, done, total: None)
        report("group", 0, 1)
        if clf is not None:
            found = _beside(clf, sets, record, links)
        else:
            found = _grouped(sets, record, links, reading.features, n_groups, jobs)
        report("group", 1, 1)
    rows = [_row(sets, i, found) for i in range(len(sets))]
    _show(heap, sets, rows, found, output)  # before the files, of which one may fail
    _write(files, sets, rows, found, record)
    if enroll and gallery is not None:
        _enroll(gallery, sets, found, record)


def _check(
    files: Outputs, gallery: Path | None, enroll: bool, n_groups: int | None, output: Output
) -> None:
    files.check()
    if enroll and gallery is None:
        msg = "--enroll adds to the gallery of --gallery FILE, which is not given."
        raise typer.BadParameter(msg)
    if gallery is not None and n_groups is not None:
        msg = "--n-groups: beside a gallery the number of groups is found. Leave it out."
        raise typer.BadParameter(msg)
    if files.report is not None:
        from setwise._support.extras import require

        require("jinja2", "report")


def _said(files: Outputs) -> Record:
    """What a person said: by names and places in the folder, and by the table."""
    found = Record()
    for path in files.records:
        record = Record.read(path)
        if path.parent == files.into:
            record = record.changed_by_hand(found_in(files.into, record))
        elif files.csv is not None and files.csv.is_file():
            record = record.changed_by_hand(_in_table(files.csv, record))
        found = record.over(found)
    return found


def _in_table(path: Path, record: Record) -> dict[str, str]:
    """The group of each set as a table has it, which a person may have changed."""
    known = {str(spreadsheet_cell(one)): one for one in record.groups}
    names = {str(spreadsheet_cell(name)): name for name in record.groups.values()}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        found = {row["set"]: (row["group"] or UNSURE).strip() for row in rows}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, AttributeError) as error:
        msg = (
            f"--csv {path}: what is there is no table of groups. Expected columns set and "
            "group. Move it, or name another file."
        )
        raise DataError(msg) from error
    return {known[one]: names.get(g, g) for one, g in found.items() if one in known}


def _classifier(gallery: Path, reading: Reading, jobs: int) -> CVC:
    from setwise import load as load_file

    clf = load_file(gallery)
    check_features(gallery, clf, reading.features)
    if clf.unknown is None:
        msg = (
            f"--gallery {gallery} names a class for every set, so that none is left to be "
            "grouped. Expected one of `setwise fit ... --unknown 0.05`."
        )
        raise ParameterError(msg)
    return clf.set_params(n_jobs=jobs)


def _grouped(
    sets: LoadedSets, record: Record, links: Mapping[str, Any], features: str,
    n_groups: int | None, jobs: int,
) -> Found:  # fmt: skip
    """Groups of sets without a gallery."""
    from setwise import SetClusters
    from setwise.cli.reading import classifier_for
    from setwise.together import suggest

    if len(sets) < 2:
        msg = f"{sets.report.source} holds one set. Expected two or more, to be grouped."
        raise DataError(msg)
    if n_groups is not None and n_groups > len(sets):
        msg = f"--n-groups {n_groups}: there are {len(sets)} sets. Expected at most as many."
        raise ParameterError(msg)
    how = classifier_for(sets, features, None).describe()
    clusters = SetClusters(n_groups, description=how, n_jobs=jobs).fit(sets, **links)
    names = group_names(clusters.labels_.tolist(), sets.names, record)
    numbered = {int(label): name for label, name in zip(clusters.labels_, names, strict=True)}
    return Found(
        tuple(names),
        tuple(clusters.probabilities_.tolist()),
        suggest(clusters.found_, clusters.labels_),
        tuple(numbered[label] for label in range(clusters.n_clusters_)),
    )


def _beside(clf: CVC, sets: LoadedSets, record: Record, links: Mapping[str, Any]) -> Found:
    """Sets of known classes by their names, and groups of the others."""
    found = clf.group(sets, **links)
    groups = found.groups.tolist()
    names = group_names(groups, sets.names, record)
    names = [
        name if label is None else record.given.get(one, str(label))
        for one, name, label in zip(sets.names, names, found.labels, strict=True)
    ]
    numbered = dict(zip(groups, names, strict=True))
    return Found(
        tuple(names),
        tuple(found.probabilities.tolist()),
        found.suggestions,
        tuple(numbered[label] for label in range(found.n_groups)),
    )


def _row(sets: LoadedSets, i: int, found: Found) -> dict[str, Any]:
    """One set as a row of the table, and of the JSON document."""
    return {
        "set": sets.names[i],
        "group": found.groups[i],
        "probability": round(found.probabilities[i], 6),
        "n_images": int(sets.sizes[i]),
        **when_and_where(sets.of_set(i)),
    }


def _suggested(sets: LoadedSets, found: Found) -> dict[str, list[dict[str, Any]]]:
    """Suggestions by name."""
    told, named = found.suggestions, found.numbered
    return {
        "merge": [
            {"groups": [named[m.first], named[m.second]], "probability": m.probability}
            for m in told.merges
        ],
        "move": [
            {"set": sets.names[m.index], "group": found.groups[m.index],
             "to": named[m.to] if m.to >= 0 else UNSURE, "probability": m.probability}
            for m in told.moves
        ],
        "name_next": [
            {"set": sets.names[step.index], "gain": step.gain} for step in told.next_labels
        ],
    }  # fmt: skip


def _show(
    heap: Path, sets: LoadedSets, rows: Sequence[dict[str, Any]], found: Found, output: Output
) -> None:
    members: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        members[row["group"]].append(row)
    unsure = [row["set"] for row in members.pop(UNSURE, [])]
    groups = [
        {
            "group": name,
            "is_named": is_named(name),
            "n_sets": len(own),
            "n_images": sum(row["n_images"] for row in own),
            "probability": sum(row["probability"] for row in own) / len(own),
            "sets": [row["set"] for row in own],
        }
        for name, own in members.items()
    ]
    # By how sure as it is shown: else groups that look alike would be in no order.
    groups.sort(key=lambda one: (-round(one["probability"], 2), -one["n_sets"]))
    suggested = _suggested(sets, found)
    if output.as_json:
        document: dict[str, Any] = {"format": 1, "source": str(heap), "groups": groups}
        document |= {"unsure": unsure, "suggestions": suggested, "sets": list(rows)}
        typer.echo(json.dumps(document | {"left_out": [sets.report.to_dict()]}, indent=2))
        return
    told = f"{counted(len(rows), 'set')}: {counted(len(groups), 'group')}, {len(unsure)} unsure"
    if output.quiet:
        say(told)
        return
    shown = [
        (one["group"], str(one["n_sets"]), str(one["n_images"]), f"{one['probability']:.2f}",
         ", ".join(one["sets"][:3]) + (", ..." if one["n_sets"] > 3 else ""))
        for one in groups
    ]  # fmt: skip
    if unsure:
        more = ", ..." if len(unsure) > 3 else ""
        shown.append(("unsure", str(len(unsure)), "", "", ", ".join(unsure[:3]) + more))
    show_rows(("group", "sets", "images", "how sure", ""), shown)
    say(told)
    for one in suggested["merge"][:5]:
        say(f"{' and '.join(one['groups'])} may be one ({one['probability']:.2f})")
    for one in suggested["move"][:5]:
        say(f"{one['set']} may belong to {one['to'] or 'none'} ({one['probability']:.2f})")


def _write(
    files: Outputs, sets: LoadedSets, rows: Sequence[dict[str, Any]], found: Found,
    record: Record,
) -> None:  # fmt: skip
    from setwise._support.files import write_whole

    groups = dict(zip(sets.names, found.groups, strict=True))
    if files.into is not None:
        record, n_new = write_into(files.into, sets, found.groups, record, copy=files.copy)
        say(f"{counted(n_new, 'file')} new in {files.into}", err=True)
    if files.csv is not None:
        write_whole(files.csv, spreadsheet(COLUMNS, rows))
        say(f"table: {files.csv}", err=True)
    for path in files.records:
        replace(record, groups={**record.groups, **groups}).write(path)
    if files.report is not None:
        from setwise.report import write_groups

        write_groups(
            files.report, sets, found.groups, found.probabilities,
            suggestions=found.suggestions, numbered=found.numbered,
            left_out=sets.report.skipped,
        )  # fmt: skip
        say(f"report: {files.report}", err=True)


def _enroll(gallery: Path, sets: LoadedSets, found: Found, record: Record) -> None:
    """Add the sets that a person has named, and the gallery does not hold, to its file."""
    from setwise import edit

    with edit(gallery) as clf:
        held = {vectors.tobytes() for vectors in clf.gallery_.sets}
        checked = clf.gallery_.check(sets, "setwise group --enroll")
        new = [
            i
            for i, one in enumerate(sets.names)
            if one in record.given and checked[i].tobytes() not in held
        ]
        if new:
            labels = [record.given[sets.names[i]] for i in new]
            clf.enroll(sets[new], labels)
    say(f"{counted(len(new), 'set')} of named groups added to {gallery}", err=True)
