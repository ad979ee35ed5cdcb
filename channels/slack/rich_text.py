"""Writes Slack's rich text, which its editor makes, in Slack's markup.

https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from channels.slack.mrkdwn import decode, escape

Raw = Mapping[str, Any]
Writer = Callable[[Any], str]

_STYLES: Final = {"bold": "*", "italic": "_", "strike": "~", "code": "`"}


def link(url: str, label: str = "") -> str:
    """Return a link in Slack's markup; the label is in it, too, but a link in it is none."""
    target = escape(url.strip()).replace("|", "%7C").replace("\n", "")
    shown = " ".join(escape(decode(label, str, str)).split())
    return f"<{target}|{shown}>" if shown else f"<{target}>"


def write_rich_text(block: Raw, unknown: Writer) -> str:
    """Return the text of a block; `unknown` writes what this module does not know."""
    parts = (_part(one, unknown) for one in _listed(block.get("elements")))
    return "\n".join(part for part in parts if part.strip())


def _part(element: Raw, unknown: Writer) -> str:
    kind = element.get("type")
    if kind == "rich_text_list":
        return _list(element, unknown)
    text = _inline(element, unknown).strip("\n")
    if kind == "rich_text_quote":
        return "\n".join(f"&gt; {line}" for line in text.split("\n"))
    if kind == "rich_text_preformatted":
        return f"```\n{text}\n```"
    return text


def _list(element: Raw, unknown: Writer) -> str:
    indent = "  " * min(_number(element.get("indent")), 10)
    first = _number(element.get("offset")) + 1
    ordered = element.get("style") == "ordered"
    items = [_part(one, unknown) for one in _listed(element.get("elements"))]
    return "\n".join(
        f"{indent}{f'{first + number}.' if ordered else '•'} {item}"
        for number, item in enumerate(items)
    )


def _inline(element: Raw, unknown: Writer) -> str:
    if not isinstance(element.get("elements"), list):
        return _piece(element, unknown)
    return "".join(_piece(one, unknown) for one in _listed(element["elements"]))


def _piece(element: Raw, unknown: Writer) -> str:
    writer = _PIECES.get(str(element.get("type")))
    text = writer(element) if writer is not None else unknown(element)
    return _styled(text, element.get("style"))


def _text(element: Raw) -> str:
    return escape(str(element.get("text") or ""))


def _link(element: Raw) -> str:
    return link(str(element.get("url") or ""), escape(str(element.get("text") or "")))


def _emoji(element: Raw) -> str:
    tone = element.get("skin_tone")
    skin = f":skin-tone-{tone}:" if tone and "skin-tone" not in str(element.get("name")) else ""
    return f":{escape(str(element.get('name') or ''))}:{skin}"


def _date(element: Raw) -> str:
    shown = escape(str(element.get("fallback") or element.get("timestamp") or ""))
    url = element.get("url")
    return link(str(url), shown) if url else shown


_PIECES: Final[Mapping[str, Callable[[Raw], str]]] = {
    "text": _text,
    "link": _link,
    "emoji": _emoji,
    "date": _date,
    "user": lambda element: f"<@{element.get('user_id')}>",
    "channel": lambda element: f"<#{element.get('channel_id')}>",
    "usergroup": lambda element: f"<!subteam^{element.get('usergroup_id')}>",
    "broadcast": lambda element: f"<!{element.get('range')}>",
    "team": lambda element: f"@{element.get('team_id')}",
    "color": lambda element: escape(str(element.get("value") or "")),
}


def _styled(text: str, style: Any) -> str:
    if not isinstance(style, Mapping) or not text.strip():
        return text
    marks = "".join(mark for name, mark in _STYLES.items() if style.get(name))
    core = text.strip()
    before, _, after = text.partition(core)
    return f"{before}{marks}{core}{marks[::-1]}{after}"


def _listed(value: Any) -> list[Raw]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _number(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
