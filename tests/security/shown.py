"""What people see of one text in each channel, and the addresses that its readers find there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from channels.cli import format as cli
from channels.discord import format as discord
from channels.slack import format as slack
from channels.telegram import format as telegram
from channels.web import format as web
from tests.security import link_readers as readers


def on_telegram(text: str) -> Iterator[str]:
    yield from readers.of_telegram(*telegram.render(text))
    yield from readers.of_telegram(*telegram.render_partial(text))
    for plain, _entities in telegram.plain(text):
        yield from readers.of_text(plain)


def on_discord(text: str) -> Iterator[str]:
    for piece in (*discord.pieces(text), discord.render_partial(text)):
        yield from readers.of_discord(piece)


def on_slack(text: str) -> Iterator[str]:
    for piece in (slack.render(text), slack.settled(text), slack.plain(text)):
        yield from readers.of_slack(piece)


def on_the_page(text: str) -> Iterator[str]:
    yield from readers.of_page(web.to_html(text))
    yield from web.linked_images(text)


def in_a_terminal(text: str) -> Iterator[str]:
    yield from readers.of_terminal(cli.to_terminal(text))


CHANNELS: Final[dict[str, Callable[[str], Iterator[str]]]] = {
    "telegram": on_telegram,
    "discord": on_discord,
    "slack": on_slack,
    "web": on_the_page,
    "cli": in_a_terminal,
}


def addresses(text: str) -> set[tuple[str, str]]:
    """Return each address that some reader finds, with its channel."""
    return {(name, found) for name, read in CHANNELS.items() for found in read(text)}
