"""Reads a rich message: blocks of inline text, written as Markdown with entities of their own.

https://core.telegram.org/bots/api#richmessage lists the blocks and inline texts. Of one that is not
listed here, every string is read that is not an id or an option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from channels.message import Media
from channels.telegram.details import place
from channels.telegram.entities import MarkedText
from channels.telegram.fields import Raw, part, parts, string, whole
from channels.telegram.media import file_in, media_of
from channels.telegram.rich_text import MAX_DEPTH, RichText, is_inline

MAX_COLUMNS: Final = 20  # maximum columns of a table, as set by Telegram

_MEDIA: Final = frozenset(
    ("photo", "video", "animation", "audio", "voice_note", "document", "video_note", "live_photo")
)
_OPTIONS: Final = frozenset(
    ("type", "align", "valign", "language", "size", "style", "color", "mime_type", "id")
)


def read_rich(message: Raw) -> tuple[MarkedText, tuple[Media, ...]]:
    """Return the words of a rich message with their entities, and its attachments in order."""
    page = _RichPage()
    page.unknown(message)
    return page.words(), tuple(page.media)


class _RichPage(RichText):
    """The blocks of a rich message."""

    def blocks(self, blocks: Sequence[Any], gap: str = "\n") -> None:
        for number, block in enumerate(blocks):
            if number:
                self.line(gap)
            self.block(block)

    def block(self, block: Any) -> None:
        write = _BLOCKS.get(string(block, "type")) if isinstance(block, Mapping) else None
        if write is None:
            self.anything(block)
        elif self.depth < MAX_DEPTH:
            self.depth += 1
            write(self, block)
            self.depth -= 1

    def paragraph(self, block: Raw) -> None:
        self.inline(block.get("text"))

    def heading(self, block: Raw) -> None:
        self.put("#" * min(max(whole(block, "size"), 1), 6) + " ")
        self.inline(block.get("text"))

    def preformatted(self, block: Raw) -> None:
        self.line()
        with self.marked("pre"):
            self.put(f"```{string(block, 'language')}\n")
            self.inline(block.get("text"))
            self.line()
            self.put("```")

    def listing(self, block: Raw) -> None:
        for item in parts(block, "items"):
            self.line()
            label = string(item, "label").strip()
            self.put(f"{label if label[:1].isalnum() else '-'} ")
            if item.get("has_checkbox"):
                self.put("[x] " if item.get("is_checked") else "[ ] ")
            with self.inside("  "):
                self.blocks(_sequence(item.get("blocks")))

    def quotation(self, block: Raw) -> None:
        self.line()
        with self.inside("> "):
            self.inline(block.get("text"))
            self.blocks(_sequence(block.get("blocks")))
            self._credit(block)

    def table(self, block: Raw) -> None:
        self._captioned(block)
        rows = _sequence(block.get("cells"))
        for number, row in enumerate(rows):
            self.line()
            cells = [cell for cell in _sequence(row) if isinstance(cell, Mapping)]
            self.put("|")
            for cell in cells:
                self._cell(cell)
            if not number:
                self.put("\n|" + " --- |" * sum(map(_width, cells)))

    def _cell(self, cell: Raw) -> None:
        self.put(" ")
        self.is_cell = True
        self.inline(cell.get("text"))
        self.is_cell = False
        self.put(" |" * _width(cell))

    def details(self, block: Raw) -> None:
        self.inline(block.get("summary"))
        self.line()
        with self.inside("  "):
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
            self.line()
            self.button(button)

    def divider(self, block: Raw) -> None:
        del block
        self.put("---")

    def formula(self, block: Raw) -> None:
        self.put(f"$${string(block, 'expression')}$$")

    def _captioned(self, block: Raw) -> None:
        caption = block.get("caption")
        if isinstance(caption, Mapping) and "type" not in caption:
            self.line()
            self.inline(caption.get("text"))
            self._credit(caption)
        elif caption:
            self.line()
            self.inline(caption)

    def _credit(self, raw: Raw) -> None:
        if raw.get("credit"):
            self.line()
            self.put("\u2014 ")
            self.inline(raw["credit"])

    # -- what is not known

    def anything(self, value: Any) -> None:
        """Write every word of a value of an unknown kind."""
        if isinstance(value, str):
            self.put(value)
        elif isinstance(value, list | tuple) and self.depth < MAX_DEPTH:
            self.depth += 1
            is_text = any(isinstance(one, str) for one in value)
            for number, one in enumerate(value):
                if number and not is_text:
                    self.line()
                self.block(one)
            self.depth -= 1
        elif isinstance(value, Mapping):
            (self.inline if is_inline(value) else self.unknown)(value)

    def unknown(self, raw: Raw, gap: str = "\n") -> None:
        """Write every word of an object of an unknown kind, and keep its files."""
        if self.depth >= MAX_DEPTH:
            return
        self.depth += 1
        begins = gap == " "  # an inline text stands where it is
        for name, value in raw.items():
            if name in _OPTIONS or name.endswith("_id"):
                continue
            if files := media_of({name: value}) if name in _MEDIA else file_in(value, name):
                self.media += files
            elif name == "blocks":
                self.line(gap)
                self.blocks(_sequence(value), "\n\n" if self.depth == 1 else "\n")
            elif isinstance(value, str | list | Mapping):
                if not begins:
                    self.line(gap)
                begins = False
                self.anything(value)
        self.depth -= 1


def _width(cell: Raw) -> int:
    return max(1, min(whole(cell, "colspan"), MAX_COLUMNS))


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


_BLOCKS: Final[Mapping[str, Callable[[_RichPage, Raw], None]]] = {
    "paragraph": _RichPage.paragraph,
    "heading": _RichPage.heading,
    "pre": _RichPage.preformatted,
    "footer": _RichPage.paragraph,
    "thinking": _RichPage.paragraph,
    "divider": _RichPage.divider,
    "mathematical_expression": _RichPage.formula,
    "anchor": RichText.nothing,
    "list": _RichPage.listing,
    "blockquote": _RichPage.quotation,
    "expandable_blockquote": _RichPage.quotation,
    "pullquote": _RichPage.quotation,
    "collage": _RichPage.group,
    "slideshow": _RichPage.group,
    "table": _RichPage.table,
    "details": _RichPage.details,
    "map": _RichPage.location,
    "buttons": _RichPage.buttons,
    **dict.fromkeys(_MEDIA, _RichPage.attachment),
}
