"""What comes in: image folders, video, MATLAB files, NumPy archives."""

from setwise.io.arrays import load_arrays
from setwise.io.images import load_images
from setwise.io.loading_report import LoadedSets, LoadReport, Skipped
from setwise.io.mat import load_mat
from setwise.io.save import save_images
from setwise.io.sources import load_sets
from setwise.io.video import load_video, load_videos

__all__ = [
    "LoadReport",
    "LoadedSets",
    "Skipped",
    "load_arrays",
    "load_images",
    "load_mat",
    "load_sets",
    "load_video",
    "load_videos",
    "save_images",
]
