"""What comes in: image folders, video, MATLAB files, NumPy archives."""

from setwise.files.report import LoadedSets, LoadReport

__all__ = ["LoadReport", "LoadedSets"]
