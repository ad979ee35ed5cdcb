"""`tapeway workers` and what doctor knows of the processes of a database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from gateway.doctor.overview import look_over
from tests.doctor.tables import join
from tests.kit.gateways import gateway_of, make_environ, run_tapeway
from tests.postgres import fresh_database, owned_database


@pytest.fixture
def url() -> Iterator[str]:
    with owned_database() as url:
        yield url


@pytest.mark.postgresql
async def test_each_process_is_listed_with_what_it_holds_and_runs(url: str, tmp_path: Path) -> None:
    with psycopg.connect(url) as connection:
        join(connection, "aaaaaaaaaaaaaaaa", "ingress", prompt="1", version="1.2.3")
        join(connection, "bbbbbbbbbbbbbbbb", "worker", prompt="1", version="1.2.3")
        join(connection, "cccccccccccccccc", "worker", prompt="2", version="1.2.3")
        join(connection, "dddddddddddddddd", "worker", silent=120, prompt="3")
        connection.execute(
            "INSERT INTO poller VALUES ('telegram', %s, 1, utc_after(30))", ["a" * 16]
        )
        connection.execute(
            "INSERT INTO session (session_id, tape, owner, lease_until)"
            " VALUES ('web:a', 'x__a', %s, utc_after(60)), ('web:b', 'x__b', %s, utc_after(-60))",
            ["b" * 16, "d" * 16],
        )
        connection.execute(
            "INSERT INTO inbox (account_id, ext_id, chat_id, message_id, session_id, turn_id,"
            " payload, status, received_at, running) VALUES"
            " ('web', '1', 'a', '1', 'web:a', 't1', '{}', 'taken', '', 1),"
            " ('web', '2', 'a', '2', 'web:a', 't1', '{}', 'taken', '', 1),"
            " ('web', '3', 'a', '3', 'web:a', NULL, '{}', 'waiting', '', 0)"
        )
    found = look_over(url)
    listed = [(o.name, o.role, o.sessions, o.turns, o.channels) for o in found.processes]
    assert listed == [
        ("host-a (aaaaaa)", "ingress", 0, 0, ("telegram",)),
        ("host-b (bbbbbb)", "worker", 1, 1, ()),
        ("host-c (cccccc)", "worker", 0, 0, ()),
        ("host-d (dddddd)", "worker", 1, 0, ()),
    ]
    assert found.differences() == ["host-c (cccccc) has another AGENTS.md"]
    assert found.overdue == [("session", "web:b")]
    environ = make_environ(tmp_path, TAPE__URL=url)
    code, out, err = await run_tapeway(environ, "workers")
    assert (code, len(out.splitlines())) == (0, 5)
    assert "host-c (cccccc) has another AGENTS.md." in err
    assert "The session web:b waits for a process that takes it over." in err
    _code, out, _err = await run_tapeway(environ, "workers", "--json")
    shown = json.loads(out)
    assert [one["live"] for one in shown["processes"]] == [True, True, True, False]
    assert shown["overdue"] == [{"kind": "session", "name": "web:b"}]


async def test_with_a_database_of_its_own_one_process_does_everything(tmp_path: Path) -> None:
    environ = make_environ(tmp_path)
    code, out, err = await run_tapeway(environ, "workers")
    assert (code, out) == (0, "")
    assert "one process does everything" in " ".join(err.split())
    _code, out, _err = await run_tapeway(environ, "workers", "--json")
    assert json.loads(out)["shared"] is False


@pytest.mark.postgresql
async def test_a_database_without_tables_has_no_processes(tmp_path: Path) -> None:
    with fresh_database() as url:
        assert look_over(url).processes == ()


@pytest.mark.postgresql
async def test_it_is_said_who_has_another_token_since_links_to_its_page_would_open_no_other(
    url: str, tmp_path: Path
) -> None:
    async with (
        gateway_of(tmp_path / "a", TAPE__URL=url, HTTP__TOKEN="a" * 24),
        gateway_of(tmp_path / "b", TAPE__URL=url, HTTP__TOKEN_FILE="http-token") as other,
    ):
        shared = other.services.shared
        assert shared is not None
        await shared.workers.seen()
        (said,) = [one for one in look_over(url).differences() if "HTTP" in one]
        assert f"({shared.held.owner[:6]}) has another TAPEWAY_HTTP__TOKEN" in said
