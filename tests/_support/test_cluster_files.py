"""Objects in files whose arrays other processes map."""

from __future__ import annotations

import mmap

import numpy as np

from setwise._support.cluster import ALIGNMENT, read_mapped, write_mapped


def owner(array):
    """What holds the memory of an array in the end."""
    while getattr(array, "base", None) is not None:
        array = array.base
        if isinstance(array, memoryview):
            array = array.obj
    return array


def test_arrays_come_back_mapped_aligned_and_plain(tmp_path):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(7, 3))
    things = {"f": np.asfortranarray(table), "u": np.arange(5, dtype=np.uint8), "again": table}
    things |= {"same": table, "words": np.array(["a", "bcd"]), "strided": table[::2]}
    write_mapped(things, tmp_path)
    back = read_mapped(tmp_path)
    for name, array in things.items():
        assert type(back[name]) is np.ndarray
        assert back[name].dtype == array.dtype
        assert np.array_equal(back[name], array)
    assert back["same"] is back["again"]
    assert back["f"].flags.f_contiguous
    for name in ("f", "u", "again"):
        assert isinstance(owner(back[name]), mmap.mmap)
        assert back[name].ctypes.data % ALIGNMENT == 0


def test_changes_stay_in_the_process(tmp_path):
    write_mapped(np.arange(4.0), tmp_path)
    back = read_mapped(tmp_path)
    back[0] = 9.0  # kernels are compiled for arrays that can be written
    assert read_mapped(tmp_path)[0] == 0.0


def test_without_arrays_there_is_nothing_to_map(tmp_path):
    write_mapped({"n": 3}, tmp_path)
    assert read_mapped(tmp_path) == {"n": 3}
