"""Faces of clips and photos: found, followed, and grouped by person."""

from setwise.faces.detectors import DlibFaces, HaarFaces, YuNetFaces
from setwise.faces.photos import PhotoFace, PhotoFaces, find_faces
from setwise.faces.tracks import face_tracks

__all__ = [
    "DlibFaces", "HaarFaces", "PhotoFace", "PhotoFaces", "YuNetFaces", "face_tracks",
    "find_faces",
]  # fmt: skip
