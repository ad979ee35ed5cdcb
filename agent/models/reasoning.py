"""Keep the reasoning that a model writes into its text out of the answer.

A server with a reasoning parser sends reasoning in a field of its own. Others leave
`<think>...</think>` in the text, and some, whose template has the opening tag, only `</think>`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from agent.model import Piece, ReasoningPiece, ResetPiece, TextPiece

Mode = Literal["auto", "open", "off"]

DEFAULT_TAGS: Final = ("think", "thinking", "thought", "[THINK]")
_FENCE: Final = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_NEVER: Final = re.compile(r"(?!)")


def _ignore(_begins_open: bool) -> None:
    return


class InlineReasoning:
    """Remembers of one model on one server whether its answers begin inside reasoning.

    mode     auto: learn it from a closing tag without an opening one; open: they do; off: text
             stays text
    tags     names of tags (`think`), or opening tags with their brackets (`[THINK]`)
    known    whether it was learned before
    learned  is called with the new state when that changes
    """

    def __init__(
        self,
        mode: Mode = "auto",
        tags: Sequence[str] = DEFAULT_TAGS,
        *,
        known: bool = False,
        learned: Callable[[bool], None] = _ignore,
    ) -> None:
        opening = [f"<{tag}>" if tag[:1].isalnum() else tag for tag in tags if tag]
        self.tags = {} if mode == "off" else {tag: f"{tag[0]}/{tag[1:]}" for tag in opening}
        self.closing = _any_of(self.tags.values())
        self.signs = _any_of({tag[0] for tag in self.tags})
        self.begins_open = bool(self.tags) and (known or mode == "open")
        self._mode = mode
        self._learned = learned

    def learn(self, begins_open: bool) -> None:
        if self._mode == "auto" and begins_open != self.begins_open:
            self.begins_open = begins_open
            self._learned(begins_open)


class TextSplitter:
    """Splits the text of one answer into reasoning and text.

    texts    the text so far
    thought  whether there was reasoning in it
    apart    whether the server sends reasoning in a field of its own
    """

    def __init__(self, inline: InlineReasoning) -> None:
        self.texts: list[str] = []
        self.thought = False
        self.apart = False
        self._inline = inline
        self._signs = inline.signs
        self._begun = False
        self._closing: re.Pattern[str] | None = None
        self._guess: list[str] | None = None
        self._held = ""

    def feed(self, text: str) -> list[Piece]:
        """Take the next piece of text, and return what it is."""
        if self._begun and not self._held and not self._signs.search(text):
            self.texts.append(text)
            return [TextPiece(text)]
        pieces: list[Piece] = []
        rest, self._held = self._held + text, ""
        while rest:
            if self._closing is not None:
                rest = self._inside(rest, self._closing, pieces)
            elif self._begun:
                rest = self._after(rest, pieces)
            else:
                rest = self._begin(rest)
        return pieces

    def end(self, *, complete: bool) -> list[Piece]:
        """Return what was held back; `complete` if the answer ended by itself, without a call."""
        held, self._held = self._held, ""
        if self._closing is None:
            return self._say(held.lstrip() if self.thought and not self._begun else held)
        pieces: list[Piece] = [ReasoningPiece(held)] if held else []
        if self._guess is not None and complete:
            self._inline.learn(False)
            return [*pieces, *self._say("".join([*self._guess, held]))]
        self.thought = True
        return pieces

    def _begin(self, rest: str) -> str:
        lead = rest.lstrip()
        for tag, closing in self._inline.tags.items():
            if lead.startswith(tag):
                self.thought = True
                self._closing = _any_of([closing])
                return lead.removeprefix(tag)
        if any(tag.startswith(lead) for tag in self._inline.tags):
            self._held = rest
            return ""
        if self._inline.begins_open and not (self.apart or self.thought):
            self._closing, self._guess = self._inline.closing, []
            return rest
        self._begun = True
        return lead if self.thought else rest

    def _inside(self, rest: str, closing: re.Pattern[str], pieces: list[Piece]) -> str:
        found = closing.search(rest)
        end = found.start() if found else self._sure(rest)
        if end:
            pieces.append(ReasoningPiece(rest[:end]))
        if found is None:
            if self._guess is not None:
                self._guess.append(rest[:end])
            self._held = rest[end:]
            return ""
        self.thought = True
        self._closing = self._guess = None
        return rest[found.end() :]

    def _after(self, rest: str, pieces: list[Piece]) -> str:
        for found in self._inline.closing.finditer(rest):
            before = "".join(self.texts) + rest[: found.start()]
            if any(tag in before for tag in self._inline.tags):
                self._signs = _NEVER  # the answer is about tags
                break
            if not _in_code(before):
                if self.texts:
                    pieces.append(ResetPiece("it was reasoning without an opening tag"))
                pieces.append(ReasoningPiece(before))
                self.texts.clear()
                self._begun, self.thought = False, True
                self._inline.learn(True)
                return rest[found.end() :]
        end = self._sure(rest)
        pieces += self._say(rest[:end])
        self._held = rest[end:]
        return ""

    def _sure(self, text: str) -> int:
        """Return where a text's end begins that may be part of a closing tag."""
        tags = self._inline.tags.values()
        parts = (size for tag in tags for size in range(1, len(tag)) if text.endswith(tag[:size]))
        return len(text) - max(parts, default=0)

    def _say(self, text: str) -> list[Piece]:
        if not text:
            return []
        self.texts.append(text)
        return [TextPiece(text)]


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, words)) or _NEVER.pattern)


def _in_code(text: str) -> bool:
    """Return whether a text ends inside code, fenced, indented or between backticks."""
    line = text.rpartition("\n")[2]
    fenced = len(_FENCE.findall(text)) % 2 == 1
    return fenced or line.count("`") % 2 == 1 or line.startswith(("    ", "\t"))
