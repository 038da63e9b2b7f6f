"""Array files that want too much: each ends in one DataError, soon and cheaply.

An attack is a function that writes a file. Those on one kind of file share a process, which
keeps the time of each and the memory of the worst.
"""

from __future__ import annotations

import io
import json
import struct
import warnings
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.attacks.sandbox import LIMIT_MB, LIMIT_S, attacked
from tests.io.mat73_writer import written

from setwise.errors import DataError
from setwise.io import mat73
from setwise.io.arrays import load_arrays
from setwise.io.mat import load_mat
from setwise.page import Limits
from setwise.page.uploads import receive

SETUP = """
import json, time
import h5py, zipfile, zlib
from setwise.errors import DataError
from setwise.io.arrays import load_arrays
from setwise.io.mat import load_mat

def one(load, path, parameters):
    started = time.process_time()
    try:
        outcome = repr(load(path, **parameters))
    except DataError as error:
        outcome = "DataError: " + str(error)
    except BaseException as error:
        outcome = repr(error)
    return outcome, time.process_time() - started
"""
EACH = """
loads = {"mat": load_mat, "arrays": load_arrays}
cases = json.loads(sys.argv[1])
raise DataError(json.dumps([one(loads[load], *case) for load, *case in cases]))
"""
LARGE = 2**31 - 1
LITTLE = {"max_bytes": 2**26}


def all_refused(load, attacks, folder):
    """Run attacks: ``{what: (write, words, parameters)}``."""
    cases = []
    for number, (write, _, parameters) in enumerate(attacks.values()):
        (folder / f"{number}").mkdir()
        cases.append((load, str(write(folder / f"{number}" / "file.bin")), parameters))
    result = attacked(EACH, json.dumps(cases), setup=SETUP)
    assert result.error == "DataError", result
    assert result.megabytes < LIMIT_MB
    assert not result.warnings
    for (what, (_, words, _)), (message, seconds) in zip(
        attacks.items(), json.loads(result.message), strict=True
    ):
        told = f"{what}: {message} after {seconds:.2f} s"
        assert message.startswith("DataError: load_"), told
        assert "\n" not in message, told
        assert "file.bin" in message, told
        assert all(word in message for word in words), told
        assert seconds < LIMIT_S, told


# MATLAB 5


def element(kind, payload, length=None):
    length = len(payload) if length is None else length
    return struct.pack("<II", kind, length) + payload + bytes(-len(payload) % 8)


def matrix(kind, shape, content=b"", name=b"", length=None):
    flags = element(6, struct.pack("<II", kind, 0))
    sizes = element(5, struct.pack(f"<{len(shape)}i", *shape))
    return element(14, flags + sizes + element(1, name) + content, length)


def mat5(path, *elements):
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(elements))
    return path


