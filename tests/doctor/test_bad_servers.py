"""Databases that cannot be used as they are: the start and doctor say why, and what to do."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
import pytest

from gateway.doctor.checks.server import look_at_server
from tests.doctor.scene import Scene
from tests.kit.gateways import run_tapeway
from tests.postgres import Server, fresh_database, url_of

pytestmark = pytest.mark.postgresql

Makes = Callable[[], AbstractContextManager[str]]


@contextmanager
def in_another_encoding() -> Iterator[str]:
    name = f"other_{secrets.token_hex(6)}"
    with psycopg.connect(url_of("postgres"), autocommit=True) as connection:
        made = f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
        connection.execute(made.encode())
        yield url_of(name)
        connection.execute(f"DROP DATABASE {name}".encode())


def which(setting: str) -> Makes:
    """Return what makes an empty database with a setting."""

    @contextmanager
    def made() -> Iterator[str]:
        with fresh_database() as url:
            with psycopg.connect(url, autocommit=True) as connection:
                change = f"ALTER DATABASE {connection.info.dbname} SET {setting}"
                connection.execute(change.encode())
            yield url

    return made


@contextmanager
def impatient() -> Iterator[str]:
    """A database on which the first start has to wait for longer than a statement may take."""
    with which("statement_timeout = 900")() as url, psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE migration (name TEXT)")
        yield url
        connection.rollback()


@contextmanager
def standby() -> Iterator[str]:
    """A server that follows another one, which is not there now."""
    with tempfile.TemporaryDirectory(prefix="tapeway-postgres-") as name:
        server = Server(Path(name))
        server.create()
        Path(name, "data", "standby.signal").touch()
        server.start()
        yield server.url
        server.stop()


@pytest.mark.parametrize(
    ("bad", "remedy", "trouble", "says"),
    [
        (in_another_encoding, "ENCODING 'UTF8'", "database.unfit", "LATIN1"),
        (standby, "name the primary", "database.unfit", "is a standby"),
        (
            which("default_transaction_read_only = on"),
            "default_transaction_read_only is off",
            "database.unfit",
            "default_transaction_read_only is on",
        ),
        (
            impatient,
            "SET statement_timeout = 0",
            "database.impatient",
            "ends statements after 900ms",
        ),
    ],
    ids=["encoding", "standby", "read only", "impatient"],
)
async def test_the_start_names_the_remedy_in_one_sentence_and_doctor_the_trouble(
    bad: Makes, remedy: str, trouble: str, says: str, tmp_path: Path
) -> None:
    with bad() as url:
        found = [one for one in look_at_server(url, 8) if one.trouble and one.trouble.id == trouble]
        code, out, err = await run_tapeway(Scene(tmp_path).environ(TAPE__URL=url), "tape", "list")
    assert (code, out) == (1, "")
    assert remedy in " ".join(err.split())
    assert "Traceback" not in err
    assert [says in one.says for one in found] == [True]
