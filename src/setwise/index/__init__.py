"""Indexes over one vector per set: where the sets of a large gallery are."""

from setwise.index.base import BuiltIndex, ExactIndex, Index, stamp_of
from setwise.index.faiss import FaissIndex
from setwise.index.milvus import MilvusIndex
from setwise.index.pgvector import PgvectorIndex

__all__ = [
    "BuiltIndex",
    "ExactIndex",
    "FaissIndex",
    "Index",
    "MilvusIndex",
    "PgvectorIndex",
    "stamp_of",
]
