"""A Slack that speaks HTTP/1.1 and WebSocket on a real socket, with people who talk to the app.

It refuses what Slack refuses, delivers again what was not acknowledged, and can be told to fail.
It stands in for slack.com in tests and in drills by hand. What can be turned, beside the methods:

    deliveries.hold, release    events come later, in another order
    events.first_twin, .twin_delay   which event of a mention comes first, and how long before
    events.twice                so many of the next come over two sockets at once
    events.again                a delivery comes once more, as itself or as another
    events.scopes, .subscribed  what the app's manifest names
    sockets.acks_to_lose        so many acknowledgements are overlooked
    sockets.others              somebody else connects with the same token
    sockets.most, opens_left    how many connections there may be, and how many more are given
    chat.edit_window            how long messages can be changed
    http.age, .signing_secret   how old requests are, and with what they are signed
    tokens.oauth_codes, .app_scopes  codes for installing the app, and what its own token may
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from tests.fakes.base.connection import Outcome
from tests.fakes.base.faults import ServerError, suffer
from tests.fakes.base.http import Answer, JsonObject, Request
from tests.fakes.base.params import UnreadableRequest
from tests.fakes.base.server import FakeServer
from tests.fakes.slack.chat import Chat, Ephemeral, Method, Status
from tests.fakes.slack.deliveries import Delivery
from tests.fakes.slack.faults import Fault, RateLimited, Refuse
from tests.fakes.slack.http_events import HttpEvents
from tests.fakes.slack.limits import Limits
from tests.fakes.slack.params import params_of
from tests.fakes.slack.people import People
from tests.fakes.slack.reads import Reads
from tests.fakes.slack.rules import Asked, Refusal, TooFast, scope_refusal
from tests.fakes.slack.sockets import Reason, Sockets
from tests.fakes.slack.text import pings
from tests.fakes.slack.tokens import Tokens
from tests.fakes.slack.world import APP_ID, STATUS_SECONDS, Channel, Message

_STREAMS: Final = frozenset({"chat.startStream", "chat.appendStream", "chat.stopStream"})
_LOGIN: Final = b"<!DOCTYPE html><html><head><title>Sign in | Slack</title></head></html>"
_KIND: Final = "application/json; charset=utf-8"


@dataclass(slots=True)
class Call:
    """Hold one API request, in the order they came.

    `error` is "" when it went well, and when the fake hung up or has not answered yet; `ok` tells
    whether it had its effect. `ts` is the message written or changed. Tokens are left out.
    """

    method: str
    params: JsonObject
    at: float
    ok: bool = False
    error: str = ""
    ts: str | None = None
    team_id: str = ""

    @property
    def channel(self) -> str | None:
        """Return the channel that it is about."""
        found = self.params.get("channel") or self.params.get("channel_id")
        return str(found) if found else None


class FakeSlack(FakeServer[Call, Fault], People):
    """Serve Slack for one app.

    `messages` has what the app said, `pinged` whom it alerted. `sockets` are its Socket Mode
    connections; after `events_at` what happens goes to an address instead. With `limits`, more
    than Slack allows is answered with 429 and counted in `too_many`. `unknown_methods` are those
    that this server does not have; without `streams` it has no streams. `clock` gives seconds and
    `sleep` waits for them: limits, dates, streams, acknowledgements and retries go by them.
    """

    def __init__(
        self,
        *,
        bot_token: str = "xoxb-1-2-test-bot-token",
        app_token: str = "xapp-1-A0TAPEWAY0-1-test-app-token",
        signing_secret: str = "8f742231b10e8888abcd99yyyzzz85a5",
        client_id: str = "1.2",
        client_secret: str = "test-client-secret",
        port: int = 0,
        limits: bool = False,
        streams: bool = True,
        seed: int = 1,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        FakeServer.__init__(self, port)
        People.__init__(self, clock, sleep, token=bot_token, seed=seed)
        self.bot_token = bot_token
        self.app_token = app_token
        self.signing_secret = signing_secret
        self.tokens = Tokens(self.world, app_token, client_id, client_secret)
        self.too_many = 0
        self.unknown_methods: set[str] = set() if streams else set(_STREAMS)
        self.opens_left: int | None = None
        self.sockets = Sockets(self.deliveries, seed, self._changed)
        self.http = HttpEvents(self.deliveries, signing_secret)
        self.deliveries.send = self.sockets.send
        self.deliveries.answered = self._answered
        self.chat = Chat(self)
        self._methods: Mapping[str, Method] = {**self.chat.methods(), **Reads(self).methods()}
        self._limits = Limits(clock) if limits else None
        self.deliveries.crashed = self._crashes.append

    # -- what the app did ----------------------------------------------------------------------

    def messages(self, channel_id: str) -> list[Message]:
        """Return the bot's messages that can be seen in a channel, the oldest first."""
        channel = self.world.channels.get(channel_id)
        return [it for it in channel.messages.values() if it.mine] if channel is not None else []

    def text_of(self, channel_id: str) -> str:
        """Return what the bot says in a channel, a line break between two messages."""
        return "\n".join(message.text for message in self.messages(channel_id))

    def pinged(self, channel_id: str) -> list[str]:
        """Return whom the bot's messages in a channel alert, as marks like `<!here>`."""
        unseen = [it.message for it in self.ephemerals if it.channel_id == channel_id]
        return [mark for it in (*self.messages(channel_id), *unseen) for mark in pings(it)]

    @property
    def ephemerals(self) -> list[Ephemeral]:
        """Return the messages that only one person saw."""
        return self.chat.ephemerals

    @property
    def statuses(self) -> list[Status]:
        """Return every status that was set, in their order."""
        return self.chat.statuses

    def status(self, channel_id: str, thread_ts: str) -> str:
        """Return the status that can be seen in a thread now, "" for none."""
        text, since = self.world.channels[channel_id].statuses.get(thread_ts, ("", 0.0))
        return text if self.clock() - since < STATUS_SECONDS else ""

    def calls_of(self, *names: str) -> list[Call]:
        """Return the calls of some methods, in their order."""
        return [call for call in self.calls if call.method in names]

    async def connected(self, count: int = 1) -> None:
        """Wait until the app has so many sockets."""
        await self.wait_for(lambda fake: len(fake.sockets.live) == count)

    # -- what goes wrong -----------------------------------------------------------------------

    def fail(self, method: str, *faults: Fault, channel: str | None = None) -> None:
        """Make the next calls of a method go wrong, one fault each.

        "*" is any method, `a|b` whichever of several is called first.
        """
        self._faults.add(method, faults, channel)

    @property
    def token_revoked(self) -> bool:
        """Return whether every call is refused as of a revoked token; settable."""
        return bool(self.tokens.app_refused)

    @token_revoked.setter
    def token_revoked(self, revoked: bool) -> None:
        self.tokens.app_refused = "token_revoked" if revoked else ""
        for place in self.world.workspaces.values():
            place.refused = self.tokens.app_refused
        if revoked:
            self.refresh("link_disabled", close=True)

    def silence(self, silent: bool = True) -> None:
        """Deliver nothing: sockets, new ones too, answer pings only, until it is ended.

        The sockets of the time stay deaf: Slack takes them for good ones.
        """
        self.sockets.deaf = silent
        if silent:
            self.zombie()

    def zombie(self) -> None:
        """Make the current sockets answer pings and deliver nothing."""
        for socket in self.sockets.live:
            socket.deaf = True

    def refresh(self, reason: Reason = "refresh_requested", *, close: bool = False) -> None:
        """Ask the app to leave its sockets of now and connect again."""
        for socket in list(self.sockets.live):
            socket.disconnect(reason, close=close)

    def events_at(self, url: str) -> None:
        """Deliver over HTTP to an address of the app's from now on."""
        self.http.url = url
        self.deliveries.send, self.deliveries.unsent = self.http.send, self.http.unsent
        self.deliveries.timeout_reason = "http_timeout"

    # -- serving -------------------------------------------------------------------------------

    def _listening_at(self, address: str) -> None:
        self.base = f"http://{address}"
        self.base_url = f"{self.base}/api/"

    async def _stop(self) -> None:
        await self.deliveries.close()
        await self.http.close()

    def _handle(self, request: Request) -> Outcome | Coroutine[Any, Any, Outcome]:
        path = request.target.partition("?")[0]
        if path.startswith("/api/"):
            return self._api(path.removeprefix("/api/"), request)
        if path == "/link":
            return self.sockets.answer(request)
        if path.startswith("/files-pri/"):
            return self._download(path, request)
        if path.startswith("/commands/"):
            return self._respond(path, request)
        return Answer(_LOGIN, 200, "text/html; charset=utf-8")

    def _api(self, name: str, request: Request) -> Outcome | Coroutine[Any, Any, Outcome]:
        call = Call(name, {}, self.clock())
        self.calls.append(call)
        # Who waits is woken in a later turn: not before the call has had its effect.
        self.changed()
        try:
            call.params = params_of(request)
        except UnreadableRequest as error:
            return self._failed(call, Refusal(str(error)))
        given = call.params.pop("token", None)
        head = request.headers.get("authorization", "")
        token = head.removeprefix("Bearer ") if head.startswith("Bearer ") else given
        fault = self._faults.take(name, call.channel)
        if fault is None:
            return self.between(call, lambda: self._answer(call, token, head))
        return self.between(call, lambda: self._spoilt(call, token, head, fault))

    def _answer(self, call: Call, token: str | None, head: str) -> Outcome:
        """Do what is asked."""
        try:
            result = self._result(call, token, head)
        except Refusal as refusal:
            return self._failed(call, refusal)
        call.ok, call.ts = True, result.get("ts")
        self.changed()
        named = f"x-oauth-scopes: {','.join(sorted(self._scopes_of(call)))}\r\n"
        return Answer(orjson.dumps({"ok": True} | result), 200, _KIND, named)

    def _scopes_of(self, call: Call) -> set[str]:
        is_app = call.method == "apps.connections.open"
        return self.tokens.app_scopes if is_app else self.events.scopes

    def _result(self, call: Call, token: str | None, head: str) -> JsonObject:
        if call.method in self.unknown_methods:
            raise Refusal("unknown_method", req_method=call.method)
        if call.method == "oauth.v2.access":
            return self.tokens.install(call.params, head, self.events.scopes)
        if call.method == "apps.connections.open":
            self.tokens.check_app_token(token)
            self._charge(call, APP_ID)
            return self._connection()
        method = self._methods.get(call.method)
        if method is None:
            raise Refusal("unknown_method", req_method=call.method)
        place = self.tokens.workspace(token)
        call.team_id = place.team_id
        channel = place.channels.get(call.channel or "")
        refused = scope_refusal(call.method, channel, self.events.scopes)
        if refused is not None:
            raise refused
        self._charge(call, place.team_id)
        return method(Asked(place, call.params))

    def _charge(self, call: Call, team: str) -> None:
        if self._limits is None:
            return
        try:
            self._limits.charge(call.method, team, call.params.get("channel"))
        except TooFast:
            self.too_many += 1
            raise

    def _connection(self) -> JsonObject:
        if self.opens_left is not None:
            if self.opens_left <= 0:
                raise TooFast(30)
            self.opens_left -= 1
        address = self.base.replace("http", "ws", 1)
        return {"url": f"{address}/link?ticket={self.sockets.ticket()}&app_id={APP_ID}"}

    def _failed(self, call: Call, refusal: Refusal) -> Answer:
        call.error = refusal.error
        self.changed()
        body = orjson.dumps({"ok": False, "error": refusal.error} | refusal.more)
        if isinstance(refusal, TooFast):
            return Answer(body, 429, _KIND, f"retry-after: {refusal.seconds}\r\n")
        return Answer(body, 200, _KIND)

    async def _spoilt(self, call: Call, token: str | None, head: str, fault: Fault) -> Outcome:
        match fault:
            case RateLimited():
                return self._failed(call, TooFast(fault.seconds))
            case Refuse():
                return self._failed(call, Refusal(fault.error, **fault.more))
            case ServerError():
                call.error = f"http_{fault.code}"
                self.changed()
        return await suffer(fault, lambda: self._answer(call, token, head))

    def _download(self, path: str, request: Request) -> Answer:
        """Give a file to whoever has the token; others are sent to a page to sign in."""
        team, _, file_id = path.split("/")[2].partition("-")
        head = request.headers.get("authorization", "")
        place = self.world.workspaces.get(team)
        file = self.world.files.get(file_id)
        known = place is not None and head == f"Bearer {place.bot_token}" and not place.refused
        if not known or "files:read" not in self.events.scopes:
            away = f"location: {self.base}/?redir={path}\r\n"
            return Answer(b"", 302, "text/html; charset=utf-8", away)
        if file is None:
            return Answer(b"", 404, "text/html; charset=utf-8")
        return Answer(file.data, 200, file.mimetype)

    def _respond(self, path: str, request: Request) -> Answer:
        """Take an answer to a command or a button."""
        channel_id, user = path.split("/")[2:4]
        self._say_back(self.find(channel_id), user, orjson.loads(request.body))
        return Answer(b"ok", 200, "text/html")

    def _answered(self, delivery: Delivery) -> None:
        """Show what came with the acknowledgement of a command."""
        said = delivery.answer
        if delivery.kind == "slash_commands" and said:
            body = said if isinstance(said, dict) else {"text": str(said)}
            self._say_back(self.find(delivery.channel), delivery.payload["user_id"], body)

    def _say_back(self, channel: Channel, user: str, body: JsonObject) -> None:
        json: JsonObject = {"text": str(body.get("text", "")), "blocks": body.get("blocks", [])}
        if body.get("response_type") == "in_channel":
            self.tell(channel, self.post(channel, json, None))
            return
        ts = self.world.new_ts(channel, self.unix())
        message = Message(ts, channel.id, True, {"ts": ts} | json)
        self.ephemerals.append(Ephemeral(channel.id, user, message.text, ts, message))
        self.changed()


if __name__ == "__main__":
    # Above it would be imported in a circle.
    from tests.fakes.slack.console import main

    asyncio.run(main())
