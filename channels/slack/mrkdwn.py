"""Slack's markup, mrkdwn: decodes what people wrote, and escapes plain text.

https://docs.slack.dev/messaging/formatting-message-text/
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

MARK: Final = re.compile(r"<([^<>\n]*)>")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))

NameOf = Callable[[str], str]


def decode(text: str, person: NameOf, channel: NameOf) -> str:
    """Return a text as people see it; `person` and `channel` return the name for an id."""
    return unescape(MARK.sub(lambda found: _decoded(found[1], person, channel), text))


def _decoded(mark: str, person: NameOf, channel: NameOf) -> str:
    target, bar, label = mark.partition("|")
    kind, rest = target[:1], target[1:]
    if kind == "@":
        return f"@{label or person(rest)}"
    if kind == "#":
        return f"#{label or channel(rest)}"
    if kind == "!":
        return _special(rest, label)
    if not bar or label in (target, target.partition(":")[2].removeprefix("//")):
        return target.removeprefix("mailto:")
    return f"[{label}]({target})"


def _special(name: str, label: str) -> str:
    # `!here` and similar, a user group, or a date, which may be a link
    if name.startswith("date^"):
        _date, when, *rest = name.split("^")
        shown = label or when
        return f"[{shown}]({rest[1]})" if len(rest) > 1 else shown
    bare = label or name.split("^")[-1]
    return bare if bare.startswith("@") else f"@{bare}"


def unescape(text: str) -> str:
    """Unescape the three characters that Slack escapes."""
    for escaped, char in _ENTITIES:
        text = text.replace(escaped, char)
    return text


def escape(text: str) -> str:
    """Escape a text so that Slack finds no markup in it."""
    for escaped, char in reversed(_ENTITIES):
        text = text.replace(char, escaped)
    return text


def mentioned(text: str) -> list[str]:
    """Return the ids of the people whom a text mentions, without duplicates."""
    ids = (found[1] for found in MARK.finditer(text))
    return list(dict.fromkeys(one[1:].partition("|")[0] for one in ids if one.startswith("@")))


def prose(text: str) -> str:
    """Return a text without its code, links and mentions."""
    return unescape(MARK.sub(" ", _CODE.sub(" ", text)))
