"""The form of a command in what a person wrote; the gateway knows which commands there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from channels.message import Button

_FORM: Final = re.compile(
    r"\s*[,/](?P<word>[a-z][a-z0-9_.-]*)(?:@(?P<bot>\w+))?(?P<rest>(?:\s.*)?)", re.I | re.S
)
_GAP: Final = re.compile(r"(?:[\s:]|,(?=\s))+")  # between a mention and the command behind it
_WRITTEN: Final = re.compile(r"`,(forget me|[a-z_.]+)")


def command_line(text: str, is_mine: Callable[[str], bool] = lambda _bot: False) -> str:
    """Return the command line that a text has the form of, beginning with a comma, or "".

    `is_mine` returns whether the bot in `/word@bot` is this one; another bot's is no command.
    """
    found = _FORM.fullmatch(text)
    if found is None or (found["bot"] and not is_mine(found["bot"])):
        return ""
    return f",{found['word'].lower()}{found['rest']}"


def named_bot(text: str) -> str:
    """Return the bot that a command is for, as in `/word@bot`, or ""."""
    found = _FORM.fullmatch(text)
    return (found and found["bot"]) or ""


def after_mention(text: str, end: int) -> str:
    """Return the text behind a mention, which ends there, or all of it if there is none (0)."""
    gap = _GAP.match(text, end) if end else None
    return text[gap.end() :] if gap is not None else text


def as_written(sentence: str, hint: Callable[[str], str]) -> str:
    """Return a sentence of the gateway with its commands as `hint` writes them."""
    return _WRITTEN.sub(lambda found: f"`{hint(found[1])}", sentence)


def with_choices(text: str, buttons: Sequence[Button]) -> str:
    """Return a text with commands in the place of its buttons."""
    lines = [f"- {one.label}: `,choose {one.token.replace(':', ' ')}`" for one in buttons]
    return "\n".join([text, "", *lines]) if lines else text
