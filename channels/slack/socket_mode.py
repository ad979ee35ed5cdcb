"""Socket Mode: one WebSocket to Slack, replaced when Slack asks for it or when it is dead.

The SDK's own client is not used for it: its timers do not use our clock, it makes each message a
task of its own before anything reads their order, a token that is no good has it try for ever, and
its reconnects may leave a second socket behind, to which Slack then gives half of the events.
https://docs.slack.dev/apis/events-api/using-socket-mode/
"""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Protocol

import aiohttp
import anyio
import orjson
from anyio.abc import TaskGroup
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from channels.errors import ChannelDown, ChannelError, ChannelUnfit, SendDelayed
from channels.pacing import Clock
from channels.slack.api import ApiSessions, SlackApi

PING_EVERY: Final = 10.0
LONGEST_SILENCE: Final = 25.0
"""A connection on which nothing came for so long, not even an answer to a ping, is dead."""

FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 30.0
SHORT_LIFE: Final = 5.0
"""A second connection that ended as soon is followed by a wait."""

HELLO_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 1.0
LONGEST_MESSAGE: Final = 4_000_000
OVER: Final = frozenset(
    (
        aiohttp.WSMsgType.CLOSE,
        aiohttp.WSMsgType.CLOSING,
        aiohttp.WSMsgType.CLOSED,
        aiohttp.WSMsgType.ERROR,
    )
)
KEPT_OPEN: Final = frozenset(("warning", "refresh_requested"))
"""Reasons of Slack's after which a connection stays, while another one is opened."""

DELIVERS_STILL: Final = "warning"
"""After another reason nothing need come any more: Slack tries again after a minute only."""


class Told(Protocol):
    """Who is told how the connection is."""

    async def connected(self, connections: int, *, seamless: bool, whole: bool = True) -> None:
        """Hear that a connection is there; `seamless`: the one before was there until then.

        `whole`: and nothing can have been missed between the two.
        """
        ...

    def lost(self, why: str) -> None:
        """Hear that there is none."""
        ...

    def sign_of_life(self) -> None:
        """Hear that the connection lives; of events it proves nothing."""
        ...


