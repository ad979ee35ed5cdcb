"""An in-memory host, to run a channel in a test without a gateway."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

import anyio
from anyio.abc import TaskGroup

from channels.base import Channel
from channels.clock import Clock, SystemClock
from channels.draft import DraftReference
from channels.errors import MediaRefused
from channels.facts import Facts, OwnFacts
from channels.host import ChatReading, Cursors, FullHost
from channels.message import InboundMessage, Media, OutboundMessage, Reactions, ShownMessage


class FakeHost(FullHost):
    """A complete host in memory, which keeps what the channel passes to it.

    accepted    the accepted messages, each `ext_id` once
    refusals    errors for the next calls of `accept` to raise, one each
    downs       reasons passed to `down`; `times_ready`, `heartbeats` and `confirmed` count other
                calls
    warnings    sentences for the operator
    blocks      what answered in the platform's place, and "" once it no longer did
    errors      logged exceptions, as "event: exception"
    gaps        "opened", "skipped ACCOUNT/CHAT", "closed" and "resumed" (closed without cursors)
    drafts      maps a key to its draft
    stops       requests to stop an answer
    past        maps a channel and a chat to the messages that `history` returns
    files       what was kept, by name
    titles      what chats are called, by channel and chat, and a number
    known       cursors that `cursors` returns
    readings    how far histories were read, as passed to `keep_readings`
    facts       what is known of the accounts; hosts of several processes share them
    sends       messages that any process sent, each with its platform id
    fresh       keys of messages that no process has begun to send
    """

    hint: str | None = None

    def __init__(
        self,
        clock: Clock | None = None,
        names: Sequence[str] = ("Tapeway",),
        hint: str | None = None,
    ) -> None:
        self.clock = clock or SystemClock()
        self.agent_name = names[0]
        self.names = names
        self.hint = hint
        self.holds_unknown_outcomes = False
        self.accepted: list[InboundMessage] = []
        self.refusals: list[Exception] = []
        self.times_ready = self.heartbeats = self.confirmed = 0
        self.downs: list[str] = []
        self.warnings: list[str] = []
        self.blocks: list[str] = []
        self.errors: list[str] = []
        self.gaps: list[str] = []
        self.drafts: dict[str, DraftReference] = {}
        self.stops: list[tuple[InboundMessage, str | None]] = []
        self.past: dict[tuple[str, str], list[ShownMessage]] = {}
        self.files: dict[str, bytes] = {}
        self.titles: dict[tuple[str, str], tuple[str, int]] = {}
        self.known = Cursors()
        self.readings: dict[tuple[str, str], ChatReading] = {}
        self.facts: Facts = OwnFacts(self.clock)
        self.sends: list[tuple[OutboundMessage, str]] = []
        self.fresh: set[str] = set()
        self._keys: set[str] = set()
        self._changed = anyio.Event()
        self._group: TaskGroup | None = None

    def open(self, group: TaskGroup) -> None:
        """Run background work in this task group, so that its errors surface there."""
        self._group = group

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        self.notify()
        if self.refusals:
            raise self.refusals.pop(0)
        new = {message.ext_id: message for message in messages if message.ext_id not in self._keys}
        self._keys |= new.keys()
        self.accepted += new.values()
        return set(new)

    def ready(self) -> None:
        self.times_ready += 1
        self.notify()

    def down(self, why: str) -> None:
        self.downs.append(why)
        self.notify()

    def heartbeat(self) -> None:
        self.heartbeats += 1

    async def confirm_listening(self) -> None:
        self.confirmed += 1

    def warn(self, text: str) -> None:
        self.warnings.append(text)
        self.notify()

    def blocked(self, why: str) -> None:
        self.blocks.append(why)
        self.notify()

    def log_exception(self, event: str) -> None:
        self.errors.append(f"{event}: {sys.exc_info()[1]}")
        self.notify()

    def start_soon(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        if self._group is None:
            raise RuntimeError("run the channel with run_channel, or call open first")
        self._group.start_soon(_run, work, name=name)

    async def cursors(self) -> Cursors:
        return self.known

    async def keep_readings(self, readings: Mapping[tuple[str, str], ChatReading]) -> None:
        self.readings |= readings

    def gap_opened(self) -> None:
        self.gaps.append("opened")

    def gap_skipped(self, chat_id: str, account: str = "") -> None:
        self.gaps.append(f"skipped {account}/{chat_id}")

    def gap_closed(self, cursors: Cursors | None = None) -> None:
        self.gaps.append("resumed" if cursors is None else "closed")
        self.notify()

    async def threads(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        found = (
            one.thread_id
            for one in self.accepted
            if (one.chat_id, one.account) == (chat_id, account)
            and datetime.fromisoformat(one.date) >= since
        )
        return list(dict.fromkeys(thread for thread in found if thread is not None))

    async def answered(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        """As if every message that addresses the agent had been taken up."""
        return [
            one.message_id
            for one in self.accepted
            if (one.chat_id, one.account, one.thread_id) == (chat_id, account, None)
            and one.addressed
            and datetime.fromisoformat(one.date) >= since
        ]

    async def sent_keys(self, chat_id: str, account: str = "") -> list[str]:
        return [
            sent.idem
            for sent, _id in self.sends
            if (sent.chat_id, sent.account) == (chat_id, account)
        ]

    async def may_have_begun(self, key: str) -> bool:
        return key not in self.fresh

    async def last_sent(self) -> tuple[OutboundMessage, str] | None:
        return self.sends[-1] if self.sends else None

    async def wait_sent(self, message: InboundMessage) -> None:
        del message

    async def open_draft(self, message: InboundMessage) -> DraftReference | None:
        draft = DraftReference(f"draft of {message.ext_id}")
        return self.drafts.setdefault(draft.idem, draft)

    async def locate_draft(self, reference: DraftReference) -> None:
        self.drafts[reference.idem] = reference

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        return self.past.get((channel, chat_id), [])[-limit:]

    async def news(
        self, channel: str, chat_id: str, after: int | None
    ) -> tuple[int, list[ShownMessage]]:
        past = self.past.get((channel, chat_id), [])
        return len(past), [] if after is None else past[after:]

    async def keep_file(self, name: str, data: bytes) -> None:
        self.files[name] = data

    async def drop_files(self, message: InboundMessage) -> None:
        if message.ext_id not in self._keys:
            for media in message.media:
                self.files.pop(media.file, None)

    async def kept_file(self, name: str) -> bytes | None:
        return self.files.get(name)

    async def image(self, channel: str, chat_id: str, message_id: str, number: int) -> Media | None:
        known = self.past.get((channel, chat_id), [])
        images = [media for one in known if one.id == message_id for media in one.images]
        return images[number] if number < len(images) else None

    async def rooms(self, channel: str) -> dict[str, str]:
        chats = sorted(chat for name, chat in self.past if name == channel)
        return {chat: self.titles.get((channel, chat), ("", 0))[0] for chat in chats}

    async def title(self, channel: str, chat_id: str) -> tuple[str, int]:
        return self.titles.get((channel, chat_id), ("", 0))

    async def give_title(
        self, channel: str, chat_id: str, title: str, person: str
    ) -> tuple[str, int]:
        del person
        _old, at = await self.title(channel, chat_id)
        self.titles[channel, chat_id] = title, at + 1
        return title, at + 1

    async def said(self, channel: str, chat_id: str, answer: str) -> str | None:
        known = self.past.get((channel, chat_id), [])
        return next((one.text for one in known if (one.id, one.role) == (answer, "agent")), None)

    async def fetch_image(self, url: str, person: str) -> tuple[bytes, str]:
        del person
        raise MediaRefused(f"{url} is not there")

    async def react(
        self, channel: str, chat_id: str, answer: str, person: str, value: str
    ) -> Reactions | None:
        past = self.past.get((channel, chat_id), [])
        for number, one in enumerate(past):
            if (one.id, one.role) == (answer, "agent"):
                by = {**one.reactions.by, person: value}
                known = Reactions({who: v for who, v in by.items() if v}, one.reactions.at + 1)
                past[number] = replace(one, reactions=known)
                return known
        return None

    async def track(self, channel: str, chat_id: str, limit: int) -> dict[str, Any]:
        known = self.past.get((channel, chat_id), [])[-limit:]
        return {"lanes": {one.id: "lane" for one in known}, "splices": []}

    async def figures(self, channel: str, chat_id: str, answer: str) -> dict[str, Any] | None:
        known = self.past.get((channel, chat_id), [])
        return {"read": 1} if answer in [one.id for one in known] else None

    def translated(self, text: str, accepted: str) -> str:
        return f"{text} ({accepted})" if accepted else text

    async def commands(self, request: InboundMessage) -> dict[str, str]:
        del request
        return {"help": "what I can do here"}

    async def stop_answer(self, request: InboundMessage, answer: str | None) -> bool:
        self.stops.append((request, answer))
        return True

    def texts(self) -> list[str]:
        return [message.text for message in self.accepted]

    def notify(self) -> None:
        """Wake up `until`."""
        self._changed.set()
        self._changed = anyio.Event()

    async def until(self, condition: Callable[[], bool], seconds: float = 60) -> None:
        """Wait until a condition holds; it is checked after every call that the channel makes."""
        with anyio.fail_after(seconds):
            while not condition():
                await self._changed.wait()


async def _run(work: Callable[[], Awaitable[None]]) -> None:
    await work()


class ChannelRun:
    """A running channel. Its error is raised when the block ends, unless `error` returned it."""

    def __init__(self, channel: Channel, host: FakeHost) -> None:
        self._channel = channel
        self._host = host
        self._cause: Exception | None = None
        self._ended = anyio.Event()

    def start(self) -> None:
        """Start the channel, or restart it if it has ended."""
        self._cause, self._ended = None, anyio.Event()
        self._host.start_soon(f"channel {self._channel.name}", self._run)

    async def error(self, seconds: float = 60) -> Exception:
        """Wait until the channel fails, and return its error."""
        with anyio.fail_after(seconds):
            await self._ended.wait()
        cause, self._cause = self._cause, None
        assert cause is not None, "the channel ended without an error"
        return cause

    async def end(self) -> None:
        """Wait until the channel ends; raises the channel's error, if any."""
        await self._ended.wait()
        if self._cause is not None:
            raise self._cause

    async def close(self) -> None:
        """Stop the channel, wait for its end, and close it; `run_channel` calls this."""
        await self._channel.stop()
        await self._ended.wait()
        await self._channel.close()

    async def _run(self) -> None:
        try:
            await self._channel.attach(self._host)
            await self._channel.run()
        except Exception as cause:
            self._cause = cause
        self._ended.set()


@asynccontextmanager
async def run_channel(channel: Channel, host: FakeHost) -> AsyncGenerator[ChannelRun]:
    """Run a channel on a host until the block ends."""
    run = ChannelRun(channel, host)
    async with anyio.create_task_group() as group:
        host.open(group)
        run.start()
        try:
            yield run
        finally:
            with anyio.CancelScope(shield=True):
                await run.close()
        group.cancel_scope.cancel()
    await run.end()
