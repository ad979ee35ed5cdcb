"""No statement reads much more than it returns, however full the database is.

What a statement reads is what the server counts, so functions are included. Each runs with a plan
for its values, and with one for any values, as connections use after some time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest

from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.database.query_compiler import compose
from tape.query import Query
from tape.stores.postgres import store as postgres
from tape.stores.postgres.binding import driver_sql
from tests.postgres import owned_database

pytestmark = pytest.mark.postgresql

MANY: Final = 200_000
SESSIONS: Final = 2000
"""Of which each has a hundred messages and as many entries; the first tape has half of them. There
are ten times as many in all, of which a few are held, lost or ready."""

FILL: Final = f"""
SET synchronous_commit = off;
INSERT INTO tape (name, size, dated, last)
SELECT 't' || n, CASE n WHEN 1 THEN {MANY // 2} ELSE 50 END, '2026-01-02', 1
FROM generate_series(1, {SESSIONS}) AS n;
INSERT INTO entry (tape, id, kind, name, author, lane, turn, about, payload, meta, date)
SELECT CASE WHEN n <= {MANY // 2} THEN 1 ELSE 2 + (n - {MANY // 2} - 1) / 50 END,
       CASE WHEN n <= {MANY // 2} THEN n ELSE 1 + (n - {MANY // 2} - 1) % 50 END,
       CASE WHEN n % 1000 = 1 THEN 'anchor' WHEN n % 10 < 6 THEN 'message' ELSE 'event' END,
       CASE WHEN n % 1000 = 1 THEN 'phase' WHEN n % 10 < 6 THEN NULL
            WHEN n % 500 = 7 THEN 'message.edit' ELSE 'turn.end' END,
       'a' || n % 5000, 'l' || n % 5000, 't' || n / 10,
       CASE WHEN n % 500 = 7 THEN n - 1 END, '{{"data": {{}}}}', '{{}}',
       to_char(timestamp '2026-01-01' + n * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS')
FROM generate_series(1, {MANY}) AS n WHERE n <= {MANY // 2} OR (n - {MANY // 2} - 1) / 50 < 1999;
INSERT INTO append_key SELECT 1, 'k' || n, n, 1 FROM generate_series(1, 20000) AS n;
INSERT INTO session (session_id, tape, owner, ready_at, lease_until)
SELECT 's' || n, 't' || n, CASE n % 100 WHEN 1 THEN 'o' || n % 4 WHEN 2 THEN 'o5' ELSE '' END,
       CASE WHEN n % 100 = 3 THEN utc_after(-n) ELSE '' END,
       CASE n % 100 WHEN 1 THEN utc_after(60) WHEN 2 THEN utc_after(-n) ELSE '' END
FROM generate_series(1, {10 * SESSIONS}) AS n;
INSERT INTO worker (owner, home, role, version, place, started_at, seen_at, ended_at, state)
SELECT 'o' || n, 'h' || n, 'all', '1', 'here', utc_after(-n), utc_after(0),
       CASE WHEN n > 9 THEN utc_after(0) ELSE '' END, '{{"n": 1}}'
FROM generate_series(0, 99) AS n;
INSERT INTO control (session_id, op, asked_by, data, asked_at, answer)
SELECT 's' || n % {SESSIONS}, 'stop', 'telegram:7', '{{}}', utc_after(0),
       CASE WHEN n % 1000 > 0 THEN 'yes' END
FROM generate_series(1, 20000) AS n;
INSERT INTO fact (channel, name, value, version, ends_at)
SELECT 'telegram', 'n' || n, 'v', n, CASE WHEN n % 1000 = 0 THEN utc_after(-1) ELSE '' END
FROM generate_series(1, 20000) AS n;
INSERT INTO room_now (place, kind, key, owner, version, sent_to, until, data)
SELECT 'web:r' || n % 1000, 'draft', 'k' || n, 'o' || n % 9, n, '', utc_after(60), '{{}}'
FROM generate_series(1, 5000) AS n;
INSERT INTO shared_file (name, size, kept_at, data)
SELECT 'f' || n, 9, utc_after(-n), 'x' FROM generate_series(1, 5000) AS n;
INSERT INTO send_limit (name) SELECT 'b' || n FROM generate_series(1, 5000) AS n;
INSERT INTO pairing (one, code, until) VALUES (1, '123', utc_after(60));
INSERT INTO poller (name, owner) SELECT 'p' || n, 'o' || n FROM generate_series(1, 9) AS n;
INSERT INTO inbox (account_id, ext_id, chat_id, message_id, session_id, entry_id, lane, turn_id,
                   payload, status, received_at, thread_id, held_as)
SELECT 'telegram', 'u' || n, 'c' || n % {SESSIONS}, 'm' || n, 's' || n % {SESSIONS}, n,
       'l' || n % 5000, 't' || n, '{{"text": "plum", "sender": {{"id": "7"}}}}',
       CASE WHEN n % 4000 = 1 THEN 'waiting' WHEN n % 4000 = 2 THEN 'held' ELSE 'done' END,
       to_char(timestamp '2026-01-01' + n * interval '1 second', 'YYYY-MM-DD"T"HH24:MI:SS'),
       CASE WHEN n % 100 = 0 THEN 'c' || n % {SESSIONS} || '.1' END, 'waiting'
FROM generate_series(1, {MANY}) AS n;
INSERT INTO outbox (account_id, chat_id, session_id, turn_id, part, idem, op, payload, status,
                    platform_id)
SELECT 'telegram', 'c' || n % {SESSIONS}, 's' || n % {SESSIONS}, 't' || n, 0, 't' || n || ':0',
       'send', '{{"date": "2026-01-01", "text": "plum"}}',
       CASE WHEN n % 4000 = 1 THEN 'pending' WHEN n % 4000 = 2 THEN 'draft' ELSE 'sent' END,
       'p' || n
FROM generate_series(1, {MANY}) AS n;
INSERT INTO usage SELECT 't' || n, 'plum-1', '2026-01-0' || 1 + n % 9, 's' || n % {SESSIONS},
       'telegram:' || n % 100, 'Alice', 1, 1, 1, 1, 0 FROM generate_series(1, 50000) AS n;
INSERT INTO budget SELECT '2026-01-01', 'telegram:' || n, 's1', 'Alice'
FROM generate_series(1, 5000) AS n;
INSERT INTO card (card_id, purpose, channel, person, session_id, data, expires_at, choice)
SELECT 'c' || n, 'ask', 'telegram', '7', 's' || n % {SESSIONS}, '{{}}', '2026-01-01',
       CASE WHEN n > 20 THEN 'yes' END FROM generate_series(1, 20000) AS n;
INSERT INTO chat_title SELECT 's' || n, 'plum', 'telegram:' || n, n
FROM generate_series(1, {SESSIONS}) AS n;
INSERT INTO room_piece SELECT 't' || n, n, 'a piece' FROM generate_series(1, {SESSIONS}) AS n;
INSERT INTO search_covered (tape, low, high, rules)
SELECT n, 1, 50, 'r' FROM generate_series(1, {SESSIONS}) AS n;
INSERT INTO search_entry SELECT tape, id, false, array_to_tsvector(ARRAY['w' || id % 10, 'r' || id])
FROM entry WHERE kind = 'message';
INSERT INTO search_vector_model (embedder, owner, until)
SELECT 'e' || n, 'o' || n, clock_timestamp() FROM generate_series(1, 3) AS n;
INSERT INTO search_vector_covered
SELECT n % 3 + 1, n, 1, 50 FROM generate_series(1, {SESSIONS}) AS n;
INSERT INTO search_vector SELECT 1, tape, id, B'01', '\\x0000' FROM entry WHERE id % 10 = 0;
INSERT INTO search_erased SELECT n, '' FROM generate_series(2, {SESSIONS}) AS n;
VACUUM ANALYZE;
"""

WHOLE: Final = {
    "ledger.aliases": "at the start, and after a change",
    "ledger.access_rules": "at the start, and after a change",
    "ledger.chat_of_id": "when somebody opens a chat by its id",
    "ledger.drop_cards": "once in a while; a card lives for days",
    "ledger.rows_of_entries": "when somebody is forgotten",
    "ledger.chat_names": "for the console, rarely",
    "ledger.console_chats": "for the console: one row of each chat, by an index",
    "ledger.console_usage": "for people, rarely",
    "ledger.console_usage_page": "for people, rarely",
    "ledger.console_openings": "for people, rarely",
    "ledger.console_links": "for people, rarely",
    "ledger.close_console_links": "after a restore",
    "ledger.drop_room_pieces": "after a restore",
    "ledger.used_by_person": "for people, rarely",
    "ledger.sessions": "at the start",
    "ledger.rooms": "when somebody opens the list of rooms: one row of each, by an index",
    "ledger.end_leases": "at the start",
    "ledger.erasures": "for people, rarely",
    "ledger.former_groups": "once after an upgrade",
    "ledger.list_usage": "for people, rarely",
    "ledger.quotes_of": "when somebody is forgotten",
    "ledger.rows_of_person": "when somebody is forgotten",
    "ledger.rows_of_session": "when a chat is forgotten",
    "ledger.sends_of": "when somebody is forgotten",
    "ledger.sessions_of_channel": "when somebody is forgotten",
    "ledger.wipe_console_links": "when somebody is forgotten",
    "ledger.wipe_console_revoker": "when somebody is forgotten",
    "ledger.wipe_cards": "when somebody is forgotten",
    "ledger.wipe_title": "when somebody is forgotten",
    "ledger.wipe_usage": "when somebody is forgotten",
    "ledger.wipe_budget": "when somebody is forgotten",
    "ledger.wipe_number": "when somebody is forgotten",
    "ledger.wipe_old_budget": "when somebody is forgotten",
    "sharing.closed_limits": "a bot has a row or two",
    "sharing.forget_controls": "once a minute; it has what was asked in an hour",
    "sharing.sweep_rooms": "once in a while; it has what goes on now",
}
"""What reads whole tables, and why that does no harm."""

GIVEN: Final[dict[str, Any]] = {
    "account_id": "telegram", "channel": "telegram", "chat_id": "c77", "message_id": "m4077",
    "ext_id": "u4077", "session_id": "s77", "entry_id": 4077, "turn_id": "t4077", "id": 4077,
    "lane": "l77", "idem": "t4077:0", "key": "t4077:0", "limit": 20, "before": 4078, "after": 100,
    "until": "2026-01-03", "since": "2026-01-02", "status": "", "owner": "o1", "epoch": 0,
    "seconds": 60.0, "ids": "[4077, 4078]", "entries": "[4077, 4078]", "sessions": '["s1", "s2"]',
    "turns": '["t4077"]', "person": "7", "people": '["telegram:7"]', "box": "inbox",
    "received_at": "2026-01-03", "rows": '[[4077, "{}"]]', "now": "2026-01-02", "day": "2026-01-01",
    "upto": 4077, "piece": b"a piece",
    "payload": "{}", "suspect": 2, "platform_id": "p4077", "tape": "t77", "by": "day",
    "open": 1, "uses": 1, "part": 0, "turns_limit": 0, "cost": 0.0, "tokens": 0, "calls": 1,
    "input": 1, "cached": 0, "output": 1, "estimated": 0, "number": 1, "up_to": 1, "purpose": "ask",
    "card_id": "c7", "model": "plum-1", "thread_id": "c0.1", "page_owner": 0, "channels": '["a"]',
    "payloads": '["1"]', "most_lost": 20, "arrived": "[1, 1]", "newest": "[0, 0]", "asked": 0,
    "others": False, "unanswered": 1, "home": "h1", "names": '["f1", "f2"]', "values": '["1", "2"]',
    "name": "b7", "share": [1, 2], "ahead": [0.0, 0.0], "wanted": [1, 1], "apart": 0.1, "lead": 0.0,
    "period": 1.0, "every": 0, "refused": True,
    "grace": 5.0, "same_as": "s2", "size": 1, "data": b"x", "message_ids": '["m4077"]',
    "most_read": 200, "asks": 1,
}  # fmt: skip
OWN: Final[dict[str, dict[str, Any]]] = {
    "ledger.spend_turn": {"turns": 0},
    "ledger.sends_of": {"ids": '["1"]'},
    "ledger.resume_inbox": {"id": 2},
    "ledger.make_console_link": {"holder": 0},
    "ledger.end_erasure": {"entries": 1},
    "ledger.list_inbox": {"status": "done"},
    "ledger.list_outbox": {"status": "sent"},
    **{f"ledger.{name}": {"owner": 0} for name in ("open_page_session", "issue_page_code")},
}
TAPES: Final[dict[str, dict[str, Any]]] = {
    "tape.state": {"names": ["t1", "t2"]},
    "tape.lock": {"names": ["t1", "t2"]},
    "tape.make": {"names": ["t1", "new"]},
    "tape.keyed": {"tape": "t1", "key": "k77"},
    "tape.append": {
        "tape": "t1", "before": MANY // 2, "latest": "2026-01-03", "latest_id": 1, "key": "new",
        "first": MANY // 2 + 1, "count": 1, "ids": [MANY // 2 + 1], "kinds": ["message"],
        "names": [None], "authors": ["7"], "lanes": [None], "turns": [None], "lates": [5],
        "abouts": [None], "payloads": ["{}"], "metas": ["{}"], "dates": ["2026-01-02"],
    },
    "tape.find_tape": {"name": "t77"},
    "tape.size": {"tape": "t77"},
    "tape.block": {"tape": "t1", "first": 500, "last": 509},
    "tape.between_dates": {"tape": 1, "since": "2026-01-01T05", "until": "2026-01-01T06"},
    "tape.erase_entry": {
        "tape": "t1", "id": 500, "name": None, "author": None, "lane": None, "turn": None,
        "about": None, "payload": "{}", "meta": "{}",
    },
    "search.hold_vectors": {"embedder": "e1", "owner": "o9", "seconds": 60.0},
    "search.put_vectors": {
        "model": 1, "owner": "o1", "name": "t1", "stamp": "", "low": 1, "high": 9, "ids": [1, 2],
        "signs": ["01", "10"], "halves": [b"x", b"y"], "numbers": "{}",
    },
    "search.nearest_vectors": {
        "embedder": "e1", "name": "t1", "signs": "01", "query": "{0.6,0.8}", "before": MANY,
        "most": 400, "compared": 20,
    },
    "search.covered": {"name": "t77"},
    "search.hold": {"name": "t77"},
    "search.begin": {"names": ["t77"], "newest": 2000, "rules": "1.1"},
    "search.hold_free": {"names": ["t77"]},
    "search.cover_more": {"tapes": [77], "lows": [1], "highs": [50]},
    "search.drop": {"name": "t1", "ids": [2, 3]},
    "search.add": {"tapes": [1, 1], "ids": [2, 3], "works": [False, False], "terms": ["a b", "c"]},
    "search.find": {"tape": 1, "made": 1, "firsts": [1], "lasts": [65535], "wanted": ["'r77'"],
                    "plain": ["'r77'"], "names": ["'r77' | 'none'"], "most": 21},
    "search.walk": {"tape": 1, "made": 1, "firsts": [99000], "lasts": [100000], "wanted": ["'w5'"],
                    "works": [False], "most": 21},
}  # fmt: skip
SHARED: Final[dict[str, dict[str, Any]]] = {
    "claim": {"suspect": 0, "since": -1.0},
    "claimed_ends": {"most_bytes": 100_000},
    "drop_oldest_files": {"fresh": -600.0},
    "facts_since": {"version": 19_990},
    "news": {"newest": "[199000, 199000]"},
    "published_states": {"since": -3600.0},
    "rooms_now": {"places": '["web:r7", "web:r8"]', "known": "[7]", "since": -3600.0},
    "sweep_rooms": {"since": -3600.0},
    "show_rooms": {
        "changes": '[{"place": "web:r7", "kind": "draft", "key": "k", "sent_to": "", "data": "{}"}]'
    },
    "rekey": {"session_id": "s1", "same_as": "s2"},
    "touch": {"tapes": '["t77", "t78"]'},
    "renew": {"owner": "o9"},
    "wake": {
        "sessions": '["s1", "s2"]',
        "own": "o9",
        "works": 0,
        "channels": "tapeway_",
        "ready": "ready",
    },
    "take_erasures": {"own": True},
}
"""Statements of shared work that need other values than `GIVEN`."""

QUERIES: Final = {
    "newest": Query("t", limit=5, newest=True),
    "messages": Query("t", kinds=("message",), limit=20, newest=True),
    "of a turn": Query("t", turn="t4077"),
    "of a lane": Query("t", lane="l77", limit=20),
    "of an author": Query("t", author="a77", limit=20, newest=True),
    "by ids": Query("t", ids=(7, 4077)),
    "the last anchor": Query("t", kinds=("anchor",), limit=1, newest=True),
    "an anchor by name": Query("t", kinds=("anchor",), name="phase", limit=1, newest=True),
    "edits": Query("t", kinds=("event",), name="message.edit", limit=20),
    "what became of some": Query("t", about=(506, 1006), kinds=("event",)),
    "a rare kind": Query("t", kinds=("system",), limit=5),
    "an anchor of a lane and of none": Query(
        "t", kinds=("anchor",), lane="l1", unlaned=True, limit=1, newest=True
    ),
}
BOUNDS: Final = {"ledger.head_of": 1100, "ledger.sent_keys": 2100}
"""What has a bound of its own, in ids."""

TABLES: Final = ("entry", "inbox", "outbox", "search_entry", "search_vector")
LEDGER: Final = ledger_schema("postgres").statements
SHARING: Final = sharing_schema().statements
ALL: Final = {**postgres.tape_schema().statements, **postgres.search_schema().statements}


def test_each_exception_is_a_statement() -> None:
    assert WHOLE.keys() <= LEDGER.keys() | SHARING.keys()
    assert {f"sharing.{name}" for name in SHARED} <= SHARING.keys()


def test_no_statement_reads_much_more_than_it_returns() -> None:
    problems = {}
    with owned_database() as url, psycopg.connect(url, autocommit=True) as connection:
        for statement in FILL.split(";\n"):
            connection.execute(statement.encode())
        connection.execute('SET tapeway.claimed = \'["s1", "s2"]\'')
        for name, sql, values, most in asked():
            for mode in ("force_custom_plan", "force_generic_plan"):
                if problem := judged(connection, mode, sql, values, most):
                    problems[name] = f"{mode}: {problem}"
    assert problems == {}


def asked() -> Iterator[tuple[str, str, dict[str, Any], int]]:
    """Yield what runs: its name, the statement, its values, and what it may always read."""
    for name in sorted(LEDGER.keys() - WHOLE.keys()):
        yield name, LEDGER[name], Given(GIVEN | OWN.get(name, {})), BOUNDS.get(name, 500)
    for name in sorted(SHARING.keys() - WHOLE.keys()):
        values = GIVEN | {"most": 20} | SHARED.get(name.removeprefix("sharing."), {})
        yield name, SHARING[name], Given(values), BOUNDS.get(name, 500)
    for name, values in TAPES.items():
        yield name, ALL[name], values, 500
    for name, query in QUERIES.items():
        sql, values = compose(query, ALL)
        yield name, sql, {"tape": 1, **values}, 500


class Given(dict[str, Any]):
    """Gives any text that is not listed."""

    def __missing__(self, name: str) -> str:
        return f"any {name}"


def judged(
    connection: psycopg.Connection[Any], mode: str, sql: str, values: dict[str, Any], most: int
) -> str:
    """Run a statement, and compare what it read with what it returned."""
    with connection.transaction(force_rollback=True):
        connection.execute(f"SET LOCAL plan_cache_mode = {mode}".encode())
        before = reads(connection)
        done = connection.execute(driver_sql(sql).encode(), values, prepare=True)
        after = reads(connection)
    whole = [name for name in TABLES if after[name][0] > before[name][0]]
    read = sum(rows for _, rows in after.values()) - sum(rows for _, rows in before.values())
    if whole:
        return f"reads {whole} from end to end"
    return f"reads {read} rows" if read > 20 * max(done.rowcount, 0) + most else ""


def reads(connection: psycopg.Connection[Any]) -> dict[str, tuple[int, int]]:
    """Return how often this transaction has read each table as a whole, and how many rows."""
    rows = connection.execute(
        "SELECT relname, seq_scan, seq_tup_read + coalesce(idx_tup_fetch, 0)"
        " FROM pg_stat_xact_user_tables"
    )
    return {name: (scans, read) for name, scans, read in rows.fetchall()}