class SocketConnection:
    """One WebSocket."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse, clock: Clock) -> None:
        self._ws = ws
        self._clock = clock
        self.since = self.heard = clock.monotonic()
        self.over = anyio.Event()
        self.lost = ""
        self.delivers = True

    async def receive(self) -> Mapping[str, Any] | None:
        """Return the next message; None where there will be none."""
        while True:
            try:
                frame = await self._ws.receive()
            except (aiohttp.ClientError, OSError):
                return None
            if frame.type in OVER:
                return None
            self.heard = self._clock.monotonic()
            if frame.type == aiohttp.WSMsgType.PING:
                await self._quietly(self._ws.pong(frame.data))
            if frame.type == aiohttp.WSMsgType.TEXT and (found := _read(frame.data)) is not None:
                return found

    async def ping(self) -> None:
        """Ask for a sign of life."""
        await self._quietly(self._ws.ping(b"tapeway"))

    async def acknowledge(self, response: SocketModeResponse) -> None:
        """Tell that an envelope was taken; where that is lost, it comes again and is known."""
        await self._quietly(self._ws.send_str(json.dumps(response.to_dict())))

    def end(self, lost: str = "") -> None:
        """Say that another connection is needed; `lost`: and why this one is none any more."""
        self.lost = self.lost or lost
        self.over.set()

    async def close(self) -> None:
        """Close it, whatever the other side does."""
        self.end("it was closed")
        with anyio.CancelScope(shield=True):
            await self._quietly(self._ws.close())

    @staticmethod
    async def _quietly(work: Any) -> None:
        try:
            await work
        except (aiohttp.ClientError, OSError, RuntimeError):
            """The reader notices."""


class SocketMode:
    """Keeps one connection; each envelope goes through the Bolt app, and is then acknowledged.

    `unread` keeps what Bolt cannot make out, and tells whether it could.
    """

    def __init__(
        self,
        api: SlackApi,
        sessions: ApiSessions,
        clock: Clock,
        app: AsyncApp,
        told: Told,
        unread: Callable[[Any], Awaitable[bool]],
    ) -> None:
        self._unread = unread
        self._api = api
        self._sessions = sessions
        self._clock = clock
        self._app = app
        self._told = told
        self._link: SocketConnection | None = None

    async def run(self) -> None:
        """Stay connected until cancelled; raises ChannelUnfit for a token that is no good."""
        unfit: ChannelUnfit | None = None
        async with anyio.create_task_group() as group:
            try:
                await self._stay_connected(group)
            except ChannelUnfit as cause:
                unfit = cause
            finally:
                group.cancel_scope.cancel()
                if self._link is not None:
                    await self._link.close()
        if unfit is not None:
            raise unfit

    def renew(self, why: str) -> None:
        """Replace the connection: it lives, and is of no use."""
        if self._link is not None:
            self._link.end(why)

    async def _stay_connected(self, group: TaskGroup) -> None:
        wait, short = FIRST_WAIT, 0
        while True:
            old = self._link
            if old is not None and old.lost:
                await old.close()
                await self._sessions.renew()
                self._link = old = None
            try:
                fresh, connections = await self._connect(group)
            except (ChannelError, TimeoutError, aiohttp.ClientError, OSError) as cause:
                if isinstance(cause, ChannelUnfit):
                    raise
                if old is None or old.lost:
                    self._told.lost(_why(cause))
                wait = await self._pause(wait, cause)
                continue
            seamless = old is not None and not old.lost
            if old is not None:
                if old.lost:  # while the other one was opened: nobody was told yet
                    self._told.lost(old.lost)
                await old.close()
                connections -= seamless
            self._link = fresh
            whole = old is not None and old.delivers
            await self._told.connected(connections, seamless=seamless, whole=whole)
            await fresh.over.wait()
            if fresh.lost:
                self._told.lost(fresh.lost)
            short = short + 1 if self._clock.monotonic() - fresh.since < SHORT_LIFE else 0
            wait = await self._pause(wait) if short > 1 else FIRST_WAIT

    async def _pause(self, wait: float, cause: Exception | None = None) -> float:
        """Wait before another try; returns how long to wait before the one after it."""
        asked = cause.retry_after if isinstance(cause, SendDelayed) else 0.0
        pause = wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter, not a secret
        await self._clock.sleep(max(asked, pause))
        return min(wait * 2, LONGEST_WAIT)

    async def _connect(self, group: TaskGroup) -> tuple[SocketConnection, int]:
        """Open a connection, and wait until Slack says hello; returns how many there are now."""
        found = await self._api.call("apps.connections.open")
        ws = await self._sessions.session.ws_connect(
            str(found.get("url") or ""),
            autoping=False,
            max_msg_size=LONGEST_MESSAGE,
            proxy=self._sessions.proxy,
            timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
        )
        link = SocketConnection(ws, self._clock)
        try:
            with anyio.fail_after(HELLO_SECONDS):
                hello = await link.receive()
        except BaseException:
            await link.close()
            raise
        if hello is None or hello.get("type") != "hello":
            reason = str((hello or {}).get("reason") or "it was closed at once")
            await link.close()
            raise ChannelDown(f"Slack takes no connection now ({reason}). Trying again.")
        group.start_soon(self._read, group, link)
        group.start_soon(self._watch, link)
        connections = hello.get("num_connections")
        return link, connections if isinstance(connections, int) else 1

    async def _read(self, group: TaskGroup, link: SocketConnection) -> None:
        """Take what comes, in its order; each envelope is then worked on beside the others."""
        while (message := await link.receive()) is not None:
            self._told.sign_of_life()
            if message.get("type") == "disconnect":
                reason = str(message.get("reason") or "")
                link.delivers = link.delivers and reason == DELIVERS_STILL
                link.end("" if reason in KEPT_OPEN else f"Slack ended the connection ({reason})")
                continue
            if message.get("envelope_id") and "payload" in message:
                group.start_soon(self._take, link, message)
        link.end("the connection to Slack broke off. Connecting again.")

    async def _watch(self, link: SocketConnection) -> None:
        """Ask for signs of life; where none comes the connection is dead."""
        while not (link.over.is_set() and link.lost):
            await self._clock.sleep(PING_EVERY)
            if self._clock.monotonic() - link.heard > LONGEST_SILENCE:
                link.end("nothing comes over the connection to Slack any more. Connecting again.")
            elif link.heard > self._clock.monotonic() - 2 * PING_EVERY:
                self._told.sign_of_life()
            await link.ping()

    async def _take(self, link: SocketConnection, message: Mapping[str, Any]) -> None:
        """Let an envelope be taken; without the acknowledgement Slack delivers it again."""
        payload: dict[str, Any] | None = None
        try:
            request = SocketModeRequest(
                str(message.get("type")), str(message["envelope_id"]), message["payload"]
            )
            answer = await run_async_bolt_app(self._app, request)
            if answer.status != 200:
                return
            payload = _read(answer.body) if answer.body else None
        except Exception:  # of what is not as Slack says that it is, Bolt expects nothing
            if not await self._unread(message["payload"]):
                return
        await link.acknowledge(SocketModeResponse(str(message["envelope_id"]), payload))


def _read(text: str) -> dict[str, Any] | None:
    """Read a message; None for what is no JSON object."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            found = json.loads(text)  # lone surrogates, which orjson is too strict for
        except (ValueError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


def _why(cause: Exception) -> str:
    if isinstance(cause, ChannelError):
        return str(cause)
    return f"Slack cannot be reached now ({type(cause).__name__}). Trying again."
