"""The ChannelManager: starts the enabled channels side by side, and keeps them running.

A channel that fails is started again with backoff and jitter, and takes no other down; one that is
unfit says the remedy and is left alone. What runs beside a channel (drafts, typing, turns,
deliveries) runs in the manager's task group; an error in it is logged.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

import anyio
from anyio.abc import TaskGroup

from channels.base import Channel
from channels.clock import Clock
from channels.draft import DraftReference
from channels.errors import ChannelDown, ChannelError, ChannelUnfit, SendDelayed
from channels.host import ChannelHost, Cursors
from channels.message import InboundMessage, ShownMessage
from gateway.context.history import read_history
from gateway.logs import get_log
from gateway.scheduling.dispatcher import Dispatcher
from gateway.services import Services
from gateway.storage.ledger.rows import account_id
from tape.entry import utc_iso
from tape.errors import StoreUnavailable

FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0
CALM_AFTER: Final = 60.0
"""A channel that ran so long begins its waits anew."""

OVERLAP: Final = timedelta(minutes=10)
"""What was said so long before a chat's mark is read again: clocks differ."""

LONGEST_GAP: Final = timedelta(days=7)
"""What was said before is not read any more: a room has its own history for that."""

State = Literal["starting", "ready", "waiting", "unfit", "stopped"]


@dataclass(slots=True)
class ChannelState:
    """How a channel is, and since when.

    `why` is the last error's sentence, `notes` what could be better; `heard` is the moment of the
    last proof that messages would come in, in the clock's seconds.
    """

    state: State = "starting"
    why: str = ""
    notes: list[str] = field(default_factory=list)
    since: str = ""
    heard: float = float("-inf")


