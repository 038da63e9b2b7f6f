"""The bytes of a variable of a MATLAB 5 file, unpacked as they are asked for."""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO

from setwise.io.untrusted import broken

__all__ = ["COMPRESSED", "MATRIX", "Content"]

MATRIX, COMPRESSED = 14, 15
PIECE = 2**20


class Content:
    """What a variable is made of, from its beginning to its end, compressed or not.

    Attributes
    ----------
    order : str
        ``"<"`` or ``">"``, as `struct` has it.
    left : int
        How many bytes follow, by what the file says.
    """

    def __init__(self, stream: BinaryIO, place: tuple[int, int, int], order: str) -> None:
        stored, at, length = place
        stream.seek(at)
        self.order, self.left = order, length
        self._stream, self._n_packed = stream, length
        self._inflater = zlib.decompressobj() if stored == COMPRESSED else None
        if self._inflater is not None:
            self.left = 8
            stored, self.left = struct.unpack(order + "II", self._take(8))
            if stored != MATRIX:
                broken(
                    f"type {stored} was found in compressed data where a variable is expected"
                )

    def take_tag(self) -> tuple[int, int]:
        """Type and length of the element that begins here."""
        stored, length = struct.unpack(self.order + "II", self._take(8))
        return stored, length

    def take_element(self, at_most: int) -> tuple[int, bytes | bytearray]:
        """Type and bytes of the element that begins here."""
        tag = self._take(8)
        stored, length = struct.unpack(self.order + "II", tag)
        if stored >> 16:  # up to four bytes, kept beside their type
            stored, length = stored & 0xFFFF, stored >> 16
            if length > 4:
                broken(f"an element of {length} bytes is cut off after 4")
            return stored, tag[4 : 4 + length]
        if length > min(at_most, self.left):
            broken(f"an element of {length} bytes is cut off after {min(at_most, self.left)}")
        payload = self._take(length)
        self._take(min(-length % 8, self.left))
        return stored, payload

    def skip(self, n_bytes: int, *, is_known: bool) -> None:
        """Go on to the next cell; behind one whose numbers are known, nothing else follows."""
        if n_bytes < 0 or (is_known and n_bytes >= 8):
            broken(f"a cell has {n_bytes} bytes more than its size asks for")
        for start in range(0, n_bytes, PIECE):
            self._take(min(PIECE, n_bytes - start))

    def check_over(self) -> None:
        """Refuse a variable that goes on behind its end, or whose checksum is wrong."""
        if self.left >= 8:
            broken(f"a variable has {self.left} bytes more than its size asks for")
        self._take(self.left)
        if self._inflater is None:
            return
        while not self._inflater.eof:
            packed = self._packed(self._inflater)
            if self._inflater.decompress(packed, 1) or not packed:
                broken("compressed data does not end where it says")

    def _take(self, n_bytes: int) -> bytes | bytearray:
        """The next bytes, all of them."""
        if n_bytes > self.left:
            broken(f"an element of {n_bytes} bytes is cut off after {self.left}")
        self.left -= n_bytes
        if self._inflater is None:
            taken: bytes | bytearray = self._stream.read(n_bytes)
        else:
            taken = self._unpack(self._inflater, n_bytes)
        if len(taken) < n_bytes:
            broken(f"it ends {n_bytes - len(taken)} bytes too early")
        return taken

    def _unpack(self, inflater: zlib._Decompress, n_bytes: int) -> bytearray:
        """The next bytes of compressed data, piece by piece, so that no copy is made."""
        unpacked = bytearray()
        while len(unpacked) < n_bytes:
            packed = self._packed(inflater)
            piece = inflater.decompress(packed, min(PIECE, n_bytes - len(unpacked)))
            if not piece and not packed:
                break
            unpacked += piece
        return unpacked

    def _packed(self, inflater: zlib._Decompress) -> bytes:
        """Compressed bytes that were not looked at yet, none at the end."""
        if inflater.unconsumed_tail:
            return inflater.unconsumed_tail
        packed = self._stream.read(min(self._n_packed, PIECE))
        self._n_packed -= len(packed)
        return packed
