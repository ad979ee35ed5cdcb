"""How long `tapeway explain` takes in a home with much behind it: `python -m bench.explain --help`.

The home is made through the store and the ledger, as the gateway writes it; what is timed is the
real command, its process included, without a gateway. Each message's turn leaves eleven entries.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from agent.tool import Role
from bench.figures import Bar, Figure, progress, report
from channels.message import Author, InboundMessage, OutboundMessage
from gateway.access.access import Decision
from gateway.clock import SystemClock
from gateway.intake.entry_meta import meta_of
from gateway.intake.framing import frame
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.ledger.rows import InboxRow, OutboxRow
from tape.context import MESSAGE_EDIT
from tape.entry import NewEntry, event, message, tool_call, tool_result, utc_iso
from tape.service import TapeService
from tape.stores.sqlite import SqliteStore
from tape.unit_of_work import Unit

MILLION: Final = 1_000_000
BATCH: Final = 500
CHAT: Final = "-1001234567890"
SESSION: Final = f"telegram:{CHAT}"
ASKED: Final = 5
"""Every so manieth message is a question."""

EDITED: Final = 20
PEOPLE: Final = 300
RUNS: Final = 5
LIMIT: Final = 1.0
START: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RULE: Final = Decision(True, Role.MEMBER, "the chat is on the allowlist")


async def fill(home: Path, entries: int) -> int:
    """Make a home whose tape has at least so many entries; returns how many messages came in."""
    store = SqliteStore.open(home / "tapeway.db", [ledger_schema()])
    try:
        ledger = Ledger(store, SystemClock(), owner="bench")
        tape = TapeService(store, home / "workspace").session_tape(SESSION)
        said = 0
        while await tape.size() < entries:
            asked = [_said(number) for number in range(said + 1, said + BATCH + 1)]
            said += BATCH
            await _take(store, ledger, tape.name, await ledger.inbox.accept(asked))
        return said
    finally:
        await store.close()


def _said(number: int) -> InboundMessage:
    person = str(number % PEOPLE)
    asks = number % ASKED == 0
    return InboundMessage(
        channel="telegram",
        chat_id=CHAT,
        ext_id=f"{CHAT}/{number}",
        message_id=str(number),
        sender=Author(person, f"Person {person}"),
        text=f"some words of the message {number}",
        date=utc_iso(START + timedelta(seconds=number)),
        chat_kind="group",
        chat_title="Group",
        addressed=asks,
        why="mention" if asks else "",
    )


async def _take(store: SqliteStore, ledger: Ledger, tape: str, rows: Sequence[InboxRow]) -> None:
    """Put messages on the tape; then let those that ask be answered."""
    unit = Unit()
    for row in rows:
        lane = f"person:{row.message.sender.id}"
        entry = message("user", frame(row.message, {}), **meta_of(row, lane, decision=RULE))
        status = "waiting" if row.message.addressed else "taped"
        ledger.inbox.take_in(unit, row, SESSION, tape, entry, lane, status)
    outcomes = await store.commit(unit)
    taken = [outcome.entries[0].id for outcome in outcomes if outcome.entries]
    unit = Unit()
    sends = []
    for row, number in zip(rows, taken, strict=True):
        if int(row.message.message_id) % EDITED == 0:
            unit.append(tape, [event(MESSAGE_EDIT, {"entry": number, "content": "other words"})])
        if row.message.addressed:
            turn = f"t-{int(row.message.message_id):020x}"
            ledger.inbox.take(unit, [row], turn)
            unit.append(tape, _turn(turn, number, f"person:{row.message.sender.id}"))
            ledger.inbox.end(unit, [row], "done")
            send = OutboundMessage(
                "telegram", CHAT, "an answer", f"{turn}:0", answers=row.message.ext_id, turn=turn
            )
            sends.append((ledger.outbox.send_later(unit, send, SESSION, None), row, send))
    outcomes = await store.commit(unit)
    unit = Unit()
    for step, row, send in sends:
        sent = OutboxRow(outcomes[step].rows[0]["id"], SESSION, send.turn, None, "pending", 0, send)
        ledger.outbox.sent(unit, sent, _answer(row.message.message_id))
    await store.commit(unit)


def _answer(message_id: str) -> str:
    return str(int(message_id) + 100_000_000)


def _turn(turn: str, asked: int, lane: str) -> list[NewEntry]:
    call = {"id": "c", "type": "function", "function": {"name": "tape.search", "arguments": "{}"}}
    step = {"elapsed_ms": 900, "messages": 5, "prompt": "0" * 16, "model": "model"}
    made = [
        event("turn.start", {"turn": turn, "takes": [asked]}),
        tool_call([call]),
        event("tool.done", {"call_id": "c", "result": "nothing", "elapsed_ms": 3}),
        tool_result(["nothing"]),
        event("loop.step", {"step": 1, "status": "tools", **step}),
        event("loop.step", {"step": 2, "status": "ok", **step}),
        message("assistant", "an answer", final=True),
        event("outbound", {"idem": f"{turn}:0", "channel": "telegram", "chat": CHAT}),
        event("turn.end", {"turn": turn, "status": "done"}),
        event("send.receipt", {"idem": f"{turn}:0", "platform_ids": []}),
    ]
    meta = {"turn": turn, "lane": lane}
    return [NewEntry(one.kind, one.payload, {**one.meta, **meta}) for one in made]


def figures_of(home: Path, messages: int, entries: int, runs: int = RUNS) -> list[Figure]:
    """Time the command for messages of the beginning, the middle and the end."""
    middle = messages // 2 // ASKED * ASKED
    asked = {
        "an early question": str(ASKED),
        "a question in the middle": f"https://t.me/c/1234567890/{middle}",
        "its answer": _answer(str(middle)),
        "the last question": f"in-{messages // ASKED * ASKED}",
        "what nobody asked": str(middle + 1),
        "what was never heard": f"{CHAT}/{messages + 77}",
    }
    bar = Bar("<", LIMIT) if entries >= MILLION else None
    figures = []
    for name, one in asked.items():
        took, worked = zip(*(_time(home, one) for _ in range(runs)), strict=True)
        figures.append(Figure(f"explain {name}", statistics.median(took), "s", bar))
        figures.append(Figure(f"explain {name}, CPU", statistics.median(worked), "s"))
    return figures


def _time(home: Path, asked: str) -> tuple[float, float]:
    """Return the seconds that a command takes, and those for which it computes."""
    command = [sys.executable, "-m", "gateway.cli.main", "explain", asked]
    environ = {**os.environ, "TAPEWAY_HOME": str(home)}
    begun, before = time.perf_counter(), _computed()
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    took, worked = time.perf_counter() - begun, _computed() - before
    told = "outcome" in done.stdout or "was ever received" in done.stderr
    assert told, done.stderr
    return took, worked


def _computed() -> float:
    """Return the CPU seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Make a home, time the command, print the table, and write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.explain", description=__doc__)
    parser.add_argument("--entries", type=int, default=MILLION, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        progress(f"a home with {options.entries} entries")
        messages = asyncio.run(fill(Path(folder), options.entries))
        progress(f"tapeway explain, {RUNS} times each")
        report(figures_of(Path(folder), messages, options.entries), options.json)


if __name__ == "__main__":
    main()
