"""The bus: wake other processes of the same database by LISTEN and NOTIFY.

A notification is a hint with numbers, never text. It may be lost, so whoever uses the bus also
looks by itself from time to time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import anyio
import psycopg
from psycopg import AsyncConnection, sql

from channels.backoff import Backoff
from gateway.clock import Clock
from gateway.logs import get_log
from tape.entry import dump
from tape.errors import TapeError
from tape.store import UnitStore
from tape.stores.postgres.database import connection_target

TOGETHER_SECONDS: Final = 0.005
"""Notifications of this time go out together: their commits wait for each other."""

MAX_TOGETHER: Final = 200  # numbers in one notification

Heard = Callable[[frozenset[int]], None]
"""Gets the numbers that were sent; none says that any may have been missed."""


def channel_of(topic: str) -> str:
    """Return PostgreSQL's channel for a topic of lower-case letters, digits and underscores."""
    return f"tapeway_{topic}"


@dataclass(eq=False)
class Bus:
    """Sends and receives the numbers of topics, over a connection of its own to `_url`."""

    _store: UnitStore
    _clock: Clock
    _url: str
    _heard: dict[str, Heard] = field(default_factory=dict)
    _unsent: dict[str, set[int]] = field(default_factory=dict)
    _waiting: anyio.Event = field(default_factory=anyio.Event)

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
            pairs = [
                (channel, ",".join(map(str, piece)))
                for channel, numbers in unsent.items()
                for piece in _pieces(sorted(numbers))
            ]
            values = {
                "channels": dump([channel for channel, _payload in pairs]),
                "payloads": dump([payload for _channel, payload in pairs]),
            }
            try:
                await self._store.select("sharing.notify", values)
            except TapeError as lost:  # everybody looks by themselves, too
                get_log().warning("bus.not_sent", why=str(lost))
            await self._clock.sleep(TOGETHER_SECONDS)

    async def _listen(self) -> None:
        backoff = Backoff(0.5, 5.0)
        while True:
            try:
                async with await AsyncConnection.connect(
                    connection_target(self._url), autocommit=True
                ) as connection:
                    for channel in self._heard:
                        await connection.execute(
                            sql.SQL("LISTEN {}").format(sql.Identifier(channel))
                        )
                    backoff.reset()
                    self._all_may_be_missed()
                    async for sent in connection.notifies():
                        self._receive(sent.channel, sent.payload)
            except (psycopg.Error, OSError) as lost:
                get_log().warning("bus.lost", why=str(lost).partition("\n")[0])
            await self._clock.sleep(backoff.next())

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
