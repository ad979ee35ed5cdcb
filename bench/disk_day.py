"""What a day of a busy group costs on the disk: `python -m bench.disk_day FOLDER`.

FOLDER has chat logs of the form that `bench.irc` reads. Their lines are said in one group of a real
gateway; one of twenty asks, and gets an answer of a usual length.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio
import apsw

from bench import irc
from channels.message import Author, InboundMessage
from gateway.storage.folding import LedgerFolder
from tape.right_of_way import RightOfWay
from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import QuickClock
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform
from tests.kit.gateways import gateway_of
from tests.kit.plain_channels import Brings

ASKS: Final = 20
BATCH: Final = 50
ANSWER: Final = "An answer of a usual length, as a model gives it in a group of people. " * 6
PARTS: Final = {
    "tape": ("entry", "append_key", "tape"),
    "ledger": ("inbox", "outbox", "session", "usage", "budget", "cursor", "person"),
}


def messages(folder: Path, count: int) -> Iterator[InboundMessage]:
    lines = [line for path in irc.logs(folder) for line in irc.read(path).lines]
    start = datetime.now(UTC) - timedelta(seconds=count)
    for number, line in enumerate(islice(cycle(lines), count), start=1):
        asks = number % ASKS == 0
        yield replace(
            QUESTION,
            chat_id="-100",
            chat_kind="group",
            ext_id=f"-100/{number}",
            message_id=str(number),
            sender=Author(line.author, line.author),
            text=line.text,
            date=(start + timedelta(seconds=number)).isoformat(),
            addressed=asks,
            why="mention" if asks else "said to the group",
        )


def _answer(_request: Request) -> Reply:
    return Text((ANSWER,))


async def spend(folder: Path, home: Path, count: int) -> dict[str, float]:
    """Return the bytes per message of each part."""
    channel = EditingChannel(Platform(), streams=False)
    more = {"ACCESS__MODE": "open", "BUDGET__STRANGER_TURNS": "0"}
    async with (
        FakeOpenAI(default=_answer) as model,
        gateway_of(home, model, Brings(channel), **more) as gateway,
    ):
        batch: list[InboundMessage] = []
        for message in messages(folder, count):
            batch.append(message)
            if len(batch) == BATCH:
                await channel.host.accept(batch)
                batch = []
                await gateway.idle()
        await channel.host.accept(batch)
        await gateway.idle()
        store = gateway.services.store
        await store.indexed()  # type: ignore[attr-defined]
        found = _sizes(home, count)
        before = _used(home, PARTS["ledger"], "payload") / count
        clock = QuickClock()
        clock.jump(timedelta(days=31))
        folder_of = LedgerFolder(store, clock, 30, lambda: False, RightOfWay())
        for box in ("inbox", "outbox"):
            while await folder_of.fold(box):
                pass
    content = _used(home, PARTS["ledger"], "payload") / count
    return {**found, "ledger, folded": found["ledger"] * content / before}


def _sizes(home: Path, count: int) -> dict[str, float]:
    found = {name: _used(home, tables) / count for name, tables in PARTS.items()}
    index = home / "tapeway.db-search"
    with closing(apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        pages, size = connection.pragma("page_count"), connection.pragma("page_size")
    return {**found, "index": pages * size / count}


def _used(home: Path, tables: tuple[str, ...], what: str = "pgsize") -> int:
    """Return the bytes of tables and their indexes: of their pages, or of the content in them."""
    names = "SELECT name FROM sqlite_schema WHERE tbl_name = ?"
    sql = f"SELECT sum({what}) FROM dbstat WHERE name IN ({names})"
    path = str(home / "tapeway.db")
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return sum(int(connection.execute(sql, (table,)).get or 0) for table in tables)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--messages", type=int, default=20_000)
    wanted = parser.parse_args()
    with TemporaryDirectory() as home:
        found = anyio.run(spend, wanted.folder, Path(home), wanted.messages)
    for name, per_message in found.items():
        day = per_message * wanted.messages / 1e6
        print(f"{name:15} {per_message:7.0f} bytes a message, {day:6.1f} MB a day")


if __name__ == "__main__":
    main()
