"""Writes the inline text of a rich message as Markdown, with entities of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from channels.message import Media
from channels.telegram.entities import MarkedText, says
from channels.telegram.fields import Raw, part, string, utf16_length

MAX_DEPTH: Final = 40
"""Maximum depth that is read; Telegram allows 16 levels of blocks and formatting."""

_PLAIN: Final = frozenset(
    (
        "bold",
        "italic",
        "underline",
        "strikethrough",
        "spoiler",
        "subscript",
        "superscript",
        "marked",
        "date_time",
        "hashtag",
        "cashtag",
        "anchor_link",
        "reference",
        "reference_link",
    )
)
_ADDRESSES: Final = {
    "url": ("url", ""),
    "email_address": ("email_address", "mailto:"),
    "phone_number": ("phone_number", "tel:"),
}


class RichText(ABC):
    """Markdown that is being written; `prefix` begins each line of the block under way."""

    def __init__(self) -> None:
        self.media: list[Media] = []
        self._pieces: list[str] = []
        self._units = 0
        self._entities: list[Raw] = []
        self._prefix = ""
        self._at_start = True
        self.is_cell = False
        self.depth = 0

    def words(self) -> MarkedText:
        return MarkedText("".join(self._pieces).rstrip(), self._entities)

    # -- writing

    def put(self, text: str) -> None:
        if self.is_cell:
            text = text.replace("\n", " ").replace("|", "\\|")
        for number, line in enumerate(text.split("\n")):
            if number:
                self._add("\n")
                self._at_start = True
            if line:
                self.begin()
                self._add(line)

    def begin(self) -> None:
        if self._at_start:
            self._at_start = False
            self._add(self._prefix)

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._units += utf16_length(text)

    def line(self, gap: str = "\n") -> None:
        """Go to the beginning of a line, with a gap if something stands before it."""
        if not self._at_start:
            self.put(" " if self.is_cell else gap)

    @contextmanager
    def inside(self, prefix: str) -> Iterator[None]:
        before, self._prefix = self._prefix, self._prefix + prefix
        yield
        self._prefix = before

    @contextmanager
    def marked(self, kind: str, **more: Any) -> Iterator[None]:
        self.begin()
        start = self._units
        yield
        length = self._units - start
        self._entities.append({"type": kind, "offset": start, "length": length, **more})

    # -- inline texts

    def inline(self, text: Any) -> None:
        if isinstance(text, str):
            self.put(text)
        elif self.depth >= MAX_DEPTH:
            return
        elif isinstance(text, list | tuple):
            self.depth += 1
            for one in text:
                self.inline(one)
            self.depth -= 1
        elif isinstance(text, Mapping):
            self.depth += 1
            self._inline_of(string(text, "type"), text)
            self.depth -= 1

    def _inline_of(self, kind: str, text: Raw) -> None:
        if kind in _PLAIN:
            self.inline(text.get("text") or string(text, kind))
        elif kind in _ADDRESSES:
            name, scheme = _ADDRESSES[kind]
            self.linked(text, string(text, name), scheme)
        elif kind in _INLINES:
            _INLINES[kind](self, text)
        else:
            self.unknown(text, " ")

    def linked(self, text: Raw, address: str, scheme: str) -> None:
        shown = _plain(text.get("text"))
        if not shown or says(shown, address):
            with self.marked("url"):
                self.put(shown or address)
            return
        with self.marked("text_link"):
            self.put("[")
            self.inline(text.get("text"))
            self.put(f"]({address if ':' in address else scheme + address})")

    def mention(self, text: Raw) -> None:
        shown, name = _plain(text.get("text")), f"@{string(text, 'username').removeprefix('@')}"
        own = shown if shown.startswith("@") or name == "@" else name
        if shown and shown != own:
            self.put(f"{shown} ")
        with self.marked("mention"):
            self.put(own)

    def text_mention(self, text: Raw) -> None:
        with self.marked("text_mention", user=part(text, "user")):
            self.inline(text.get("text"))

    def code(self, text: Raw) -> None:
        with self.marked("code"):
            self.put("`")
            self.inline(text.get("text"))
            self.put("`")

    def command(self, text: Raw) -> None:
        with self.marked("bot_command"):
            self.inline(text.get("text") or string(text, "bot_command"))

    def card_number(self, text: Raw) -> None:
        self.inline(text.get("text") or string(text, "bank_card_number"))

    def emoji(self, text: Raw) -> None:
        self.put(string(text, "alternative_text"))

    def inline_formula(self, text: Raw) -> None:
        self.put(f"${string(text, 'expression')}$")

    def inline_button(self, text: Raw) -> None:
        self.button(part(text, "button"))

    def button(self, button: Raw) -> None:
        pages = (string(part(button, name), "url") for name in ("web_app", "login_url"))
        address = string(button, "url") or next(filter(None, pages), "")
        if address:
            self.linked(button, address, "")
            return
        self.inline(button.get("text"))
        if copied := string(part(button, "copy_text"), "text"):
            self.put(f" ({copied})")

    def nothing(self, block: Raw) -> None:
        """Write nothing of an anchor: it has only a name, which is no word."""
        del block

    @abstractmethod
    def unknown(self, raw: Raw, gap: str = "\n") -> None:
        """Write every word of an object of an unknown kind, which may stand among blocks, too."""


def is_inline(text: Raw) -> bool:
    """Return whether an object is an inline text of a known kind."""
    kind = string(text, "type")
    return kind in _PLAIN or kind in _ADDRESSES or kind in _INLINES


def _plain(text: Any, depth: int = 0) -> str:
    """Return an inline text without its addresses and marks."""
    if isinstance(text, str) or depth > MAX_DEPTH:
        return text if isinstance(text, str) else ""
    if isinstance(text, list | tuple):
        return "".join(_plain(one, depth + 1) for one in text)
    if not isinstance(text, Mapping):
        return ""
    return _plain(text.get("text"), depth + 1) or string(text, "alternative_text")


_INLINES: Final[Mapping[str, Callable[[RichText, Raw], None]]] = {
    "mention": RichText.mention,
    "text_mention": RichText.text_mention,
    "code": RichText.code,
    "bot_command": RichText.command,
    "bank_card_number": RichText.card_number,
    "custom_emoji": RichText.emoji,
    "mathematical_expression": RichText.inline_formula,
    "button": RichText.inline_button,
    "anchor": RichText.nothing,
}
