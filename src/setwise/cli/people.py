"""``setwise people``, ``name``, ``merge`` and ``split``: who is in which photo.

A file of people is a gallery file: a class per person, vectors of faces, and the photo and box
that each is from. ``people --json`` prints ``gallery``, ``n_photos``, ``people`` (faces of
each), ``n_unsure``, ``skipped`` and ``faces``: a row per face with the columns of ``--csv``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer import Argument, Option

from setwise.cli.common import check_output, counted, say, show_rows
from setwise.cli.galleries import check_free
from setwise.cli.options import Output, command
from setwise.cli.people_out import Outputs, face_rows
from setwise.errors import DataError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from setwise.cli.people_change import Change
    from setwise.faces.sightings import Seen, Sighting
    from setwise.features.face_networks import NetworkName

OWNER = "setwise people"
# Pairs of people who may be one that are told.
MOST_PAIRS = 5
PeopleFile: TypeAlias = Annotated[Path, Argument(help="A file of `setwise people`.")]
_SOURCES = "Photos, clips, or folders of them."
_GALLERY = "A file of people: who is known is recognised, who is new is added."


@command
def people(
    sources: Annotated[list[Path], Argument(metavar="SOURCE...", help=_SOURCES)],
    files: Outputs,
    output: Output,
    out: Annotated[Path | None, Option("--out", "-o", help="The file to write.")] = None,
    gallery: Annotated[Path | None, Option(help=_GALLERY)] = None,
    min_faces: Annotated[int, Option(min=2, help="Faces that make a person.")] = 2,
    min_size: Annotated[int | None, Option(min=1, help="Least pixels of a face.")] = None,
    skip_bad: Annotated[bool, Option("--skip-bad", help="List bad files, and go on.")] = False,
    no_cache: Annotated[bool, Option("--no-cache", help="Look at all photos again.")] = False,
) -> None:
    """Find who is in photos and clips: faces are grouped by person, and kept in one file.

    People are called "person 1", "person 2", ... until `setwise name` names them. Faces that
    are like no other are left out as unsure, and tried again next time. Names and corrections
    stay, whatever is added. Photos seen before take no time.

    Example:
      setwise people photos/ -o people.setwise
      setwise name people.setwise "person 1" Anna
      setwise people photos/ new/ --gallery people.setwise --csv who.csv --xmp
    """
    if (out is None) == (gallery is None):
        msg = "give -o FILE for a new file of people, or --gallery FILE to add to one."
        raise typer.BadParameter(msg)
    files.check(sources)
    if out is not None:
        check_output(out, "--out")
        check_free(out, force=False)
    with output.progress() as progress:
        from setwise.faces.sightings import Finding, find_sightings

        network = None if gallery is None else _network_in(gallery)
        how = Finding(min_size, skip_bad, not no_cache, network)
        seen = find_sightings(sources, how, progress)
        if gallery is not None:
            who = _added(gallery, seen, min_faces)
        elif out is not None:
            who = _first(out, seen, min_faces)
    rows = face_rows(seen.sightings, who)
    _show(out or gallery, seen, who, rows, output)
    for told in files.write(seen, who, rows):
        say(told, err=True)


def _first(out: Path, seen: Seen, min_faces: int) -> list[str | None]:
    from setwise import CVC
    from setwise.faces.sightings import people_of, sets_of_people

    who = people_of(seen.sightings, (), min_faces)
    n_people = len(set(who) - {None})
    if n_people < 2:
        msg = (
            f"{OWNER}: {counted(len(who), 'face')} of {counted(len(seen.photos), 'photo')} "
            f"give {n_people} of at least 2 people with {min_faces} faces or more. Expected "
            "photos of more people, or larger faces."
        )
        raise DataError(msg)
    CVC(random_state=0).fit(*sets_of_people(seen.sightings, who)).save(out)
    return who


def _added(gallery: Path, seen: Seen, min_faces: int) -> list[str | None]:
    from setwise.cli.people_change import changing
    from setwise.faces.known import faces_seen
    from setwise.faces.sightings import people_of

    with changing(gallery) as change:
        who = people_of(seen.sightings, change.faces, min_faces)
        there = {face.file for face in change.faces}
        found = faces_seen(seen.sightings, who)
        change.faces = [*change.faces, *(face for face in found if face.file not in there)]
    return who


def _network_in(path: Path) -> NetworkName:
    """The network of the faces in a file."""
    from setwise import load
    from setwise.cli.people_change import faces_of_file
    from setwise.features.face_networks import face_network, network_of

    vectors = [face.vector for face in faces_of_file(path, load(path))]
    return face_network(network_of(vectors).name).name


def _show(
    path: Path | None, seen: Seen, who: Sequence[str | None], rows: list[dict[str, Any]],
    output: Output,
) -> None:  # fmt: skip
    counts = Counter(person for person in who if person is not None)
    n_unsure = sum(person is None for person in who)
    told = (
        f"{counted(len(counts), 'person')} in {counted(len(seen.photos), 'photo')}, "
        f"{counted(n_unsure, 'face')} unsure: {path}"
    ).replace("persons", "people")
    if output.as_json:
        skipped = [{"path": str(one.path), "reason": one.reason} for one in seen.skipped]
        document = {"gallery": str(path), "n_photos": len(seen.photos), "people": dict(counts)}
        document |= {"n_unsure": n_unsure, "skipped": skipped, "faces": rows}
        typer.echo(json.dumps(document, indent=2))
        return
    if not output.quiet:
        ranked = counts.most_common()
        photos = {p: len({r["photo"] for r in rows if r["person"] == p}) for p in counts}
        shown = [(person, str(n), str(photos[person])) for person, n in ranked]
        show_rows(("person", "seen", "photos"), shown)
        for left in seen.skipped:
            say(f"left out {left.path}: {left.reason}", err=True)
        for one, other in _maybe_one(seen, who)[:MOST_PAIRS]:
            say(
                f'{one} and {other} may be one: setwise merge {path} "{one}" "{other}"',
                err=True,
            )
    say(told)


def _maybe_one(seen: Seen, who: Sequence[str | None]) -> list[tuple[str, str]]:
    """Pairs of people who are a little farther apart than one person, the nearest first."""
    from setwise.faces.grouping import near_groups
    from setwise.faces.sightings import mean_vectors

    of: dict[str, list[Sighting]] = {}
    for one, person in zip(seen.sightings, who, strict=True):
        if person is not None:
            of.setdefault(person, []).append(one)
    people = sorted(of)
    vectors = [mean_vectors(of[person]) for person in people]
    where = [frozenset[str]().union(*(one.places for one in of[person])) for person in people]
    return [(people[i], people[j]) for i, j in near_groups(vectors, where)]


@command
def name(
    gallery: PeopleFile,
    person: Annotated[str, Argument(help='As the file has it, such as "person 1".')],
    new: Annotated[str, Argument(metavar="NAME", help="The name.")],
    more: Annotated[
        list[str] | None, Argument(metavar="[PERSON NAME]...", help="More of them.")
    ] = None,
) -> None:
    """Name people of a file, or correct their names.

    Example:
      setwise name people.setwise "person 1" Anna
      setwise name people.setwise "person 2" Bo "person 3" "Clara Schmidt"
    """
    words = [person, new, *(more or ())]
    if len(words) % 2:
        msg = f"{words[-1]!r} has no name. Give pairs: a person, and the name."
        raise typer.BadParameter(msg)
    with _changing(gallery) as change:
        for old, named in zip(words[::2], words[1::2], strict=True):
            change.check_known(old)
            if named in change.people:
                msg = f"{named} is in {gallery} already. If both are one: setwise merge "
                msg += f'{gallery} "{named}" "{old}"'
                raise DataError(msg)
            change.rename(old, named)
    for old, named in zip(words[::2], words[1::2], strict=True):
        say(f"{old} is {named} in {gallery}")


@command
def merge(
    gallery: PeopleFile,
    person: Annotated[str, Argument(help="The person who stays.")],
    others: Annotated[list[str], Argument(metavar="OTHER...", help="Who is the same.")],
    force: Annotated[bool, Option("--force", help="Also if a photo shows both.")] = False,
) -> None:
    """Join people of a file who are one.

    Example:
      setwise merge people.setwise Anna "person 7" "person 12"
    """
    with _changing(gallery) as change:
        for one in (person, *others):
            change.check_known(one)
        shown = Counter(p for one in {person, *others} for p in change.photos_of(one))
        both = sorted(photo for photo, n in shown.items() if n > 1)
        if both and not force:
            msg = f"{both[0]} shows more than one of them. Expected one person; else --force."
            raise DataError(msg)
        for one in others:
            change.rename(one, person)
    say(f"{', '.join(others)}: now {person} in {gallery}")


@command
def split(
    gallery: PeopleFile,
    person: Annotated[str, Argument(help="Whose faces are of several people.")],
    photo: Annotated[list[str], Option(help="Photo of somebody else; may be repeated.")],
    to: Annotated[str | None, Option(help="Who that is; else a new person.")] = None,
) -> None:
    """Take the faces of some photos or clips from a person, for another one.

    Example:
      setwise split people.setwise Anna --photo beach/IMG_7.jpg --photo IMG_9.jpg
      setwise split people.setwise Anna --photo IMG_7.jpg --to Bert
    """
    from setwise.faces.sightings import free_people

    with _changing(gallery) as change:
        change.check_known(person)
        target = to or next(free_people(change.people))
        n_moved = change.move(person, photo, target)
    say(f"{counted(n_moved, 'face')} of {person}: now {target} in {gallery}")


def _changing(gallery: Path) -> AbstractContextManager[Change]:
    from setwise.cli.people_change import changing

    return changing(gallery)
