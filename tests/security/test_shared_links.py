"""200 links of honest answers, each in a view whose other text is about the link's own subject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from channels.discord import format as discord
from channels.slack import format as slack
from channels.telegram import format as telegram
from channels.web import format as web
from gateway.links.address import read
from gateway.links.hosts import SharedHosts
from tests.fakes.openai.script import Text
from tests.gateway.scheduling.confirming import ALICE, BOB, Scene, scene
from tests.kit.editing_channel import QUESTION
from tests.kit.gateways import settled
from tests.security.link_readers import of_discord, of_page, of_slack, of_telegram

MIN_WHOLE: Final = 80
FOLDER: Final = Path(__file__).parent.parent / "fixtures" / "links"
LISTED: Final = "listed.txt"
OTHERS: Final = "unlisted.txt"
FILES: Final = (LISTED, OTHERS)
ASKED: Final = "where can I read more about that?"


def links(name: str) -> list[tuple[str, str]]:
    """Return the links of a file, each with what somebody else says about its subject."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [(link, text) for link, _tab, text in (line.partition("\t") for line in lines)]


async def answer(play: Scene, chat: str, link: str, text: str) -> str:
    """Have Bob say a text in a chat of its own, and Ann be answered there with the link."""
    before = len(play.channel.sent)
    said = f"You can read on [there]({link}), or copy {link} from here."
    play.server.enqueue(Text(tuple(said[at : at + 6] for at in range(0, len(said), 6))))
    for author, words in ((BOB, text), (ALICE, ASKED)):
        number = f"{chat}/{author.id}"
        asks = author is ALICE
        message = replace(QUESTION, sender=author, text=words, ext_id=number, message_id=number)
        message = replace(message, chat_id=chat, chat_kind="group", owner=False, addressed=asks)
        await play.channel.host.accept([message])
        entries = await settled(play.gateway, f"editing:{chat}")
    (sent,) = play.channel.sent[before:]
    assert "taint" in entries[-1].meta or any("taint" in entry.meta for entry in entries)
    return sent.text


def in_each_channel(text: str) -> list[set[str]]:
    """Return the addresses that people find in each channel."""
    found = (
        of_telegram(*telegram.render(text)),
        of_discord(discord.render(text)),
        of_slack(slack.render(text)),
        of_page(web.to_html(text)),
    )
    return [{unquote(address) for address in addresses} for addresses in found]


async def kept(home: Path, name: str, whole: Callable[[str], str]) -> list[str]:
    """Return the links of a file of which each channel shows the wanted part."""
    found = list[str]()
    async with scene(home, ACCESS__MODE="open") as play:
        for number, (link, text) in enumerate(links(name), start=1):
            shown = in_each_channel(await answer(play, str(number), link, text))
            wanted = unquote(whole(link))
            if all(wanted in addresses for addresses in shown):
                found.append(link)
    return found


def test_there_are_100_links_on_listed_hosts_and_100_on_others() -> None:
    hosts = SharedHosts()
    listed, others = ([link for link, _text in links(name)] for name in FILES)
    assert len(set(listed)) == len(set(others)) == 100
    assert all(hosts.holds(read(link)) for link in listed)
    assert not any(hosts.holds(read(link)) for link in others)


async def test_links_on_listed_hosts_stay_whole(tmp_path: Path) -> None:
    given = [link for link, _text in links(LISTED)]
    assert await kept(tmp_path, LISTED, str) == given


async def test_most_other_links_keep_their_whole_path(tmp_path: Path) -> None:
    assert len(await kept(tmp_path, OTHERS, str)) >= MIN_WHOLE
