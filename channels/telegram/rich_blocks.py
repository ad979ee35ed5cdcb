"""Reads a rich message: blocks of inline text, written as Markdown with entities of their own.

https://core.telegram.org/bots/api#richmessage lists the blocks and inline texts. Of one that is not
listed here, every string is read that is not an id or an option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from channels.message import Media
from channels.telegram.details import place
from channels.telegram.entities import Words, says
from channels.telegram.fields import Raw, part, parts, string, utf16_length, whole
from channels.telegram.media import file_in, media_of

MAX_DEPTH: Final = 40
"""Maximum depth that is read; Telegram allows 16 levels of blocks and formatting."""

_MEDIA: Final = frozenset(
    ("photo", "video", "animation", "audio", "voice_note", "document", "video_note", "live_photo")
)
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
_OPTIONS: Final = frozenset(
    ("type", "align", "valign", "language", "size", "style", "color", "mime_type", "id")
)
_ADDRESSES: Final = {
    "url": ("url", ""),
    "email_address": ("email_address", "mailto:"),
    "phone_number": ("phone_number", "tel:"),
}


def read_rich(message: Raw) -> tuple[Words, tuple[Media, ...]]:
    """Return the words of a rich message with their entities, and its attachments in order."""
    page = _Page()
    page.unknown(message)
    return page.words(), tuple(page.media)


class _Page:
    """Markdown that is being written; `prefix` begins each line of the block under way."""

    def __init__(self) -> None:
        self.media: list[Media] = []
        self._pieces: list[str] = []
        self._units = 0
        self._entities: list[Raw] = []
        self._prefix = ""
        self._begins = True
        self._is_cell = False
        self._depth = 0

    def words(self) -> Words:
        return Words("".join(self._pieces).rstrip(), self._entities)

    # -- writing

    def put(self, text: str) -> None:
        if self._is_cell:
            text = " ".join(text.splitlines()).replace("|", "\\|")
        for number, line in enumerate(text.split("\n")):
            if number:
                self._add("\n")
                self._begins = True
            if line:
                self._begin()
                self._add(line)

    def _begin(self) -> None:
        if self._begins:
            self._begins = False
            self._add(self._prefix)

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._units += utf16_length(text)

    def _line(self, gap: str = "\n") -> None:
        """Go to the beginning of a line, with a gap if something stands before it."""
        if not self._begins:
            self.put(" " if self._is_cell else gap)

    @contextmanager
    def _inside(self, prefix: str) -> Iterator[None]:
        before, self._prefix = self._prefix, self._prefix + prefix
        yield
        self._prefix = before

    @contextmanager
    def _marked(self, kind: str, **more: Any) -> Iterator[None]:
        self._begin()
        start = self._units
        yield
        length = self._units - start
        self._entities.append({"type": kind, "offset": start, "length": length, **more})

    # -- blocks

    def blocks(self, blocks: Sequence[Any], gap: str = "\n") -> None:
        for number, block in enumerate(blocks):
            if number:
                self._line(gap)
            self.block(block)

    def block(self, block: Any) -> None:
        write = _BLOCKS.get(string(block, "type")) if isinstance(block, Mapping) else None
        if write is None:
            self.anything(block)
        elif self._depth < MAX_DEPTH:
            self._depth += 1
            write(self, block)
            self._depth -= 1

    def paragraph(self, block: Raw) -> None:
        self.inline(block.get("text"))

    def heading(self, block: Raw) -> None:
        self.put("#" * min(max(whole(block, "size"), 1), 6) + " ")
        self.inline(block.get("text"))

    def code(self, block: Raw) -> None:
        self._line()
        with self._marked("pre"):
            self.put(f"```{string(block, 'language')}\n")
            self.inline(block.get("text"))
            self._line()
            self.put("```")

    def listing(self, block: Raw) -> None:
        for item in parts(block, "items"):
            self._line()
            label = string(item, "label").strip()
            self.put(f"{label if label[:1].isalnum() else '-'} ")
            if item.get("has_checkbox"):
                self.put("[x] " if item.get("is_checked") else "[ ] ")
            with self._inside("  "):
                self.blocks(_sequence(item.get("blocks")))

    def quotation(self, block: Raw) -> None:
        self._line()
        with self._inside("> "):
            self.inline(block.get("text"))
            self.blocks(_sequence(block.get("blocks")))
            self._credit(block)

    def table(self, block: Raw) -> None:
        self._captioned(block)
        rows = _sequence(block.get("cells"))
        for number, row in enumerate(rows):
            self._line()
            cells = [cell for cell in _sequence(row) if isinstance(cell, Mapping)]
            width = sum(max(1, whole(cell, "colspan")) for cell in cells)
            self.put("|")
            for cell in cells:
                self._cell(cell)
            if not number:
                self.put("\n|" + " --- |" * width)

    def _cell(self, cell: Raw) -> None:
        self.put(" ")
        self._is_cell = True
        self.inline(cell.get("text"))
        self._is_cell = False
        self.put(" |" * max(1, min(whole(cell, "colspan"), 20)))

    def details(self, block: Raw) -> None:
        self.inline(block.get("summary"))
        self._line()
        with self._inside("  "):
            self.blocks(_sequence(block.get("blocks")))

    def group(self, block: Raw) -> None:
        self.blocks(_sequence(block.get("blocks")))
        self._captioned(block)

    def attachment(self, block: Raw) -> None:
        kind = string(block, "type")
        self.media += media_of({kind: block.get(kind)})
        self._captioned(block)

    def location(self, block: Raw) -> None:
        self.media.append(Media("other", "map", detail=place(part(block, "location"))))
        self._captioned(block)

    def buttons(self, block: Raw) -> None:
        for button in parts(block, "buttons"):
            self._line()
            self._button(button)

    def divider(self, block: Raw) -> None:
        del block
        self.put("---")

    def formula(self, block: Raw) -> None:
        self.put(f"$${string(block, 'expression')}$$")

    def nothing(self, block: Raw) -> None:
        """An anchor has only a name, which is no word."""

    def _captioned(self, block: Raw) -> None:
        caption = block.get("caption")
        if isinstance(caption, Mapping) and "type" not in caption:
            self._line()
            self.inline(caption.get("text"))
            self._credit(caption)
        elif caption:
            self._line()
            self.inline(caption)

    def _credit(self, raw: Raw) -> None:
        if raw.get("credit"):
            self._line()
            self.put("\u2014 ")
            self.inline(raw["credit"])

    # -- inline texts

    def inline(self, text: Any) -> None:
        if isinstance(text, str):
            self.put(text)
        elif self._depth >= MAX_DEPTH:
            return
        elif isinstance(text, list | tuple):
            self._depth += 1
            for one in text:
                self.inline(one)
            self._depth -= 1
        elif isinstance(text, Mapping):
            self._depth += 1
            self._inline_of(string(text, "type"), text)
            self._depth -= 1

    def _inline_of(self, kind: str, text: Raw) -> None:
        if kind in _PLAIN:
            self.inline(text.get("text") or string(text, kind))
        elif kind in _ADDRESSES:
            name, scheme = _ADDRESSES[kind]
            self._linked(text, string(text, name), scheme)
        elif kind in _INLINES:
            _INLINES[kind](self, text)
        else:
            self.unknown(text, " ")

    def _linked(self, text: Raw, address: str, scheme: str) -> None:
        shown = _plain(text.get("text"))
        if not shown or says(shown, address):
            with self._marked("url"):
                self.put(shown or address)
            return
        with self._marked("text_link"):
            self.put("[")
            self.inline(text.get("text"))
            self.put(f"]({address if ':' in address else scheme + address})")

    def _mention(self, text: Raw) -> None:
        shown, name = _plain(text.get("text")), f"@{string(text, 'username').removeprefix('@')}"
        own = shown if shown.startswith("@") or name == "@" else name
        if shown and shown != own:
            self.put(f"{shown} ")
        with self._marked("mention"):
            self.put(own)

    def _text_mention(self, text: Raw) -> None:
        with self._marked("text_mention", user=part(text, "user")):
            self.inline(text.get("text"))

    def _code(self, text: Raw) -> None:
        with self._marked("code"):
            self.put("`")
            self.inline(text.get("text"))
            self.put("`")

    def _command(self, text: Raw) -> None:
        with self._marked("bot_command"):
            self.inline(text.get("text") or string(text, "bot_command"))

    def _card_number(self, text: Raw) -> None:
        self.inline(text.get("text") or string(text, "bank_card_number"))

    def _emoji(self, text: Raw) -> None:
        self.put(string(text, "alternative_text"))

    def _inline_formula(self, text: Raw) -> None:
        self.put(f"${string(text, 'expression')}$")

    def _inline_button(self, text: Raw) -> None:
        self._button(part(text, "button"))

    def _button(self, button: Raw) -> None:
        pages = (string(part(button, name), "url") for name in ("web_app", "login_url"))
        address = string(button, "url") or next(filter(None, pages), "")
        if address:
            self._linked(button, address, "")
            return
        self.inline(button.get("text"))
        if copied := string(part(button, "copy_text"), "text"):
            self.put(f" ({copied})")

    # -- what is not known

    def anything(self, value: Any) -> None:
        """Write every word of a value of an unknown kind."""
        if isinstance(value, str):
            self.put(value)
        elif isinstance(value, list | tuple) and self._depth < MAX_DEPTH:
            self._depth += 1
            is_inline = any(isinstance(one, str) for one in value)
            for number, one in enumerate(value):
                if number and not is_inline:
                    self._line()
                self.block(one)
            self._depth -= 1
        elif isinstance(value, Mapping):
            kind = string(value, "type")
            known = kind in _PLAIN or kind in _ADDRESSES or kind in _INLINES
            if known:
                self.inline(value)
            else:
                self.unknown(value)

    def unknown(self, raw: Raw, gap: str = "\n") -> None:
        """Write every word of an object of an unknown kind, and keep its files."""
        if self._depth >= MAX_DEPTH:
            return
        self._depth += 1
        for name, value in raw.items():
            if name in _OPTIONS or name.endswith("_id"):
                continue
            if files := media_of({name: value}) if name in _MEDIA else file_in(value, name):
                self.media += files
            elif name == "blocks":
                self._line(gap)
                self.blocks(_sequence(value), "\n\n" if self._depth == 1 else "\n")
            elif isinstance(value, str | list | Mapping):
                self._line(gap)
                self.anything(value)
        self._depth -= 1


def _plain(text: Any, depth: int = 0) -> str:
    """Return an inline text without its addresses and marks."""
    if isinstance(text, str) or depth > MAX_DEPTH:
        return text if isinstance(text, str) else ""
    if isinstance(text, list | tuple):
        return "".join(_plain(one, depth + 1) for one in text)
    if not isinstance(text, Mapping):
        return ""
    return _plain(text.get("text"), depth + 1) or string(text, "alternative_text")


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


_BLOCKS: Final[Mapping[str, Callable[[_Page, Raw], None]]] = {
    "paragraph": _Page.paragraph,
    "heading": _Page.heading,
    "pre": _Page.code,
    "footer": _Page.paragraph,
    "thinking": _Page.paragraph,
    "divider": _Page.divider,
    "mathematical_expression": _Page.formula,
    "anchor": _Page.nothing,
    "list": _Page.listing,
    "blockquote": _Page.quotation,
    "expandable_blockquote": _Page.quotation,
    "pullquote": _Page.quotation,
    "collage": _Page.group,
    "slideshow": _Page.group,
    "table": _Page.table,
    "details": _Page.details,
    "map": _Page.location,
    "buttons": _Page.buttons,
    **dict.fromkeys(_MEDIA, _Page.attachment),
}

_INLINES: Final[Mapping[str, Callable[[_Page, Raw], None]]] = {
    "mention": _Page._mention,
    "text_mention": _Page._text_mention,
    "code": _Page._code,
    "bot_command": _Page._command,
    "bank_card_number": _Page._card_number,
    "custom_emoji": _Page._emoji,
    "mathematical_expression": _Page._inline_formula,
    "button": _Page._inline_button,
    "anchor": _Page.nothing,
}
