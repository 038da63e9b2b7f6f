"""Albums of rendered objects judged by a gallery: the page of answers, and a picture per set.

python benchmarks/album_report.py [out/albums]
"""

import argparse
import io
from pathlib import Path

import numpy as np
from PIL import Image

from rendering import make_object_views
from setwise import CVC, SetBatch
from setwise.report import draw_answers, write_answers
from setwise.sets import Origins

N_KNOWN, N_STRANGE, N_OBJECTS, N_GALLERY = 6, 2, 6, 3
N_PHOTOS, N_MIXED = 24, 3


def album(images: np.ndarray, labels: list[str], names: list[str]) -> SetBatch:
    """Sets of grey images that remember their colours, files and times."""
    sets = SetBatch.from_images(list(images.mean(axis=-1).astype(np.uint8)), names, labels)
    files = [f"albums/{name}/IMG_{2001 + j}.jpg" for name in names for j in range(N_PHOTOS)]
    start = np.datetime64("2024-05-01T09:00")
    times = start + 2 * np.arange(len(files)).astype("timedelta64[m]")
    photos = [jpeg(image) for album in images for image in album]
    return sets.replaced(origins=Origins.of_files(files, times, photos))


def jpeg(image: np.ndarray) -> bytes:
    """A small picture, as a loader keeps one of each photo."""
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "JPEG", quality=80)
    return stream.getvalue()


def make_albums(seed: int = 0) -> tuple[SetBatch, SetBatch]:
    """A gallery of six kinds of things; albums of these, some mixed, and of two other kinds."""
    made = make_object_views(
        N_KNOWN + N_STRANGE, N_OBJECTS, N_PHOTOS, size=64, colour=True, random_state=seed
    )
    kinds = [str(label).removesuffix(" 1") for label in made.labels[::N_OBJECTS]]
    images = made.images.reshape(len(kinds), N_OBJECTS, N_PHOTOS, *made.images.shape[1:])
    gallery, probes = images[:N_KNOWN, :N_GALLERY], images[:, N_GALLERY:].copy()
    rng = np.random.default_rng(seed)
    for kind in range(N_KNOWN):
        places = rng.choice(N_PHOTOS, N_MIXED, replace=False)
        probes[kind, 0, places] = probes[kind - 1, 1, places]
    known = [kind for kind in kinds[:N_KNOWN] for _ in range(N_GALLERY)]
    n_probes = N_OBJECTS - N_GALLERY
    asked = [kind for kind in kinds for _ in range(n_probes)]
    return (
        album(
            np.concatenate(gallery), known, [f"{k} {i % 3 + 1}" for i, k in enumerate(known)]
        ),
        album(np.concatenate(probes), asked, [f"day {i + 1}" for i in range(len(asked))]),
    )


def main() -> None:
    """Judge the albums, write the page, draw the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("out/albums"))
    folder = parser.parse_args().folder
    gallery, probes = make_albums()
    clf = CVC.for_images(unknown=0.2, random_state=0).fit(gallery, gallery.labels)
    answers = list(clf.judge(probes))
    command = "python benchmarks/album_report.py"
    page = write_answers(
        folder / "report.html",
        clf.gallery_,
        probes,
        answers,
        title="Albums of May",
        command=command,
    )
    pictures = draw_answers(folder / "pictures", clf.gallery_, probes, answers)
    print(f"Page: {page}, {len(pictures)} pictures: {folder / 'pictures'}")


if __name__ == "__main__":
    main()
