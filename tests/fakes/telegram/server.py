"""A Bot API server that speaks HTTP/1.1 on a real socket, with people who talk to the bot.

It refuses what Telegram refuses, keeps updates until they are confirmed, and can be told to
fail. It stands in for api.telegram.org in tests, in benchmarks and in drills by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Final, Self

import orjson

from tests.fakes.telegram.faults import (
    Fault,
    Faults,
    Hang,
    LostAnswer,
    Refuse,
    Reset,
    RetryAfter,
    ServerError,
    Slow,
)
from tests.fakes.telegram.http import (
    Answer,
    Connection,
    JsonObject,
    Outcome,
    Request,
    UnreadableRequest,
    params_of,
)
from tests.fakes.telegram.methods import Action, Call, Method, Methods
from tests.fakes.telegram.people import People
from tests.fakes.telegram.rules import Limits, Refusal, bad_request, too_many
from tests.fakes.telegram.updates import MOST, WEBHOOK_SET
from tests.fakes.telegram.webhook import Deliveries
from tests.fakes.telegram.world import Draft, Message, User

_LONGEST_POLL: Final = 50
_BOT_ID: Final = 123456
_LINE: Final = re.compile(r"\s*(-?\d+)\s+([^:]+?)\s*:\s*(.*?)\s*")


class FakeTelegram(People):
    """Serve the Bot API for one bot on 127.0.0.1 while the context is open.

    `calls` has every request of the bot, `messages` what it said, `polls` how many getUpdates
    are under way. With `cut_off` it hangs up on whoever asks anything. With `limits`, more than
    Telegram allows is answered with 429 and counted in `too_many`. With `unknown_methods_true`
    it is a sloppy server of someone else: true to every unknown method, few fields in getMe.
    `clock` gives seconds; limits, drafts and dates go by it, long polls by the event loop. An
    exception of the fake itself is raised when the context ends.
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
    ) -> None:
        number = token.partition(":")[0]
        bot_id = int(number) if number.isdigit() else _BOT_ID
        super().__init__(
            User(bot_id, "Tapeway", username, is_bot=True), clock, can_read_all_group_messages
        )
        self.token = token
        self.calls: list[Call] = []
        self.base_url = ""
        self.base_file_url = ""
        self._port = port
        self._unknown_true = unknown_methods_true
        self._methods = Methods(self, Limits() if limits else None, few_fields=unknown_methods_true)
        self._faults = Faults()
        self._revoked = False
        self._silent: asyncio.Event | None = None
        self.cut_off = False
        self.polls = 0
        self._pulse = asyncio.Event()
        self._connections: set[Connection] = set()
        self._crashes: list[BaseException] = []
        self._server: asyncio.Server | None = None
        self._deliveries = Deliveries(self.updates, lambda: self._methods.webhook, clock=self._unix)
        self.updates.added = self._deliveries.wake

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._handle, self._connections, self._crashes.append),
            "127.0.0.1",
            self._port,
        )
        self._port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self._port}/bot"
        self.base_file_url = f"http://127.0.0.1:{self._port}/file/bot"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        await self._deliveries.close()
        open_now = list(self._connections)
        for connection in open_now:
            connection.hang_up()
        await asyncio.gather(*(connection.closed.wait() for connection in open_now))
        # The tasks of those need one turn more to end.
        await asyncio.sleep(0)
        if self._crashes and error is None:
            raise self._crashes[0]
        for crash in self._crashes:
            assert error is not None
            error.add_note(f"The fake Telegram had failed: {crash!r}")

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

    def calls_of(self, method: str) -> list[Call]:
        """Return the calls of one method, in their order."""
        wanted = method.lower()
        return [call for call in self.calls if call.method.lower() == wanted]

    async def wait_for(self, predicate: Callable[[FakeTelegram], bool]) -> None:
        """Wait until something is so; it is asked again after every change."""
        while not predicate(self):
            await self._pulse.wait()

    async def wait_for_call(self, number: int) -> Call:
        """Wait for the call of a number, the first being 0, and return it."""
        await self.wait_for(lambda fake: len(fake.calls) > number)
        return self.calls[number]

    async def wait_for_calls(self, method: str, count: int) -> list[Call]:
        """Wait until a method was called so often in all, answered or not; return the calls."""
        await self.wait_for(lambda fake: len(fake.calls_of(method)) >= count)
        return self.calls_of(method)

    async def deliver_webhook(self) -> int:
        """Try once to deliver every waiting update to the webhook; return how many were taken."""
        return await self._deliveries.once()

    def changed(self) -> None:
        """Wake whoever waits for a change."""
        pulse, self._pulse = self._pulse, asyncio.Event()
        pulse.set()

    # -- what goes wrong -----------------------------------------------------------------------

    def fail(self, method: str, *faults: Fault) -> None:
        """Let the next calls of a method go wrong, one fault each; "*" is any method."""
        self._faults.add(method, faults)

    @property
    def faults_left(self) -> list[Fault]:
        """Return what was to go wrong and has not."""
        return self._faults.left()

    @property
    def token_revoked(self) -> bool:
        """Tell whether every call is answered with 401; settable."""
        return self._revoked

    @token_revoked.setter
    def token_revoked(self, revoked: bool) -> None:
        self._revoked = revoked
        if revoked:
            self.updates.end_poll(_UNAUTHORIZED)

    def half_open(self) -> None:
        """Let every connection of now stay open while nothing comes through it."""
        for connection in self._connections:
            connection.mute()

    @property
    def open_connections(self) -> int:
        """Return how many connections are open."""
        return len(self._connections)

    def drop_connections(self) -> None:
        """Break every connection."""
        for connection in list(self._connections):
            connection.hang_up()

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

    def _handle(self, request: Request) -> Outcome | Coroutine[Any, Any, Outcome]:
        if self.cut_off:
            return None
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
        return self._answer(call) if fault is None else self._spoilt(call, fault)

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
                return Answer(fault.body, fault.code, "text/html")
            case Reset():
                call.description = "hung up before anything was done"
                return None
            case LostAnswer():
                await self._waited(call)
                return None
            case Slow():
                await asyncio.sleep(fault.seconds)
                return await self._waited(call)
            case Hang():
                return await self._hung(call, fault)

    async def _hung(self, call: Call, fault: Hang) -> Outcome:
        if not fault.done_first:
            await fault.released.wait()
            return await self._waited(call)
        answer = await self._waited(call)
        await fault.released.wait()
        return answer

    async def _waited(self, call: Call) -> Outcome:
        outcome = self._answer(call)
        if outcome is None or isinstance(outcome, Answer):
            return outcome
        return await outcome

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
    body: JsonObject = {
        "ok": False,
        "error_code": refusal.code,
        "description": refusal.description,
    }
    if refusal.parameters:
        body["parameters"] = refusal.parameters
    return Answer(orjson.dumps(body), refusal.code)


