"""Networks of faces compared: who is found, and how far one person's faces are apart.

    python benchmarks/face_networks.py [PORTRAITS]

Yale B: 38 people in changing light, 24 x 21 pixels each, enlarged (`../shared/data`). Composed
photos: those of benchmarks/people.py, whose faces are known. With a folder of portraits, one
photo per person: copies of each at several sizes (turned, mirrored, darker, noisy, compressed),
and how many pairs of two people are as near as faces of one.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from datasets import data_folder
from people import b_cubed, heads, take_photo
from setwise.faces import DlibFaces, HaarFaces, YuNetFaces
from setwise.faces.grouping import group_faces
from setwise.features.face_networks import NETWORKS, FaceNetwork

SIZES = (24, 36, 60, 90)


def distances(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Distance of each two rows."""
    squares = (vectors**2).sum(1)[:, None] + (others**2).sum(1) - 2 * vectors @ others.T
    return np.sqrt(np.maximum(squares, 0))


def vector_of(
    network: FaceNetwork, rgb: np.ndarray, is_whole: bool = False
) -> np.ndarray | None:
    """The vector of the surest face, or of the image as a face; None without one."""
    box = np.array([0.0, 0.0, rgb.shape[1], rgb.shape[0]])
    if not is_whole:
        boxes = network.find(rgb, max(min(rgb.shape[:2]) / 6, 12))
        if not len(boxes):
            return None
        box = boxes[0, :4]
    return network.describe(network.upright(rgb, box)[0][None])[0].astype(np.float64)


def yale(network: FaceNetwork) -> None:
    """Faces in changing light: right if the nearest face of another set is of the person."""
    source = data_folder()
    if source is None:
        return
    with np.load(source / "yaleb_24x21.npz") as data:
        images, sets, labels = data["images"], data["set_index"], data["set_labels"]
    rows, who, place, n_found = [], [], [], 0
    for i in range(0, len(images), 3):
        side = Image.fromarray(images[i]).resize((84, 96), Image.Resampling.BICUBIC)
        wide = ImageOps.expand(side, 40, 110).convert("RGB")
        n_found += len(network.find(np.asarray(wide), 30)) > 0
        rows.append(vector_of(network, np.asarray(side.convert("RGB")), is_whole=True))
        who.append(labels[sets[i]])
        place.append(sets[i])
    apart = distances(np.array(rows), np.array(rows))
    apart[np.equal.outer(place, place)] = np.inf
    right = np.array(who)[apart.argmin(axis=1)] == who
    recall, rank = 100 * n_found / len(rows), 100 * right.mean()
    print(f"  Yale B, {len(rows)} faces: {recall:.1f} % found, "
          f"{rank:.1f} % nearest to a face of the same person in other light")  # fmt: skip


