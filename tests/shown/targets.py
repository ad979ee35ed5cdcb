"""Sends a text to each target as the product does, and returns what people see there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from channels.discord import format as discord
from channels.markdown.split import split
from channels.slack import format as slack
from channels.telegram import format as telegram
from channels.telegram.rich_writer import rich_message, rich_size
from tests.fakes.base.http import JsonObject
from tests.fakes.discord import reader as discord_reader
from tests.fakes.slack import reader as slack_reader
from tests.fakes.telegram import rich_reader
from tests.fakes.telegram.entities import checked
from tests.fakes.telegram.rich import rich_content
from tests.shown import terminal
from tests.shown.compare import Shown

_UNSEEN: Final = re.compile("[\u200b]")


def by_telegram(sent: tuple[str, list[JsonObject]]) -> tuple[str, list[str]]:
    """Return the text of a message as the server keeps it, and the targets of its links."""
    kept = checked(sent[0], list(sent[1]))
    return kept.text, [one["url"] for one in kept.entities if one["type"] == "text_link"]


def on_telegram(text: str) -> Shown:
    """Return what people see on Telegram."""
    pieces = map(telegram.render, split(text, telegram.LIMIT, telegram.size))
    return _shown([by_telegram(piece) for piece in pieces if piece[0]])


def by_rich(message: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the words of a rich message as the server keeps it, and the targets of its links."""
    kept = rich_content({"rich_message": message})["rich_message"]
    return rich_reader.shown(kept), rich_reader.addresses(kept)


def on_rich(text: str) -> Shown:
    """Return what people see in a chat of Telegram's that gets rich messages."""
    found = []
    for piece in split(text, telegram.LIMIT, rich_size):
        if message := rich_message(piece):
            found.append(by_rich(message))
        elif (sent := telegram.render(piece))[0]:
            found.append(by_telegram(sent))
    return _shown(found)


def on_discord(text: str) -> Shown:
    """Return what people see on Discord."""
    found = [discord_reader.read(discord.render(one)) for one in discord.pieces(text)]
    return _shown([(one.text, one.targets) for one in found])


def on_slack(text: str) -> Shown:
    """Return what people see on Slack."""
    pieces = map(slack.render, split(text, slack.LIMIT, slack.size))
    found = [slack_reader.read(one) for one in pieces if one != slack.EMPTY]
    return _shown([(one.text, one.targets) for one in found])


def on_terminal(text: str) -> Shown:
    """Return what people see in a terminal."""
    return Shown((terminal.drawn(text),), wraps=True)


def _shown(messages: list[tuple[str, list[str]]]) -> Shown:
    texts = tuple(_UNSEEN.sub("", text) for text, _targets in messages)
    return Shown(texts, tuple(target for _text, targets in messages for target in targets))


def in_plain_text(text: str) -> Shown:
    """Return what people see where Telegram took no entities."""
    return _shown([(one, []) for one, _none in telegram.plain(text)])


TARGETS: Final[dict[str, Callable[[str], Shown]]] = {
    "telegram": on_telegram,
    "rich": on_rich,
    "discord": on_discord,
    "slack": on_slack,
    "terminal": on_terminal,
}
"""All but the page, which needs a browser."""
