"""What people see of a rich message, and what of it they can tap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.fakes.base.http import JsonObject


def shown(message: Mapping[str, Any]) -> str:
    """Return the words of a kept rich message as people see them, a line for each block."""
    return "\n".join(_shown(block) for block in message["blocks"])


def _shown(block: JsonObject) -> str:
    match block["type"]:
        case "divider":
            return "\u2015"
        case "mathematical_expression":
            return str(block["expression"])
        case "blockquote":
            return "\n".join(f"> {_shown(one)}" for one in block["blocks"])
        case "list":
            return "\n".join(map(_shown_item, block["items"]))
        case "table":
            rows = ((words(cell.get("text", "")) for cell in row) for row in block["cells"])
            return "\n".join(" | ".join(row) for row in rows)
    return words(block.get("text", ""))  # people send blocks that no bot writes


def _shown_item(item: JsonObject) -> str:
    box = ("\u2611 " if item.get("is_checked") else "\u2610 ") if item.get("has_checkbox") else ""
    return f"{item['label']} {box}" + "\n".join(map(_shown, item["blocks"]))


def words(text: Any) -> str:
    """Return a rich text as people see it."""
    if isinstance(text, str):
        return text
    if isinstance(text, list):
        return "".join(map(words, text))
    return str(text["expression"]) if "expression" in text else words(text.get("text", ""))


def addresses(text: Any) -> list[str]:
    """Return what people can tap in a rich message, or in any part of one."""
    if isinstance(text, list):
        return [one for part in text for one in addresses(part)]
    if not isinstance(text, dict):
        return []
    own = [text["url"]] if text.get("type") == "url" else []
    return own + [one for value in text.values() for one in addresses(value)]
