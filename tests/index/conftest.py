"""One embedded Milvus and one PostgreSQL for all tests, stopped when they end."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.index.postgres_server import postgres


@pytest.fixture(scope="session")
def _milvus_file(tmp_path_factory):
    pytest.importorskip("pymilvus")
    servers = pytest.importorskip("milvus_lite.server_manager").server_manager_instance
    from setwise.index import milvus

    path = str(tmp_path_factory.mktemp("milvus") / "shared.db")
    yield path
    with milvus.MilvusIndex(path)._session() as client:
        client.close()
    milvus._connected.cache_clear()
    servers.release_server(path)


@pytest.fixture
def milvus(_milvus_file, request):
    """The address of Milvus, and a collection that no other test has."""
    return _milvus_file, "".join(c if c.isalnum() else "_" for c in request.node.name)


@pytest.fixture(scope="session")
def _postgres(tmp_path_factory):
    pytest.importorskip("pg8000", reason='needs pip install "setwise[pgvector]"')
    # Below /tmp, which others may enter, and with a path that a socket can have.
    with TemporaryDirectory(prefix="setwise-pg-") as folder, postgres(Path(folder)) as address:
        yield address


@pytest.fixture
def pgvector(_postgres, request):
    """The address of PostgreSQL, and a table that no other test has."""
    name = "".join(c if c.isalnum() else "_" for c in request.node.name)
    return _postgres, f"t_{sha256(name.encode()).hexdigest()[:20]}"
