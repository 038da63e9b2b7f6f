"""``setwise reproduce`` and ``setwise data``, which setwise finds as entry points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setwise.cli.plugins import (
    AsJson,
    Output,
    Quiet,
    add_command,
    clean_exit,
    command,
    say,
    shown_progress,
    text_table,
)
from setwise.errors import DataError

if TYPE_CHECKING:
    from setwise_paper.reproduction import Run
    from setwise_paper.study import Study, StudyResult
    from setwise_paper.support import Progress


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="STUDY", help='Of --list, a TOML file of yours, or "all".'),
    ] = None,
    is_list: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="Experiment of the study; may be repeated.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(file_okay=False, help="Folder of data; else $SETWISE_DATA.")
    ] = None,
    out: Annotated[Path, typer.Option(file_okay=False, help="Folder for results.")] = Path(
        "out/reproduce"
    ),
    jobs: Annotated[int, typer.Option(help="Items at a time; -1 is one per core.")] = -1,
    backend: Annotated[str, typer.Option(help="processes, threads or dask.")] = "processes",
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler; else one is started.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Repeat everything; old results are kept aside.")
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Tables only.")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's evaluation on the data at hand, its numbers beside ours.

    Results are kept at once: after any stop, the same command continues. Ctrl-C finishes the
    running items; a second one stops at once. Ends with tables and, for each study, a report
    of one HTML file.

    Example:
      setwise reproduce eth80 --data data/ --out results/
    """
    with clean_exit():
        if is_list or not names:
            _list(as_json=as_json)
            return
        options: dict[str, Any] = {
            "folder": data,
            "n_jobs": jobs,
            "backend": backend,
            "scheduler": scheduler,
            "fresh": fresh,
        }
        is_silent, status = as_json or quiet, 0
        contents: dict[str, Any] = {}
        for name, study in _chosen(names, only):
            with shown_progress(is_silent=is_silent) as progress:
                run = _run(name, study, out, options, progress)
            if run is None:
                status = 1
                continue
            contents[name] = _finish(run, out / name, data, no_report=no_report)
            if not as_json:
                _show(name, run, contents[name], quiet=quiet)
            status = 1 if run.result.failures else status
            if run.was_interrupted:
                status = 130
                break
    if as_json:
        typer.echo(json.dumps(contents, indent=2))
    raise typer.Exit(status)


def _list(*, as_json: bool) -> None:
    from setwise_paper.study import shipped_studies

    studies = shipped_studies()
    if as_json:
        plain = {name: study.model_dump(mode="json") for name, study in studies.items()}
        typer.echo(json.dumps(plain, indent=2))
        return
    for name, study in studies.items():
        typer.echo(f"{name}: {study.title}")
        for one in study.experiments:
            shows = f" ({one.shows})" if one.shows else ""
            typer.echo(f"    {one.name}: {one.title}{shows}")
        if study.missing:
            typer.echo(f"    data: {study.missing}")


def _chosen(names: list[str], only: list[str] | None) -> list[tuple[str, Study]]:
    from setwise_paper.study import shipped_studies, study_named
    from setwise_paper.support import check_known

    studies = list(shipped_studies().items()) if names == ["all"] else []
    studies = studies or [study_named(name) for name in names]
    if not only:
        return studies
    known = sorted({one.name for _, study in studies for one in study.experiments})
    for name in only:
        check_known("--only", "experiment", name, known)
    parts = {
        name: tuple(one for one in study.experiments if one.name in only)
        for name, study in studies
    }
    return [
        (name, study.model_copy(update={"experiments": parts[name]}))
        for name, study in studies
        if parts[name]
    ]


def _run(
    name: str, study: Study, out: Path, options: dict[str, Any], progress: Progress | None
) -> Run | None:
    """A study, or None where its data cannot be used: the other studies go on."""
    from setwise_paper.reproduction import reproduce as run

    try:
        return run(study, out / name, progress=progress, **options)
    except DataError as error:
        say(f"setwise: {error}", err=True)
        return None


