"""PgBouncer as operators run it, before the PostgreSQL server of this run."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final

import psycopg
import pytest
from psycopg import conninfo

from tests.kit.needs import needs

PROGRAM: Final = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
REQUIRED: Final = os.environ.get("TAPEWAY_TEST_PGBOUNCER") == "required"
NEEDED = pytest.mark.skipif(
    PROGRAM is None and not REQUIRED, reason=needs("PgBouncer", "sudo apt install pgbouncer")
)
NOBODY: Final = 65534
SETTINGS: Final = """
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own_port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
ignore_startup_parameters = extra_float_digits
"""


@contextmanager
def pgbouncer(url: str) -> Iterator[str]:
    """Run it with transaction pooling, and yield the URL of a database through it."""
    assert PROGRAM, "TAPEWAY_TEST_PGBOUNCER=required, but there is no pgbouncer"
    given = conninfo.conninfo_to_dict(url)
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port = asked.getsockname()[1]
    name, user = given["dbname"], given.get("user")
    with tempfile.TemporaryDirectory(prefix="tapeway-pgbouncer-") as folder:
        Path(folder).chmod(0o755)
        settings = Path(folder) / "pgbouncer.ini"
        places = {"host": given["host"], "port": given["port"], "own_port": port, "user": user}
        settings.write_text(SETTINGS.format(**places))
        settings.chmod(0o644)
        running = subprocess.Popen(
            [PROGRAM, "-q", str(settings)],
            user=NOBODY if os.getuid() == 0 else None,  # it refuses to run as root
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            there = f"postgresql://{user}@127.0.0.1:{port}/{name}"
            _wait(there, running)
            yield there
        finally:
            running.terminate()
            running.wait()


def _wait(url: str, running: subprocess.Popen[bytes]) -> None:
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            assert running.poll() is None, "pgbouncer has ended"
            Event().wait(0.02)
        else:
            return
