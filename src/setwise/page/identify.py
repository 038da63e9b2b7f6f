"""From uploaded files to answers: the same as ``setwise identify`` gives."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from setwise._support.parallel import one_blas_thread, quiet
from setwise._support.progress import Progress
from setwise._support.types import FloatArray
from setwise.classify import Answer, Explanation, Gallery
from setwise.classify.judge import Inference
from setwise.errors import DataError, NoInformationWarning, SkippedFilesWarning, reject
from setwise.faces import face_tracks
from setwise.features.faces import Faces
from setwise.io import LoadedSets, load_arrays, load_images, load_video
from setwise.page.answers import Found
from setwise.page.gallery_file import GalleryState
from setwise.page.identify_faces import Box, is_of_faces, read_people
from setwise.page.jobs import Job
from setwise.page.parts import parts_of, without_strays
from setwise.page.uploads import FilesOfSets, Received, ReceivedFile, linked
from setwise.sets import Origins, SetBatch

MOST_LEFT_OUT, MOST_FRAMES, EVERY_S = 200, 3000, 0.2  # seconds between frames of a clip
UNREADABLE = "cannot be read as a photo: it is damaged, or no photo at all."
Looked: TypeAlias = tuple[Answer, Explanation | None]


def find_answers(job: Job, state: GalleryState, received: Received, most_bytes: int) -> Found:
    """Read an upload and judge its sets, with reasons for half of the time limit."""
    with job.at("reading", len(received.files)):
        reader = _Reader(state.gallery, job.report("reading"), most_bytes)
        sets = reader.read(received)
        n_bytes = sum(file.path.stat().st_size for file in received.files)
        job.n_images, job.n_bytes = len(sets.vectors), sets.vectors.nbytes + n_bytes
        job.steps["looking"].total = job.steps["comparing"].total = len(sets)
    paths = [reader.paths.get(name, []) for name in sets.names]
    boxes = [reader.boxes.get(name, []) for name in sets.names]
    found = Found(state, sets, [], [], [], reader.notes, paths, boxes)
    with job.at("looking", len(sets)):
        told, checked = job.report("looking"), state.gallery.check(sets, "identify")
        for i, (name, vectors) in enumerate(zip(checked.names, checked, strict=True)):
            told("classify", i, len(sets))
            explains = time.monotonic() - job.began < job.limit_s / 2
            answer, why = look(state, name, vectors, explains=explains)
            found.answers.append(without_strays(state, vectors, answer))
            found.reasons.append(why)
            is_album = bool(reader.paths.get(name)) and not reader.is_of_faces
            found.parts.append(parts_of(state, vectors) if is_album else [])
    found.left_out.extend((received.left_out + reader.left_out)[:MOST_LEFT_OUT])
    return found


def look(state: GalleryState, name: str, vectors: FloatArray, *, explains: bool) -> Looked:
    """Answer and explanation of one checked set, which is looked at once."""
    with one_blas_thread(), quiet("", NoInformationWarning):
        inference = Inference.of(state.gallery, vectors)
        if not explains:
            return inference.answer(name), None
        why = inference.explanation(name)
        return why.answer, why


def loading_options(gallery: Gallery) -> dict[str, Any]:
    """Options to read images in the size and colour of a gallery."""
    shape = gallery.sets.image_shape
    if shape is None:
        reject(
            "This gallery is of plain numbers, not of photos, so photos cannot be compared "
            "with it. Use `setwise identify` with a file of numbers."
        )
    return {"size": shape[:2], "colour": len(shape) == 3, "on_error": "list"}


class _Reader:
    """Reads uploaded files as sets, and keeps the names of files that are left out."""

    def __init__(self, gallery: Gallery, progress: Progress, most_bytes: int) -> None:
        self.gallery, self.progress, self.most_bytes = gallery, progress, most_bytes
        self.is_of_faces = is_of_faces(gallery)
        self.left_out: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.paths: dict[str, list[Path]] = {}  # file of each photo, by the name of its set
        self.boxes: dict[str, list[Box | None]] = {}  # of faces in their photos

    def read(self, received: Received) -> SetBatch:
        if received.has_vectors:
            return self._vectors(received.files[0])
        named, batches = received.sets(), []
        if self.is_of_faces:
            return self._people(named)
        photos = {name: files for name, files in named.items() if not files[0].is_clip}
        loaded = self._photos(photos, received.folder) if photos else {}
        for name, files in named.items():
            if files[0].is_clip:
                batches += self._clip(name, files[0])
            elif name in loaded:
                batches.append(loaded[name])
        return self._joined(batches)

    def _vectors(self, file: ReceivedFile) -> SetBatch:
        """The sets of a NumPy file; messages show no path of the server."""
        try:
            return load_arrays(file.path, max_bytes=self.most_bytes)
        except DataError as error:
            if "max_bytes" in str(error):
                most = f"{self.most_bytes / 1e6:.0f} MB"
                reject(f"These vectors take more than {most}. Send fewer at once.", error)
            words = str(error).removeprefix("load_arrays: ")
            reject(words.replace(repr(str(file.path)), "the file"), error)

    def _people(self, named: FilesOfSets) -> SetBatch:
        """The faces of all photos and clips, a set per folder and person."""
        batches: list[SetBatch] = []
        for name, files in named.items():
            found = read_people(self.gallery, name, files, self.progress)
            batches += found.sets
            self.left_out += found.left_out
            each = zip(found.sets, found.paths, found.boxes, strict=True)
            for one, paths, boxes in each:
                self.paths[one.names[0]], self.boxes[one.names[0]] = paths, boxes
        return self._joined(batches)

    def _joined(self, batches: list[SetBatch]) -> SetBatch:
        if not batches:
            first = " ".join(self.left_out[0]) if self.left_out else ""
            reject(f"None of the files can be read. {first}".strip())
        return batches[0] if len(batches) == 1 else SetBatch.join(batches)

    def _photos(self, named: FilesOfSets, folder: Path) -> dict[str, SetBatch]:
        """All photos, read at once from one numbered folder per set."""
        names, own, options = list(named), folder / "sets", loading_options(self.gallery)
        shutil.rmtree(own, ignore_errors=True)
        words: dict[Path, ReceivedFile] = {}
        for i, files in enumerate(named.values()):
            home = own / f"{i:06d}"
            home.mkdir(parents=True)
            for j, file in enumerate(files):
                words[linked(file.path, home / f"{j:06d}{file.path.suffix}")] = file
        try:
            with quiet("", SkippedFilesWarning):
                loaded = load_images(own, layout="set", progress=self.progress, **options)
        except DataError as error:
            path = next(iter(words))
            why = str(error).rpartition(f"{path}, which ")[2]
            reasons = [why if why != str(error) else UNREADABLE]
            reasons += [UNREADABLE] * (len(words) - 1)
            told = zip(words.values(), reasons, strict=True)
            self.left_out += [(file.words, _without_paths(why, words)) for file, why in told]
            return {}
        finally:
            shutil.rmtree(own, ignore_errors=True)
        for left in loaded.report.skipped:
            if left.path in words:
                reason = _without_paths(left.reason, words)
                self.left_out.append((words[left.path].words, reason))
        if any("EXIF" in note for note in loaded.report.notes):
            self.notes.append("Some photos were turned upright.")
        batch = _with_files(loaded, [words[path].words for path in loaded.report.files])
        own_names = [names[int(number)] for number in loaded.names]
        for i, name in enumerate(own_names):
            first, end = loaded.offsets[i : i + 2].tolist()
            self.paths[name] = [words[path].path for path in loaded.report.files[first:end]]
        return {name: batch[[i]].replaced(names=[name]) for i, name in enumerate(own_names)}

    def _clip(self, name: str, file: ReceivedFile) -> list[SetBatch]:
        try:
            loaded, notes = _read(self.gallery, file.path, self.progress)
        except DataError as error:
            reason = _without_paths(str(error), {file.path: file})
            for caller in ("load_video:", "face_tracks:", repr(file.words), file.words):
                reason = reason.removeprefix(caller).strip()
            self.left_out.append((file.words, reason))
            return []
        self.notes += [f"{name}: {note}" for note in notes]
        batch = _with_files(loaded, [f"{name}, {i + 1}" for i in range(len(loaded.vectors))])
        faces = [f"{name}, face {i + 1}" for i in range(len(batch))]
        return [batch.replaced(names=[name] if len(batch) == 1 else faces)]


def _with_files(sets: SetBatch, called: Sequence[str]) -> SetBatch:
    """The sets with other names of files."""
    origins = sets.origins
    if origins is None:
        return sets.replaced(origins=Origins.of_files(called))
    return sets.replaced(origins=Origins(tuple(called), origins.times, origins.thumbnails))


def _without_paths(text: str, words: dict[Path, ReceivedFile]) -> str:
    """A message with the sender's names of files in place of the server's."""
    for path, file in words.items():
        if str(path) in text:
            text = text.replace(str(path), file.words)
    folders = {str(parent) for path in words for parent in (path.parent, path.parent.parent)}
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(folder, "the upload")
    return text


def _read(gallery: Gallery, path: Path, progress: Progress) -> tuple[LoadedSets, list[str]]:
    """A clip as sets, one per face if the gallery is of faces, and notes."""
    options, every = loading_options(gallery), {"every_s": EVERY_S, "max_frames": MOST_FRAMES}
    seldom: dict[str, Any] = every | {"progress": progress}
    with quiet("", SkippedFilesWarning):
        if any(isinstance(view.feature, Faces) for view in gallery.views.values()):
            try:
                return _faces(gallery, path, seldom), []
            except DataError as error:
                if "face" not in str(error):
                    raise
                frames = load_video(path, **seldom, **options)
                return frames, ["no face was found, so whole pictures were compared."]
        return load_video(path, **seldom, **options), []


def _faces(gallery: Gallery, path: Path, seldom: dict[str, Any]) -> LoadedSets:
    """The faces of a clip in the size and colour of a gallery."""
    shape = gallery.sets.image_shape or ()
    tracks = face_tracks(path, size=max(shape[:2]), **seldom)
    if shape[0] == shape[1] and len(shape) == 2:
        return tracks
    from setwise.io.video import resize_image

    images = np.stack([resize_image(image, (shape[0], shape[1])) for image in tracks.images])
    if len(shape) == 3:
        images = np.repeat(images[..., None], shape[2], axis=-1)
    rows = images.reshape(len(images), -1)
    return LoadedSets(tracks.replaced(vectors=rows, image_shape=shape), tracks.report)
