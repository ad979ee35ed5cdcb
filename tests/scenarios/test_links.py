"""Links to messages, in what a command finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from channels.registry import read_link
from tests.kit.play import playing


@pytest.mark.parametrize("channel", ["discord", "slack", "telegram"])
@pytest.mark.parametrize("place", ["group", "thread"])
async def test_a_search_links_to_the_message_where_it_was_said(
    channel: str, place: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.stage.group(), play.person()
        chat = play.stage.thread(chat) if place == "thread" else chat
        said = await play.stage.say(chat, alice, "the plum is ripe", mention=False)
        await play.settle()
        mention = channel == "slack"  # elsewhere a comma is enough
        await play.ask(chat, alice, ",tape.search plum", mention=mention)
        answer = play.stage.outbound().decode(errors="replace")
    (link,) = set(re.findall(r"https?:[^\s)\"'<>|]+", unescaped(answer)))
    found = read_link(link)
    assert found is not None
    assert (found[0], found[1].message_id) == (channel, said.id.rpartition("/")[2])


def unescaped(text: str) -> str:
    return text.replace("\\/", "/")
