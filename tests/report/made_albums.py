"""Sets of striped images that a small gallery has judged, with files, times and thumbnails."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
from PIL import Image
from tests.striped_sets import stripes

from setwise import CVC, SetBatch
from setwise.classify import Answer, Gallery
from setwise.sets import Origins

NAMES = ("flat", "steep", "slanted")
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    'it\'s "quoted" & new\nline 日本 שלום {{ 7*7 }} $x^2$',
)
ANGLES = (0.1, 1.5, 0.8)
# Of each probe, which photos are of another class.
STRANGE = (2, 5)


@dataclass(frozen=True)
class Albums:
    gallery: Gallery
    probes: SetBatch
    answers: list[Answer]


def jpeg(grey: int) -> bytes:
    """A small picture of one colour, by which it is recognised."""
    stream = io.BytesIO()
    Image.new("RGB", (8, 6), (grey, 0, 0)).save(stream, "JPEG")
    return stream.getvalue()


def album_sets(names=NAMES, n_sets=3, n_images=8, *, text="", seed=0, start=0) -> SetBatch:
    """``n_sets`` of each class; in the first of each, two photos are of the next class."""
    rng = np.random.default_rng(seed)
    sets, labels = [], []
    for code, name in enumerate(names):
        for i in range(n_sets):
            images = stripes(ANGLES[code], n_images, rng, (12, 16))
            if start and i == 0:
                images[list(STRANGE)] = stripes(ANGLES[code - 1], 2, rng, (12, 16))
            sets.append(images)
            labels.append(name)
    called = [f"{label}/{start + i}{text}" for i, label in enumerate(labels)]
    batch = SetBatch.from_images(sets, names=called, labels=np.array(labels))
    files = [f"albums/{i}{text}/IMG_{j}{text}.jpg" for i in called for j in range(n_images)]
    first = datetime(2024, 5, 1, 23, 59)
    times = [first + timedelta(minutes=i) for i in range(len(files))]
    thumbnails = [jpeg(i % 200) for i in range(len(files))]
    return batch.replaced(origins=Origins.of_files(files, times, thumbnails))


def made(names=NAMES, *, text="") -> Albums:
    gallery = album_sets(names, text=text)
    probes = album_sets(names, 2, text=text, seed=1, start=100)
    classifier = CVC(dims=(1, 2, 3), weights=None, random_state=0)
    classifier.fit(gallery, gallery.labels)
    answers = [_as_if(i, answer) for i, answer in enumerate(classifier.judge(probes))]
    return Albums(classifier.gallery_, probes, answers)


def _as_if(i: int, answer: Answer) -> Answer:
    """The second is unknown, the third unsure; in every other one, two photos are strange."""
    is_typical = np.ones(8, dtype=bool)
    is_typical[list(STRANGE)] = bool(i % 2)
    chances = np.array([0.3 if c == answer.runner_up else 0.1 for c in answer.classes])
    chances[answer.classes == answer.nearest] = 0.6
    unsure = {"probabilities": chances, "probability": 0.6, "margin": 0.3} if i == 2 else {}
    return replace(answer, is_typical=is_typical, is_known=i != 1, **unsure)