def _number(params: JsonObject, name: str, default: int) -> int:
    value = params.get(name, default)
    return int(value) if isinstance(value, int | float) else default


def act(fake: FakeTelegram, line: str) -> bool:
    """Do what a line `CHAT_ID USER_NAME: text` says; False when it is not of that form.

    A positive id is the private chat with that user, another one a group.
    """
    found = _LINE.fullmatch(line)
    if found is None or not found[3]:
        return False
    chat_id, name, text = int(found[1]), found[2], found[3]
    if chat_id > 0:
        user = fake.world.users.get(chat_id) or fake.user(chat_id, name)
        fake.say(fake.private_chat(user), user, text)
        return True
    if chat_id not in fake.world.chats:
        fake.group(chat_id, kind="supergroup" if chat_id < -1_000_000_000_000 else "group")
    known = (user for user in fake.world.users.values() if user.first_name == name)
    user = next(known, None) or fake.user(1000 + len(fake.world.users), name)
    fake.say(chat_id, user, text)
    return True


def shown(call: Call) -> str:
    """Return a line on a call, "" for one that nobody in a chat would notice."""
    if call.method.lower().startswith("get") or "chat_id" not in call.params:
        return ""
    place = str(call.params["chat_id"]) + (f" #{call.message_id}" if call.message_id else "")
    said = f": {call.params['text']}" if "text" in call.params else ""
    refused = f" [{call.error_code} {call.description}]" if call.error_code else ""
    return f"{call.method} {place}{said}{refused}"


async def _show(fake: FakeTelegram) -> None:
    position = 0
    while True:
        await fake.wait_for_call(position)
        for call in fake.calls[position:]:
            position += 1
            if line := shown(call):
                print(line, flush=True)


def _listen(fake: FakeTelegram, loop: asyncio.AbstractEventLoop) -> None:
    """Act on the lines of standard input, from a thread: not every input can be waited for."""
    for line in sys.stdin:
        if line.strip():
            loop.call_soon_threadsafe(_obey, fake, line)


def _obey(fake: FakeTelegram, line: str) -> None:
    if not act(fake, line):
        print("Write: CHAT_ID USER_NAME: text", flush=True)


async def _main() -> None:
    """Serve until interrupted, for drills by hand."""
    parser = argparse.ArgumentParser(description="A Telegram to try a bot on.")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--token", default="123456:test-token")
    parser.add_argument("--no-limits", action="store_true", help="never answer with 429")
    parser.add_argument("--privacy", action="store_true", help="hide what is not for the bot")
    options = parser.parse_args()
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with FakeTelegram(
        token=options.token,
        port=options.port,
        limits=not options.no_limits,
        can_read_all_group_messages=not options.privacy,
    ) as fake:
        print(f"base_url {fake.base_url}\nbase_file_url {fake.base_file_url}", flush=True)
        threading.Thread(target=_listen, args=(fake, loop), daemon=True).start()
        showing = asyncio.create_task(_show(fake))
        await stop.wait()
        showing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await showing


if __name__ == "__main__":
    asyncio.run(_main())
