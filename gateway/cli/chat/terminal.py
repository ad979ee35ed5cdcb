"""Hold a conversation in a terminal, or send a single message."""

from __future__ import annotations

import getpass
import re
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, cast
from uuid import uuid4

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory
from prompt_toolkit.patch_stdout import patch_stdout

from agent.tools import BUILTIN_TOOLS
from channels.cli.outbound import Printer
from channels.room.hub import Json
from channels.room.routes import RoomPerson
from gateway.cli.chat.chat_client import ChatClient, open_chat
from gateway.errors import GatewayError
from gateway.scheduling.commands import OWN
from gateway.settings import Settings

COMMANDS: Final = tuple(f",{name}" for name in (*OWN, *(tool.name for tool in BUILTIN_TOOLS)))
HISTORY_SHOWN: Final = 6
ERROR_ID: Final = re.compile(r"\((?:Error|Ref) E-")

GO_ON: Final = "(Write `go on` to get the rest.)\n"

GREETING: Final = (
    "Talk to {agent}. `,help` lists commands, Ctrl-C stops an answer, Ctrl-D ends the chat."
)


async def chat(settings: Settings, session: str) -> int:
    """Chat until the input ends."""
    check_name(session)
    async with open_chat(settings, session, me()) as link, anyio.create_task_group() as group:
        screen = Screen(link)
        group.start_soon(screen.show)
        await screen.opened.wait()
        await (_converse(screen, settings) if sys.stdin.isatty() else _read_lines(screen))
        group.cancel_scope.cancel()
    return 0


async def run_once(settings: Settings, message: str, session: str) -> int:
    """Send one message and print the answer; return 1 if the answer is an error notice."""
    check_name(session)
    text = sys.stdin.read() if message == "-" else message
    if not text.strip():
        raise GatewayError('the message is empty: try tapeway run "your question"')
    return await _ask(settings, text, session)


def check_name(session: str) -> None:
    """Raise GatewayError if a session's name cannot be part of a URL path."""
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,80}", session):
        raise GatewayError(
            f"--session {session!r}: use at most 80 letters, digits, dots, dashes and"
            " underscores; for example --session work"
        )


def me() -> RoomPerson:
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "you"
    return RoomPerson(name=name)


async def _ask(settings: Settings, text: str, session: str) -> int:
    question_id = uuid4()
    printer = Printer()
    async with open_chat(settings, session, me()) as link, aclosing(_generator(link)) as events:
        async for event in events:
            if event["type"] == "people":
                await link.say(text, question_id)
                continue
            code = _print_event(event, str(question_id), printer)
            if code is not None:
                return code
    raise GatewayError("the gateway stopped before it answered; it will answer at its next start")


def _print_event(event: Json, question_id: str, printer: Printer) -> int | None:
    """Print an event if it belongs to a question; return the exit code when the answer ends."""
    kind = event["type"]
    if kind == "silent" and event["reply_to"] == question_id:
        return 0
    if kind not in ("draft", "message"):
        return None
    message = event["message"]
    if message["role"] == "person" or message["reply_to"] != question_id:
        return None
    if kind == "draft":
        _write(printer.next(message["id"], message["text"]))
        return None
    _write(printer.finish(message["id"], message["text"]))
    return 1 if message["role"] == "notice" and ERROR_ID.search(message["text"]) else 0


class Screen:
    """Prints a chat's events, and tracks which answers are still expected."""

    def __init__(self, link: ChatClient) -> None:
        self.link = link
        self.opened = anyio.Event()
        self._printer = Printer()
        self.waiting: set[str] = set()
        self._settled = anyio.Event()

    async def say(self, text: str) -> None:
        """Send a line; if the gateway refuses it, print the reason."""
        message_id = uuid4()
        self.waiting.add(str(message_id))
        try:
            await self.link.say(text, message_id)
        except GatewayError as refused:
            _write(f"{refused}\n")
            self._settle(str(message_id))

    async def stop(self) -> None:
        """Stop the newest answer; if the gateway refuses, print the reason."""
        try:
            await self.link.stop()
        except GatewayError as refused:
            _write(f"{refused}\n")

    async def settled(self) -> None:
        while self.waiting:
            await self._settled.wait()

    async def show(self) -> None:
        """Print events until cancelled."""
        async with aclosing(_generator(self.link)) as events:
            async for event in events:
                self._take(event)
        raise GatewayError(
            "the gateway of this home has stopped; it answers what it accepted at its next start"
        )

    def _take(self, event: Json) -> None:
        kind = event["type"]
        if kind == "hello":
            _write(GREETING.format(agent=event["agent"]) + "\n")
            if event["hint"]:
                _write(f"{event['hint']}\n")
        elif kind == "history":
            for message in event["messages"][-HISTORY_SHOWN:]:
                _write(f"{message['author']['name']}: {_short(message['text'])}\n")
        elif kind == "people":
            self.opened.set()
        elif kind == "draft":
            _write(self._printer.next(event["message"]["id"], event["message"]["text"]))
        elif kind == "message" and event["message"]["role"] != "person":
            message = event["message"]
            _write(self._printer.finish(message["id"], message["text"]))
            if message["cut"]:
                _write(GO_ON)
            self._settle(message["reply_to"])
        elif kind == "silent":
            self._settle(event["reply_to"])

    def _settle(self, message_id: str) -> None:
        self.waiting.discard(message_id)
        self._settled.set()
        self._settled = anyio.Event()


async def _converse(screen: Screen, settings: Settings) -> None:
    """Read lines, with history and completion; Ctrl-C stops the answer rather than the program."""
    prompt: PromptSession[str] = PromptSession(
        history=FileHistory(str(settings.home_path / "chat-history")),
        completer=WordCompleter(list(COMMANDS), sentence=True),
        complete_while_typing=False,
    )
    with patch_stdout(raw=True):
        while True:
            try:
                line = await prompt.prompt_async("> ")
            except KeyboardInterrupt:
                if screen.waiting:
                    await screen.stop()
                continue
            except EOFError:
                return
            if line.strip():
                await screen.say(line)
                await _until_answered(screen)


async def _until_answered(screen: Screen) -> None:
    async def watch(cancel: Callable[[], None]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _number in signals:
                await screen.stop()
        cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch, group.cancel_scope.cancel)
        await screen.settled()
        group.cancel_scope.cancel()


async def _read_lines(screen: Screen) -> None:
    # The input is a pipe, so its lines are sent one after another.
    for line in (await anyio.to_thread.run_sync(sys.stdin.read)).splitlines():
        if line.strip():
            _write(f"> {line}\n")
            await screen.say(line)
            await screen.settled()


def _generator(link: ChatClient) -> AsyncGenerator[Json, None]:
    return cast(AsyncGenerator[Json, None], link.events())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:100]}..."


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
