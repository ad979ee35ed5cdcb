"""Doctor and other commands on an instance whose tapes are in PostgreSQL."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
import pytest

from gateway.doctor.checks.database import check_index
from gateway.doctor.subject import find_subject
from gateway.home import Running, announce, locked
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import message
from tape.stores.postgres.database import applied_versions
from tape.stores.postgres.store import PostgresStore
from tests.doctor.scene import Scene, examined, results
from tests.doctor.tables import join
from tests.kit.gateways import run_tapeway
from tests.postgres import fresh_database

pytestmark = pytest.mark.postgresql

SECRET = "geheimes-wort"


async def database_says(scene: Scene, url: str) -> list[tuple[str, str, str]]:
    """Return what doctor says of the database: state, trouble and sentence."""
    _code, report = await examined(scene.environ(TAPE__URL=url))
    own = [one for one in results(report) if one["check"] == "database"]
    return [(o["state"], o["trouble"]["id"] if o["trouble"] else "", o["says"]) for o in own]


async def test_a_server_that_answers_is_named_and_one_that_may_forget_is_a_warning(
    tmp_path: Path,
) -> None:
    with fresh_database() as url:
        well, unsafe = await database_says(Scene(tmp_path), url)
    assert (well[0], unsafe[:2]) == ("ok", ("warning", "database.unsafe"))
    assert "fsync is off" in unsafe[2]


async def test_doctor_neither_migrates_nor_locks_a_database(tmp_path: Path) -> None:
    with fresh_database() as url:
        await database_says(Scene(tmp_path), url)
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT to_regclass('migration')").fetchone() == (None,)
        store = PostgresStore.open(url, [ledger_schema("postgres")])
        try:
            well, _unsafe = await database_says(Scene(tmp_path), url)
        finally:
            await store.close()
    assert well[0] == "ok"


async def test_a_server_that_does_not_answer_is_named_without_its_password(tmp_path: Path) -> None:
    ((state, trouble, says),) = await database_says(
        Scene(tmp_path), f"postgresql://tapeway:{SECRET}@127.0.0.1:1/tapeway"
    )
    assert (state, trouble) == ("failure", "database.away")
    assert "127.0.0.1/tapeway" in says
    assert SECRET not in says


async def test_a_newer_database_is_refused_by_doctor_and_by_the_start(tmp_path: Path) -> None:
    with fresh_database() as url:
        await PostgresStore.open(url).close()
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO migration VALUES ('tape', 99, '9.9.9')")
        ((state, trouble, _says),) = await database_says(Scene(tmp_path), url)
        assert (state, trouble) == ("failure", "database.newer")
        code, _out, err = await run_tapeway(Scene(tmp_path).environ(TAPE__URL=url), "tape", "list")
    assert code == 1
    assert "Tapeway 9.9.9 or a newer one" in " ".join(err.split())


async def test_differences_between_processes_and_what_a_dead_one_held_are_warnings(
    tmp_path: Path,
) -> None:
    with fresh_database() as url:
        schemas = [ledger_schema("postgres"), sharing_schema()]
        await PostgresStore.open(url, schemas).close()
        with psycopg.connect(url) as connection:
            join(connection, "aaaaaaaaaaaaaaaa", "all", prompt="1")
            join(connection, "bbbbbbbbbbbbbbbb", "worker", prompt="2")
            connection.execute("INSERT INTO poller VALUES ('telegram', 'c', 1, utc_after(-60))")
        _code, report = await examined(Scene(tmp_path).environ(TAPE__URL=url))
    own = [one for one in results(report) if one["check"] == "workers"]
    assert [(one["state"], one["says"]) for one in own] == [
        ("ok", "2 processes share the database"),
        ("warning", "host-b (bbbbbb) has another AGENTS.md"),
        ("warning", "poller telegram"),
    ]
    assert [one["trouble"]["id"] for one in own[1:]] == ["workers.differ", "workers.overdue"]


async def test_processes_that_may_need_more_connections_than_there_are_is_a_warning(
    tmp_path: Path,
) -> None:
    with fresh_database() as url:
        schemas = [ledger_schema("postgres"), sharing_schema()]
        await PostgresStore.open(url, schemas).close()
        with psycopg.connect(url) as connection:
            for number in range(22):  # of the 200 of this server, 3 are for administrators
                join(connection, f"{number:016x}", "worker")
        found = await database_says(Scene(tmp_path), url)
    crowded = [says for _state, trouble, says in found if trouble == "database.crowded"]
    assert [says.partition(";")[2] for says in crowded] == [" 22 processes may need 198"]


async def test_a_database_that_a_later_version_only_added_to_is_as_it_should_be(
    tmp_path: Path,
) -> None:
    with fresh_database() as url:
        await PostgresStore.open(url).close()
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO migration VALUES ('tape', 99, '9.9.9', 1)")
        assert [state for state, _trouble, _says in await database_says(Scene(tmp_path), url)] == [
            "ok",
            "warning",  # the server of the tests may forget
        ]


async def test_backup_and_migrate_name_the_server_s_own_tools(tmp_path: Path) -> None:
    url = f"postgresql://tapeway:{SECRET}@127.0.0.1:1/tapeway"
    environ = Scene(tmp_path).environ(TAPE__URL=url)
    _code, out, _err = await run_tapeway(environ, "backup", str(tmp_path / "a.zip"))
    assert "--dbname='user=tapeway dbname=tapeway host=127.0.0.1 port=1'" in out
    assert SECRET not in out
    new = str(tmp_path / "new")
    _code, out, _err = await run_tapeway(environ, "restore", str(tmp_path / "a.zip"), "--to", new)
    assert "restore them with pg_restore" in out
    _code, out, _err = await run_tapeway(environ, "migrate")
    assert "pg_dump" in out


async def test_migrate_makes_the_tables_beside_a_gateway_of_this_home_and_no_row(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path)
    with fresh_database() as url:
        environ = scene.environ(TAPE__URL=url)
        with locked(scene.home):
            announce(scene.home, Running(os.getpid(), "http://127.0.0.1:1/", SECRET))
            for _ in range(2):  # the second time, nothing is to be done
                code, out, _err = await run_tapeway(environ, "migrate", "--apply")
                assert (code, out) == (0, "The database has the tables of this version.\n")
        with psycopg.connect(url) as connection:
            assert applied_versions(connection).keys() == {"tape", "search", "ledger", "sharing"}
            for table in (b"workspace", b"worker"):
                assert connection.execute(b"SELECT * FROM " + table).fetchall() == []


async def test_doctor_reads_how_much_of_the_server_s_search_index_is_missing(
    tmp_path: Path,
) -> None:
    with fresh_database() as url:
        environ = Scene(tmp_path).environ(TAPE__URL=url)
        store = PostgresStore.open(url, [ledger_schema("postgres")])
        try:
            await store.append("tape", [message("user", f"line {n}") for n in range(3)])
            await store.indexed()
            found = [await search_says(environ)]
        finally:
            await store.close()
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE search_covered SET high = high - 2")
        found.append(await search_says(environ))
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE search_covered SET rules = '99'")
        found.append(await search_says(environ))
    assert [trouble for trouble, _says in found] == ["", "search.behind", "search.broken"]
    assert "2 older entries" in found[1][1]
    assert "a newer version has made the search index" in found[2][1]


async def search_says(environ: dict[str, str]) -> tuple[str, str]:
    """Return what doctor says of the search index: trouble and sentence."""
    (one,) = await check_index(find_subject(environ, deep=False))
    return (one.trouble.id if one.trouble else "", one.says)
