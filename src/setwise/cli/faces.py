"""``setwise faces``: from clips and photos to one folder of images per track or face.

``--json`` prints ``folder``, ``table``, ``contact_sheet``, ``n_clips`` (those with tracks),
``n_photos``, ``faces`` (of photos, with the columns of ``faces.csv``: boxes in pixels),
``notes`` and ``skipped`` (of each ``clip``), and ``tracks``, whose fields are the columns of
``tracks.csv``: ``class`` is the folder of the clip or null, frames count from 0,
``median_size`` is in pixels, and ``n_tracks`` is more than 1 where tracks were joined.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer import Argument, Option

from setwise._support.extras import require
from setwise._support.text import distinct_file_names, spreadsheet_cell
from setwise.cli.common import counted, say, text_table
from setwise.cli.options import Output, command
from setwise.cli.photo_faces import sheet_rows, write_faces, write_table

if TYPE_CHECKING:
    from setwise._support.progress import Progress
    from setwise.faces.contact_sheet import SheetRow
    from setwise.faces.sightings import Finding
    from setwise.faces.tracks import FaceTrack, FaceTracks

OWNER, MAX_FILES = "setwise faces", 100_000
# Heads seldom move by more than half of their width in this time, and more frames add little.
EVERY_S = 0.2
MIN_SIZE = 30
_SMALLEST = "Least side of a face: by default 30 pixels in clips, 1/64 of the width of photos."
COLUMNS = (
    "clip", "class", "folder", "first_frame", "last_frame", "start_s", "seconds", "n_faces",
    "median_size", "n_tracks",
)  # fmt: skip

_CLIPS = "Photos, clips, or folders of them; without -o, the last one is OUT."
Sources = Annotated[list[Path], Argument(metavar="SOURCE...", help=_CLIPS)]
_JOIN = "Join tracks of one person in a clip; by default if the networks are installed."
Join = Annotated[bool | None, Option("--join/--no-join", help=_JOIN, show_default=False)]


@command
def faces(
    sources: Sources,
    output: Output,
    out: Annotated[
        Path | None, Option("--out", "-o", metavar="OUT", help="New or empty folder.")
    ] = None,
    size: Annotated[int, Option(min=1, help="Pixels of a side of the images.")] = 96,
    equalise: Annotated[bool, Option("--equalise", help="Equalise histograms.")] = False,
    min_length: Annotated[int, Option(min=1, help="Least faces of a track.")] = 5,
    min_size: Annotated[int | None, Option(min=1, help=_SMALLEST, show_default=False)] = None,
    every_s: Annotated[float, Option(help="Seconds between frames read.")] = EVERY_S,
    every: Annotated[int | None, Option(min=1, help="Read each n-th frame.")] = None,
    margin: Annotated[float, Option(min=0, help="Share added at each side.")] = 0.2,
    join: Join = None,
    skip_bad: Annotated[bool, Option("--skip-bad", help="List bad files, and go on.")] = False,
    no_cache: Annotated[bool, Option("--no-cache", help="Look at all photos again.")] = False,
) -> None:
    """Find all faces of photos, and follow those of clips; each becomes a set of images.

    Tracks of one person in a clip are joined.
    All other commands read OUT. Each face of a photo goes to OUT/photo face 1/, and
    OUT/faces.csv has its box and quality; photos seen before take no time. A track of
    clip.mp4 goes to OUT/clip/track 1 (...)/, and one of anna/clip.mp4 to
    OUT/anna/clip_track 1 (...)/, with the class anna.
    OUT/contact.pdf shows all tracks: delete the folders of tracks that are no faces.
    OUT/tracks.csv lists the times of each. Finished clips stay if a later one fails.

    Example:
      setwise faces photos/ clips/ -o faces/
      setwise faces clips/ -o tracks/ --min-length 10
    """
    if out is None:
        *sources, out = sources
        if not sources:
            msg = "name the folder to write, too: setwise faces photos/ -o faces/"
            raise typer.BadParameter(msg)
    options = {
        "size": size, "equalise": equalise, "min_length": min_length,
        "min_size": min_size or MIN_SIZE, "every": every or 1,
        "every_s": every_s if every is None else None, "margin": margin,
        "join": join, "on_error": "skip" if skip_bad else "raise",
    }  # fmt: skip
    with output.progress() as progress:
        from setwise.faces.sightings import Finding, photos_and_clips
        from setwise.io.save import claim_folder

        photos, of_clips = photos_and_clips(sources)
        if of_clips:
            require("av", "faces")
        clips, notes = _find_clips(of_clips)
        work = _Work(claim_folder(OWNER, out), options, skip_bad, notes=notes)
        work.do_all(clips, progress, photos, Finding(min_size, skip_bad, not no_cache))
    if output.as_json:
        typer.echo(json.dumps(work.to_dict(), indent=2))
    elif output.quiet:
        say(work.summary())
    else:
        work.show()


class _Clip(NamedTuple):
    """A video file, its class, and the names of its sets and top folder."""

    path: Path
    label: str | None
    name: str
    top_folder: str


class _Row(NamedTuple):
    """A track that was written, and some small pictures of it."""

    clip: _Clip
    folder: Path
    track: FaceTrack
    pictures: tuple[bytes, ...]

    def cells(self) -> dict[str, Any]:
        track = asdict(self.track)
        rounded = {k: round(v, 3) if isinstance(v, float) else v for k, v in track.items()}
        folder, clip = self.folder.as_posix(), self.clip
        return {"clip": str(clip.path), "class": clip.label, "folder": folder} | rounded

    def shown(self) -> tuple[str, ...]:
        track = self.track
        times = (f"{track.start_s:.1f} s", f"{track.seconds:.1f} s")
        size = f"{track.median_size:.0f} px"
        return (self.folder.as_posix(), *times, str(track.n_faces), size)


@dataclass
class _Work:
    """Clips read one after the other, and their results."""

    out: Path
    options: dict[str, Any]
    skip_bad: bool
    rows: list[_Row] = field(default_factory=list)
    notes: list[tuple[Path, str]] = field(default_factory=list)
    skipped: list[tuple[Path, str]] = field(default_factory=list)
    faces: list[dict[str, Any]] = field(default_factory=list)
    sheet: list[SheetRow] = field(default_factory=list)
    n_photos: int = 0

    @property
    def n_clips(self) -> int:
        return len({row.clip for row in self.rows})

    def do_all(
        self,
        clips: list[_Clip],
        progress: Progress | None,
        photos: Sequence[Path],
        how: Finding,
    ) -> None:
        """Read all clips and photos; each finished one has its rows."""
        from setwise.errors import reject

        with self._kept(len(clips)):
            for source in photos:
                self._do_photos(source, how, progress)
            lengths = self._open_all(clips, progress)
            n_before, n_all = 0, sum(lengths.values())
            for clip, n_frames in lengths.items():
                with self._skipping(clip):
                    self._do(clip, progress and _shifted(progress, n_before, n_frames, n_all))
                n_before += n_frames
            if clips and not self.rows and not self.faces:
                _, reason = self.skipped[0]
                reject(f"{OWNER}: no track in {counted(len(clips), 'clip')}. First: {reason}")
            if not clips and not self.faces:
                reject(
                    f"{OWNER}: no face was found in {counted(self.n_photos, 'photo')}. "
                    "--min-size 20 looks for smaller ones."
                )

    def to_dict(self) -> dict[str, Any]:
        return {
            "folder": str(self.out),
            "table": str(self.out / ("tracks.csv" if self.rows else "faces.csv")),
            "contact_sheet": str(self.out / "contact.pdf"),
            "n_clips": self.n_clips,
            "n_photos": self.n_photos,
            "faces": self.faces,
            "tracks": [row.cells() for row in self.rows],
            "notes": [{"clip": str(path), "note": note} for path, note in self.notes],
            "skipped": [{"clip": str(path), "reason": why} for path, why in self.skipped],
        }

    def summary(self) -> str:
        done = {row.clip.path for row in self.rows}
        # Single frames of a finished clip may be skipped.
        n_left_out = len({path for path, _ in self.skipped} - done)
        left_out = f", {counted(n_left_out, 'clip')} left out" if n_left_out else ""
        tracks = f"{counted(len(self.rows), 'track')} of {counted(self.n_clips, 'clip')}"
        faces = f"{counted(len(self.faces), 'face')} of {counted(self.n_photos, 'photo')}"
        told = [faces] * bool(self.n_photos) + [tracks] * bool(self.rows or not self.n_photos)
        return f"{' and '.join(told)} in {self.out}{left_out}"

    def show(self) -> None:
        from rich.console import Console

        columns = ("track", "start", "length", "faces", "size")
        table = text_table(columns, [row.shown() for row in self.rows], are_numbers=True)
        if self.rows:
            Console(highlight=False).print(table)
        for path, note in self.notes:
            say(f"{path}: {note}")
        for path, reason in self.skipped:
            say(f"left out {path}: {reason}", err=True)
        say(f"{self.summary()}; look at {self.out / 'contact.pdf'}")

    def _open_all(self, clips: list[_Clip], progress: Progress | None) -> dict[_Clip, int]:
        """Number of frames of each clip; refuses non-videos before the long work."""
        from setwise._support.progress import reported
        from setwise.io.frames import Reading, open_video

        lengths = {}
        reading = Reading(every=self.options["every"], every_s=self.options.get("every_s"))
        reading.check(OWNER)
        for clip in reported(clips, len(clips), "open clips", progress):
            with self._skipping(clip), open_video(OWNER, clip.path, reading) as video:
                lengths[clip] = video.expected
        return lengths

    def _do_photos(self, source: Path, how: Finding, progress: Progress | None) -> None:
        from setwise.faces.sightings import faces_of

        found = faces_of(source, how, progress)
        self.faces += write_faces(found, self.out, self.options["size"])
        self.sheet += sheet_rows(found)
        self.n_photos += len(found.photos)
        self.skipped += [(left.path, left.reason) for left in found.skipped]

    def _do(self, clip: _Clip, progress: Progress | None) -> None:
        import numpy as np

        from setwise._support.parallel import quiet
        from setwise.errors import SkippedFilesWarning
        from setwise.faces import face_tracks
        from setwise.io.save import add_images

        with quiet("", SkippedFilesWarning):  # said here
            tracks = face_tracks(clip.path, name=clip.name, progress=progress, **self.options)
        tracks.labels = np.array([clip.top_folder] * len(tracks))
        folders = add_images(tracks, self.out)
        self.rows += _rows(clip, tracks, [folder.relative_to(self.out) for folder in folders])
        self.notes += [(clip.path, note) for note in tracks.report.notes]
        self.skipped += [(left.path, left.reason) for left in tracks.report.skipped]

    @contextmanager
    def _skipping(self, clip: _Clip) -> Iterator[None]:
        from setwise.errors import DataError
        from setwise.faces.tracks import NoTrackError

        try:
            yield
        except DataError as error:
            if not self.skip_bad and not isinstance(error, NoTrackError):
                raise
            self.skipped.append((clip.path, str(error)))

    @contextmanager
    def _kept(self, n_clips: int) -> Iterator[None]:
        """Write table and sheet of the finished clips, whatever ends the work."""
        try:
            yield
        except BaseException:
            if self.rows:
                done = f"{self.n_clips} of {n_clips} clips were done"
                say(f"{done}; they stay in {self.out}", err=True)
            raise
        finally:
            if self.rows or self.faces:
                self._write()
            else:
                with suppress(OSError):  # another program may have put something there
                    self.out.rmdir()

    def _write(self) -> None:
        from setwise.faces.contact_sheet import SheetRow, save_contact_sheet

        if self.faces:
            write_table(self.faces, self.out / "faces.csv")
        if not self.rows:
            save_contact_sheet(self.sheet, self.out / "contact.pdf")
            return
        with (self.out / "tracks.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(COLUMNS)
            for row in self.rows:
                cells = row.cells()
                table.writerow([spreadsheet_cell(cells[column]) for column in COLUMNS])
        rows = []
        for row in self.rows:
            track, clip = row.track, row.clip
            # The folder is "track 1 (frames 0-9)", after the clip where there are classes.
            title = row.folder.name.removeprefix(f"{clip.name.split('/')[-1]}_").split(" (")[0]
            frames = f"frames {track.first_frame}-{track.last_frame}"
            size, several = f"of {track.median_size:.0f} px", f"in {track.n_tracks} tracks"
            faces = f"{track.n_faces} faces {several if track.n_tracks > 1 else size}"
            rows.append(SheetRow(clip.name, title, (frames, faces), row.pictures))
        save_contact_sheet([*self.sheet, *rows], self.out / "contact.pdf")


def _find_clips(sources: Sequence[Path]) -> tuple[list[_Clip], list[tuple[Path, str]]]:
    """All clips of files and folders, and notes on other files there."""
    from setwise.io.untrusted import regular_file
    from setwise.io.video import clip_names, find_clips

    found: list[tuple[Path, str | None, str]] = []
    notes = []
    for source in sources:
        if not source.is_dir():
            found.append((regular_file(OWNER, source), None, source.stem))
            continue
        layout, paths, others = find_clips(source, "auto", MAX_FILES)
        notes += [(source, note) for note in others]
        names = clip_names([path.relative_to(source) for path in paths])
        for path, name in zip(paths, names, strict=True):
            label = path.parent.name if layout == "class/set" else None
            found.append((path, label, name.removeprefix(f"{label}/")))
    return _name_clips(found), notes


def _name_clips(found: Sequence[tuple[Path, str | None, str]]) -> list[_Clip]:
    """Clips with distinct names that folders can have."""
    labels = {label: None for _, label, _ in found if label is not None}
    top_folders = dict(zip(labels, distinct_file_names(labels), strict=True))
    clips = {}
    for each in (None, *labels):
        members = [i for i, (_, label, _) in enumerate(found) if label == each]
        names = distinct_file_names(found[i][2] for i in members)
        for i, name in zip(members, names, strict=True):
            top = name if each is None else top_folders[each]
            clips[i] = _Clip(found[i][0], each, name if each is None else f"{top}/{name}", top)
    return [clips[i] for i in range(len(found))]


def _shifted(progress: Progress, n_before: int, n_frames: int, n_all: int) -> Progress:
    """Progress of one clip as progress of all: frames of earlier clips are done."""

    def report(what: str, done: int, _: int) -> None:
        # A file may hold more frames than it announces.
        progress(what, n_before + min(done, n_frames), n_all)

    return report


def _rows(clip: _Clip, tracks: FaceTracks, folders: list[Path]) -> Iterator[_Row]:
    from setwise.faces.contact_sheet import spread

    pictures = () if tracks.origins is None else tracks.origins.thumbnails
    for i, (folder, track) in enumerate(zip(folders, tracks.tracks, strict=True)):
        begin = int(tracks.offsets[i])
        chosen = tuple(pictures[begin + place] for place in spread(track.n_faces))
        yield _Row(clip, folder, track, chosen)
