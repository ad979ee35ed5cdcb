"""How the PostgreSQL store connects: which server it believes, and which it refuses."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import psycopg
import pytest
from anyio import to_thread
from psycopg import conninfo

from tape.entry import message
from tape.errors import StoreUnavailable, StoreUnusable
from tape.stores.postgres.database import connection_target
from tape.stores.postgres.store import PostgresStore
from tests.fakes.cutting_proxy import CuttingProxy
from tests.postgres import fresh_database, url_of

pytestmark = pytest.mark.postgresql

TLS: Final = Path(__file__).parents[2] / "fixtures" / "tls"


@asynccontextmanager
async def behind(tls: ssl.SSLContext | None = None) -> AsyncIterator[tuple[CuttingProxy, str]]:
    """Yield a proxy before a server, and the rest of the URL of a database behind it."""
    with fresh_database() as url:
        given = conninfo.conninfo_to_dict(url)
        async with CuttingProxy(int(str(given["port"])), tls) as proxy:
            yield proxy, f"{proxy.port}/{given['dbname']}"


def certified() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "server.pem", TLS / "server-key.pem")
    return context


async def opened(url: str) -> PostgresStore:
    return await to_thread.run_sync(partial(PostgresStore.open, url))


async def test_another_machine_s_server_is_believed_by_name_and_authority() -> None:
    async with behind(certified()) as (_proxy, rest):
        here = f"?hostaddr=127.0.0.1&sslrootcert={TLS / 'authority.pem'}"
        store = await opened(f"postgresql://tapeway@db.example.com:{rest}{here}")
        (said,) = await store.append("t", [message("user", "a")])
        assert said.text == "a"
        await store.close()


@pytest.mark.parametrize(
    ("host", "authority"),
    [("db.example.com", ""), ("other.example.com", f"&sslrootcert={TLS / 'authority.pem'}")],
    ids=["an unknown authority", "another name"],
)
async def test_a_certificate_that_is_not_the_server_s_is_refused_with_the_remedy(
    host: str, authority: str
) -> None:
    async with behind(certified()) as (_proxy, rest):
        url = f"postgresql://tapeway@{host}:{rest}?hostaddr=127.0.0.1{authority}"
        with pytest.raises(StoreUnavailable, match=r"name the server as its certificate does"):
            await opened(url)


async def test_a_server_elsewhere_without_encryption_is_refused_with_the_remedy() -> None:
    async with behind() as (_proxy, rest):
        url = f"postgresql://tapeway@db.example.com:{rest}?hostaddr=127.0.0.1"
        with pytest.raises(StoreUnavailable, match=r"SSL.*sslrootcert"):
            await opened(url)


async def test_an_older_server_is_refused() -> None:
    async with behind() as (proxy, rest):
        with psycopg.connect(url_of("postgres")) as connection:
            own = connection.info.parameter_status("server_version") or ""
        old = "14.9".ljust(len(own))
        proxy.says = {f"server_version\0{own}\0".encode(): f"server_version\0{old}\0".encode()}
        with pytest.raises(StoreUnusable, match="PostgreSQL 14: Tapeway needs 15 or newer"):
            await opened(f"postgresql://tapeway@127.0.0.1:{rest}")


@pytest.mark.parametrize(
    ("state", "words", "remedy"),
    [
        ("3D000", 'database "tapeway" does not exist', "CREATE DATABASE tapeway TEMPLATE"),
        ("28P01", 'password authentication failed for user "x"', "correct user and password"),
        ("57P03", "the database system is starting up", "wait until the server has started"),
        ("53300", "sorry, too many clients already", "raise max_connections"),
    ],
)
async def test_a_start_names_the_remedy_for_what_the_server_refuses(
    state: str, words: str, remedy: str
) -> None:
    async with behind() as (proxy, rest):
        proxy.refusal = (state, words)
        with pytest.raises(StoreUnavailable, match=remedy):
            await opened(f"postgresql://tapeway@127.0.0.1:{rest}")


async def test_a_database_that_may_only_be_read_is_refused_with_the_remedy() -> None:
    with fresh_database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            name = connection.info.dbname
            change = f"ALTER DATABASE {name} SET default_transaction_read_only = on"
            connection.execute(change.encode())
        with pytest.raises(StoreUnavailable, match="default_transaction_read_only is off"):
            await opened(url)


NAMED = ("HOST", "HOSTADDR", "SERVICE")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that says nothing about servers."""
    for name in NAMED:
        monkeypatch.delenv(f"PG{name}", raising=False)
    return monkeypatch


def mode(rest: str) -> str | int | None:
    """Return how much the server at an address has to prove."""
    return conninfo.conninfo_to_dict(connection_target(f"postgresql://{rest}")).get("sslmode")


@pytest.mark.parametrize(
    "rest",
    [
        "db.example.com/tapeway",
        "127.0.0.1,db.example.com/tapeway",
        "/tapeway?hostaddr=10.0.0.5",
        "localhost/tapeway?hostaddr=10.0.0.5",
        "/tapeway?hostaddr=127.0.0.1,10.0.0.5",
        "/tapeway?service=anything",
    ],
)
def test_whatever_may_be_another_machine_s_server_has_to_prove_its_name(
    environment: pytest.MonkeyPatch, rest: str
) -> None:
    del environment
    assert mode(rest) == "verify-full"


@pytest.mark.parametrize(
    "rest",
    [
        "/tapeway",
        "localhost/tapeway",
        "/tapeway?host=/run/postgresql",
        "[::1]/tapeway",
        "/tapeway?hostaddr=127.0.0.1",
    ],
)
def test_a_server_on_this_machine_has_to_prove_nothing(
    environment: pytest.MonkeyPatch, rest: str
) -> None:
    del environment
    assert mode(rest) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("HOST", "db.example.com"), ("HOSTADDR", "10.0.0.5"), ("SERVICE", "anything")],
)
def test_what_the_environment_names_has_to_prove_its_name_too(
    environment: pytest.MonkeyPatch, name: str, value: str
) -> None:
    environment.setenv(f"PG{name}", value)
    assert mode("/tapeway") == "verify-full"