def copy(image: Image.Image, width: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """The photo with a face of so many pixels, as another camera would take it."""
    scale = size / width
    sides = [max(round(side * scale), 40) for side in image.size]
    small = image.resize(sides, Image.Resampling.LANCZOS)
    if rng.random() < 0.5:
        small = ImageOps.mirror(small)
    small = small.rotate(rng.uniform(-12, 12), Image.Resampling.BICUBIC, fillcolor=(200,) * 3)
    pixels = np.asarray(small, np.float64) * rng.uniform(0.6, 1.2)
    pixels += rng.normal(0, rng.uniform(0, 5), pixels.shape)
    content = io.BytesIO()
    made = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    made.save(content, "JPEG", quality=int(rng.integers(50, 92)))
    return np.asarray(Image.open(content).convert("RGB"))


def portraits(network: FaceNetwork, folder: Path) -> None:
    """One photo per person: copies at several sizes, and other people."""
    first: list[np.ndarray] = []
    copies: dict[int, list[tuple[int, np.ndarray]]] = {size: [] for size in SIZES}
    for number, path in enumerate(sorted(folder.glob("*.jpg"))):
        image = Image.open(path).convert("RGB")
        pixels = np.asarray(image)
        boxes = network.find(pixels, min(image.size) / 6)
        if len(boxes) != 1:
            continue
        first.append(vector_of(network, pixels))
        for size in SIZES[number % 2 :: 2]:
            rng = np.random.default_rng(number)
            vector = vector_of(network, copy(image, boxes[0, 2], size, rng))
            if vector is not None:
                copies[size].append((len(first) - 1, vector))
    own = np.array(first)
    apart = distances(own, own)[np.triu_indices(len(own), 1)]
    joined, unsure = (apart < network.near).sum(), (apart < network.unsure).sum()
    print(f"  {len(own)} portraits, {len(apart)} pairs of two people: nearest "
          f"{apart.min():.2f}")  # fmt: skip
    print(f"    {joined} within {network.near}, {unsure} within {network.unsure}")
    for size, found in copies.items():
        rows = np.array([vector for _, vector in found])
        real = own[[person for person, _ in found]]
        far = np.linalg.norm(rows - real, axis=1)
        others = distances(rows, own)
        others[np.arange(len(rows)), [person for person, _ in found]] = np.inf
        shares = 100 * (far < network.near).mean(), 100 * (others.min(1) < network.near).mean()
        print(f"  copies with a face of {size} pixels: median distance {np.median(far):.2f}, "
              f"{shares[0]:.1f} % within {network.near}; "
              f"{shares[1]:.2f} % as near to somebody else")  # fmt: skip
    rows = [(i, one) for i, one in enumerate(first)] + [
        one for s in SIZES[1:] for one in copies[s]
    ]
    who, vectors = [person for person, _ in rows], np.array([vector for _, vector in rows])
    groups = group_faces(vectors, [{str(i)} for i in range(len(rows))]).tolist()
    precision, recall = b_cubed(who, list(map(str, groups)))
    print(f"  grouped without those of 24 pixels: {len(set(groups))} groups of {len(own)} "
          f"people; B-cubed: precision {precision:.4f}, recall {recall:.4f}")  # fmt: skip


def detectors(folder: Path | None) -> None:
    """Composed photos: faces found, boxes where there is none, and time."""
    faces, shown, photos = heads(folder, 25), [], []
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as place:
        for number in range(30):
            who = rng.choice(25, int(rng.integers(1, 5)), replace=False).tolist()
            path = Path(place) / f"{number}.png"
            shown.append(take_photo(path, faces, who, (1600, 1200), rng))
            photos.append(np.asarray(ImageOps.exif_transpose(Image.open(path)).convert("RGB")))
    n_faces = sum(map(len, shown))
    for detector in (YuNetFaces(30), DlibFaces(40, max_width=2400), HaarFaces(min_size=30)):
        began, n_found, n_false = time.process_time(), 0, 0
        for pixels, own in zip(photos, shown, strict=True):
            given = (
                pixels if isinstance(detector, YuNetFaces) else pixels.mean(2).astype("uint8")
            )
            boxes = np.asarray(detector(given), float).reshape(-1, 4)
            centres = boxes[:, :2] + boxes[:, 2:] / 2
            near = [[abs(s.x - x) + abs(s.y - y) < s.side for s in own] for x, y in centres]
            hits = np.array(near, bool).reshape(len(boxes), len(own))
            n_found += hits.any(axis=0).sum()
            n_false += (~hits.any(axis=1)).sum()
        took = (time.process_time() - began) / len(photos)
        share = 100 * n_found / n_faces
        print(f"  {type(detector).__name__}: {share:.1f} % of {n_faces} found, {n_false} false")
        print(f"    {1000 * took:.0f} ms of CPU for 1600 x 1200")


def main() -> None:
    """Print everything."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    print("composed photos")
    detectors(folder)
    for network in NETWORKS.values():
        print(network.name)
        yale(network)
        if folder is not None:
            portraits(network, folder)


if __name__ == "__main__":
    main()
