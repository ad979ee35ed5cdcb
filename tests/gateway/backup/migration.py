"""Move a million entries to PostgreSQL and ten thousand back, killed at random: `make migration`.

Each `tapeway migrate --to` is a process of its own, which is killed at random moments until it was
killed often enough. Then both databases are read side by side, without the product's code.
"""

from __future__ import annotations

import argparse
import itertools
import random
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, Final

import anyio
import apsw
import psycopg

from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import Database
from tape.stores.sqlite import tape_schema
from tests.kit.forks import fork
from tests.kit.gateways import clean_environ, make_environ
from tests.postgres import fresh_database

TAPES: Final = 200
FILL: Final = """
WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < :tapes)
INSERT INTO tape (tape, name) SELECT id * 3, 'workspace__' || id FROM n;

WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < :each)
INSERT INTO entry (pos, tape, id, kind, name, author, lane, turn, payload, meta, date)
SELECT tape * 4294967296 + id, tape, id,
       iif(id % 50 = 1, 'anchor', iif(id % 9, 'message', 'event')),
       iif(id % 50 = 1, 'anchor/' || id, iif(id % 9, NULL, 'message.edit')),
       iif(id % 7, 'Zoë ' || (id % 11), NULL), 'l:' || (id / 40), iif(id % 5, NULL, 't-' || id),
       iif(id % 50 = 1, '{"name":"anchor/' || id || '","state":{}}', iif(id % 9,
           '{"role":"user","content":"\\u0000 «Ünï» 红隼 \\"' || id || '\\" ' || hex(id) || '"}',
           '{"name":"message.edit","data":{"entry":' || (id - 1) || '}}')),
       '{"inbox":' || id || ',"author":"Zoë","text":"a message of a usual length, by hand",'
       || '"channel":"telegram","chat":"-1","message_id":"' || id || '","cost":0.30000000000004}',
       strftime('%Y-%m-%dT%H:%M:%f000+00:00', 1700000000 + id, 'unixepoch')
FROM tape CROSS JOIN n ORDER BY tape, id;

INSERT INTO append_key (tape, key, first, count)
SELECT tape, 'inbox:' || tape || ':' || id, id, 1 FROM entry WHERE id % 2;

INSERT INTO session (session_id, tape) SELECT 'telegram:-' || tape, name FROM tape;

INSERT INTO inbox (id, account_id, ext_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
                   payload, status, received_at)
SELECT (tape / 3) * 1000000 + id, 'telegram', '-' || tape || '/' || id, '-' || tape, id,
       'telegram:-' || tape, id, 'l:1', iif(id % 10, NULL, 't-' || id), payload,
       iif(id % 31, iif(id % 10, 'taped', 'done'), 'waiting'),
       strftime('%Y-%m-%dT%H:%M:%f', 1700000000 + id, 'unixepoch')
FROM entry WHERE id % 2;

INSERT INTO outbox (account_id, chat_id, session_id, turn_id, part, idem, op, payload, status)
SELECT 'telegram', '-' || tape, 'telegram:-' || tape, 't-' || id, 0, 'out:' || tape || ':' || id,
       'send', payload, iif(id % 35, 'sent', 'pending')
FROM entry WHERE id % 5 = 0;

INSERT INTO usage (turn_id, model, day, session_id, person, name, calls, input, cached, output,
                   cost)
SELECT 't-' || tape || '-' || id, 'm', '2026-01-01', 'telegram:-' || tape, '7', 'Zoë', 1, id, 2, 3,
       id / 7.0
FROM entry WHERE id % 10 = 0;
"""
ENTRIES: Final = """
SELECT tape.name, entry.id, kind, entry.name, author, lane, turn, late, payload, meta, date
FROM entry JOIN tape ON tape.tape = entry.tape ORDER BY tape.tape, entry.id"""
KEYS: Final = """
SELECT tape.name, key, first, count FROM append_key JOIN tape ON tape.tape = append_key.tape
ORDER BY tape.tape, key"""
MESSAGES: Final = """
SELECT id, account_id, ext_id, session_id, entry_id, payload, status, received_at FROM inbox
ORDER BY id"""
ROWS: Final = (
    *(ENTRIES, KEYS, MESSAGES, "SELECT session_id, tape, epoch FROM session ORDER BY session_id"),
    "SELECT id, chat_id, session_id, idem, payload, status FROM outbox ORDER BY id",
    "SELECT turn_id, model, input, cost FROM usage ORDER BY turn_id, model",
)


