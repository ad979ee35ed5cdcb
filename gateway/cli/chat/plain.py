"""The conversation as plain text: for pipes, and for terminals without colours."""

from __future__ import annotations

from channels.cli.outbound import Printer
from channels.room.hub import Json
from gateway.cli.chat.transcript import GO_ON, GREETING, HISTORY_SHOWN
from gateway.cli.screen import clipped, one_line, safe
from gateway.printing import print_words


class PlainText:
    """Prints each event once: Markdown as it is written, without any control sequence."""

    def __init__(self, *, names: bool) -> None:
        self._names = names
        self._printer = Printer()
        self._begun: set[str] = set()
        self._own: set[str] = set()

    def asked(self, message_id: str) -> None:
        """Note a question of one's own."""
        self._own.add(message_id)

    def note(self, text: str) -> None:
        """Print a sentence of the program's own."""
        write(f"{text}\n")

    def take(self, event: Json) -> None:
        """Print what an event adds."""
        kind = event["type"]
        if kind == "hello":
            self.note(GREETING.format(agent=event["agent"]))
            if event["hint"]:
                self.note(event["hint"])
        elif kind == "history":
            for message in event["messages"][-HISTORY_SHOWN:]:
                self.note(f"{_name(message)}: {clipped(one_line(message['text']), 100)}")
        elif kind == "draft":
            message = event["message"]
            self._write(message, self._printer.next(message["id"], message["text"]))
        elif kind == "message":
            self._message(event["message"])
        elif kind == "tool" and "arguments" in event and self._names:
            what = one_line(f"{event['name']} {event['arguments']}")
            write("\n" * bool(self._begun) + f"[{what}]\n")

    def _message(self, message: Json) -> None:
        if message["role"] != "person":
            self._write(message, self._printer.finish(message["id"], message["text"]))
            self._begun.discard(message["id"])
            if message["cut"]:
                self.note(GO_ON)
        elif self._names and message["id"] not in self._own:
            self.note(f"{_name(message)}: {safe(message['text'])}")

    def _write(self, message: Json, text: str) -> None:
        if self._names:
            if message["id"] not in self._begun:
                self._begun.add(message["id"])
                write(f"{_name(message)}: ")
            text = safe(text)
        write(text)


def write(text: str) -> None:
    print_words(text, end="", flush=True)


def _name(message: Json) -> str:
    return one_line(message["author"]["name"])
