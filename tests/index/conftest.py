"""One embedded Milvus for all tests, stopped when they end."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def _milvus_file(tmp_path_factory):
    pytest.importorskip("pymilvus")
    servers = pytest.importorskip("milvus_lite.server_manager").server_manager_instance
    from setwise.index import milvus

    path = str(tmp_path_factory.mktemp("milvus") / "shared.db")
    yield path
    with milvus.MilvusIndex(path)._client() as client:
        client.close()
    milvus._connected.cache_clear()
    servers.release_server(path)


@pytest.fixture
def milvus(_milvus_file, request):
    """The address of Milvus, and a collection that no other test has."""
    return _milvus_file, "".join(c if c.isalnum() else "_" for c in request.node.name)
