"""A message while it is being written: the lines that are final, and those that may change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from channels.markdown import close_open_marks
from gateway.cli.chat.blocks import BlockReader, TextBlock
from gateway.cli.chat.painting import DIM, paint, paint_code, paint_markdown
from gateway.cli.screen import safe

MAX_CODE_LINES: Final = 24
"""Maximum lines of a code block that is shown whole."""

FOLDED_CODE_LINES: Final = 12  # lines shown of a longer one
MAX_LIVE_CHARACTERS: Final = 2_000
"""Maximum characters of an unfinished block that are rendered each time the screen changes."""

Fold = tuple[str, str]  # the language and the code of a block


class MessageText:
    """Turns a growing text into lines: each block is rendered once, when it has ended."""

    def __init__(self, columns: Callable[[], int], folds: list[Fold]) -> None:
        self.done = False
        self._columns = columns
        self._folds = folds
        self._ready: list[str] = []
        self._inserted: list[str] = []
        self._reader, self._text, self._first = BlockReader(), "", True

    def take(self) -> list[str]:
        """Return the lines that have become final, once."""
        ready, self._ready = self._ready, []
        return ready

    def live(self) -> list[str]:
        """Return the lines of the block that may still change."""
        block = self._reader.open
        if block.language is not None:
            return self._code(block.language, block.text.removesuffix("\n"), ended=False)
        text = close_open_marks(block.text[-MAX_LIVE_CHARACTERS:])
        return paint_markdown(text, self._columns()) if text.strip() else []

    def write(self, text: str, *, final: bool = False) -> None:
        """Continue with the whole text so far; if it changed what is printed, begin again."""
        text = text.removesuffix("\r")  # a line feed may follow
        if not final and self._text.startswith(text):
            return  # a gateway that came back writes the same again
        if text.startswith(self._text):
            piece = safe(text[len(self._text) :])
        else:
            piece = self._changed(safe(self._text), safe(text))
        self._text = text
        for block in self._reader.feed(piece):
            self._end(block)

    def _changed(self, old: str, new: str) -> str:
        """Return the part of a changed text that is to be read again."""
        kept = self._reader.ended
        if old[:kept].rstrip() == new[:kept].rstrip():
            self._reader = BlockReader(kept, spaced=self._reader.open.spaced)
            return new[kept:]
        self._end_text()
        self._ready.append(paint("[starting over]", DIM))
        self._reader, self._first = BlockReader(), True
        return new

    def insert(self, lines: list[str]) -> None:
        """Add lines of the program's own, below the block that is being written."""
        if self._reader.open.text.strip():
            self._inserted += lines
        else:
            self._ready += lines

    def end(self, mark: str = "") -> None:
        """End with the text so far, and a mark below it."""
        self._end_text()
        self._ready += [paint(mark, DIM)] * bool(mark)
        self.done = True

    def _end_text(self) -> None:
        for block in self._reader.close():
            self._end(block)

    def _end(self, block: TextBlock) -> None:
        if block.spaced and not self._first:
            self._ready.append("")
        self._first = False
        if block.language is None:
            self._ready += paint_markdown(block.text, self._columns())
        else:
            self._ready += self._code(block.language, block.text, ended=True)
        self._ready, self._inserted = self._ready + self._inserted, []

    def _code(self, language: str, code: str, *, ended: bool) -> list[str]:
        lines = code.split("\n") if code else []
        whole = ended and len(lines) <= MAX_CODE_LINES
        shown = lines if whole else lines[:FOLDED_CODE_LINES]
        painted = paint_code(language, "\n".join(shown), self._columns())
        if len(lines) > len(shown):
            key = "; Ctrl-O shows them" if ended else ""
            painted[-1] = paint(f"╰─ {len(lines) - len(shown)} more lines{key}", DIM)
            if ended:
                self._folds.append((language, code))
        return painted
