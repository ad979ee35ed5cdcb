"""The conversation on a terminal: each event becomes lines, under the name of whoever speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from zlib import crc32

import wcwidth

from channels.clock import Clock
from channels.room.hub import Json
from gateway.cli.chat.answer import Fold, MessageText
from gateway.cli.chat.painting import DIM, paint, paint_code, paint_markdown, paint_text
from gateway.cli.chat.work import Work
from gateway.cli.screen import BOLD, LANES, clipped, one_line, safe

GREETING: Final = (
    "Talk to {agent}. `/help` lists commands, Ctrl-C stops an answer, Ctrl-D ends the chat."
)
GO_ON: Final = "(Write `go on` to get the rest.)"
LOST: Final = "⋯ the gateway has stopped; waiting until it is back"
HISTORY_SHOWN: Final = 6


class ChatTranscript:
    """Collects the lines to print; what is being written or done now is shown below them."""

    def __init__(self, columns: Callable[[], int], clock: Clock) -> None:
        self.own: set[str] = set()
        self._columns = columns
        self._clock = clock
        self._lines: list[str] = []
        self._answers: dict[str, tuple[str, MessageText]] = {}
        self._notes: list[tuple[str, list[str]]] = []
        self._works: dict[str, Work] = {}
        self._folds: list[Fold] = []
        self._speaker = ""
        self._seen: set[str] = set()
        self._agent = ""
        self._lost = self._known = False
        self._stale: set[str] = set()

    def take(self, event: Json) -> None:
        """Handle an event of the chat."""
        handle = getattr(self, f"_on_{event['type'].replace('.', '_')}", None)
        if handle is not None:
            handle(event)

    def asked(self, message_id: str) -> None:
        """Note a question of one's own, which is on the screen already."""
        self.own.add(message_id)
        self._speaker = ""

    def note(self, text: str) -> None:
        """Show a sentence of the program's own."""
        self._notes.append(("", paint_markdown(safe(text), self._columns())))

    def new_lines(self) -> list[str]:
        """Return the lines to print now."""
        notes, self._notes = self._notes, []
        for name, written in notes:
            self._say(name, written)
        for message_id, (name, answer) in list(self._answers.items()):
            self._say(name, answer.take())
            if not answer.done:
                break  # two answers at once would be mixed up, so the second one waits
            del self._answers[message_id]
        lines, self._lines = self._lines, []
        return lines

    def live_lines(self, most: int) -> list[str]:
        """Return what is shown below the printed lines, and changes; at most some lines."""
        lines: list[str] = []
        if self._answers:
            name, answer = next(iter(self._answers.values()))
            lines = answer.live()[1 - most :]
            if lines and self._speaker != name:
                lines = ["", self._name(name), *lines][-most:]
        busy = list(self._works.values())
        if self._lost:
            lines.append(paint(LOST, DIM))
        elif busy and (busy[-1].running or not lines):
            status = busy[-1].status(self._clock.monotonic(), self._columns())
            lines.append(paint(status, DIM))
        return lines

    def unfold(self) -> list[str]:
        """Return the newest folded code whole; after that, the one before it."""
        if not self._folds:
            return [paint("(Nothing is folded.)", DIM)]
        language, code = self._folds.pop()
        return paint_code(language, code, 1_000_000)  # unwrapped, as it is copied best

    def _on_hello(self, event: Json) -> None:
        self._works.clear()
        if self._lost:
            self._lost, self._stale = False, set(self._answers)
            self.note("(The gateway is back.)")
            return
        self._agent = one_line(event["agent"])
        self.note(GREETING.format(agent=self._agent))
        if event["hint"]:
            self.note(event["hint"])

    def _on_history(self, event: Json) -> None:
        known, self._known = self._known, True
        for message in event["messages"] if known else event["messages"][-HISTORY_SHOWN:]:
            name = one_line(message["author"]["name"])
            if not known:
                room = max(self._columns() - wcwidth.width(name) - 3, 10)
                short = clipped(one_line(message["text"]), room)
                self._notes.append(("", [f"{self._name(name)}: {short}"]))
            elif message["id"] in self._answers or message["id"] not in self._seen:
                self._on_message({"message": message})
        self._seen |= {message["id"] for message in event["messages"]}

    def _on_typing(self, event: Json) -> None:
        if event["on"]:
            self._works.setdefault(event["key"], Work(self._clock.monotonic()))
        else:
            self._notes.append((self._agent, self._folded(event["key"])))
            self._works.pop(event["key"], None)

    def _on_tool(self, event: Json) -> None:
        now = self._clock.monotonic()
        self._works.setdefault(event["reply_to"], Work(now)).take(event, now)

    _on_reasoning = _on_tool

    def _folded(self, question: str) -> list[str]:
        """Return what was done since the last text as lines, once no tool runs any more."""
        work = self._works.get(question)
        if work is None or work.running:
            return []
        self._works[question] = Work(self._clock.monotonic())
        return paint_text(work.folded(), self._columns(), DIM) if work.folded() else []

    def _on_draft(self, event: Json, *, final: bool = False) -> None:
        message = event["message"]
        answer = self._answer(message)
        answer.insert(self._folded(message["reply_to"]))
        answer.write(message["text"], final=final)

    def _on_message(self, event: Json) -> None:
        message = event["message"]
        if message["id"] in self.own:
            return
        self._seen.add(message["id"])
        self._on_draft(event, final=True)
        self._works.pop(message["reply_to"] or "", None)
        self._answers[message["id"]][1].end(GO_ON if message["cut"] else "")

    def _on_draft_removed(self, event: Json) -> None:
        if event["id"] in self._answers:
            self._answers[event["id"]][1].end("(withdrawn)")

    def _on_lost(self, _event: Json) -> None:
        self._lost = True
        self._works.clear()

    def _answer(self, message: Json) -> MessageText:
        self._stale.discard(message["id"])
        if message["id"] not in self._answers:
            # The gateway may answer in another message than before it stopped.
            while self._stale and message["role"] != "person":
                self._answers[self._stale.pop()][1].end()
            name = one_line(message["author"]["name"])
            self._answers[message["id"]] = (name, MessageText(self._columns, self._folds))
        return self._answers[message["id"]][1]

    def _say(self, name: str, lines: list[str]) -> None:
        if not lines:
            return
        if name != self._speaker:
            self._speaker = name
            self._lines += ["", self._name(name)] if name else [""]
            lines = lines[not lines[0] :]
        self._lines += lines

    def _name(self, name: str) -> str:
        others = LANES[1 + crc32(name.encode(errors="replace")) % (len(LANES) - 1)]
        return paint(name, f"{BOLD};{LANES[0] if name == self._agent else others}")
