"""Networks for faces: each finds faces, turns them upright, and describes them."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise._support.extras import require
from setwise._support.types import Bytes, FloatArray
from setwise.errors import MissingExtraError, reject
from setwise.features import dlib_faces, sface

NetworkName: TypeAlias = Literal["sface", "dlib"]


class FaceNetwork(Protocol):
    """What finds and describes faces. Vectors of two networks cannot be compared."""

    name: NetworkName
    extra: str
    # Two faces are one person's up to ``near``; up to ``unsure`` a person has to decide. A
    # wrong join costs more than a missed one.
    near: float
    unsure: float

    def is_installed(self) -> bool:
        """Whether everything is there."""

    def find(self, rgb: Bytes, smallest: float) -> FloatArray:
        """Rows of left, top, width, height and score, the surest first."""

    def upright(self, rgb: Bytes, box: FloatArray) -> tuple[Bytes, float, float]:
        """The face in a box: an upright picture, its turn (0 looks ahead), and how sure."""

    def describe(self, pictures: Bytes) -> npt.NDArray[np.float32]:
        """128 numbers of each upright picture."""

    def weights(self) -> dict[str, str]:
        """SHA-256 of its files."""

    def library(self) -> str:
        """The package that runs it."""


class SFaceNetwork:
    """YuNet and SFace, run by OpenCV."""

    name: NetworkName = "sface"
    extra = sface.EXTRA
    near, unsure = 0.98, 1.13
    # Little that is no face has such a score, or the second when it is looked at again.
    least_score, confirmed = 0.7, 0.5

    def is_installed(self) -> bool:
        """Whether OpenCV and the files of the networks are installed."""
        return sface.has_sface()

    def find(self, rgb: Bytes, smallest: float) -> FloatArray:
        """Rows of left, top, width, height and score, the surest first."""
        return sface.find_faces(rgb, smallest, self.least_score)[:, [0, 1, 2, 3, 14]]

    def upright(self, rgb: Bytes, box: FloatArray) -> tuple[Bytes, float, float]:
        """The face in a box: an upright picture, its turn (0 looks ahead), and how sure."""
        places, score = sface.exact_places(rgb, box, self.confirmed)
        return sface.upright(rgb, places), turn(places[0], places[1], places[2]), score

    def describe(self, pictures: Bytes) -> npt.NDArray[np.float32]:
        """128 numbers of each upright picture, of length 1."""
        return sface.describe(pictures)

    def weights(self) -> dict[str, str]:
        """SHA-256 of its files."""
        return dict(sface.SHA256)

    def library(self) -> str:
        """The package that runs it."""
        return "opencv-python-headless"


class DlibNetwork:
    """dlib's detector and network, for installations and files without SFace."""

    name: NetworkName = "dlib"
    extra = dlib_faces.EXTRA
    near, unsure = 0.48, 0.6
    # Most faces have more than 0.5, most of what has less than 0.2 is no face.
    least_score = 0.2

    def is_installed(self) -> bool:
        """Whether dlib and the files of its networks are installed."""
        return dlib_faces.has_dlib()

    def find(self, rgb: Bytes, smallest: float) -> FloatArray:
        """Rows of left, top, width, height and score, the surest first."""
        scale = min(dlib_faces.SMALLEST / smallest, 4.0)
        return dlib_faces.find_faces(_grey(rgb), scale, self.least_score, scored=True)

    def upright(self, rgb: Bytes, box: FloatArray) -> tuple[Bytes, float, float]:
        """The face in a box: an upright picture, its turn (0 looks ahead), and how sure."""
        points = dlib_faces.eyes_and_nose(_grey(rgb), box)
        first, second = points[:2].mean(axis=0), points[2:4].mean(axis=0)
        return dlib_faces.aligned_face(rgb, box), turn(first, second, points[4]), 1.0

    def describe(self, pictures: Bytes) -> npt.NDArray[np.float32]:
        """128 numbers of each upright picture."""
        return dlib_faces.describe_faces(pictures)

    def weights(self) -> dict[str, str]:
        """SHA-256 of its files."""
        return dict(dlib_faces.SHA256)

    def library(self) -> str:
        """The package that runs it."""
        return "dlib"


SFACE, DLIB = SFaceNetwork(), DlibNetwork()
NETWORKS: dict[str, FaceNetwork] = {"sface": SFACE, "dlib": DLIB}


def face_network(name: str | None = None) -> FaceNetwork:
    """The network of this name, or the best that is installed."""
    chosen = [NETWORKS[name]] if name else [*NETWORKS.values()]
    found = next((one for one in chosen if one.is_installed()), None)
    if found is None:
        for module in ("cv2", sface.PACKAGE) if chosen[0] is SFACE else ("dlib",):
            require(module, chosen[0].extra)
        msg = f'no network of faces is installed: pip install "setwise[{chosen[0].extra}]"'
        raise MissingExtraError(msg)
    return found


def network_of(vectors: Any) -> FaceNetwork:
    """The network of vectors of faces, or of means of them: dlib's alone are longer than 1."""
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or (len(rows) and rows.shape[1] != 128):
        reject(f"vectors of shape {rows.shape} are not of faces. Expected 128 numbers of each.")
    lengths = np.linalg.norm(rows, axis=1)
    return DLIB if lengths.max(initial=0.0) > 1.001 else SFACE


def turn(first: FloatArray, second: FloatArray, nose: FloatArray) -> float:
    """Distance of the nose from the middle of the eyes, in distances of the eyes.

    >>> turn(np.array([0.0, 0.0]), np.array([2.0, 0.0]), np.array([1.5, 2.0]))
    0.25
    """
    across = second - first
    length = max(float(np.linalg.norm(across)), 1e-9)
    return float(abs((nose - (first + second) / 2) @ across) / length**2)


def _grey(rgb: Bytes) -> Bytes:
    return rgb if rgb.ndim == 2 else np.asarray(Image.fromarray(rgb).convert("L"))