@dataclass(frozen=True, slots=True)
class Migration:
    """What came of a move: how often it was killed, how long it took, and rows that differ."""

    entries: int
    kills: int
    seconds: float
    unlike: int


def fill(path: Path, entries: int, tapes: int = TAPES) -> None:
    """Make a database with so many entries, and a ledger to match."""
    database = Database.open(path, (tape_schema(), ledger_schema()))
    with closing(database.writer()) as connection, connection:
        connection.execute(FILL, {"tapes": tapes, "each": entries // tapes})


def unlike(path: Path, url: str) -> int:
    """Return how many rows of two databases differ."""
    with closing(apsw.Connection(str(path))) as one, psycopg.connect(url) as other:
        return sum(
            row != there
            for sql in ROWS
            for row, there in itertools.zip_longest(one.execute(sql), _streamed(other, sql))
        )


def _streamed(connection: psycopg.Connection[Any], sql: str) -> Iterator[tuple[Any, ...]]:
    with connection.cursor(name="rows") as cursor:
        cursor.itersize = 10_000
        yield from cursor.execute(sql.encode())


async def migrate(environ: dict[str, str], to: str, kills: int, seconds: float) -> tuple[int, str]:
    """Move a home, killed at moments within so many seconds; return how often, and the output.

    The earliest kills come soonest, so that a short move does not end before them.
    """
    killed = 0
    while True:
        with TemporaryFile() as out:
            process = fork(clean_environ(environ), "migrate", "--to", to, out=out, err=out)
            code = None
            latest = seconds * (killed + 1) / kills if killed < kills else None
            with anyio.move_on_after(latest and random.uniform(0, latest)):
                code = await process.wait()
            if code is None:
                process.send_signal(signal.SIGKILL)
                await process.wait()
                killed += 1
                continue
            out.seek(0)
            said = out.read().decode()
        assert code == 0 or "were moved to" in said, said  # it was killed while it said so
        return killed, said


async def there_and_back(
    folder: Path, entries: int, kills: int, seconds: float, *, back: bool = True
) -> list[Migration]:
    """Move a database to PostgreSQL, and `back`."""
    first, second = folder / "tapeway.db", folder / "back.db"
    fill(first, entries, min(TAPES, entries // 20))
    found = []
    with fresh_database() as url:
        ways = ((f"sqlite://{first}", url, first), (url, f"sqlite://{second}", second))
        for source, target, file in ways[: 1 + back]:
            begun = time.monotonic()
            environ = make_environ(folder, TAPE__URL=source)
            killed, _said = await migrate(environ, target, kills, seconds)
            passed = time.monotonic() - begun
            found.append(Migration(entries, killed, passed, unlike(file, url)))
    return found


async def both(entries: int, back: int, kills: int, seconds: float) -> list[Migration]:
    """Move many entries there, and some there and back."""
    with TemporaryDirectory() as many, TemporaryDirectory() as some:
        found = await there_and_back(Path(many), entries, kills, seconds, back=False)
        return [*found, *await there_and_back(Path(some), back, kills, seconds / 10)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--back", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=20.0, help="the latest moment of a kill")
    wanted = parser.parse_args()
    found = anyio.run(both, wanted.entries, wanted.back, wanted.kills, wanted.seconds)
    for one in found:
        print(one)
    if any(one.unlike for one in found):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