def _finish(run: Run, folder: Path, data: Path | None, *, no_report: bool) -> dict[str, Any]:
    """Write tables and report beside the results; what ``--json`` says of the study.

    ``tables.json`` is the same for every run of a study, ``numbers.json`` has times as well.
    """
    from setwise_paper.accuracy import numbers
    from setwise_paper.report.render import write_report
    from setwise_paper.support import write_whole

    content = numbers(run.result)
    write_whole(folder / "tables.json", _json(numbers(run.result, with_times=False)))
    write_whole(folder / "numbers.json", _json(content))
    write_whole(folder / "tables.md", _markdown(run.result))
    report = None if no_report else write_report(run.result, folder / "report.html", data)
    return content | {
        "n_done": run.n_done,
        "was_interrupted": run.was_interrupted,
        "report": None if report is None else str(report),
    }


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1) + "\n"


def _markdown(result: StudyResult) -> str:
    tables = (table for section in result.sections for table in section.tables())
    return "\n\n".join(table.to_markdown() for table in tables) + "\n"


def _show(name: str, run: Run, content: dict[str, Any], *, quiet: bool) -> None:
    result = run.result
    if not quiet:
        _show_tables(result)
    for failure in result.failures:
        what = f"{failure.experiment}, {failure.what}"
        say(f"setwise: {name}: {what} failed: {failure.error}", err=True)
    if result.warnings and not quiet:
        counts = ", ".join(f"{kind} {count}" for kind, count in sorted(result.warnings.items()))
        say(f"{name}: warnings (weaker answers): {counts}", err=True)
    if run.was_interrupted:
        say("setwise: interrupted; run it again to continue.", err=True)
    done = f"{name}: {result.n_finished} of {result.n_items} items finished, {run.n_done} now"
    say(f"{done}. {content['report'] or ''}".strip())


def _show_tables(result: StudyResult) -> None:
    from rich.console import Console

    from setwise_paper.support import printable

    console = Console(highlight=False)
    for section in result.sections:
        for words in section.tables():
            console.print(f"\n{printable(words.heading)}", style="bold", markup=False)
            console.print(text_table(words.columns, words.rows, are_numbers=True))


data_app = typer.Typer(
    help="Public datasets: list them, and fetch one.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def list_command(as_json: AsJson = False) -> None:
    """Show the known datasets: where they come from, their licence and their protocol.

    Example:
      setwise data list
    """
    from setwise_paper.datasets import SOURCES

    if as_json:
        typer.echo(json.dumps([source.to_dict() for source in SOURCES.values()], indent=2))
        return
    for source in SOURCES.values():
        typer.echo(f"{source.name}: {source.title}")
        typer.echo(f"    {source.protocol}")
        typer.echo(f"    licence: {source.licence}")
        for file in source.files:
            typer.echo(f"    {file.address}")


@command
def fetch_command(
    name: Annotated[str, typer.Argument(help="One of `setwise data list`.")],
    output: Output,
    folder: Annotated[
        Path | None, typer.Option(file_okay=False, help="Where to; $SETWISE_DATA or a cache.")
    ] = None,
    mirror: Annotated[
        str | None, typer.Option(help="Address of a folder with the same files.")
    ] = None,
    accept_unverified: Annotated[
        bool, typer.Option("--accept-unverified", help="Where no checksum is known.")
    ] = False,
) -> None:
    """Download a dataset, and verify its checksums.

    Example:
      setwise data fetch eth80 --folder data/
    """
    with output.progress() as progress:
        from setwise_paper.datasets import fetch

        paths = fetch(
            name, folder, mirror=mirror, accept_unverified=accept_unverified, progress=progress
        )
    if output.as_json:
        typer.echo(json.dumps([str(path) for path in paths], indent=2))
    else:
        for path in paths:
            say(str(path))


add_command(data_app, list_command, "list")
add_command(data_app, fetch_command, "fetch")
reproduce_app = typer.Typer(rich_markup_mode=None)
add_command(reproduce_app, reproduce)
