"""A home's chats move to PostgreSQL and back, and are the same afterwards."""

from __future__ import annotations

import os
import re
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import anyio
import apsw
import psycopg
import pytest

from channels.message import Author, InboundMessage
from gateway.backup.manifest import BackupError
from gateway.backup.moving.move import begin
from gateway.backup.moving.postgres_side import PostgresSide
from gateway.backup.moving.sqlite_side import SqliteSide
from gateway.backup.moving.tables import moved_tables
from gateway.clock import SystemClock
from gateway.plugin import hookimpl
from gateway.settings import load_settings
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from tape.database.relocation import Relocation
from tape.entry import Entry, NewEntry, event, message, utc_iso
from tape.errors import StoreMoved
from tape.query import Query
from tape.store import TapeStore
from tape.stores.postgres.store import PostgresStore
from tape.stores.registry import open_store, open_tapes
from tape.unit_of_work import Row, Unit
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.backup import topics
from tests.gateway.backup.migration import fill, migrate, there_and_back, unlike
from tests.kit.gateways import (
    ROOT,
    clean_environ,
    make_environ,
    make_settings,
    names,
    run_tapeway,
    running,
    settled,
)
from tests.kit.plugins import distribution
from tests.kit.waiting import Patience
from tests.postgres import application_database, fresh_database, url_of

pytestmark = pytest.mark.postgresql

ODD = "workspace__odd"
ASKED = InboundMessage(
    channel="web",
    chat_id="lobby",
    ext_id="1",
    message_id="1",
    sender=Author("7", "Alice"),
    text="what is it?",
    date=utc_iso(datetime.now(UTC)),
    addressed=True,
)


async def write_odd(tapes: TapeStore) -> list[Entry]:
    """Append what is unlike most: late dates, numbers, a NUL, an empty append, fields of a line."""
    await tapes.append(ODD, [message("user", "new", author="a\x00b", sum=1, key="k")], "inbox:7")
    old = NewEntry("message", {"role": "user", "content": "old \x00"}, {"n": 1.5e-9}, "2001-01-01")
    await tapes.append(ODD, [old, event("message.edit", {"entry": 3, "content": "newer"})], "é:1")
    await tapes.append(ODD, [message("user", "third", lane="l:1", turn="t-1")])
    return await read(tapes)


async def read(tapes: TapeStore) -> list[Entry]:
    return await tapes.query(Query(ODD))


async def test_kills_lose_nothing_on_the_way_there_and_back(tmp_path: Path) -> None:
    there, back = await there_and_back(tmp_path, 3_000, 5, 2.0)
    assert (there.unlike, back.unlike) == (0, 0)
    assert there.kills + back.kills > 0


async def test_tapes_go_on_where_they_ended_with_all_that_an_append_depends_on(
    tmp_path: Path,
) -> None:
    environ = make_environ(tmp_path)
    store = open_store(f"sqlite://{tmp_path}/tapeway.db", [ledger_schema()])
    entries = await write_odd(store)
    await store.close()
    with fresh_database() as url:
        await migrate(environ, url, 0, 0)
        assert unlike(tmp_path / "tapeway.db", url) == 1  # the author with a NUL
        store = PostgresStore.open(url, [ledger_schema("postgres")])
        assert await read(store) == entries
        (again,) = await store.append(ODD, [message("user", "another")], "inbox:7")
        assert again == entries[2]
        assert [e.id for e in await store.query(Query(ODD, about=(3,)))] == [5]
        assert [e.id for e in await store.query(Query(ODD, until="2002-01-01"))] == [4]
        (new,) = await store.append(ODD, [message("user", "next")])
        assert new.id == entries[-1].id + 1
        await store.close()


async def test_tapes_in_files_move_with_their_ledger(tmp_path: Path) -> None:
    environ = make_environ(tmp_path, TAPE__URL=f"file://{tmp_path}/tapes")
    tapes = open_tapes(f"file://{tmp_path}/tapes")
    entries = await write_odd(tapes)
    await tapes.close()
    fill(tmp_path / "ledger.db", 100, 5)
    with closing(apsw.Connection(str(tmp_path / "ledger.db"))) as ledger:
        usage = list(ledger.execute("SELECT turn_id, cost FROM usage ORDER BY turn_id"))
    with fresh_database() as url:
        await migrate(environ, url, 0, 0)
        store = PostgresStore.open(url)
        assert await read(store) == entries
        assert (await store.append(ODD, [], "é:1"))[0] == entries[3]
        await store.close()
        with psycopg.connect(url) as connection:
            rows = connection.execute("SELECT turn_id, cost FROM usage ORDER BY turn_id").fetchall()
        assert rows == usage
    code, _out, err = await run_tapeway(environ, "tape", "list")
    assert (code, "were moved to" in err) == (1, True)


