"""Bots that talk to the fake Discord: discord.py itself, and one that can also talk nonsense."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Self

import aiohttp
import discord
import orjson
import yarl
from discord.backoff import ExponentialBackoff
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.fakes.base.client import HttpClient
from tests.fakes.base.http import JsonObject
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import HELLO, IDENTIFY, RESUME
from tests.fakes.discord.world import Channel

ALL_INTENTS: Final = discord.Intents.default().value | 1 << 15 | 1 << 1


class Bot(discord.Client):
    """The SDK's client, which also notes its events; connected while the context is open."""

    def __init__(self, fake: FakeDiscord, intents: int = ALL_INTENTS, **options: Any) -> None:
        wanted = discord.Intents._from_value(intents)
        options = {"guild_ready_timeout": 0.02} | options
        super().__init__(intents=wanted, **options)
        self.fake = fake
        self.noted: list[tuple[str, tuple[Any, ...]]] = []
        self.running: asyncio.Task[None] | None = None
        self._pulse = asyncio.Event()
        self._former: tuple[Any, ...] = ()

    async def __aenter__(self) -> Self:
        self._former = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY, ExponentialBackoff.delay
        Route.BASE = self.fake.base_url
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(self.fake.gateway_url)
        ExponentialBackoff.delay = _at_once  # type: ignore[assignment, method-assign]
        await super().__aenter__()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self.close()
        if self.running is not None:
            self.running.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self.running
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = self._former[:2]
        ExponentialBackoff.delay = self._former[2]  # type: ignore[method-assign]

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify again at once: the SDK's own hook waits five seconds."""

    async def come_in(self) -> Self:
        """Log in, connect, and wait until the SDK calls itself ready."""
        self.begin()
        await self.until("ready")
        return self

    def begin(self) -> None:
        """Log in and connect, in a task of its own."""
        self.running = asyncio.create_task(self.start(self.fake.token))

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        self.noted.append((event, args))
        pulse, self._pulse = self._pulse, asyncio.Event()
        pulse.set()
        super().dispatch(event, *args, **kwargs)

    def told(self, event: str) -> list[Any]:
        """Return the first argument of each event of a name."""
        return [args[0] if args else None for name, args in self.noted if name == event]

    async def until(self, event: str, count: int = 1) -> list[Any]:
        """Wait until it was told so often of something."""
        while len(found := self.told(event)) < count:
            await self._pulse.wait()
        return found

    async def hears(self, count: int = 1) -> list[str]:
        """Wait for so many messages in all, and return their texts."""
        return [message.content for message in await self.until("message", count)]


def _at_once(_self: object) -> float:
    return 0.0


class Api(HttpClient):
    """Send requests as they are given."""

    def __init__(self, fake: FakeDiscord) -> None:
        super().__init__()
        self.fake = fake

    async def call(
        self, verb: str, path: str, json: Any = None, **options: Any
    ) -> tuple[int, Any, dict[str, str]]:
        """Return the status, the body and the headers of an answer; names are in lower case."""
        headers = {"Authorization": f"Bot {self.fake.token}"} | options.pop("headers", {})
        url = path if path.startswith("http") else self.fake.base_url + path
        wanted = self.session.request(verb, url, json=json, headers=headers, **options)
        async with wanted as answer:
            text = await answer.read()
            is_json = answer.headers.get("content-type") == "application/json"
            names = {name.lower(): value for name, value in answer.headers.items()}
            return answer.status, orjson.loads(text) if is_json and text else text, names

    async def get(self, path: str) -> Any:
        """Return the body of a request that must go well."""
        status, body, _headers = await self.call("GET", path)
        assert status == 200, body
        return body

    async def post(self, channel_id: int, content: str = "", **fields: Any) -> JsonObject:
        """Send a message that must be taken."""
        path = f"/channels/{channel_id}/messages"
        status, body, _headers = await self.call("POST", path, {"content": content} | fields)
        assert status == 200, body
        found: JsonObject = body
        return found

    async def refusal(self, verb: str, path: str, json: Any = None, **options: Any) -> str:
        """Return how a request is refused: `STATUS CODE message`, then the fields' own words."""
        status, body, _headers = await self.call(verb, path, json, **options)
        assert status >= 400, body
        fields = [f"{name}: {words}" for name, words in _fields(body.get("errors", {}))]
        return " | ".join([f"{status} {body['code']} {body['message']}", *fields])


def _fields(errors: JsonObject, above: str = "") -> list[tuple[str, str]]:
    found = []
    for name, value in errors.items():
        if name == "_errors":
            found += [(above, f"{one['code']} {one['message']}") for one in value]
        else:
            found += _fields(value, f"{above}.{name}" if above else name)
    return found


class Wire:
    """Speak the gateway's protocol by hand."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, packed: bool) -> None:
        self.socket = socket
        self._unpacker = zlib.decompressobj() if packed else None

    async def send(self, op: int, data: Any) -> None:
        """Send a payload."""
        await self.socket.send_str(orjson.dumps({"op": op, "d": data}).decode())

    async def next(self) -> JsonObject:
        """Return the next payload, which must come."""
        message = await self.socket.receive(5.0)
        assert message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY), message
        data = message.data
        text = self._unpacker.decompress(data) if self._unpacker is not None else data
        found: JsonObject = orjson.loads(text)
        return found

    async def until(self, so: Callable[[JsonObject], bool]) -> JsonObject:
        """Return the next payload of which something is so."""
        while not so(found := await self.next()):
            pass
        return found

    async def event(self, name: str) -> JsonObject:
        """Return the next event of a name."""
        return await self.until(lambda payload: payload["t"] == name)

    async def close_code(self) -> int:
        """Return the code that the server closes with."""
        while True:
            message = await self.socket.receive(5.0)
            if message.type is aiohttp.WSMsgType.CLOSE:
                return int(message.data)
            assert message.type is not aiohttp.WSMsgType.CLOSED

    async def identify(self, token: str, intents: int = ALL_INTENTS) -> None:
        """Begin a session."""
        await self.send(IDENTIFY, {"token": token, "intents": intents, "properties": {}})

    async def resume(self, token: str, session: str, seq: int) -> None:
        """Take up a session."""
        await self.send(RESUME, {"token": token, "session_id": session, "seq": seq})


@asynccontextmanager
async def wire(
    api: Api, query: str = "v=10&encoding=json", *, code: int = 4000
) -> AsyncIterator[Wire]:
    """Open a socket of the gateway, take its greeting, and close it with a code in the end."""
    address = f"{api.fake.gateway_url}?{query}"
    async with api.session.ws_connect(address, autoclose=False, timeout=_SOON) as socket:
        made = Wire(socket, "compress" in query)
        greeting = await made.next()
        assert greeting["op"] == HELLO
        assert greeting["d"]["heartbeat_interval"] == api.fake.gateway.heartbeat_ms
        yield made
        await socket.close(code=code)


_SOON: Final = aiohttp.ClientWSTimeout(ws_close=0.1)


def at(room: Channel, more: str = "") -> str:
    return f"/channels/{room.id}/messages{more}"
