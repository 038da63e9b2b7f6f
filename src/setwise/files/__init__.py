"""What comes in: image folders, video, MATLAB files, NumPy archives."""

from setwise.files.arrays import load_arrays
from setwise.files.faces import HaarFaces, face_tracks
from setwise.files.images import load_images
from setwise.files.mat import load_mat
from setwise.files.report import LoadedSets, LoadReport, Skipped
from setwise.files.save import save_images
from setwise.files.sources import load_sets
from setwise.files.video import load_video, load_videos

__all__ = [
    "HaarFaces",
    "LoadReport",
    "LoadedSets",
    "Skipped",
    "face_tracks",
    "load_arrays",
    "load_images",
    "load_mat",
    "load_sets",
    "load_video",
    "load_videos",
    "save_images",
]
