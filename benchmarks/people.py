"""The journey of `setwise people`: a heap of photos and clips, groups, names, and new photos.

    python benchmarks/people.py [--photos 150] [--megapixels 12] [--people 40] [--portraits DIR]

Photos are composed: faces before walls of brick, gravel and grass, one to four in a photo, each
face in another size, turn, light, sharpness, seen from another side (squeezed), or mirrored.
Without --portraits, the faces are those of Labeled Faces in the Wild that come with
scikit-image (25 people, 25 pixels, enlarged); with it, photos with one face each, one per
person. That is easier than photographs of years: it shows that the parts work together, and
what they cost. Accuracy on photographs is measured by benchmarks/face_networks.py.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter, ImageOps
from skimage import data
from tests.faces.made_people import FOUND

from setwise.features.face_networks import SFACE
from setwise.io.decode import Wanted, decode, pillow_at_work


@dataclass(frozen=True)
class Shown:
    """A person in a photo, and where the face is."""

    person: int
    x: float
    y: float
    side: float


def heads(portraits: Path | None, n_people: int) -> list[Image.Image]:
    """A picture of each person with one face, cut around it."""
    if portraits is None:
        faces = (255 * data.lfw_subset()).astype(np.uint8)
        return [Image.fromarray(faces[i]).convert("RGB") for i in FOUND[:n_people]]
    found = []
    for path in sorted(portraits.glob("*.jpg")):
        image = Image.open(path).convert("RGB")
        boxes = SFACE.find(np.asarray(image), max(image.size) / 10)
        if len(boxes) == 1 and boxes[0, 2] > 80:
            left, top, width, height = boxes[0, :4]
            edge = 0.45 * height
            around = (left - edge, top - edge, left + width + edge, top + height + edge)
            found.append(image.crop(tuple(map(round, around))))
        if len(found) == n_people:
            break
    return found


def varied(head: Image.Image, side: int, rng: np.random.Generator) -> Image.Image:
    """A head as another photo shows it; ``side`` is about that of its face."""
    share = 0.9 if head.width < 30 else 0.5  # of the face in the picture
    width = round(side / share * rng.uniform(0.8, 1.0))
    image = head.resize((width, round(side / share)), Image.Resampling.BICUBIC)
    if rng.random() < 0.5:
        image = ImageOps.mirror(image)
    image = image.rotate(rng.uniform(-15, 15), Image.Resampling.BICUBIC, fillcolor=(90, 90, 90))
    ramp = np.linspace(rng.uniform(0.5, 1.0), rng.uniform(0.6, 1.2), image.width)
    pixels = np.asarray(image, np.float64) * (rng.uniform(0.6, 1.15) * ramp)[None, :, None]
    pixels += rng.normal(0, rng.uniform(0, 6), pixels.shape)
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    return image.filter(ImageFilter.GaussianBlur(rng.uniform(0, 0.02) * side))


def take_photo(
    path: Path, faces: list[Image.Image], who: list[int], size: tuple[int, int],
    rng: np.random.Generator,
) -> list[Shown]:  # fmt: skip
    """Compose and write a photo; one in five is stored on its side."""
    wall = [data.brick, data.gravel, data.grass][rng.integers(3)]()
    tiles = np.tile(wall, (size[1] // 512 + 1, size[0] // 512 + 1))[: size[1], : size[0]]
    tint = rng.uniform(0.6, 1.0, 3)
    photo = Image.fromarray((tiles[..., None] * tint).astype(np.uint8))
    shown, column = [], size[0] // len(who)
    for place, person in enumerate(who):
        # Smaller faces than 45 pixels are too few to tell people apart.
        side = int(np.exp(rng.uniform(np.log(max(45, size[1] / 40)), np.log(size[1] / 4))))
        side = min(side, int(0.45 * column))
        head = varied(faces[person], side, rng)
        left = place * column + int(rng.integers(0, max(column - head.width, 1)))
        top = int(rng.integers(0, max(size[1] - head.height, 1)))
        photo.paste(head, (left, top))
        shown.append(Shown(person, left + head.width / 2, top + head.height / 2, side))
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = f"2026:05:{1 + int(rng.integers(28)):02d} 12:00:00"
    if rng.random() < 0.2:
        exif[0x0112] = 6
        photo = photo.transpose(Image.Transpose.ROTATE_90)
    path.parent.mkdir(parents=True, exist_ok=True)
    photo.save(path, quality=90, exif=exif)
    return shown


def take_clip(path: Path, faces: list[Image.Image], who: list[int], seed: int) -> None:
    """Two people walk past each other for four seconds, and then one comes back."""
    import av

    rng = np.random.default_rng(seed)
    wall = np.asarray(
        Image.fromarray(np.tile(data.brick(), (2, 3))[:720, :1280]).convert("RGB")
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as clip:
        stream = clip.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, "yuv420p"
        stream.bit_rate = 4_000_000
        for number in range(60):
            frame = Image.fromarray(wall)
            for i, person in enumerate(who if number < 40 else who[:1] * (number > 48)):
                head = varied(faces[person], 130, rng)
                left = 80 + 9 * number if i == 0 else 1000 - 9 * number
                frame.paste(head, (left, 60 + 330 * i))
            picture = av.VideoFrame.from_ndarray(np.asarray(frame), format="rgb24")
            clip.mux(stream.encode(picture))
        clip.mux(stream.encode())


def b_cubed(truth: list[int], found: list[str]) -> tuple[float, float]:
    """Mean precision and recall of each face."""
    both = Counter(zip(truth, found, strict=True))
    of_truth, of_found = Counter(truth), Counter(found)
    pairs = list(zip(truth, found, strict=True))
    precision = np.mean([both[pair] / of_found[pair[1]] for pair in pairs])
    recall = np.mean([both[pair] / of_truth[pair[0]] for pair in pairs])
    return float(precision), float(recall)


class Journey:
    """Commands on a heap whose people are known."""

    def __init__(self, folder: Path, faces: list[Image.Image], size: tuple[int, int]) -> None:
        self.folder, self.faces, self.size = folder, faces, size
        self.truth: dict[str, list[Shown]] = {}
        self.clips: dict[str, list[int]] = {}
        self.file = folder / "people.setwise"

    def photos(self, name: str, n_photos: int, people: list[int], seed: int) -> None:
        rng = np.random.default_rng(seed)
        weights = 1 / np.arange(2, len(people) + 2)  # some are seen often, some seldom
        for number in range(n_photos):
            n = min(int(rng.integers(1, 5)), len(people))
            who = rng.choice(people, n, replace=False, p=weights / weights.sum()).tolist()
            place = f"{name}/day {number // 25}/{number:04d}.jpg"
            path = self.folder / place
            self.truth[place] = take_photo(path, self.faces, who, self.size, rng)

    def film(self, name: str, pairs: list[list[int]]) -> None:
        for number, who in enumerate(pairs):
            place = f"{name}/clips/{number}.mp4"
            take_clip(self.folder / place, self.faces, who, number)
            self.clips[place] = who

    def run(self, *words: str) -> dict:
        """Run a command as the shell does; its JSON, or nothing."""
        code = "from setwise.cli import run; run()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words], check=False, capture_output=True, text=True,
            env={**__import__("os").environ, "XDG_CACHE_HOME": str(self.folder / "cache")},
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(done.stderr)
        return json.loads(done.stdout) if "--json" in words else {}

    def judged(self, rows: list[dict], names: dict[int, str]) -> tuple[list[int], list[str]]:
        """The true and the found person of each face and track that can be told."""
        truth, found, self.n_missed, self.n_false = [], [], 0, 0
        for place, shown in self.truth.items():
            own = [row for row in rows if row["file"].endswith(f"/{place}")]
            for row in own:
                x, y = row["left"] + row["width"] / 2, row["top"] + row["height"] / 2
                near = [s for s in shown if abs(s.x - x) + abs(s.y - y) < s.side]
                self.n_false += not near
                if near:
                    truth.append(near[0].person)
                    found.append(row["person"] or f"alone {place} {x}")
            self.n_missed += max(len(shown) - len(own), 0)
        for place, who in self.clips.items():
            for row in (row for row in rows if row["file"].endswith(f"/{place}")):
                called = row["person"] or f"alone {place} {len(found)}"
                # A track is of one of its clip's people: of the one that is called so.
                mine = [p for p in who if names.get(p, called) == called] or who[:1]
                truth.append(mine[0])
                found.append(called)
        return truth, found


def told(journey: Journey, rows: list[dict]) -> dict[int, str]:
    """Print how good the groups are; the group that is called each person."""
    truth, found = journey.judged(rows, {})
    votes: dict[str, Counter] = {}
    for person, called in zip(truth, found, strict=True):
        if not called.startswith("alone"):
            votes.setdefault(called, Counter())[person] += 1
    owner = {called: counts.most_common(1)[0][0] for called, counts in votes.items()}
    names: dict[int, str] = {}
    for called in sorted(votes, key=lambda one: -sum(votes[one].values())):
        names.setdefault(owner[called], called)
    truth, found = journey.judged(rows, names)
    precision, recall = b_cubed(truth, found)
    called_by: dict[str, set[int]] = {}
    for person, called in zip(truth, found, strict=True):
        called_by.setdefault(called, set()).add(person)
    n_faces = sum(map(len, journey.truth.values()))
    seen_twice = sum(n > 1 for n in Counter(truth).values())
    mixed = sum(len(people) > 1 for people in called_by.values())
    print(f"  {n_faces} faces in photos, {journey.n_missed} missed, {journey.n_false} false")
    print(f"  {len(votes)} groups for {seen_twice} people who are seen twice; {mixed} mixed; "
          f"{len(votes) - len(names)} second groups of a person")  # fmt: skip
    print(f"  B-cubed: precision {precision:.4f}, recall {recall:.4f}, "
          f"F {2 * precision * recall / (precision + recall):.4f}")  # fmt: skip
    return names


def profile(photos: list[Path]) -> None:
    """Milliseconds of each step of some photos, on one thread."""
    took = Counter[str]()
    n_faces = 0

    def timed(what, function, *given):
        began = time.thread_time()
        made = function(*given)
        took[what] += time.thread_time() - began
        return made

    with pillow_at_work():
        for path in photos:
            wanted = Wanted(None, True, 64_000_000, longest=2048)
            pixels = timed("decode", decode, path, wanted).pixels
            boxes = timed("find", SFACE.find, pixels, max(pixels.shape) / 64)
            pictures = [timed("upright", SFACE.upright, pixels, row[:4])[0] for row in boxes]
            if pictures:
                timed("describe", SFACE.describe, np.stack(pictures))
            n_faces += len(pictures)
    steps = ", ".join(f"{what} {1000 * s / len(photos):.0f}" for what, s in took.items())
    print(f"  ms of CPU per photo ({n_faces / len(photos):.1f} faces each): {steps}")


def main() -> None:
    """Make the heap, go the journey, and say how it went."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--photos", type=int, default=150)
    parser.add_argument("--megapixels", type=float, default=12)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--portraits", type=Path)
    parser.add_argument("--folder", type=Path, default=Path("out/people"))
    asked = parser.parse_args()
    width = round((asked.megapixels * 1e6 * 4 / 3) ** 0.5)
    faces = heads(asked.portraits, asked.people)
    journey = Journey(asked.folder, faces, (width, width * 3 // 4))
    journey.photos("heap", asked.photos, list(range(len(faces) - 3)), seed=0)
    journey.film("heap", [[0, 1], [2, 3], [4, 5]])
    n_bytes = sum(p.stat().st_size for p in asked.folder.glob("heap/**/*.jpg"))
    print(f"{asked.photos} photos of {asked.megapixels:g} MP ({n_bytes / 1e6:.0f} MB), 3 clips")
    first, names = groups_of(journey)
    profile(sorted((asked.folder / "heap").rglob("*.jpg"))[:20])
    journey.photos("new", max(asked.photos // 5, 10), list(range(len(faces))), seed=1)
    new_photos(journey, first, names)


def groups_of(journey: Journey) -> tuple[list[dict], dict[int, str]]:
    """From the heap to groups: rows of faces, and the group of each person."""
    journey.file.unlink(missing_ok=True)
    heap = str(journey.folder / "heap")
    began = time.perf_counter()
    found = journey.run("people", heap, "-o", str(journey.file), "--json", "--no-cache")
    wall = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20
    print(f"heap to groups: {wall:.0f} s wall, {cpu:.0f} s CPU, {peak:.2f} GiB at most")
    return found["faces"], told(journey, found["faces"])


def new_photos(journey: Journey, first: list[dict], names: dict[int, str]) -> None:
    """Name each person once, add photos, and see what is recognised and kept."""
    file, table = str(journey.file), journey.folder / "who.csv"
    began = time.perf_counter()
    journey.run("name", file, *(word for p, old in names.items() for word in (old, f"is {p}")))
    print(f"{len(names)} names: {time.perf_counter() - began:.0f} s")
    began = time.perf_counter()
    sources = [str(journey.folder / part) for part in ("heap", "new")]
    command = ["people", *sources, "--gallery", file, "--csv", str(table), "--json"]
    rows = journey.run(*command)["faces"]
    print(f"heap and new photos: {time.perf_counter() - began:.0f} s")
    told(journey, rows)
    right = wrong = 0
    for place, shown in journey.truth.items():
        own = [r for r in rows if r["file"].endswith(f"/{place}") and r["person"]]
        for row in own if place.startswith("new/") else []:
            person = min(shown, key=lambda s: abs(s.x - row["left"] - row["width"] / 2)).person
            right += person in names and row["person"] == f"is {person}"
            wrong += person in names and row["person"] != f"is {person}"
    print(f"new faces of named people: {right} by their name, {wrong} by another")
    given = {old: f"is {p}" for p, old in names.items()}
    before = Counter((r["file"], given.get(r["person"], r["person"])) for r in first)
    after = Counter((r["file"], r["person"]) for r in rows)
    lost = sum((Counter({k: n for k, n in before.items() if k[1]}) - after).values())
    print(f"faces that lost their person: {lost}")
    with table.open(encoding="utf-8") as file_of_rows:
        print(f"rows of the table: {sum(1 for _ in csv.DictReader(file_of_rows))}")


if __name__ == "__main__":
    main()
