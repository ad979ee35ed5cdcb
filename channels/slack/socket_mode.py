"""Socket Mode: one WebSocket to Slack, which is replaced if Slack asks for that or if it is dead.

The SDK's own client is not used, for four reasons: its timers don't use our clock; it starts a task
for each message, which loses the messages' order; with a revoked token it retries forever; and
a reconnect may leave a second socket open, which then gets half of the events.
https://docs.slack.dev/apis/events-api/using-socket-mode/
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

import aiohttp
import anyio
import orjson
from aiohttp import WSMsgType
from anyio.abc import TaskGroup
from slack_sdk.socket_mode.response import SocketModeResponse

from channels.backoff import Backoff
from channels.clock import Clock
from channels.errors import ChannelDown, ChannelError, ChannelUnfit, SendDelayed
from channels.slack.api import ApiSessions, SlackApi
from channels.slack.troubles import CONNECTION, SOCKET_MODE_OFF

PING_SECONDS: Final = 10.0
MAX_SILENCE_SECONDS: Final = 25.0
"""A connection without any frame for this long is dead; answers to pings count as frames."""

RETRY_SECONDS: Final = 1.0
MAX_RETRY_SECONDS: Final = 30.0
SHORT_LIFE_SECONDS: Final = 5.0
"""If two connections in a row end within this time, the next attempt is delayed."""

HELLO_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 1.0
MAX_MESSAGE_BYTES: Final = 4_000_000
ENDED: Final = (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR)
KEPT_OPEN: Final = ("warning", "refresh_requested")
"""Reasons for a disconnect that leave the connection open until another one is open."""

STILL_DELIVERS: Final = "warning"
"""After any other reason, events may stop, and Slack redelivers them only after a minute."""


class ConnectionListener(Protocol):
    async def connected(self, connections: int, *, seamless: bool, whole: bool = True) -> None:
        """Record a new connection, and how many connections Slack counts.

        `seamless`: the previous connection was open until now; `whole`: it delivered all events.
        """

    def lost(self, why: str) -> None:
        """Record that no connection is open."""

    def sign_of_life(self) -> None:
        """Record that the connection is alive, which does not prove that it delivers events."""


class EnvelopeSink(Protocol):
    async def take_envelope(self, envelope: Mapping[str, Any]) -> str | None:
        """Store an envelope; return the answer to Slack, or None to have it redelivered."""


class SocketConnection:
    """One WebSocket; `lost` says why it ended, and is empty while it is open."""

    def __init__(
        self, ws: aiohttp.ClientWebSocketResponse, clock: Clock, listener: ConnectionListener
    ) -> None:
        self._ws = ws
        self._clock = clock
        self._listener = listener
        self.since = self._heard = clock.monotonic()
        self.over = anyio.Event()
        self.lost = ""
        self.delivers = True

    async def receive(self) -> Mapping[str, Any] | None:
        """Return the next message, or None after the last one."""
        while True:
            try:
                frame = await self._ws.receive()
            except (aiohttp.ClientError, OSError):
                return None
            if frame.type in ENDED:
                return None
            self._heard = self._clock.monotonic()
            if frame.type == WSMsgType.PING:
                await self._quietly(self._ws.pong(frame.data))
            if frame.type == WSMsgType.TEXT and (found := _read(frame.data)) is not None:
                return found

    async def read(self, group: TaskGroup, envelopes: EnvelopeSink) -> None:
        """Receive messages in order, and store each envelope in a task of its own."""
        while (message := await self.receive()) is not None:
            self._listener.sign_of_life()
            if message.get("type") == "disconnect":
                reason = str(message.get("reason") or "")
                self.delivers = self.delivers and reason == STILL_DELIVERS
                self.end("" if reason in KEPT_OPEN else _why_ended(reason))
                continue
            if message.get("envelope_id") and "payload" in message:
                group.start_soon(self._take, message, envelopes)
        self.end("the connection to Slack was lost. Reconnecting.")

    async def watch(self) -> None:
        """Send pings, and end the connection if it does not answer."""
        while not (self.over.is_set() and self.lost):
            await self._clock.sleep(PING_SECONDS)
            now = self._clock.monotonic()
            if now - self._heard > MAX_SILENCE_SECONDS:
                self.end("the connection to Slack no longer answers. Reconnecting.")
            elif self._heard > now - 2 * PING_SECONDS:
                self._listener.sign_of_life()
            await self._quietly(self._ws.ping(b"tapeway"))

    def end(self, lost: str = "") -> None:
        """Ask for a new connection; `lost` says why this one is useless, "" if it still works."""
        self.lost = self.lost or lost
        self.over.set()

    async def close(self) -> None:
        """Close the connection, even if Slack does not answer."""
        self.end("it was closed")
        with anyio.CancelScope(shield=True):
            await self._quietly(self._ws.close())

    async def _take(self, message: Mapping[str, Any], envelopes: EnvelopeSink) -> None:
        # If an acknowledgement is lost, Slack redelivers, and the host recognizes the message.
        answer = await envelopes.take_envelope(message)
        if answer is not None:
            payload = _read(answer) if answer else None
            response = SocketModeResponse(str(message["envelope_id"]), payload)
            await self._quietly(self._ws.send_str(json.dumps(response.to_dict())))

    @staticmethod
    async def _quietly(work: Any) -> None:
        with suppress(aiohttp.ClientError, OSError, RuntimeError):  # `read` will notice
            await work


class SocketMode:
    """Keeps exactly one connection open at a time."""

    def __init__(
        self, api: SlackApi, sessions: ApiSessions, clock: Clock, envelopes: EnvelopeSink
    ) -> None:
        self._api = api
        self._sessions = sessions
        self._clock = clock
        self._envelopes = envelopes
        self._current: SocketConnection | None = None
        self._backoff = Backoff(RETRY_SECONDS, MAX_RETRY_SECONDS, jitter=0.5)

    async def run(self, listener: ConnectionListener, group: TaskGroup) -> None:
        """Stay connected until cancelled; raises ChannelUnfit if the token is invalid."""
        try:
            await self._stay_connected(group, listener)
        finally:
            if self._current is not None:
                await self._current.close()

    def renew(self, why: str) -> None:
        if self._current is not None:
            self._current.end(why)

    async def _stay_connected(self, group: TaskGroup, listener: ConnectionListener) -> None:
        short = 0
        while True:
            old = self._current
            if old is not None and old.lost:
                await old.close()
                await self._sessions.renew()
                self._current = old = None
            try:
                fresh, connections = await self._connect(group, listener)
            except (ChannelError, TimeoutError, aiohttp.ClientError, OSError) as cause:
                if isinstance(cause, ChannelUnfit):
                    raise
                if old is None or old.lost:
                    known = cause if isinstance(cause, ChannelError) else CONNECTION.error(cause)
                    listener.lost(str(known))
                await self._pause(cause)
                continue
            seamless = old is not None and not old.lost
            if old is not None:
                if old.lost:  # lost while the new one was opened, and not reported yet
                    listener.lost(old.lost)
                await old.close()
                connections -= seamless
            self._current = fresh
            whole = old is not None and old.delivers
            await listener.connected(connections, seamless=seamless, whole=whole)
            await fresh.over.wait()
            if fresh.lost:
                listener.lost(fresh.lost)
            is_short = self._clock.monotonic() - fresh.since < SHORT_LIFE_SECONDS
            short = short + 1 if is_short else 0
            if short > 1:
                await self._pause()
            else:
                self._backoff.reset()

    async def _pause(self, cause: Exception | None = None) -> None:
        requested = cause.retry_after if isinstance(cause, SendDelayed) else 0.0
        await self._clock.sleep(max(requested, self._backoff.next()))

    async def _connect(
        self, group: TaskGroup, listener: ConnectionListener
    ) -> tuple[SocketConnection, int]:
        """Open a connection, wait for Slack's hello, and return it with the connection count."""
        found = await self._api.call("apps.connections.open")
        ws = await self._sessions.session.ws_connect(
            str(found.get("url") or ""),
            autoping=False,
            max_msg_size=MAX_MESSAGE_BYTES,
            proxy=self._sessions.proxy,
            timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
        )
        fresh = SocketConnection(ws, self._clock, listener)
        try:
            with anyio.fail_after(HELLO_SECONDS):
                hello = await fresh.receive()
        except BaseException:
            await fresh.close()
            raise
        if hello is None or hello.get("type") != "hello":
            reason = str((hello or {}).get("reason") or "it was closed at once")
            await fresh.close()
            raise ChannelDown(_why_ended(reason))
        group.start_soon(fresh.read, group, self._envelopes)
        group.start_soon(fresh.watch)
        connections = hello.get("num_connections")
        return fresh, connections if isinstance(connections, int) else 1


def _why_ended(reason: str) -> str:
    if reason == "link_disabled":
        return SOCKET_MODE_OFF.sentence()
    return f"Slack ended the connection ({reason}). Connecting again."


def _read(text: str) -> dict[str, Any] | None:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            found = json.loads(text)  # accepts lone surrogates, which orjson does not
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None