async def test_a_gateway_answers_what_was_open_and_goes_on_in_each_topic(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    begun = await topics.begin(tmp_path, model)
    store = open_store(f"sqlite://{tmp_path}/tapeway.db", [ledger_schema()])
    (row,) = await Ledger(store, SystemClock(), "a").inbox.accept([ASKED])
    await store.close()
    with fresh_database() as url:
        await migrate(make_environ(tmp_path), url, 0, 0)
        with psycopg.connect(url) as server:
            sql = "SELECT session_id FROM session WHERE ready_at <> ''"
            assert server.execute(sql).fetchall() == [("web:lobby",)]
        settings = make_settings(tmp_path, model, TAPE__URL=url, ACCESS__MODE="open")
        async with running(settings) as gateway:
            known: Row = {"status": ""}
            patience = Patience("the question that was moved is answered")
            while known["status"] != "done":
                await patience.pause()
                values = {"id": row.id}
                (known,) = await gateway.services.store.select("ledger.inbox_row", values)
            entries = await settled(gateway)
        assert topics.same(begun, await topics.go_on(tmp_path / "new", model, TAPE__URL=url))
    assert [entry.meta["inbox"] for entry in entries if "inbox" in entry.meta] == [row.id]
    assert "turn.end" in names(entries)


class Together:
    """A plugin that answers every chat in one session."""

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str:
        assert message.text == ASKED.text
        return "web:together"


async def test_what_was_accepted_gets_the_session_that_a_plugin_resolves(tmp_path: Path) -> None:
    store = open_store(f"sqlite://{tmp_path}/tapeway.db", [ledger_schema()])
    await Ledger(store, SystemClock(), "a").inbox.accept([ASKED])
    await store.close()
    plugin = distribution(tmp_path / "plugins", f"{__name__}:{Together.__name__}")
    environ = make_environ(tmp_path) | {"PYTHONPATH": str(plugin)}
    with fresh_database() as url:
        await migrate(environ, url, 0, 0)
        with psycopg.connect(url) as server:
            assert server.execute("SELECT session_id FROM inbox").fetchall() == [("web:together",)]


async def test_images_and_the_name_of_the_workspace_go_there_and_back(tmp_path: Path) -> None:
    fill(tmp_path / "tapeway.db", 100, 5)
    images = tmp_path / "media"
    images.mkdir()
    (images / "abc.png").write_bytes(b"\x00\x89PNG" * 100)
    (images / ".cut-off.png").write_bytes(b"half")
    own = str(make_settings(tmp_path).workspace_path.resolve())
    with closing(apsw.Connection(str(tmp_path / "tapeway.db"))) as connection:
        connection.execute("INSERT INTO workspace VALUES (?, '/elsewhere')", (own,))
    with fresh_database() as url:
        await migrate(make_environ(tmp_path), url, 0, 0)
        with psycopg.connect(url) as server:
            rows = server.execute("SELECT name, size FROM shared_file").fetchall()
            shared = server.execute("SELECT same_as FROM workspace WHERE path = ''").fetchone()
            server.execute("DELETE FROM workspace WHERE path <> ''")  # as on another machine
            server.execute(
                "INSERT INTO control (session_id, op, asked_by, data, asked_at)"
                " VALUES ('telegram:-3', 'stop', 'a', '{}', '2026')"
            )
        assert (rows, shared) == ([("abc.png", 500)], ("/elsewhere",))
        other = make_environ(tmp_path / "other", TAPE__URL=url)
        to = f"sqlite://{tmp_path}/other/tapeway.db"
        code, _out, err = await run_tapeway(other, "migrate", "--to", to)
        assert (code, "1 request to chats, such as a stop, stands open" in err) == (1, True)
        with psycopg.connect(url) as server:
            server.execute("UPDATE control SET answer = '{}'")
            server.execute("UPDATE shared_file SET kept_at = '2026-01-02T03:04:05.678'")
        await migrate(other, to, 0, 0)
    moved = tmp_path / "other/media/abc.png"
    assert moved.read_bytes() == (images / "abc.png").read_bytes()
    assert datetime.fromtimestamp(moved.stat().st_mtime, UTC).isoformat()[:19] == (
        "2026-01-02T03:04:05"
    )
    with closing(apsw.Connection(str(tmp_path / "other" / "tapeway.db"))) as connection:
        assert connection.execute("SELECT same_as FROM workspace").get == "/elsewhere"


async def test_neither_side_starts_while_a_move_is_cut_off_and_the_old_one_not_after_it(
    tmp_path: Path,
) -> None:
    fill(tmp_path / "tapeway.db", 100, 5)
    environ = make_environ(tmp_path)
    with fresh_database() as url, fresh_database() as other:
        await cut_off(tmp_path, url)
        for at, says in (({}, "are being moved to"), ({"TAPEWAY_TAPE__URL": url}, "being filled")):
            code, _out, err = await run_tapeway(environ | at, "tape", "list")
            assert (code, says in err) == (1, True)
        code, _out, err = await run_tapeway(environ, "migrate", "--to", other)
        assert (code, "are being moved to" in err) == (1, True)
        await migrate(environ, url, 0, 0)
        for words in (("tape", "list"), ("backup",), ("migrate",), ("migrate", "--to", url)):
            code, _out, err = await run_tapeway(environ, *words)
            assert (code, "were moved to" in err) == (1, True), words
        at = {"TAPEWAY_TAPE__URL": url}
        assert (await run_tapeway(environ | at, "tape", "list"))[0] == 0
        code, out, _err = await run_tapeway(environ, "migrate", "--undo")
        assert (code, "may start here again" in out) == (0, True)
        assert (await run_tapeway(environ, "tape", "list"))[0] == 0
        code, _out, err = await run_tapeway(environ, "migrate", "--undo")
        assert (code, "nothing is to be undone" in err) == (1, True)


async def cut_off(home: Path, url: str) -> None:
    """Leave a move as a kill in the middle does, with a table that is not there yet."""
    await migrate(make_environ(home), url, 0, 0)
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE relocation SET ended_at = ''")
        connection.execute("CREATE TABLE relocation_step (name text PRIMARY KEY, step text)")
        names = [(table.name, "done") for table in moved_tables() if table.name != "usage"]
        connection.cursor().executemany("INSERT INTO relocation_step VALUES (%s, %s)", names)
        connection.execute("DELETE FROM usage")
    with closing(apsw.Connection(str(home / "tapeway.db"))) as source:
        source.execute("UPDATE relocation SET ended_at = ''")


async def test_what_is_not_alike_is_named_and_the_source_can_go_on(tmp_path: Path) -> None:
    fill(tmp_path / "tapeway.db", 100, 5)
    environ = make_environ(tmp_path)
    with fresh_database() as url:
        await cut_off(tmp_path, url)
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE inbox SET payload = '{}' WHERE entry_id = 1")
        code, _out, err = await run_tapeway(environ, "migrate", "--to", url)
        assert (code, "inbox differs" in err) == (1, True)
        assert (await run_tapeway(environ, "migrate", "--undo"))[0] == 0
        assert (await run_tapeway(environ, "tape", "list"))[0] == 0
        code, _out, err = await run_tapeway(environ, "migrate", "--to", url)
        assert (code, "is being filled" in err) == (1, True)


async def test_what_cannot_be_moved_is_refused_before_anything_is_changed(tmp_path: Path) -> None:
    environ = make_environ(tmp_path)
    settings = make_settings(tmp_path)
    with fresh_database() as url, fresh_database() as full:
        code, _out, err = await run_tapeway(environ, "migrate", "--to", url)
        assert (code, "there is no database at" in err) == (1, True)
        fill(tmp_path / "tapeway.db", 100, 5)
        store = PostgresStore.open(full, [ledger_schema("postgres")])
        await store.append("another", [message("user", "hello")])
        await store.commit(Unit())
        code, _out, err = await run_tapeway(environ, "migrate", "--to", full)
        assert (code, "a gateway uses" in err) == (1, True)
        await store.close()
        for to, says in (
            (full, "is not empty (it has rows in tape)"),
            (f"sqlite://{tmp_path}/other.db", "moves to PostgreSQL or back"),
            ("nowhere", "name where to"),
        ):
            code, _out, err = await run_tapeway(environ, "migrate", "--to", to)
            assert (code, says in err) == (1, True), err
        async with running(settings, only=[], http=False):
            code, _out, err = await run_tapeway(environ, "migrate", "--to", url)
            assert (code, "already runs a gateway" in err) == (3, True)
        assert (await run_tapeway(environ, "tape", "list"))[0] == 0


async def test_a_gateway_that_comes_between_the_first_look_and_the_marks_is_seen(
    tmp_path: Path,
) -> None:
    fill(tmp_path / "tapeway.db", 100, 5)
    with (
        fresh_database() as url,
        closing(SqliteSide(tmp_path / "tapeway.db")) as source,
        closing(PostgresSide(url)) as target,
    ):
        store = PostgresStore.open(url, [ledger_schema("postgres")])
        await store.query(Query("t"))
        with pytest.raises(BackupError, match="a gateway uses"):
            begin(source, target)
        await store.close()
        assert (source.marks(), target.marks()) == ([], [])


async def test_a_gateway_that_runs_on_a_database_that_is_moved_ends(tmp_path: Path) -> None:
    with fresh_database() as url:
        schemas = [ledger_schema("postgres"), sharing_schema()]
        with closing(PostgresSide(url)) as side:
            settings = make_settings(tmp_path, TAPE__URL=url)
            with pytest.RaisesGroup(StoreMoved, flatten_subgroups=True, allow_unwrapped=True):
                async with running(settings, only=[], http=False):
                    side.mark(Relocation("1", "source", "elsewhere", "2026"))
                    await anyio.sleep_forever()
        with pytest.raises(StoreMoved, match="are being moved to elsewhere"):
            PostgresStore.open(url, schemas)


async def test_a_name_in_the_address_hides_no_gateway() -> None:
    with fresh_database() as url:
        store = PostgresStore.open(f"{url}?application_name=chat")
        await store.append("t", [message("user", "x")])
        with pytest.raises(BackupError, match="a gateway uses"):
            PostgresSide(url)
        await store.close()


async def test_a_role_that_was_let_in_before_a_move_may_start_after_it(tmp_path: Path) -> None:
    fill(tmp_path / "tapeway.db", 100, 5)
    with application_database() as url:
        owner = url_of(str(psycopg.conninfo.conninfo_to_dict(url)["dbname"]))
        await migrate(make_environ(tmp_path), owner, 0, 0)
        store = PostgresStore.open(url, [ledger_schema("postgres"), sharing_schema()])
        await store.append("t", [message("user", "x")])
        await store.refuse_newer()
        await store.close()


async def test_the_way_to_several_processes_with_docker_is_the_page_s(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "scaling.md").read_text()
    [line] = re.findall(r"--entrypoint sh tapeway -c \\\n +'(.*?)'", page, re.DOTALL)
    home, secrets, programs = (tmp_path / name for name in ("home", "secrets", "bin"))
    for folder in (home, secrets, programs):
        folder.mkdir()
    (programs / "tapeway").write_text(
        f'#!/bin/sh\nexec {sys.executable} -m gateway.cli.main "$@"\n'
    )
    (programs / "tapeway").chmod(0o755)
    fill(home / "tapeway.db", 100, 5)
    environ = make_environ(home) | {"TAPEWAY_SECRETS": str(secrets)}
    environ["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
    with fresh_database() as url:
        (secrets / "TAPEWAY_TAPE__URL").write_text(url)  # as `postgres-secrets` leaves them
        (secrets / "TAPEWAY_SHARING__ROLE").write_text("ingress")
        moved = line.replace("/var/lib/tapeway", str(home)).replace("/run/secrets", str(secrets))
        done = await anyio.run_process(["sh", "-c", moved], env=clean_environ(environ), check=False)
        assert done.returncode == 0, done.stderr
        assert unlike(home / "tapeway.db", url) == 0
        async with running(load_settings(environ, home), only=[], http=False) as gateway:
            assert gateway.services.shared is not None
            assert gateway.services.shared.workers.role == "ingress"


async def test_the_comparison_is_printed(tmp_path: Path) -> None:
    fill(tmp_path / "tapeway.db", 2_000, 25)
    with fresh_database() as url:
        _kills, said = await migrate(make_environ(tmp_path), url, 0, 0)
    assert "workspace__1 " in said
    assert "and 5 smaller tapes" in said
    assert "Open work: 25 waiting in inbox, 50 pending in outbox." in said
