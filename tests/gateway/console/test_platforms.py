"""An administrator of a chat on each platform enters the console, between the fakes of both."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

from channels.registry import CHANNELS
from channels.testing import Chat, Person
from gateway.access.console_door import FOR_WHOM
from gateway.access.roles import KNOWN_SECONDS
from gateway.app import access_admin
from gateway.console.chats import key_of
from tests.gateway.console.scene import OUTSIDE, TOKEN
from tests.kit.play import Play, playing
from tests.kit.promised import class_of

WITH_ADMINS = sorted(name for name in CHANNELS if "admins" in class_of(name).capabilities)
ME, DECK = "/api/console/me", "/api/console/deck"


async def asked_for_link(play: Play, person: Person) -> str:
    """Have somebody give the command in private; return what they read last."""
    chat = play.stage.private(person)
    await play.ask_command(chat, person, "console")
    return play.texts(chat)[-1]


def key(play: Play, chat: Chat) -> str:
    return key_of(f"{play.channel}:{chat.id}")


@pytest.mark.parametrize("channel", WITH_ADMINS)
async def test_an_administrator_of_a_platform_enters_for_their_chat_until_they_are_dismissed(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired", HTTP__TOKEN=TOKEN) as play:
        ann, bob = play.person("Ann"), play.person("Bob")
        group, closed = play.stage.group(), play.stage.group()
        await access_admin(play.gateway).grant(f"{channel}:{group.id}", "member", "")
        for person in (ann, bob):
            await play.ask(group, person, f"I am {person.name}")
            await play.ask(closed, person, "is anybody here?")
        assert (await asked_for_link(play, ann)).endswith(FOR_WHOM)
        play.stage.appoint(group, ann)
        play.stage.appoint(closed, ann)
        await play.clock.advance(KNOWN_SECONDS)
        code = re.search(r"#code=([0-9a-f]{32})", await asked_for_link(play, ann))
        assert code is not None
        assert (await asked_for_link(play, bob)).endswith(FOR_WHOM)
        url = play.gateway.url
        async with httpx2.AsyncClient(base_url=url, trust_env=False, headers=OUTSIDE) as browser:
            entered = await browser.post("/console/code", json={"code": code[1]})
            assert entered.is_success, entered.text
            deck = (await browser.get(DECK)).json()
            assert [one["chat"] for one in deck["chats"]] == [key(play, group)]
            for chat in (closed, play.stage.private(bob), play.stage.private(ann)):
                path = f"/api/console/chats/{key(play, chat)}"
                assert (await browser.get(path)).status_code == 404
            assert (await browser.get("/api/console/settings")).status_code == 403
            play.stage.dismiss(group, ann)
            play.stage.dismiss(closed, ann)
            await play.clock.advance(KNOWN_SECONDS)
            assert (await browser.get(ME)).status_code == 403
