"""A Bot API server that speaks HTTP/1.1 on a real socket, with people who talk to the bot.

It refuses what Telegram refuses, keeps updates until they are confirmed, and can be told to
fail. It stands in for api.telegram.org in tests, in benchmarks and in drills by hand.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

import orjson

from tests.fakes.base.connection import Outcome
from tests.fakes.base.faults import Reset, ServerError, suffer
from tests.fakes.base.http import Answer, JsonObject, Request
from tests.fakes.base.params import UnreadableRequest, params_of
from tests.fakes.base.server import FakeServer
from tests.fakes.telegram.calls import Action, Call
from tests.fakes.telegram.faults import Fault, Refuse, RetryAfter
from tests.fakes.telegram.methods import Method, Methods
from tests.fakes.telegram.people import People
from tests.fakes.telegram.rules import Limits, Refusal, bad_request, too_many
from tests.fakes.telegram.updates import MOST, WEBHOOK_SET
from tests.fakes.telegram.webhook import Deliveries
from tests.fakes.telegram.world import Draft, Message, Press, User

_LONGEST_POLL: Final = 50
_BOT_ID: Final = 123456


class FakeTelegram(FakeServer[Call, Fault], People):
    """Serve the Bot API for one bot.

    `messages` has what the bot said, `polls` how many getUpdates are under way. With `limits`,
    more than Telegram allows is answered with 429 and counted in `too_many`. With
    `unknown_methods_true` it is a sloppy server of someone else: true to every unknown method, few
    fields in getMe; it is older than rich messages, as one without `knows_rich` is. `clock` gives
    seconds; limits, drafts and dates go by it, long polls by the event loop.
    """

    def __init__(
        self,
        *,
        token: str = "123456:test-token",
        username: str = "tapeway_bot",
        port: int = 0,
        limits: bool = False,
        clock: Callable[[], float] = time.monotonic,
        can_read_all_group_messages: bool = True,
        unknown_methods_true: bool = False,
        knows_rich: bool = True,
    ) -> None:
        number = token.partition(":")[0]
        bot_id = int(number) if number.isdigit() else _BOT_ID
        FakeServer.__init__(self, port)
        bot = User(bot_id, "Tapeway", username, is_bot=True)
        People.__init__(self, bot, clock, can_read_all_group_messages)
        self.token = token
        self.base_file_url = ""
        self._unknown_true = unknown_methods_true
        self._methods = Methods(
            self,
            Limits() if limits else None,
            few_fields=unknown_methods_true,
            knows_rich=knows_rich and not unknown_methods_true,
        )
        self._revoked = False
        self._silent: asyncio.Event | None = None
        self.polls = 0
        self._deliveries = Deliveries(self.updates, lambda: self._methods.webhook, clock=self._unix)
        self.updates.added = self._deliveries.wake

    async def connected(self) -> None:
        """Wait until the bot has asked for updates."""
        await self.wait_for_calls("getUpdates", 1)

    # -- what the bot did --------------------------------------------------------------------

    @property
    def bot(self) -> JsonObject:
        """Return the bot's User object."""
        return self.world.bot.as_json()

    @property
    def too_many(self) -> int:
        """Return how many calls the limits refused."""
        return self._methods.too_many

    @property
    def typing(self) -> list[Action]:
        """Return the chat actions, in their order."""
        return self._methods.actions

    @property
    def drafts(self) -> dict[tuple[int, int], str]:
        """Return the texts of the drafts that can be seen now, by chat id and draft id."""
        return {key: draft.text for key, draft in self._methods.current_drafts().items()}

    @property
    def draft_history(self) -> list[Draft]:
        """Return every state of every draft."""
        return self.world.draft_history

    @property
    def commands(self) -> list[JsonObject]:
        """Return the commands of the default scope."""
        return self._methods.on_get_my_commands({}, Call("getMyCommands", {}, 0.0))

    @property
    def reactions(self) -> dict[tuple[int, int], list[JsonObject]]:
        """Return the bot's reactions, by chat id and message id."""
        return self._methods.reactions

    @property
    def presses(self) -> list[Press]:
        """Return the presses of buttons, in their order."""
        return list(self.world.presses.values())

    @property
    def webhook_url(self) -> str:
        """Return the address of the webhook, "" without one."""
        return self._methods.webhook.url

    def messages(self, chat_id: int) -> list[Message]:
        """Return the bot's messages that can be seen in a chat, in their order."""
        chat = self.world.chats.get(chat_id)
        return [it for it in chat.messages.values() if it.mine] if chat is not None else []

    def text_of(self, chat_id: int) -> str:
        """Return what the bot says in a chat, a line break between two messages."""
        return "\n".join(message.text for message in self.messages(chat_id))

    def calls_of(self, *names: str) -> list[Call]:
        """Return the calls of some methods, in their order."""
        wanted = {name.lower() for name in names}
        return [call for call in self.calls if call.method.lower() in wanted]

    async def deliver_webhook(self) -> int:
        """Try once to deliver every waiting update to the webhook; return how many were taken."""
        return await self._deliveries.once()

    # -- what goes wrong -----------------------------------------------------------------------

    def fail(self, method: str, *faults: Fault) -> None:
        """Make the next calls of a method go wrong, one fault each; "*" is any method."""
        for fault in faults:
            chat_id = fault.chat_id if isinstance(fault, RetryAfter) else None
            self._faults.add(method.lower(), [fault], chat_id)

    @property
    def token_revoked(self) -> bool:
        """Return whether every call is answered with 401; settable."""
        return self._revoked

    @token_revoked.setter
    def token_revoked(self, revoked: bool) -> None:
        self._revoked = revoked
        if revoked:
            self.updates.end_poll(_UNAUTHORIZED)

    def silence(self, silent: bool = True) -> None:
        """Answer no getUpdates, neither those that wait nor new ones, until it is ended."""
        if silent:
            self._silent = asyncio.Event()
        elif self._silent is not None:
            self._silent.set()
            self._silent = None

    # -- serving -------------------------------------------------------------------------------

    def _unix(self) -> int:
        return self.now

    def _listening_at(self, address: str) -> None:
        self.base_url = f"http://{address}/bot"
        self.base_file_url = f"http://{address}/file/bot"

    async def _stop(self) -> None:
        await self._deliveries.close()

    def _handle(self, request: Request) -> Outcome | Coroutine[Any, Any, Outcome]:
        path = request.target.partition("?")[0].replace("%3A", ":")
        if path.startswith("/file/bot"):
            return self._download(path.removeprefix("/file/bot"))
        token, slash, name = path.removeprefix("/bot").partition("/")
        if not path.startswith("/bot") or not slash:
            return _refused(_NOT_FOUND)
        call = Call(name, {}, self.clock())
        self.calls.append(call)
        # Who waits is woken in a later turn: not before the call has had its effect.
        self.changed()
        try:
            call.params = params_of(request)
        except UnreadableRequest as error:
            return self._failed(call, bad_request(str(error)))
        if token != self.token or self._revoked:
            return self._failed(call, _UNAUTHORIZED)
        fault = self._faults.take(name.lower(), call.params.get("chat_id"))
        if fault is None:
            return self.between(call, lambda: self._answer(call))
        return self.between(call, lambda: self._spoilt(call, fault))

    def _answer(self, call: Call) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Do what is asked; only what must wait returns a coroutine."""
        if call.method.lower() == "getupdates":
            return self._get_updates(call)
        method = self._methods.named.get(call.method.lower(), self._unknown)
        return self._applied(call, method)

    def _applied(self, call: Call, method: Method) -> Answer:
        try:
            result = method(call.params, call)
        except Refusal as refusal:
            return self._failed(call, refusal)
        call.ok = True
        self.changed()
        return Answer(b'{"ok":true,"result":%b}' % orjson.dumps(result))

    def _failed(self, call: Call, refusal: Refusal) -> Answer:
        call.error_code, call.description = refusal.code, refusal.description
        self.changed()
        return _refused(refusal)

    def _unknown(self, _params: JsonObject, _call: Call) -> bool:
        if not self._unknown_true:
            raise Refusal(404, "Not Found: method not found")
        return True

    async def _get_updates(self, call: Call) -> Answer:
        params = call.params
        self.polls += 1
        try:
            if self._methods.webhook.url:
                raise Refusal(409, WEBHOOK_SET)
            self._methods.note_allowed(params)
            offset = _number(params, "offset", 0)
            if offset:
                self.updates.confirm(offset)
                self.changed()
            limit = min(max(_number(params, "limit", MOST), 1), MOST)
            timeout = min(max(_number(params, "timeout", 0), 0), _LONGEST_POLL)
            batch = await self.updates.poll(limit, timeout)
            if self._silent is not None:
                await self._silent.wait()
        except Refusal as refusal:
            return self._failed(call, refusal)
        finally:
            self.polls -= 1
            self.changed()
        call.ok = True
        return Answer(b'{"ok":true,"result":%b}' % batch)

    async def _spoilt(self, call: Call, fault: Fault) -> Outcome:
        match fault:
            case RetryAfter():
                return self._failed(call, too_many(fault.seconds))
            case Refuse():
                refusal = Refusal(fault.code, fault.description, fault.parameters)
                return self._failed(call, refusal)
            case ServerError():
                call.error_code, call.description = fault.code, "a server error"
                self.changed()
            case Reset():
                call.description = "hung up before anything was done"
        return await suffer(fault, lambda: self._answer(call))

    def _download(self, place: str) -> Answer:
        token, _, path = place.partition("/")
        files = self.world.files.values()
        file = next((file for file in files if file.path == path), None)
        if token != self.token or self._revoked:
            return _refused(_UNAUTHORIZED)
        if file is None:
            return _refused(_NOT_FOUND)
        return Answer(file.data, kind="application/octet-stream")


_UNAUTHORIZED: Final = Refusal(401, "Unauthorized")
_NOT_FOUND: Final = Refusal(404, "Not Found")


def _refused(refusal: Refusal) -> Answer:
    body: JsonObject = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    if refusal.parameters:
        body["parameters"] = refusal.parameters
    return Answer(orjson.dumps(body), refusal.code)


def _number(params: JsonObject, name: str, default: int) -> int:
    value = params.get(name, default)
    return int(value) if isinstance(value, int | float) else default


if __name__ == "__main__":
    # Above it would be imported in a circle.
    from tests.fakes.telegram.console import main

    asyncio.run(main())
