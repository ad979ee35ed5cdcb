"""A Discord on a real socket, REST and gateway, with people who talk to the bot.

It refuses what Discord refuses, keeps sessions for those who resume them, and can be told to
fail. It stands in for discord.com in tests, in benchmarks and in drills by hand.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final
from urllib.parse import parse_qsl

import orjson

from tests.fakes.base.connection import Outcome, Stream, Upgrade
from tests.fakes.base.faults import Reset, ServerError, suffer
from tests.fakes.base.http import Answer, JsonObject, Request
from tests.fakes.base.server import FakeServer
from tests.fakes.discord.commands import Commands
from tests.fakes.discord.faults import Fault, RateLimited, Refuse
from tests.fakes.discord.gateway import GatewaySocket
from tests.fakes.discord.limits import Bucket, Exceeded, Limits
from tests.fakes.discord.messages import Sign
from tests.fakes.discord.requests import WITHOUT_TOKEN, Call, call_of, known_path, read_body
from tests.fakes.discord.rest import Requests
from tests.fakes.discord.rules import Refusal
from tests.fakes.discord.session import HEARTBEAT_MS, Intent
from tests.fakes.discord.trouble import Trouble
from tests.fakes.discord.world import (
    COMMAND_ANSWER,
    DEFAULT_TYPE,
    REPLY,
    Channel,
    File,
    Message,
    Ping,
    User,
)

NONCE_SECONDS: Final = 180.0
SESSION_SECONDS: Final = 90.0
IDENTIFY_SECONDS: Final = 5.0
_BOT_ID: Final = 1_000_000_000_000_000_001
_API: Final = "/api/v10"
_UNAUTHORIZED: Final = Refusal(401, 0, "401: Unauthorized")
_NOT_FOUND: Final = Refusal(404, 0, "404: Not Found")
_WRONG_METHOD: Final = Refusal(405, 0, "405: Method Not Allowed")
# Without it the SDK takes a 429 for a ban by what stands in front of Discord.
_VIA: Final = "via: 1.1 fake\r\n"
_TYPING_LASTS: Final = 10.0
_SAID: Final = (DEFAULT_TYPE, REPLY, COMMAND_ANSWER)


class FakeDiscord(FakeServer[Call, Fault], Trouble):
    """Serve one bot.

    `messages` has what the bot said. With `limits`, more than Discord takes is answered with 429
    and counted in `too_many`; `rate_headers` off, the answers do not say how much is left. `clock`
    gives seconds; limits, sessions, nonces and dates go by it. `portal` has the privileged intents
    that are switched on.
    """

    def __init__(
        self,
        *,
        token: str = "MTAw.test.discord-token",
        username: str = "Tapeway",
        port: int = 0,
        limits: bool = False,
        rate_headers: bool = True,
        clock: Callable[[], float] = time.monotonic,
        message_content: bool = True,
        server_members: bool = True,
        heartbeat_ms: int = HEARTBEAT_MS,
        session_seconds: float = SESSION_SECONDS,
        nonce_seconds: float = NONCE_SECONDS,
    ) -> None:
        bot = User(_BOT_ID, username, None, is_bot=True)
        FakeServer.__init__(self, port)
        Trouble.__init__(
            self, bot, token, clock, heartbeat_ms=heartbeat_ms, session_seconds=session_seconds
        )
        self.portal = Intent(0)
        self.portal |= Intent.CONTENT if message_content else Intent(0)
        self.portal |= Intent.MEMBERS if server_members else Intent(0)
        self.gateway.identify_seconds = IDENTIFY_SECONDS if limits else 0.0
        self.commands = Commands(self)
        self.too_many = 0
        self._rate_headers = rate_headers
        self._limits = Limits() if limits else None
        self._requests = Requests(self, self.commands, nonce_seconds)

    # -- what the bot did --------------------------------------------------------------------

    @property
    def bot(self) -> User:
        """Return the bot's user."""
        return self.world.bot

    @property
    def typing(self) -> list[Sign]:
        """Return the typing signs, in their order."""
        return self._requests.typing

    def messages(self, channel: Channel | int) -> list[Message]:
        """Return the bot's messages that can be seen in a channel, in their order."""
        found = self.channel(channel).messages.values()
        return [message for message in found if message.mine and message.json["type"] in _SAID]

    def text_of(self, channel: Channel | int) -> str:
        """Return what the bot says in a channel, a line break between two messages."""
        return "\n".join(message.text for message in self.messages(channel))

    def pinged(self, channel: Channel | int) -> list[Ping]:
        """Return whom the bot's messages in a channel have alerted, deleted ones included."""
        channel = self.channel(channel)
        removed = [one for one in self.world.removed if one.channel_id == channel.id]
        said = sorted([*channel.messages.values(), *removed], key=lambda message: message.id)
        return [ping for message in said if message.mine for ping in message.pings]

    def is_typing(self, channel: Channel | int) -> bool:
        """Return whether people see the bot type: for ten seconds, or until its next message."""
        number = self.channel(channel).id
        signs = [sign.at for sign in self.typing if sign.channel_id == number]
        said = [message.at for message in self.messages(number)]
        if not signs or self.clock() - signs[-1] >= _TYPING_LASTS:
            return False
        return not said or signs[-1] >= max(said)

    def calls_of(self, *names: str) -> list[Call]:
        """Return the requests of some kinds, in their order."""
        return [call for call in self.calls if call.kind in names]

    async def connected(self, count: int = 1) -> None:
        """Wait until so many sockets are identified and told whatever there was."""
        await self.wait_for(lambda fake: fake.live_sockets == count)
        await self.gap_closed()

    async def gap_closed(self) -> None:
        """Wait until each socket that works has read every event: a heartbeat says so."""
        for socket in self.gateway.live():
            session = socket.session
            if session is None or not socket.works or not socket.prompt():
                continue
            seq = session.seq
            await self.wait_for(
                lambda _fake, one=socket, of=session, until=seq: (  # type: ignore[misc]
                    of.confirmed >= until or not one.works
                )
            )

    # -- what goes wrong with requests ---------------------------------------------------------

    def fail(self, kind: str, *faults: Fault, channel: Channel | int | None = None) -> None:
        """Make the next requests of a kind go wrong, one fault each.

        Kinds are those of `discord_requests.ROUTES`, "cdn" for a download, "socket" for a new
        socket of the gateway, and "*" for any of them.
        """
        number = channel.id if isinstance(channel, Channel) else channel
        self._faults.add(kind, faults, number)

    # -- serving -------------------------------------------------------------------------------

    def _listening_at(self, address: str) -> None:
        self.base_url = f"http://{address}{_API}"
        self.gateway_url = f"ws://{address}/"
        self.cdn_url = f"http://{address}"

    def _handle(self, request: Request) -> Outcome | Coroutine[Any, Any, Outcome]:
        path, _, query = request.target.partition("?")
        if "websocket" in request.headers.get("upgrade", "").lower():
            opened = Upgrade(GatewaySocket(self.gateway, path, dict(parse_qsl(query))))
            call = Call("socket", request.verb, path, self.clock())
            return self._unless_spoilt(call, lambda: opened)
        if path.startswith("/attachments/"):
            return self._download(request, path)
        if not path.startswith(f"{_API}/"):
            return _refused(_NOT_FOUND)
        call = call_of(request, path.removeprefix(_API), self.clock())
        self.calls.append(call)
        # Who waits is woken in a later turn: not before the call has had its effect.
        self.changed()
        if (refusal := self._unfit(call, request)) is not None:
            return self._failed(call, refusal)
        return self._unless_spoilt(call, lambda: self._answer(call))

    def _unless_spoilt(
        self, call: Call, do: Callable[[], Outcome]
    ) -> Outcome | Coroutine[Any, Any, Outcome]:
        fault = self._faults.take(call.kind, call.channel_id)
        return self.between(call, do if fault is None else lambda: self._spoilt(call, fault, do))

    def _unfit(self, call: Call, request: Request) -> Refusal | None:
        """Return why a request is not even looked at."""
        if not call.kind:
            return _WRONG_METHOD if known_path(call.path) else _NOT_FOUND
        given = request.headers.get("authorization", "")
        known = given.startswith("Bot ") and self.allowed(given)
        if not known and (given or call.kind not in WITHOUT_TOKEN):
            return _UNAUTHORIZED
        try:
            read_body(call, request)
        except Refusal as refusal:
            return refusal
        return None

    def _answer(self, call: Call) -> Outcome:
        headers = ""
        if self._limits is not None:
            found = self._limits.charge(call.kind, call.major, self.clock())
            if isinstance(found, Exceeded):
                self.too_many += 1
                return self._too_early(call, found)
            headers = self._rate_lines(found)
        try:
            result = getattr(self._requests, f"on_{call.kind}")(call)
        except Refusal as refusal:
            return self._failed(call, refusal, headers)
        call.ok = True
        call.status = 204 if result is None else 200
        self.changed()
        if result is None:
            return Answer(b"", 204, "text/html; charset=utf-8", headers)
        return Answer(orjson.dumps(result), headers=headers)

    def _failed(self, call: Call, refusal: Refusal, headers: str = "") -> Answer:
        call.status, call.error_code = refusal.status, refusal.code
        call.description = refusal.message
        self.changed()
        return _refused(refusal, headers)

    def _rate_lines(self, bucket: Bucket) -> str:
        if not self._rate_headers:
            return ""
        return bucket.headers(self.clock(), self.world.unix())

    def _too_early(self, call: Call, found: Exceeded) -> Answer:
        scope = "global" if found.everywhere else "user"
        lines = self._rate_lines(found.bucket) + f"x-ratelimit-scope: {scope}\r\n"
        if found.everywhere:
            lines += "x-ratelimit-global: true\r\n"
        return self._wait_for(call, found.seconds, found.everywhere, lines)

    def _wait_for(self, call: Call, seconds: float, everywhere: bool, lines: str) -> Answer:
        call.status, call.description = 429, "You are being rate limited."
        self.changed()
        body: JsonObject = {
            "message": "You are being rate limited.",
            "retry_after": round(seconds, 3),
            "global": everywhere,
        }
        lines = f"{_VIA}retry-after: {int(seconds) + 1}\r\n{lines}"
        return Answer(orjson.dumps(body), 429, headers=lines)

    async def _spoilt(self, call: Call, fault: Fault, do: Callable[[], Outcome]) -> Outcome:
        match fault:
            case RateLimited():
                return self._limited(call, fault)
            case Refuse():
                return self._failed(
                    call, Refusal(fault.status, fault.code, fault.message, fault.errors)
                )
            case ServerError():
                call.status, call.description = fault.code, "a server error"
                self.changed()
            case Reset():
                call.description = "hung up before anything was done"
        return await suffer(fault, do)

    def _limited(self, call: Call, fault: RateLimited) -> Answer:
        if fault.cloudflare:
            call.status, call.description = 429, "banned"
            self.changed()
            return Answer(b"error code: 1015", 429, "text/plain")
        lines = f"x-ratelimit-scope: {'global' if fault.everywhere else 'user'}\r\n"
        return self._wait_for(call, fault.seconds, fault.everywhere, lines)

    def _download(self, request: Request, path: str) -> Outcome | Coroutine[Any, Any, Outcome]:
        call = Call("cdn", request.verb, path, self.clock())
        self.calls.append(call)
        self.changed()
        number = path.split("/")[2]
        file = self.world.files.get(int(number)) if number.isdecimal() else None
        if file is None:
            call.status = 404
            return Answer(b"This content is no longer available.", 404, "text/plain")
        return self._unless_spoilt(call, lambda: self._sent(call, file))

    def _sent(self, call: Call, file: File) -> Outcome:
        call.ok, call.status = file.status == 200, file.status
        kind = file.content_type or "application/octet-stream"
        if file.status != 200:
            return Answer(b"", file.status, "text/plain")
        lines = f"content-encoding: {file.encoding}\r\n" if file.encoding is not None else ""
        return Stream(_pieces(file), file.length, kind, lines)


async def _pieces(file: File) -> AsyncIterator[bytes]:
    for piece in file.pieces() if file.pieces is not None else iter((file.data,)):
        yield piece
        await asyncio.sleep(file.seconds_between)


def _refused(refusal: Refusal, headers: str = "") -> Answer:
    return Answer(orjson.dumps(refusal.as_json()), refusal.status, headers=headers)


if __name__ == "__main__":
    # Above it would be imported in a circle.
    from tests.fakes.discord.console import main

    asyncio.run(main())
