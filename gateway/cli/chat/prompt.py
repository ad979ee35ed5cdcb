"""The chat on a terminal: a prompt at its bottom, and the conversation above it."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

import anyio
from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import create_output
from prompt_toolkit.patch_stdout import patch_stdout

from agent.tools import BUILTIN_TOOLS
from gateway.cli.chat.conversation import Conversation
from gateway.cli.chat.transcript import ChatTranscript
from gateway.printing import print_words, raw
from gateway.scheduling.commands import OWN

COMMANDS: Final = tuple(dict.fromkeys((*OWN, *(tool.name for tool in BUILTIN_TOOLS))))
PROMPT: Final = ("", "> ")

DISABLED: Final = b"\0"  # in the place of a character to which a terminal reacts
FRAME_SECONDS: Final = 0.05  # minimum seconds between two changes of the screen
TICK_SECONDS: Final = 1.0
"""Seconds after which the line is drawn again that says how long something has taken."""


class CommandCompleter(Completer):
    """Completes a command, which begins with a slash or a comma."""

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        del complete_event
        typed = document.text_before_cursor
        sign = typed[:1] or "/"
        for name in COMMANDS if sign in "/," else ():
            if name.startswith(typed[1:].lower()):
                yield Completion(f"{sign}{name}", start_position=-len(typed))


class ChatPrompt:
    """Reads lines with history and completion, while answers are printed above."""

    def __init__(self, talk: Conversation, transcript: ChatTranscript, history: Path) -> None:
        self._talk = talk
        self._transcript = transcript
        self._wanted = anyio.Event()
        self._session: PromptSession[str] = PromptSession(
            self._message,
            history=FileHistory(str(history)),
            completer=CommandCompleter(),
            complete_while_typing=False,
            key_bindings=self._keys(),
            output=create_output(raw(sys.stdout)),
        )

    async def converse(self) -> None:
        """Converse until the input ends; Ctrl-C stops an answer rather than the program."""
        with eof_as_typed(sys.__stdin__), patch_stdout(raw=True):
            async with anyio.create_task_group() as group:
                group.start_soon(self._paint)
                group.start_soon(self._stop_when_wanted)
                while True:
                    try:
                        line = await self._session.prompt_async()
                    except KeyboardInterrupt:
                        continue
                    except EOFError:
                        break
                    if line.strip():
                        await self._talk.say(line)
                group.cancel_scope.cancel()
        _print(self._transcript.new_lines())

    async def _paint(self) -> None:
        """Print lines once they are final; below them, show what still changes."""
        while True:
            seen = self._talk.events
            if lines := self._transcript.new_lines():
                await run_in_terminal(lambda lines=lines: _print(lines))  # type: ignore[misc]
            self._session.app.invalidate()
            await anyio.sleep(FRAME_SECONDS)
            with anyio.move_on_after(TICK_SECONDS):
                await self._talk.changed(seen)

    async def _stop_when_wanted(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            await self._talk.stop()

    def _message(self) -> ANSI:
        app = self._session.app
        rows = app.output.get_size().rows
        live = [] if app.is_done or rows < 8 else self._transcript.live_lines(rows - 5)
        return ANSI("\n".join([*live, *PROMPT]))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("c-c")
        @keys.add("<sigint>")
        def stop(event: KeyPressEvent) -> None:
            if self._talk.waiting:
                self._wanted.set()
            else:
                event.app.exit(exception=KeyboardInterrupt())

        @keys.add("c-o")
        def unfold(_event: KeyPressEvent) -> None:
            lines = self._transcript.unfold()
            run_in_terminal(lambda: _print(lines))

        return keys


@contextmanager
def eof_as_typed(terminal: TextIO | None) -> Iterator[None]:
    """Have a terminal pass Ctrl-D on as it is typed.

    While lines are printed above the prompt, the terminal reads by lines: it would take a Ctrl-D
    for the end of a line, and nobody would ever see it.
    """
    if terminal is None or not terminal.isatty():
        yield
        return
    descriptor = terminal.fileno()
    before = termios.tcgetattr(descriptor)
    changed = termios.tcgetattr(descriptor)
    changed[6][termios.VEOF] = DISABLED
    termios.tcsetattr(descriptor, termios.TCSANOW, changed)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def _print(lines: list[str]) -> None:
    # The lines have to reach the terminal at once, not when the proxy of `patch_stdout` flushes.
    out = sys.__stdout__
    if lines and out is not None:
        print_words("\n".join(lines), to=out, flush=True)
