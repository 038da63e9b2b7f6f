"""``setwise verify``, ``backup``, ``restore`` and ``migrate``: looking after gallery files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from typer import Argument

from setwise.cli.common import check_output
from setwise.cli.options import Output, command

GalleryFile: TypeAlias = Annotated[Path, Argument(help="A gallery file of `setwise fit`.")]
NewFile: TypeAlias = Annotated[Path, Argument(help="The gallery file to write.")]
Archive: TypeAlias = Annotated[Path, Argument(help="The archive to write, such as a.zip.")]
OldArchive: TypeAlias = Annotated[Path, Argument(help="An archive of `setwise backup`.")]


@command
def verify(gallery: GalleryFile, output: Output) -> None:
    """Check a gallery file, its history and all states that can be undone to.

    Nothing is changed. The exit status is 0 if all is sound, else 1.

    Example:
      setwise verify people.setwise
    """
    from setwise.gallery.backup import verify as check

    with output.progress():
        found = check(gallery)
    ok = all(one.ok for one in found)
    lines = [f"{'ok' if one.ok else 'BROKEN':<7} {one.what}: {one.detail}" for one in found]
    document = {"gallery": str(gallery), "ok": ok, "checks": [asdict(one) for one in found]}
    broken = [line for one, line in zip(found, lines, strict=True) if not one.ok]
    output.show(document, "\n".join(broken) or f"{gallery}: sound", "\n".join(lines))
    if not ok:
        raise typer.Exit(1)


@command
def backup(gallery: GalleryFile, archive: Archive, output: Output) -> None:
    """Copy a gallery file, its history and the decisions of its inbox into one archive.

    A server may run meanwhile: changes wait. A damaged gallery is refused, so that it never
    replaces a good archive.

    Example:
      setwise backup people.setwise backup/people-monday.zip
    """
    from setwise.gallery.backup import backup as copy

    check_output(archive, "ARCHIVE")
    with output.progress():
        done = copy(gallery, archive)
    words = f"{gallery} and {done.n_states} states ({done.n_bytes / 1e6:.1f} MB) in {archive}"
    if done.left_out:
        words += f"; damaged, left out: {', '.join(done.left_out)}"
    output.show({"archive": str(archive)} | asdict(done), words, words)


@command
def restore(archive: OldArchive, gallery: NewFile, output: Output) -> None:
    """Put a gallery file and its history back from an archive.

    Nothing is overwritten: where a gallery or a history is, move it away first.

    Example:
      setwise restore backup/people-monday.zip people.setwise
    """
    from setwise.gallery.backup import restore as put_back

    with output.progress():
        done = put_back(archive, gallery)
    words = f"{gallery} and {done.n_states} states ({done.n_bytes / 1e6:.1f} MB) are back"
    output.show({"gallery": str(gallery)} | asdict(done), words, words)


@command
def migrate(gallery: GalleryFile, output: Output) -> None:
    """Write a gallery file of an earlier version as this version writes it.

    Not needed to read it. Answers stay the same, which is checked. The old file is kept beside
    the new one, as people.setwise.1234abcd.old.

    Example:
      setwise migrate people.setwise
    """
    from setwise.classify.migrated import migrate as write_anew

    with output.progress():
        done = write_anew(gallery)
    told = {"before": done.before, "now": done.now}
    named = {when: f"format {number} of setwise {by}" for when, (number, by) in told.items()}
    words = f"{gallery}: {named['before']} already"
    if done.kept is not None:
        words = f"{gallery}: {named['before']} is {named['now']} now; before: {done.kept}"
    document = {
        name: {"format": number, "setwise": by} for name, (number, by) in told.items()
    } | {"kept": None if done.kept is None else str(done.kept)}
    output.show(document, words, words)
