"""A host that a channel runs in without a gateway; it keeps what it was given."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

import anyio
from anyio.abc import TaskGroup

from channels.draft import DraftReference
from channels.host import Cursors, FullHost
from channels.message import InboundMessage, ShownMessage
from channels.telegram.adapter import TelegramChannel
from channels.telegram.settings import TelegramSettings
from tests.clock import ManualClock
from tests.fakes.telegram.server import FakeTelegram


class Host(FullHost):
    """Takes every message once; `refuses` are raised by the next `accept`s."""

    def __init__(self, group: TaskGroup, clock: ManualClock) -> None:
        self.clock = clock
        self.agent_name = "Tapeway"
        self.names = ("Tapeway", "Robin")
        self.hint = None
        self.holds_unknown_outcomes = False
        self.accepted: list[InboundMessage] = []
        self.refuses: list[Exception] = []
        self.notes: list[str] = []
        self.downs: list[str] = []
        self.times_alive = 0
        self.reports: list[str] = []
        self.times_ready = 0
        self.changed = anyio.Event()
        self._group = group

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        if self.refuses:
            raise self.refuses.pop(0)
        known = {message.ext_id for message in self.accepted}
        new = [message for message in messages if message.ext_id not in known]
        self.accepted += new
        self._tell()
        return {message.ext_id for message in new}

    async def cursors(self) -> Cursors:
        return Cursors()

    def gap_opened(self) -> None:
        """Nothing is asked for again here."""

    def gap_skipped(self, chat_id: str, account: str = "") -> None:
        """Nothing is asked for again here."""

    def gap_closed(self, marks: Cursors | None = None) -> None:
        """Nothing is asked for again here."""

    async def threads(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        return []

    def ready(self) -> None:
        self.times_ready += 1
        self._tell()

    def heartbeat(self) -> None:
        self.times_alive += 1

    def down(self, why: str) -> None:
        self.downs.append(why)
        self._tell()

    def warn(self, text: str) -> None:
        self.notes.append(text)

    def log_exception(self, event: str) -> None:
        self.reports.append(f"{event}: {sys.exc_info()[1]}")

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        return []

    def start_soon(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        self._group.start_soon(run)

    async def wait_sent(self, message: InboundMessage) -> None:
        """Nothing is under way."""

    async def open_draft(self, message: InboundMessage) -> DraftReference | None:
        return DraftReference(f"draft of {message.ext_id}")

    async def locate_draft(self, place: DraftReference) -> None:
        """Nobody asks where it is."""

    def texts(self) -> list[str]:
        return [message.text for message in self.accepted]

    async def until(self, wanted: Callable[[], bool]) -> None:
        """Wait until something is so, asked after each thing that came."""
        with anyio.fail_after(10):
            while not wanted():
                await self.changed.wait()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


class Running:
    """A channel that runs against the fake, and how it ended."""

    def __init__(self, channel: TelegramChannel, host: Host, fake: FakeTelegram) -> None:
        self.channel = channel
        self.host = host
        self.fake = fake
        self.ended: Exception | None = None
        self.end = anyio.Event()

    async def run(self) -> None:
        try:
            await self.channel.start(self.host)
        except Exception as cause:
            self.ended = cause
        self.end.set()

    async def error(self) -> Exception:
        """Wait for the end, and return why it came."""
        with anyio.fail_after(10):
            await self.end.wait()
        assert self.ended is not None
        return self.ended


@asynccontextmanager
async def running(
    fake: FakeTelegram, *, holds: bool = False, refuses: Sequence[Exception] = (), **more: object
) -> AsyncIterator[Running]:
    """Run a channel against a fake for as long as the block runs."""
    values = {"token": fake.token, "base_url": fake.base_url, **more}
    channel = TelegramChannel(TelegramSettings.model_validate(values))
    async with anyio.create_task_group() as group:
        host = Host(group, ManualClock())
        host.holds_unknown_outcomes = holds
        host.refuses = list(refuses)
        found = Running(channel, host, fake)
        group.start_soon(found.run)
        yield found
        await channel.stop()
        await found.end.wait()
        await channel.close()
        group.cancel_scope.cancel()
