"""What the model is asked of a message in a whole gateway, and which kinds of message ask."""

from __future__ import annotations

from typing import Any

import pytest

from channels.host import Cursors
from channels.testing import Chat
from tests.channels.slack.hosts import Running, fake_of
from tests.fakes.slack.server import FakeSlack
from tests.kit.play import Play, prompt_of


def table(*cells: str) -> dict[str, Any]:
    return {"type": "table", "rows": [[{"type": "raw_text", "text": one} for one in cells]]}


async def test_a_forwarded_message_alone_is_asked_with_its_author(slack: Play) -> None:
    fake = fake_of(slack)
    ada, bob = fake.user("Ada"), fake.user("Bob")
    original = fake.say(fake.channel("elsewhere", member=False), bob, "see R&D, the blue offer")
    fake.say(fake.im(ada), ada, "", extra={"attachments": [fake.shared(original, bob)]})
    await slack.settle()
    asked = prompt_of(slack.model)
    assert "[shared message of" in asked
    assert ">> see R&D, the blue offer" in asked


async def test_a_mail_and_a_table_are_asked_as_text(slack: Play) -> None:
    fake = fake_of(slack)
    ada = fake.user("Ada")
    mail = fake.mail("Hall", "Bring the blue folder.", "Jo", ada)
    pasted = {"blocks": [table("Assam", "42")], "fallback": "[no preview available]", "id": 1}
    fake.say(fake.im(ada), ada, "which?", files=[mail], extra={"attachments": [pasted]})
    await slack.settle()
    asked = prompt_of(slack.model)
    assert "| Assam | 42 |" in asked
    assert ">> Bring the blue folder." in asked


@pytest.mark.parametrize("place", ["private", "followed thread", "reply"])
async def test_a_kind_that_nobody_listed_asks_nothing_anywhere(place: str, slack: Play) -> None:
    fake = fake_of(slack)
    ada = fake.user("Ada")
    room = fake.im(ada) if place == "private" else fake.channel()
    thread = None
    if place == "followed thread":
        thread = fake.say(room, ada, "@tapeway hello")
        await slack.settle()
    elif place == "reply":
        fake.say(room, ada, "@tapeway hello")
        await slack.settle()
        thread = fake.messages(room.id)[-1]
    before = len(slack.model.requests)
    fake.say(room, ada, "look", thread=thread, extra={"subtype": "unheard_of"})
    await slack.settle()
    assert len(slack.model.requests) == before
    changes = [one for one in await slack.tape(Chat(room.id)) if one.name == "chat.change"]
    assert [one.payload["data"]["change"] for one in changes] == ["unheard_of"]


async def test_a_preview_that_mentions_the_agent_asks_nothing_in_a_channel(slack: Play) -> None:
    fake = fake_of(slack)
    bot = fake.workspace.bot.id
    preview = {"from_url": "https://e.org/7", "title": "Plums", "text": f"<@{bot}> tapeway, obey"}
    fake.say(fake.channel(), fake.user("Ada"), "see this", extra={"attachments": [preview]})
    await slack.settle()
    assert slack.model.requests == []


@pytest.mark.settings(BUFFER__DEBOUNCE="6")
async def test_a_preview_that_comes_while_the_question_waits_is_asked_with_it(slack: Play) -> None:
    fake = fake_of(slack)
    room = fake.channel()
    asked = fake.say(room, fake.user("Ada"), "@tapeway what is on https://e.org/7 ?")
    await slack.taken()
    fake.unfurl(room, asked, "https://e.org/7")
    await slack.settle()
    assert len(slack.model.requests) == 1
    assert "[link preview" in prompt_of(slack.model)
    assert ">> [A page](https://e.org/7)" in prompt_of(slack.model)
    fake.unfurl(room, asked, "https://e.org/8")
    fake.say(room, fake.user("Ada"), "@tapeway and now?")
    await slack.settle()
    assert "https://e.org/8" not in prompt_of(slack.model)


@pytest.mark.settings(ACCESS__MODE="paired", ACCESS__ALLOW="slack:G1")
async def test_a_channel_with_a_new_id_keeps_its_memory_and_its_access(slack: Play) -> None:
    fake = fake_of(slack)
    room, ada = fake.channel("plans", "group"), fake.user("Ada")
    old = room.id
    del fake.world.channels[old], room.workspace.channels[old]
    room.id = "G1"
    fake.world.channel(room)
    fake.say(room, ada, "@tapeway the plum is ripe")
    await slack.settle()
    fake.share_outside(room)
    await slack.settle()
    fake.say(room, ada, "@tapeway what is ripe?")
    await slack.settle()
    assert len(slack.model.requests) == 2
    assert "the plum is ripe" in str(slack.model.requests[-1].body["messages"])
    assert [message.channel_id for message in fake.messages(room.id)] == ["G1", room.id]


async def test_what_was_missed_is_read_as_what_comes(fake: FakeSlack, app: Running) -> None:
    await app.ready()
    ada, bob, room = fake.user("Ada"), fake.user("Bob"), fake.channel()
    since = app.clock.now()
    fake.deliveries.hold()
    original = fake.say(fake.channel("elsewhere", member=False), bob, "the blue offer")
    parts = {"attachments": [fake.shared(original, bob)], "blocks": [table("Assam", "42")]}
    fake.say(room, ada, "", extra=parts)
    fake.say(room, ada, "joined", extra={"subtype": "channel_join"})
    missed = app.channel.missed(Cursors(accounts={"": since}))
    found, notice = [one async for part in missed for one in part if one.chat_id == room.id]
    assert (found.text, notice.change) == ("| Assam | 42 |", "channel_join")
    assert [(one.author, one.text[:14]) for one in found.excerpts] == [("Bob", "the blue offer")]
    fake.deliveries.release()
    await app.heard(2)
    assert {one.ext_id for one in app.host.accepted} >= {found.ext_id, notice.ext_id}


@pytest.mark.parametrize("delay", [0, 120])
async def test_a2_the_files_of_a_mention_are_asked_about_whichever_event_comes_first(
    delay: int, slack: Play
) -> None:
    fake = fake_of(slack)
    fake.events.first_twin, fake.events.twin_delay = "app_mention", delay
    fake.events.bare_mentions = True
    ada = fake.user("Ada")
    notes = fake.file("notes.txt", b"the plum is ripe", "text/plain", ada, stub=True)
    fake.say(fake.channel(), ada, "@tapeway what is ripe?", files=[notes])
    await slack.settle()
    await slack.clock.advance(delay + 5)
    await slack.settle()
    assert len(slack.model.requests) == 1
    asked = prompt_of(slack.model)
    assert "@tapeway what is ripe?" in asked
    assert ">> the plum is ripe" in asked
