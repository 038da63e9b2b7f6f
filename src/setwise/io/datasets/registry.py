"""What is known of public datasets: where they are, their checksums, licences and protocols."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["SOURCES", "RemoteFile", "Source"]


@dataclass(frozen=True)
class RemoteFile:
    """One file on the net, and what its content must be.

    Attributes
    ----------
    name : str
        What it is called once it is here.
    address : str
        Where it is. The addresses name a commit, so that they always mean the same bytes.
    sha256 : str, optional
        Checksum of the content, where it is known.
    size : int, optional
        Number of bytes, where it is known.
    git_blob : str, optional
        The id that git gives the content, where that is all that is known.
    """

    name: str
    address: str
    sha256: str | None = None
    size: int | None = None
    git_blob: str | None = None

    @property
    def is_verifiable(self) -> bool:
        """Whether a checksum is known."""
        return self.sha256 is not None or self.git_blob is not None


@dataclass(frozen=True)
class Source:
    """One dataset.

    Attributes
    ----------
    name : str
        What `fetch` and `load` call it.
    title : str
        What people call it.
    files : tuple of RemoteFile
        What `fetch` gets; none where everybody brings their own copy.
    licence : str
        What its source says about use. Most say nothing, which is why setwise has no copy.
    protocol : str
        What is gallery and what is probe.
    note : str
        What else should be known.
    """

    name: str
    title: str
    files: tuple[RemoteFile, ...]
    licence: str
    protocol: str
    note: str

    def to_dict(self) -> dict[str, Any]:
        """All of it, in types that JSON knows."""
        return asdict(self)


def _on_github(place: str, **known: Any) -> RemoteFile:
    """A file of a repository; its place is ``owner/repository/commit/path``."""
    address = f"https://raw.githubusercontent.com/{place}"
    return RemoteFile(place.rpartition("/")[2], address, **known)


NONE_STATED = "none stated by its source"
RESEARCH_ONLY = (
    "none stated for the data; the code beside it is for education and research only"
)

_ALL = (
    Source(
        "eth80",
        "ETH-80 objects, 20 x 20 grey",
        (
            _on_github(
                "GitWR/MMML/054bddc65c8aa7dad18dadf34328780a1e37bddb/demo-ETH.mat",
                sha256="a7466514e40d7775984255741c082a70569c0a81fa0ed2be095222376ca285bb",
                size=2_131_127,
            ),
            _on_github(
                "erwuzs/PGCRC-eth80/cefefc7f39ce21844ed88a5923f0ef2d3a55abd5/random_index_eth80.mat",
                sha256="27845e25bd48dd0f684c6effb7f809ce0a03fe711bf618c56b67a80ac9523263",
            ),
        ),
        NONE_STATED,
        "8 classes of 10 objects, 41 images each; 5 gallery and 5 probe objects per class, "
        "ten published splits",
        "demo-ETH.mat holds all 80 objects; random_index_eth80.mat the ten splits.",
    ),
    Source(
        "yaleb",
        "Extended Yale B faces, cropped",
        (
            RemoteFile(
                "CroppedYale.tar.gz",
                "https://github.com/Uranium2/recognition/archive/"
                "55008b5f2ab707eb7ae4464daa727d30b858d488.tar.gz",
            ),
        ),
        NONE_STATED,
        "38 people under 5 ranges of light; gallery = one range, probes = the other four, "
        "rotated five times",
        "An archive that the server packs anew, so no checksum is known. Its folder "
        "CroppedYale/ holds the faces; `load` reads the prepared yaleb_24x21.npz only.",
    ),
    Source(
        "coil20",
        "COIL-20 objects on a turntable, 32 x 32 grey",
        (
            _on_github(
                "hyzhang98/AdaGAE/6d04946060bacd41ee31eba5c124887bca44f369/data/COIL20.mat",
                sha256="b22b9beb0668f707990eda2b5f922384fd3e6d63d6df7ede3a3b5e2319c4e397",
            ),
        ),
        NONE_STATED,
        "20 objects cut into four quadrants of 18 views; 2 gallery and 2 probe quadrants, "
        "all six pairs",
        "`load` reads the prepared coil20_32x32.npz only.",
    ),
    Source(
        "hands",
        "Tsukuba hand shapes, 24 x 24 grey",
        (
            _on_github(
                "ComputerVisionLaboratory/SubspaceMethodsToolBox/6ee69af9bac7c965fee6ee2c9d57488b08e9f797/data/TsukubaHandDigitsDataset24x24.mat",
                sha256="87af0e25057b93cd5f267713465021bde7cbe31682432e86c0a5c70a4e40c815",
            ),
        ),
        "MIT",
        "6 hand shapes, given train and test sets",
        "`load` reads the prepared tsukuba_hand_24x24.npz only.",
    ),
    Source(
        "vowels",
        "Japanese vowels, 12 coefficients a frame",
        (),
        "see the Python package aeon 1.6.0, which ships it",
        "9 speakers, the official 270 gallery and 370 probe utterances",
        "`load` reads the prepared japanese_vowels.npz.",
    ),
    Source(
        "honda",
        "Honda/UCSD faces, 20 x 20, histogram equalised",
        (
            _on_github(
                "AISKYEYE-TJU/RNP-FG2013/1ef4fee193714baac6091c456920df3eea2743cd/honda_heq.mat",
                git_blob="6fda38e3c57c7d148a8de83e0e3e7cbd4d7ce8c4",
            ),
        ),
        RESEARCH_ONLY,
        "20 subjects, 59 sets; one gallery set per subject, 39 probes, ten random folds",
        "Read with load_honda, which was written to the layout and never saw the file.",
    ),
    Source(
        "mobo",
        "CMU MoBo faces",
        (
            _on_github(
                "AISKYEYE-TJU/ISCRC-TIFS2014/42b83085dd014e2d3463ea03c52139e146ead1fb/database/MOBO.mat",
                git_blob="2a1bac3bad05e007f65ddf82521d7cff61179c58",
            ),
        ),
        RESEARCH_ONLY,
        "24 subjects, 96 sets; 1 gallery set and 3 probes per subject, ten random folds",
        "Read with load_mobo, which was written to the layout and never saw the file.",
    ),
    Source(
        "youtube",
        "YouTube Celebrities",
        (),
        NONE_STATED,
        "47 subjects, 1910 clips; 3 gallery and 6 probe sets per subject, five folds",
        "Bring your own copy of the AVI clips and read it with load_youtube.",
    ),
    Source(
        "cambridge",
        "Cambridge hand gestures",
        (),
        NONE_STATED,
        "9 classes of 100 sets; gallery = Set5, probes = Set1 to Set4, one fold",
        "Bring your own copy of the folders of frames and read it with load_cambridge.",
    ),
)

SOURCES: dict[str, Source] = {source.name: source for source in _ALL}
