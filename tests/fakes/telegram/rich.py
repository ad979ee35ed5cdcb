"""Rich messages: what Telegram takes, keeps and shows of the blocks that a bot sends.

Only blocks are read, and only those kinds that Tapeway may send: a file, a map, a button or a
mention is refused here, whatever Telegram does with it. Error names of which no document speaks
are of the form that Telegram's others have.

https://core.telegram.org/bots/api#inputrichmessage
https://core.telegram.org/bots/api#rich-message-formatting-options
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.entities import is_link
from tests.fakes.telegram.rules import Refusal, bad_request

MAX_CHARACTERS: Final = 32_768
MAX_BLOCKS: Final = 500
MAX_DEPTH: Final = 16
MAX_COLUMNS: Final = 20

_STYLES: Final = frozenset(
    (
        *("bold", "italic", "underline", "strikethrough", "spoiler"),
        *("subscript", "superscript", "marked", "code"),
    )
)
_ALIGNS: Final = ("left", "center", "right")
_VALIGNS: Final = ("top", "middle", "bottom")


def rich_content(params: JsonObject) -> JsonObject:
    """Return the field of a message that keeps the rich message of a call."""
    given = params.get("rich_message")
    if not isinstance(given, dict):
        raise bad_request("object expected as rich message")
    forms = [name for name in ("html", "markdown", "blocks") if given.get(name)]
    if len(forms) > 1 or set(given) - {"blocks", "is_rtl", "skip_entity_detection"}:
        raise bad_request("can't parse InputRichMessage")
    if given.get("skip_entity_detection") is not True:
        raise bad_request("this fake finds no entities: pass skip_entity_detection")
    reading = Reading()
    blocks = reading.blocks(given.get("blocks"), 0)
    if not "".join(reading.words).strip():
        raise _needed()
    rtl = {"is_rtl": True} if given.get("is_rtl") else {}
    return {"rich_message": {"blocks": blocks} | rtl}


class Reading:
    """One rich message that is being read: its blocks, words and columns are counted."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.count = 0

    def blocks(self, given: object, depth: int) -> list[JsonObject]:
        if not isinstance(given, list) or not given:
            raise _needed()
        return [self._block(block, depth + 1) for block in given]

    def _block(self, given: object, depth: int) -> JsonObject:
        self._counted(depth)
        read = _BLOCKS.get(given.get("type", "")) if isinstance(given, dict) else None
        if read is None or not isinstance(given, dict):
            raise bad_request("can't parse InputRichBlock: Unsupported type specified")
        return {"type": given["type"]} | read(self, given, depth)

    def _counted(self, depth: int) -> None:
        self.count += 1
        if self.count > MAX_BLOCKS:
            raise bad_request("RICH_MESSAGE_BLOCKS_TOO_MANY")
        if depth > MAX_DEPTH:
            raise bad_request("RICH_MESSAGE_DEPTH_INVALID")

    # -- blocks

    def paragraph(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "text")
        return {"text": self.text(given.get("text"), depth)}

    def heading(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "text", "size")
        if given.get("size") not in range(1, 7):
            raise bad_request("RICH_MESSAGE_HEADING_SIZE_INVALID")
        return {"text": self._needed_text(given, depth), "size": given["size"]}

    def preformatted(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "text", "language")
        return {"text": self._needed_text(given, depth)} | _given(given, "language")

    def divider(self, given: JsonObject, _depth: int) -> JsonObject:
        _only(given)
        return {}

    def formula(self, given: JsonObject, _depth: int) -> JsonObject:
        _only(given, "expression")
        return {"expression": self._expression(given)}

    def quotation(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "blocks")
        return {"blocks": self.blocks(given.get("blocks"), depth)}

    def listing(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "items")
        items = given.get("items")
        if not isinstance(items, list) or not items:
            raise _needed()
        if len({"value" in item for item in items}) > 1:
            raise bad_request("RICH_MESSAGE_LIST_INVALID")  # all items have numbers, or none
        return {"items": [self._item(item, depth + 1) for item in items]}

    def _item(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "blocks", "has_checkbox", "is_checked", "value", "type")
        self._counted(depth)
        blocks = self.blocks(given.get("blocks"), depth)
        number = given.get("value")
        if number is not None and (not isinstance(number, int) or given.get("type", "1") != "1"):
            raise bad_request("RICH_MESSAGE_LIST_INVALID")
        label = "\u2022" if number is None else f"{number}."
        boxes = _given(given, "has_checkbox", "is_checked", "value", "type")
        return {"label": label, "blocks": blocks} | boxes

    def table(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "cells", "is_bordered", "is_striped", "is_compact")
        rows = given.get("cells")
        if not isinstance(rows, list) or not rows or not all(rows):
            raise _needed()
        if any(len(row) > MAX_COLUMNS for row in rows):
            raise bad_request("RICH_MESSAGE_TABLE_COLUMNS_TOO_MANY")
        kept = []
        for row in rows:
            self._counted(depth + 1)
            kept.append([self._cell(cell, depth + 2) for cell in row])
        return {"cells": kept} | _given(given, "is_bordered", "is_striped", "is_compact")

    def _cell(self, given: JsonObject, depth: int) -> JsonObject:
        _only(given, "text", "is_header", "align", "valign")
        if given.get("align") not in _ALIGNS or given.get("valign") not in _VALIGNS:
            raise bad_request("can't parse RichBlockTableCell")
        text = {"text": self.text(given["text"], depth)} if "text" in given else {}
        return text | _given(given, "is_header", "align", "valign")

    # -- texts

    def _needed_text(self, given: JsonObject, depth: int) -> Any:
        before = len(self.words)
        text = self.text(given.get("text"), depth)
        if not "".join(self.words[before:]):
            raise _needed()
        return text

    def text(self, given: object, depth: int) -> Any:
        if isinstance(given, str):
            self._say(given)
            return given
        if isinstance(given, list) and given:
            return [self.text(one, depth) for one in given]
        if depth >= MAX_DEPTH:
            raise bad_request("RICH_MESSAGE_DEPTH_INVALID")
        kind = given.get("type") if isinstance(given, dict) else None
        if not isinstance(given, dict) or not isinstance(kind, str):
            raise bad_request("can't parse RichText")
        if kind == "mathematical_expression":
            _only(given, "expression")
            return {"type": kind, "expression": self._expression(given)}
        if kind == "url":
            _only(given, "text", "url")
            if not is_link(str(given.get("url", ""))) or "tg://user" in given["url"]:
                raise bad_request("RICH_MESSAGE_URL_INVALID")
            return {"type": kind, "text": self.text(given["text"], depth + 1), "url": given["url"]}
        if kind not in _STYLES:
            raise bad_request("can't parse RichText: Unsupported type specified")
        _only(given, "text")
        return {"type": kind, "text": self.text(given.get("text"), depth + 1)}

    def _expression(self, given: JsonObject) -> str:
        expression = given.get("expression")
        if not isinstance(expression, str) or not expression.strip():
            raise _needed()
        self._say(expression)
        return expression

    def _say(self, words: str) -> None:
        self.words.append(words)
        if sum(map(len, self.words)) > MAX_CHARACTERS:
            raise bad_request("RICH_MESSAGE_TEXT_TOO_LONG")


def _needed() -> Refusal:
    return bad_request("RICH_MESSAGE_CONTENT_REQUIRED")


def _only(given: JsonObject, *names: str) -> None:
    if unknown := set(given) - {"type", *names}:
        raise bad_request(f"this fake knows no field {sorted(unknown)[0]}")


def _given(given: JsonObject, *names: str) -> JsonObject:
    return {name: given[name] for name in names if name in given}


_BLOCKS: Final[Mapping[str, Callable[[Reading, JsonObject, int], JsonObject]]] = {
    "paragraph": Reading.paragraph,
    "heading": Reading.heading,
    "pre": Reading.preformatted,
    "divider": Reading.divider,
    "mathematical_expression": Reading.formula,
    "blockquote": Reading.quotation,
    "list": Reading.listing,
    "table": Reading.table,
}