class Background:
    """Runs work beside everything else; an error in it takes nothing down."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None

    def open(self, group: TaskGroup) -> None:
        """Run work in a task group from now on."""
        self._group = group

    def spawn(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Start work; after the end nothing is started."""
        if self._group is not None and not self._group.cancel_scope.cancel_called:
            self._group.start_soon(self._guard, name, work, name=name)

    async def _guard(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as cause:
            get_log().error("background.failed", work=name, exc_info=cause)


class ChannelManager:
    """Supervises channels."""

    def __init__(
        self,
        services: Services,
        channels: Sequence[Channel],
        dispatcher: Dispatcher,
        background: Background,
        hint: str | None,
    ) -> None:
        self._services = services
        self._channels = channels
        self._dispatcher = dispatcher
        self._background = background
        self._hint = hint
        self._stopping = False
        self.states = {channel.name: ChannelState() for channel in channels}
        self._settled = anyio.Event()

    async def run(self) -> None:
        """Run every channel until `stop`."""
        async with anyio.create_task_group() as group:
            for channel in self._channels:
                group.start_soon(self._supervise, channel, name=f"channel {channel.name}")
            self._check_settled()

    async def stop(self) -> None:
        """Stop every channel."""
        self._stopping = True
        for channel in self._channels:
            try:
                await channel.stop()
            except Exception as cause:
                get_log().error("channel.stop_failed", channel=channel.name, exc_info=cause)

    async def settled(self) -> None:
        """Wait until every channel has connected or failed once."""
        await self._settled.wait()

    def ready(self) -> bool:
        """Tell whether every channel is connected."""
        return all(state.state == "ready" for state in self.states.values())

    def deaf(self) -> dict[str, float]:
        """Return the channels that say they are connected and hear nothing, and for how long."""
        now = self._services.clock.monotonic()
        return {
            channel.name: now - self.states[channel.name].heard
            for channel in self._channels
            if channel.traits.stalled_after is not None
            and self.states[channel.name].state == "ready"
            and now - self.states[channel.name].heard > channel.traits.stalled_after
        }

    def heartbeat(self, name: str) -> None:
        """Write down that a channel would hear what is said; sending proves nothing of it."""
        self.states[name].heard = self._services.clock.monotonic()

    def connected(self, name: str) -> None:
        """Write down that a channel is connected."""
        self._set(name, "ready")
        self.heartbeat(name)
        get_log().info("channel.ready", channel=name)

    def down(self, name: str, why: str) -> None:
        """Write down that a channel has lost its connection and tries again by itself."""
        self._set(name, "waiting", why)
        get_log().warning("channel.down", channel=name, why=why)

    def warn(self, name: str, text: str) -> None:
        """Write down what is not as it should be with a channel that runs."""
        notes = self.states[name].notes
        if text not in notes:
            notes.append(text)
            get_log().warning("channel.note", channel=name, note=text)

    async def _supervise(self, channel: Channel) -> None:
        wait = FIRST_WAIT
        while not self._stopping:
            started = self._services.clock.monotonic()
            try:
                host = _Host(self, self._services, self._dispatcher, self._background, channel)
                host.hint = self._hint
                await channel.start(host)
                if not self._stopping:
                    raise RuntimeError("the channel ended by itself")
            except ChannelUnfit as unfit:
                self._set(channel.name, "unfit", str(unfit))
                get_log().error("channel.unfit", channel=channel.name, remedy=str(unfit))
                return
            except Exception as cause:
                if self._services.clock.monotonic() - started > CALM_AFTER:
                    wait = FIRST_WAIT
                pause = wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
                if isinstance(cause, SendDelayed):
                    pause = max(pause, cause.retry_after)
                self._failed(channel.name, cause, pause)
                await self._services.clock.sleep(pause)
                wait = min(wait * 2, LONGEST_WAIT)
        self._set(channel.name, "stopped")

    def _failed(self, name: str, cause: Exception, pause: float) -> None:
        """Tell of a channel that will be started again; only our own sentences are shown to all."""
        again_in = round(pause, 1)
        if isinstance(cause, ChannelError):
            self._set(name, "waiting", str(cause))
            get_log().warning("channel.down", channel=name, again_in=again_in, why=str(cause))
        else:
            self._set(name, "waiting", f"it failed ({type(cause).__name__})")
            get_log().error("channel.failed", channel=name, again_in=again_in, exc_info=cause)

    def _set(self, name: str, state: State, why: str = "") -> None:
        before = self.states[name]
        moment = utc_iso(self._services.clock.now())
        since = before.since if before.state == state and before.since else moment
        self.states[name] = ChannelState(state, why, before.notes, since, before.heard)
        self._check_settled()

    def _check_settled(self) -> None:
        if all(state.state != "starting" for state in self.states.values()):
            self._settled.set()


class _Gap:
    """What a channel may have missed; until that is read, no mark is moved.

    A gap that opens while an earlier one is being read is another: its end is told by the marks
    that were given out for it.
    """

    def __init__(self) -> None:
        self.skipped: set[tuple[str, str]] = set()
        self._is_open = True
        self._to_be_read = True
        self._given_out: tuple[Cursors, datetime] | None = None

    def open(self) -> None:
        """Begin one: the connection was lost, or what came in was not taken."""
        self._is_open, self._given_out = True, None

    def given_out(self, marks: Cursors, asked_at: datetime) -> None:
        """Begin to read it."""
        self._to_be_read = True
        self._given_out = (marks, asked_at)
        self.skipped.clear()

    def close(self, marks: Cursors | None) -> datetime | None:
        """End it; returns since when nothing is missing in any chat, where that is so."""
        if marks is None:
            self._is_open = self._is_open and self._to_be_read
            return None
        if self._given_out is None or self._given_out[0] is not marks:
            return None
        _marks, asked_at = self._given_out
        self._is_open, self._to_be_read, self._given_out = False, False, None
        return None if self.skipped else asked_at

    def kept_back(self) -> frozenset[tuple[str, str]] | None:
        """Return the chats whose marks stay where they are; None: all of them."""
        return None if self._is_open else frozenset(self.skipped)


@contextmanager
def _down_while_away() -> Iterator[None]:
    """Let a channel hear that the database is away as that nothing can be taken now."""
    try:
        yield
    except StoreUnavailable as away:
        raise ChannelDown(f"nothing can be written down now: {away}") from away


class _Host(ChannelHost):
    """What one channel is given of the gateway."""

    def __init__(
        self,
        manager: ChannelManager,
        services: Services,
        dispatcher: Dispatcher,
        background: Background,
        channel: Channel,
    ) -> None:
        self._manager = manager
        self._services = services
        self._dispatcher = dispatcher
        self._background = background
        self._channel = channel
        self.clock: Clock = services.clock
        self.agent_name: str = services.settings.agent.name
        self.names: Sequence[str] = services.settings.agent.names_in_chats()
        self.holds_unknown_outcomes: bool = services.settings.delivery.ambiguous == "hold"
        self.hint: str | None = None
        self._gap = _Gap()

    async def accept(self, messages: Sequence[InboundMessage]) -> set[str]:
        kept_back = self._gap.kept_back() if "backfill" in self._channel.capabilities else None
        try:
            with _down_while_away():
                return await self._dispatcher.intake.accept(messages, kept_back)
        except ChannelDown:
            self._gap.open()
            raise

    async def cursors(self) -> Cursors:
        asked_at = self._services.clock.now()
        with _down_while_away():
            marks = await self._services.ledger.cursors.read(
                self._channel.name, OVERLAP, LONGEST_GAP
            )
        self._gap.given_out(marks, asked_at)
        return marks

    def gap_opened(self) -> None:
        self._gap.open()

    def gap_skipped(self, chat_id: str, account: str = "") -> None:
        self._gap.skipped.add((account, chat_id))

    def gap_closed(self, marks: Cursors | None = None) -> None:
        since = self._gap.close(marks)
        if since is not None:  # what has been said since then has come in by itself
            name, ledger = self._channel.name, self._services.ledger
            self.start_soon("marks", lambda: ledger.cursors.advance_all(name, since))

    async def threads(self, chat_id: str, since: datetime, account: str = "") -> list[str]:
        account = account_id(self._channel.name, account)
        with _down_while_away():
            return await self._services.ledger.inbox.threads(account, chat_id, since)

    def ready(self) -> None:
        self._manager.connected(self._channel.name)

    def down(self, why: str) -> None:
        self._manager.down(self._channel.name, why)

    def heartbeat(self) -> None:
        self._manager.heartbeat(self._channel.name)

    def warn(self, text: str) -> None:
        self._manager.warn(self._channel.name, text)

    def log_exception(self, event: str) -> None:
        get_log().error(event, channel=self._channel.name, exc_info=True)

    async def history(self, channel: str, chat_id: str, limit: int) -> list[ShownMessage]:
        session_id = await self._services.pipeline.resolve_session(
            {"channel": channel, "chat_id": chat_id}
        )
        tape = self._services.tapes.session_tape(session_id)
        return await read_history(tape, self.agent_name, limit)

    def start_soon(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        self._background.spawn(name, work)

    async def wait_sent(self, message: InboundMessage) -> None:
        chat = (message.channel, message.account, message.chat_id)
        await self._dispatcher.delivery.idle(chat)

    async def open_draft(self, message: InboundMessage) -> DraftReference | None:
        turn = self._dispatcher.turn_of(message)
        if turn is None:
            return None
        return await self._services.ledger.outbox.open_draft(
            message, turn.session_id, turn.id, turn.lane
        )

    async def locate_draft(self, place: DraftReference) -> None:
        await self._services.ledger.outbox.locate_draft(place)
