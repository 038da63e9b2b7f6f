"""From clips to sets of face images, one set per person."""

from setwise.faces.detectors import DlibFaces, HaarFaces
from setwise.faces.tracks import face_tracks

__all__ = ["DlibFaces", "HaarFaces", "face_tracks"]
