"""How Discord reads the text of a message: what it trims, whom it mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_CODE: Final = re.compile(r"```.*?```|``.*?``|`[^`\n]*`", re.DOTALL)
_MENTION: Final = re.compile(r"(?<!\\)<@(!|&)?(\d{1,20})>|(?<!\w)@(everyone|here)\b")


@dataclass(frozen=True, slots=True)
class Mentioned:
    """Hold what a text names, each once and in its order."""

    users: tuple[int, ...] = ()
    roles: tuple[int, ...] = ()
    everyone: bool = False


def trimmed(text: str) -> str:
    """Return a text as it is stored: without space around it."""
    return text.strip()


def mentioned(text: str) -> Mentioned:
    """Return whom a text mentions; what stands in code mentions nobody."""
    users: dict[int, None] = {}
    roles: dict[int, None] = {}
    everyone = False
    for kind, number, all_of_them in _found(text):
        if all_of_them:
            everyone = True
        elif kind == "&":
            roles[int(number)] = None
        else:
            users[int(number)] = None
    return Mentioned(tuple(users), tuple(roles), everyone)


def _found(text: str) -> Iterator[tuple[str, str, str]]:
    for match in _MENTION.finditer(_CODE.sub(" ", text)):
        yield match[1] or "", match[2] or "", match[3] or ""
