"""What a store holds, read while others may add to it."""

from __future__ import annotations

from pathlib import Path

from setwise_paper.store import RESULTS, Record, _read


def read_records(folder: Path) -> dict[str, Record]:
    """The last result of each item by key, or its last failure where it has no result."""
    records: dict[str, Record] = {}
    for record in _read(Path(folder) / RESULTS)[0]:
        known = records.get(record.key)
        if record.is_finished or known is None or not known.is_finished:
            records[record.key] = record
    return records
