"""The screen of a terminal, by an emulator."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

import pyte
import wcwidth

from gateway.cli.chat.answer import Fold, MessageText

COLUMNS: Final = 80
WIDE: Final = 100_000
LINES: Final = 6_000


class Screen(pyte.Screen):
    """A screen that notes which of its lines go on in the next, since they were full."""

    def __init__(self, columns: int) -> None:
        self.wrapped: set[int] = set()
        self._draws = False
        super().__init__(columns, LINES)

    def draw(self, data: str) -> None:
        self._draws = True
        super().draw(data)
        self._draws = False

    def linefeed(self) -> None:
        if self._draws:
            self.wrapped.add(self.cursor.y)
        super().linefeed()

    def text(self) -> str:
        """Return what stands on the screen."""
        parts: list[str] = []
        for y in range(self.cursor.y + 1):
            line: Any = self.buffer[y]
            row = "".join(line[x].data for x in range(max(line, default=-1) + 1))
            parts.append(row if y in self.wrapped else row.rstrip() + "\n")
        return "".join(parts)


def shown(lines: list[str], folds: list[Fold], columns: int = COLUMNS) -> str:
    """Return what people see of lines, and of the code that is folded, once they unfold it."""
    screen = Screen(columns)
    text = "\r\n".join(lines)
    # The emulator ends at the first character without a width that it cannot combine.
    text = text.replace("\u20e3", " ")  # the frame of a key, which parts two words
    text = "".join(char for char in text if char.isascii() or not _is_lost(char))
    pyte.Stream(screen).feed(text)
    seen = screen.text()
    return _unfolded(seen, folds) if folds else seen


def _is_lost(char: str) -> bool:
    return wcwidth.wcwidth(char) <= 0 and not unicodedata.combining(char)


def _unfolded(text: str, folds: list[Fold]) -> str:
    lines = text.split("\n")
    codes = iter(folds)
    for at, line in enumerate(lines):
        if line.startswith("╰─ ") and "more lines; Ctrl-O" in line:
            begun = max(place for place in range(at) if lines[place].startswith("╭─"))
            language, code = next(codes)
            lines[begun + 1 : at + 1] = [""] * (at - begun - 1) + [code]
            lines[begun] = language
    return "\n".join(lines)


def drawn(text: str) -> str:
    """Return what people see of a text that the terminal chat prints."""
    folds: list[Fold] = []
    message = MessageText(lambda: COLUMNS, folds)
    message.write(text, final=True)
    message.end()
    return shown(message.take(), folds)


class Growing:
    """A text in a terminal in which no line is wrapped, while it is being written."""

    def __init__(self) -> None:
        self._folds: list[Fold] = []
        self._message = MessageText(lambda: WIDE, self._folds)
        self._lines: list[str] = []

    def write(self, text: str, *, final: bool = False) -> str:
        """Continue with the whole text so far, and return what people see of it."""
        self._message.write(text, final=final)
        if final:
            self._message.end()
        self._lines += self._message.take()
        live = [] if final else self._message.live()
        return shown([*self._lines, *live], list(self._folds), WIDE)
