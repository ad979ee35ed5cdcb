"""Hold a conversation in a terminal, or send a single message."""

from __future__ import annotations

import getpass
import os
import re
import signal
import sys
from contextlib import aclosing
from typing import Final
from uuid import uuid4

import anyio

from channels.cli.outbound import Printer
from channels.clock import SystemClock
from channels.room.hub import Json
from channels.room.routes import RoomPerson
from gateway.cli.chat.chat_client import open_chat
from gateway.cli.chat.conversation import Conversation
from gateway.cli.chat.plain import PlainText, write
from gateway.cli.chat.prompt import ChatPrompt
from gateway.cli.chat.transcript import ChatTranscript
from gateway.cli.screen import columns, has_colour, on_terminal
from gateway.errors import GatewayError
from gateway.settings import Settings

ERROR_ID: Final = re.compile(r"\((?:Error|Ref) E-")


async def chat(settings: Settings, session: str) -> int:
    """Chat until the input ends."""
    check_name(session)
    typed = sys.stdin.isatty()
    drawn = typed and has_colour()
    transcript = ChatTranscript(columns, SystemClock())
    view = transcript if drawn else PlainText(names=typed and on_terminal())
    async with open_chat(settings, session, me()) as link, anyio.create_task_group() as group:
        talk = Conversation(link, view, patient=drawn)
        group.start_soon(talk.show)
        await talk.opened.wait()
        if drawn:
            await ChatPrompt(talk, transcript, settings.home_path / "chat-history").converse()
        else:
            await (_typed_lines(talk) if typed else _read_lines(talk))
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
    async with open_chat(settings, session, me()) as link, aclosing(link.events()) as events:
        async for event in events:
            if event["type"] == "lost":
                break
            if event["type"] == "people":
                await link.say(text, question_id)
                continue
            code = _print_event(event, str(question_id), printer)
            if code is not None:
                return code
    write(printer.cut_off())
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
        write(printer.next(message["id"], message["text"]))
        return None
    write(printer.finish(message["id"], message["text"]))
    return 1 if message["role"] == "notice" and ERROR_ID.search(message["text"]) else 0


async def _typed_lines(talk: Conversation) -> None:
    """Read lines from a terminal that shows no colours; Ctrl-C stops an answer."""

    async def stop_on_interrupts() -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            async for _number in signals:
                if talk.waiting:
                    await talk.stop()

    async with anyio.create_task_group() as group:
        group.start_soon(stop_on_interrupts)
        while True:
            write("> ")
            await anyio.wait_readable(sys.stdin)
            lines = os.read(sys.stdin.fileno(), 65_536).decode(errors="replace")
            if not lines:
                break
            for line in filter(str.strip, lines.splitlines()):
                await talk.say(line)
            await talk.settled()
        group.cancel_scope.cancel()


async def _read_lines(talk: Conversation) -> None:
    # The input is a pipe, so its lines are sent one after another.
    for line in (await anyio.to_thread.run_sync(sys.stdin.read)).splitlines():
        if line.strip():
            write(f"> {line}\n")
            await talk.say(line)
            await talk.settled()
