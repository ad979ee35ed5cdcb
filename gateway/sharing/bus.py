"""The bus: wake other processes of the same database by LISTEN and NOTIFY.

A notification is a hint with numbers, never text. It may be lost, so whoever uses the bus also
looks by itself from time to time.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import anyio

from channels.backoff import Backoff
from gateway.clock import Clock
from gateway.logs import get_log
from tape.entry import dump
from tape.errors import StoreUnavailable, StoreUnusable, TapeError
from tape.store import UnitStore

TOGETHER_SECONDS: Final = 0.005
"""Notifications of this time go out together: their commits wait for each other."""

UNUSABLE_SECONDS: Final = 60.0
"""Seconds after which a database that nothing is heard from, as it is set up, is tried again."""

READY: Final = "ready"  # the topic of sessions that nobody holds

MAX_TOGETHER: Final = 200  # numbers in one notification

Listen = Callable[[Sequence[str]], AsyncGenerator[tuple[str, str], None]]
"""Yields the channel and payload of each notification, after a first pair that is empty."""

Heard = Callable[[frozenset[int]], None]
"""Gets the numbers that were sent; none says that any may have been missed."""


def channel_of(topic: str) -> str:
    """Return PostgreSQL's channel for a topic of lower-case letters, digits and underscores."""
    return f"tapeway_{topic}"


@dataclass(eq=False)
class Bus:
    """Sends and receives the numbers of topics; `_listen_to` yields what comes in channels."""

    _store: UnitStore
    _clock: Clock
    _listen_to: Listen
    _heard: dict[str, Heard] = field(default_factory=dict)
    _unsent: dict[str, set[int]] = field(default_factory=dict)
    _waiting: anyio.Event = field(default_factory=anyio.Event)
    _deaf: str = ""  # why nothing is heard

    def on(self, topic: str, heard: Heard) -> None:
        """Call `heard` with what others and this process send; call this before `run`."""
        self._heard[channel_of(topic)] = heard

    def send(self, topic: str, *numbers: int) -> None:
        """Wake the listeners of a topic soon; call this after the commit."""
        self._unsent.setdefault(channel_of(topic), set()).update(numbers)
        self._waiting.set()

    async def run(self) -> None:
        """Send and receive until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._send_all, name="notify")
            group.start_soon(self._listen, name="listen")

    async def _send_all(self) -> None:
        while True:
            await self._waiting.wait()
            self._waiting = anyio.Event()
            unsent, self._unsent = self._unsent, {}
            try:
                await self._notify(unsent)
            except TapeError as lost:  # everybody looks by themselves, too
                get_log().warning("bus.not_sent", why=lost)
            await self._clock.sleep(TOGETHER_SECONDS)

    async def send_now(self, topic: str, *numbers: int) -> None:
        """Wake the listeners of a topic at the end, when `run` no longer does; raises TapeError."""
        await self._notify({channel_of(topic): set(numbers)})

    async def _notify(self, unsent: Mapping[str, set[int]]) -> None:
        pairs = [
            (channel, ",".join(map(str, piece)))
            for channel, numbers in unsent.items()
            for piece in _pieces(sorted(numbers))
        ]
        values = {
            "channels": dump([channel for channel, _payload in pairs]),
            "payloads": dump([payload for _channel, payload in pairs]),
        }
        await self._store.select("sharing.notify", values)

    async def _listen(self) -> None:
        backoff = Backoff(0.5, 5.0)
        while True:
            try:
                async with aclosing(self._listen_to(list(self._heard))) as notifications:
                    async for channel, payload in notifications:
                        if channel:
                            self._receive(channel, payload)
                        else:
                            backoff.reset()
                            self._deaf = ""
                            self._all_may_be_missed()
                wait = backoff.next()
            except StoreUnusable as wrong:  # until a setting changes, or another server leads
                self._is_deaf(str(wrong))
                wait = UNUSABLE_SECONDS
            except StoreUnavailable as lost:
                self._is_deaf(str(lost))
                wait = backoff.next()
            await self._clock.sleep(wait)

    def _is_deaf(self, why: str) -> None:
        if why != self._deaf:
            get_log().warning("bus.lost", why=why)
        self._deaf = why

    def _all_may_be_missed(self) -> None:
        for heard in self._heard.values():
            heard(frozenset())

    def _receive(self, channel: str, payload: str) -> None:
        heard = self._heard.get(channel)
        if heard is not None:
            heard(frozenset(int(part) for part in payload.split(",") if part.isdigit()))


def _pieces(numbers: list[int]) -> list[list[int]]:
    """Return the numbers in pieces that fit a notification; none is a piece, too."""
    return [
        numbers[start : start + MAX_TOGETHER]
        for start in range(0, max(1, len(numbers)), MAX_TOGETHER)
    ]