def zeros_packed(begin, n_bytes):
    """Zlib's form of some bytes and many zeros; its blocks can be repeated after a flush."""
    packer = zlib.compressobj(9)
    first = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    megabyte = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + megabyte * (n_bytes // 2**20) + packer.flush()


DOUBLES = element(9, bytes(64))
SETS = matrix(1, (1, 1), matrix(6, (2, 4), DOUBLES), b"X")
LONG_NAME = (
    element(6, struct.pack("<II", 6, 0)) + element(5, bytes(8)) + element(1, b"", 2**32 - 8)
)


def deep_mat5(path):
    inner = matrix(6, (2, 4), DOUBLES)
    for _ in range(5000):
        inner = matrix(1, (1, 1), inner)
    return mat5(path, matrix(1, (1, 1), inner, b"X"))


def bomb_mat5(path, says, is_really):
    begin = matrix(1, (1, 1), matrix(6, (2, 4), DOUBLES), b"X")
    length = struct.pack("<I", len(begin) - 8 if says is None else says)
    packed = zeros_packed(begin[:4] + length + begin[8:], is_really)
    return mat5(path, struct.pack("<II", 15, len(packed)) + packed)


def padded_cell(kind):
    """A cell that says it is of 2 x 4 numbers, and 1.9 GB large."""

    def write(path):
        cell = matrix(kind, (2, 4), DOUBLES, length=19 * 10**8)
        begin = matrix(1, (1, 1), cell, b"X", length=19 * 10**8 + 64)
        packed = zeros_packed(begin, 19 * 10**8)
        return mat5(path, struct.pack("<II", 15, len(packed)) + packed)

    return write


def holding(*elements):
    return lambda path: mat5(path, *elements)


def one_cell(*cell):
    return holding(matrix(1, (1, 1), matrix(*cell), b"X"))


def content(value):
    return lambda path: path.write_bytes(value) and path if value else path.touch() or path


X = {"variable": "X"}
MAT5 = {
    "2**62 numbers": (one_cell(6, (LARGE, LARGE), DOUBLES), ["X{1}", "max_bytes"], X),
    "2**62 cells in a cell": (one_cell(1, (LARGE, LARGE)), ["X{1}", "a cell"], X),
    "2**31 cells": (holding(matrix(1, (LARGE, 1), b"", b"X")), ["2147483647 cells"], X),
    "a negative size": (holding(matrix(1, (-1, 1), b"", b"X")), ["(-1, 1)"], X),
    "numbers of 4 GB": (one_cell(6, (2, 4), element(9, bytes(64), 2**32 - 8)), ["cut off"], X),
    "a variable of 4 GB": (holding(matrix(1, (1, 1), b"", b"X", 2**32 - 8)), ["ends after"], X),
    "a name of 4 GB": (holding(element(14, LONG_NAME)), ["cut off"], X),
    "two of one name": (holding(SETS, SETS), ["two variables named 'X'"], X),
    "20 000 variables": (
        holding(*(matrix(6, (0, 0), b"", b"%d" % i) for i in range(20_000))),
        ["more than 10000 variables"],
        X,
    ),
    "no variable": (holding(element(2, bytes(8))), ["type 2"], X),
    "5000 cells deep": (deep_mat5, ["X{1}", "a cell"], X),
    "a bomb that says so": (
        lambda path: bomb_mat5(path, 200 * 2**20, 200 * 2**20),
        ["would take 210 MB"],
        X | LITTLE,
    ),
    "a bomb that says it is 3 GB": (
        lambda path: bomb_mat5(path, 3 * 2**30, 2**20),
        ["would take 3.22 GB"],
        X,
    ),
    "a bomb that says it is small": (
        lambda path: bomb_mat5(path, None, 400 * 2**20),
        ["does not end where it says"],
        X,
    ),
    "1.9 GB behind the last cell": (
        lambda path: bomb_mat5(path, 19 * 10**8, 19 * 10**8),
        ["bytes more than its size asks for"],
        X,
    ),
    "1.9 GB behind the numbers of a cell": (padded_cell(6), ["more than its size asks"], X),
    "1.9 GB in a cell of cells": (padded_cell(1), ["X{1}", "a cell"], X),
    "a cut file": (lambda path: content(mat5(path, SETS).read_bytes()[:-20])(path), [], X),
    "an empty file": (content(b""), ["is empty"], X),
    "junk": (content(np.random.default_rng(0).bytes(2000)), ["no MATLAB file"], X),
}


def test_mat5(tmp_path):
    all_refused("mat", MAT5, tmp_path)


# MATLAB 7.3


def holding_dataset(create):
    """A file whose one cell is what ``create`` makes."""

    def write(path):
        with written(path) as writer:
            node = create(writer.refs)
            node.attrs["MATLAB_class"] = np.bytes_("double")
            cell = np.empty((1, 1), dtype=object)
            cell[0, 0] = node.ref
            writer.put("X", cell)
        return path

    return write


def holding_cells(create):
    """A file whose cell array is what ``create`` makes."""

    def write(path):
        with written(path) as writer:
            create(writer).attrs["MATLAB_class"] = np.bytes_("cell")
        return path

    return write


def declared(shape, **how):
    return holding_dataset(lambda refs: refs.create_dataset("a", shape, "f8", **how))


def open_bomb(refs):
    """A chunk a megabyte, 1.7 GB once they are numbers."""
    shape, chunk = (200, 2**20), (1, 2**20)
    node = refs.create_dataset("a", shape, "u1", chunks=chunk, compression="gzip")
    packed = zlib.compress(bytes(2**20))
    for i in range(200):
        node.id.write_direct_chunk((i, 0), packed)
    return node


def hidden_bomb(refs):
    """HDF5 itself would unfold the chunk to its end, however large."""
    node = refs.create_dataset("a", (4, 4), "f8", chunks=(4, 4), compression="gzip")
    node.id.write_direct_chunk((0, 0), zeros_packed(b"", 500 * 2**20))
    return node


def one_for_all(writer):
    """16 MB, but 20 000 times."""
    reference = writer.cell(np.zeros((2**10, 2**11)))
    cells = np.full((20_000, 1), reference, dtype=h5py.ref_dtype)
    return writer.file.create_dataset("X", data=cells, compression="gzip")


def small_one_for_all(writer):
    """8 bytes a cell: to look at each took 37 s and 883 MB."""
    cells = np.full((90_000, 1), writer.cell(np.eye(2)), dtype=h5py.ref_dtype)
    return writer.file.create_dataset("X", data=cells)


def vast_chunk(refs):
    """1.6 GB in one piece, which HDF5 would hold beside the numbers."""
    shape = (100, 2**21)
    node = refs.create_dataset("a", shape, "f8", chunks=shape, compression="gzip")
    node.id.write_direct_chunk((0, 0), zeros_packed(b"", 100 * 2**24))
    return node


def holding_itself(writer):
    node = writer.file.create_dataset("X", (1, 1), h5py.ref_dtype)
    node[0, 0] = node.ref
    return node


def deep_mat73(writer):
    cell = np.empty((1, 1), dtype=object)
    cell[0, 0] = np.eye(2)
    for _ in range(5000):
        cell[0, 0] = writer.cell(cell)
    return writer.put("X", cell)


def secret_beside(path):
    """Another file, which must not be read."""
    with h5py.File(path.parent / "secret.h5", "w") as file:
        file["X"] = np.eye(4)
    return path


def linked(target):
    def write(path):
        with written(secret_beside(path)) as writer:
            writer.file["X"] = h5py.ExternalLink(target, "/X")
        return path

    return write


def virtual(refs):
    layout = h5py.VirtualLayout((4, 4), "f8")
    secret = secret_beside(Path(refs.file.filename)).parent / "secret.h5"
    layout[:] = h5py.VirtualSource(str(secret), "X", (4, 4))
    return refs.create_virtual_dataset("a", layout)


def soft(writer):
    writer.file["X"] = h5py.SoftLink("/#refs#")
    return writer.refs


MAT73 = {
    "2 TB": (declared((10**6, 250_000), chunks=True), ["would take 2 TB"], X),
    "chunks not there": (declared((10**5, 1300), chunks=True), ["chunks"], X),
    "values not there": (declared((10**5, 1300)), ["does not hold"], X),
    "a bomb that says so": (holding_dataset(open_bomb), ["would take 1.68 GB"], X | LITTLE),
    "a bomb that says it is small": (holding_dataset(hidden_bomb), ["another size"], X),
    "one array in 20 000 cells": (holding_cells(one_for_all), ["max_bytes"], X),
    "one chunk of 1.6 GB": (holding_dataset(vast_chunk), ["of at most 67108864"], X),
    "10**9 cells": (
        holding_cells(
            lambda w: w.file.create_dataset("X", (10**9, 1), h5py.ref_dtype, chunks=True)
        ),
        ["1000000000 cells"],
        X,
    ),
    "5000 cells deep": (holding_cells(deep_mat73), ["X{1}", "a cell"], X),
    "a cell that holds itself": (holding_cells(holding_itself), ["X{1}", "a cell"], X),
    "a link to another file": (linked("secret.h5"), ["'X'", "a link"], X),
    "a link to the passwords": (linked("/etc/passwd"), ["'X'", "a link"], X),
    "a link inside the file": (holding_cells(soft), ["'X'", "a link"], X),
    "values in another file": (
        declared((4, 4), external=[("/etc/passwd", 0, 128)]),
        ["in another file"],
        X,
    ),
    "virtual values": (holding_dataset(virtual), ["in another file"], X),
    "junk": (content(b"\x89HDF\r\n\x1a\n" + np.random.default_rng(0).bytes(2000)), [], X),
}


def test_mat73(tmp_path):
    all_refused("mat", MAT73, tmp_path)


def test_mat73_cells_that_share_an_array_are_cheap(tmp_path):
    path = holding_cells(small_one_for_all)(tmp_path / "a.mat")
    code = "raise DataError(repr(load_mat(sys.argv[1], 'X')))"
    told = attacked(code, path, setup=SETUP)
    assert told.message == "LoadedSets of 90000 sets of 2 to 2 vectors, 2 features", told
    assert told.megabytes < LIMIT_MB


def test_mat73_looks_once_at_what_cells_share(tmp_path, monkeypatch):
    with written(tmp_path / "a.mat") as writer:
        cells = np.full((50, 1), writer.cell(np.eye(2)), dtype=h5py.ref_dtype)
        node = writer.file.create_dataset("X", data=cells)
        node.attrs["MATLAB_class"] = np.bytes_("cell")
    looks = []
    monkeypatch.setattr(
        mat73, "_kind", lambda node, look=mat73._kind: looks.append(node) or look(node)
    )
    assert len(load_mat(tmp_path / "a.mat", "X")) == 50
    assert len(looks) == 2


def test_mat73_path_through_a_link(tmp_path):
    """A name with a slash would be a path, through the link to the other file."""
    with written(secret_beside(tmp_path / "a.mat")) as writer:
        writer.file["away"] = h5py.ExternalLink("secret.h5", "/")
    with pytest.raises(DataError, match="has no variable 'away/X'"):
        load_mat(tmp_path / "a.mat", "away/X")


# NumPy


class Bare(str):
    """Text that goes into a header as it is."""

    __repr__ = str.__str__


def npy(shape, values=b"", descr="<f8", version=(1, 0)):
    """An .npy that says what it is told to say."""
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    length = struct.pack("<H" if version == (1, 0) else "<I", len(header))
    return b"\x93NUMPY" + bytes(version) + length + header + values


def npz(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


class Exploit:
    """Unpickled, it makes a file."""

    def __reduce__(self):
        return (open, ("exploited", "w"))


def bomb_npz(path):
    packed = io.BytesIO()
    np.savez_compressed(packed, X=np.zeros((50, 500_000)))
    assert len(packed.getvalue()) < 250_000
    return content(packed.getvalue())(path)


def promoted(path):
    """100 MB of bytes, and one fraction that would make 800 MB of them."""
    return saved(np.savez_compressed, X=np.zeros((10, 10**7), "u1"), Y=np.ones((1, 10**7)))(
        path
    )


def saved(save, *arrays, **named):
    stream = io.BytesIO()
    save(stream, *arrays, **named)
    return content(stream.getvalue())


def encrypted(path):
    bytes_ = bytearray(npz(path, [("X.npy", GOOD)]).read_bytes())
    bytes_[bytes_.index(b"PK\x01\x02") + 8] |= 1
    bytes_[6] |= 1
    return content(bytes(bytes_))(path)


def lying_directory(path):
    """Says 800 MB, in the directory and in the header, where 80 bytes are."""
    lie = npy((10, 10**7), bytes(80))
    bytes_ = npz(path, [("X.npy", lie)], zipfile.ZIP_STORED).read_bytes()
    size = struct.pack("<I", len(lie) - 80 + 8 * 10**8)
    for mark, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        place = bytes_.index(mark) + at
        bytes_ = bytes_[:place] + size + bytes_[place + 4 :]
    return content(bytes_)(path)


def twice(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return npz(path, [("X.npy", GOOD)] * 2)


def zipped(array):
    stream = io.BytesIO()
    npz(stream, [("X.npy", array)])
    return stream.getvalue()


def archive(*members):
    return lambda path: npz(path, members)


GOOD = npy((2, 5), bytes(80))
PICKLED = np.array([Exploit()], dtype=object)
HEADERS = {
    "10**12 numbers": (npy((10**6, 10**6), bytes(80)), "declares 8000000000000 bytes"),
    "10**30 numbers": (npy((10**15, 10**15), bytes(80)), "declares"),
    "a negative shape": (npy((-1, -10), bytes(80)), "(-1, -10)"),
    "more than declared": (npy((1, 2), bytes(80)), "but 80 follow"),
    "a pickle": (npy((1,), b"cos\nsystem\n(S'true'\ntR.", "|O"), "never unpickled"),
    "a record of objects": (npy((1,), bytes(8), [("a", "|O")]), "never unpickled"),
    "a record": (npy((1,), bytes(80), [("a", "<f8", (10,))]), "Expected numbers"),
    "text of 4 GB": (npy((1,), bytes(80), "<U1000000000"), ""),
    "a header of 4 GB": (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", ""),
    "a header of 20 kB": (npy((1,) * 5000, bytes(8)), ""),
    "a nested header": (npy(Bare("(" * 3000 + ")" * 3000)), ""),
    "code in the header": (npy(Bare("__import__('os').system('true')")), ""),
    "version 3": (npy((1, 10), bytes(80), version=(3, 0)), "version (3, 0)"),
    "no array": (b"hello", ""),
    "nothing": (b"", ""),
}
ARRAYS = {
    **{f"{w}, npz": (archive(("X.npy", c)), [word], {}) for w, (c, word) in HEADERS.items()},
    **{f"{w}, npy": (content(c), [word], {}) for w, (c, word) in HEADERS.items() if c},
    "200 MB in 200 kB": (bomb_npz, ["would take 200 MB"], LITTLE),
    "800 MB of 100": (
        promoted,
        ["arrays as float64", "would take 880 MB"],
        {"max_bytes": 2**28},
    ),
    "a pickle that acts, npz": (saved(np.savez, X=PICKLED), ["never unpickled"], {}),
    "a pickle that acts, npy": (saved(np.save, PICKLED), ["never unpickled"], {}),
    "encrypted": (encrypted, ["encrypted"], {}),
    "a directory that lies": (lying_directory, [], {}),
    "a directory that lies too much": (lying_directory, ["would take 800 MB"], LITTLE),
    "two of one name": (twice, ["two arrays 'X'"], {}),
    "a path": (archive(("../X.npy", GOOD)), ["nothing but arrays"], {}),
    "a path from the root": (archive(("/X.npy", GOOD)), ["nothing but arrays"], {}),
    "a path of Windows": (archive(("..\\X.npy", GOOD)), ["nothing but arrays"], {}),
    "a folder": (archive(("X.npy/", b"")), ["nothing but arrays"], {}),
    "another file": (archive(("X.npy", GOOD), ("a.txt", b"a")), ["nothing but arrays"], {}),
    "an archive inside": (archive(("X.zip", zipped(GOOD))), ["nothing but arrays"], {}),
    "an archive as an array": (archive(("X.npy", zipped(GOOD))), ["magic"], {}),
    "a cut archive": (content(zipped(GOOD)[:-10]), [], {}),
    "an empty file": (content(b""), ["is empty"], {}),
    "junk": (content(b"junk" * 100), ["neither"], {}),
}


def test_arrays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    all_refused("arrays", ARRAYS, tmp_path)
    assert not (tmp_path / "exploited").exists()


# Names that a terminal would obey

FORGED = "anna\t1.000\nbert\x1b[2K"


def damaged_lzma(path):
    values = np.arange(600.0).tobytes()
    npz(path, [("a.npy", npy((6, 100), values))], zipfile.ZIP_LZMA)
    content = bytearray(path.read_bytes())
    content[60:90] = b"\xff" * 30
    path.write_bytes(content)
    return path


def test_damaged_lzma_in_an_archive_is_one_error(tmp_path):
    with pytest.raises(DataError, match="It may be damaged or cut short"):
        load_arrays(damaged_lzma(tmp_path / "a.npz"))


def test_damaged_lzma_in_an_upload_loses_that_photo_only(tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_LZMA) as archive:
        for i in range(2):
            archive.writestr(f"{i}.jpg", bytes(range(256)) * 40)
    damaged = bytearray(content.getvalue())
    damaged[60:90] = b"\xff" * 30
    received = receive([("a.zip", io.BytesIO(bytes(damaged)))], tmp_path, Limits())
    assert len(received.files) == 1
    assert "is damaged inside the zip file" in repr(received.left_out)


def test_labels_and_names_stay_what_they_are(tmp_path):
    """Whoever prints them escapes them; two that look alike must not become one."""
    path = tmp_path / "a.npz"
    np.savez(path, **{FORGED: np.eye(2), "anna": np.eye(2)}, set_labels=np.array([FORGED, "a"]))
    loaded = load_arrays(path)
    assert loaded.names == (FORGED, "anna")
    assert loaded.labels.tolist() == [FORGED, "a"]


def refusals(folder):
    """Errors that quote names out of files."""
    name = b"X\x1b[31m\nY"
    pair = matrix(6, (2, 4), DOUBLES) + matrix(6, (1, 8), DOUBLES)
    yield load_mat, mat5(folder / "1", matrix(1, (1, 1), matrix(2, (1, 1)), name)), {}
    yield load_mat, mat5(folder / "2", matrix(1, (1, 2), pair, name)), {}
    one = matrix(1, (1, 1), matrix(6, (2, 4), DOUBLES), name)
    yield load_mat, mat5(folder / "4", one), {"image_shape": (3, 3)}
    yield load_mat, mat5(folder / "5", one), {"max_bytes": 10}
    yield load_mat, mat5(folder / "6", one), {"max_bytes": 100_000, "labels": name.decode()}
    unequal = [(f"{FORGED}.npy", GOOD), ("b.npy", npy((1, 3), bytes(24)))]
    yield load_arrays, npz(folder / "7", unequal), {}
    yield load_arrays, npz(folder / "8", [(FORGED, GOOD)]), {}


def test_errors_quote_names_in_a_form_that_can_be_shown(tmp_path):
    for load, path, parameters in refusals(tmp_path):
        with pytest.raises(DataError) as caught:
            load(path, **parameters)
        message = str(caught.value)
        # Variables are listed one per line.
        lines = message.splitlines() if "The file holds:" in message else [message]
        assert all(line.isprintable() for line in lines), message
