"""Names of people whom the app has not seen: looked up after the event is acknowledged."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from channels.message import InboundMessage
from tests.channels.slack.hosts import Running, fake_of, running
from tests.fakes.base.faults import Hang, ServerError
from tests.fakes.slack.faults import Refuse
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import User
from tests.kit.clock import ManualClock, rest
from tests.kit.play import Play, prompt_of


async def newest(app: Running, count: int = 1) -> InboundMessage:
    """Return the newest message once so many are accepted."""
    await app.heard(count)
    return app.host.accepted[-1]


def shown_at(message: InboundMessage) -> dict[str, Any]:
    """Return each place of a message where a name stands."""
    return {
        "sender": message.sender.name,
        "text": message.text,
        "chat": message.chat_title,
        "shared": [(one.author, one.text) for one in message.excerpts],
        "quote": (message.quote.author, message.quote.text) if message.quote else None,
    }


def everywhere(bob: User) -> dict[str, Any]:
    """Return the fields of a message that names somebody wherever a message can."""
    shared = {"is_share": True, "author_id": bob.id, "text": f"ask <@{bob.id}>", "ts": "1.1"}
    return {"attachments": [shared]}


async def test_the_first_message_is_accepted_at_once_and_gets_its_names_then(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada, bob, room = fake.user("Ada"), fake.user("Bob"), fake.channel("garden")
    asked = Hang()
    fake.fail("users.info", asked)
    fake.say(room, ada, f"hi @{bob.name}", extra=everywhere(bob))
    message = await newest(app)
    assert (message.sender.name, message.incomplete) == (ada.id, True)
    asked.release()
    found = await app.channel.complete(message)
    assert shown_at(found) == {
        "sender": "ada",
        "text": "hi @bob",
        "chat": "garden",
        "shared": [("bob", "ask @bob")],
        "quote": None,
    }
    assert (found.incomplete, "names" in found.raw) == (False, False)
    assert (found.sender.id, found.excerpts[0].author_id) == (ada.id, bob.id)


async def test_the_root_below_which_a_reply_is_broadcast_gets_its_author_s_name(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada, bob, room = fake.user("Ada"), fake.user("Bob"), fake.channel("garden")
    root = {"type": "message", "user": bob.id, "text": f"I, <@{bob.id}>", "ts": "1.1"}
    fake.say(room, ada, "and?", extra={"subtype": "thread_broadcast", "root": root})
    found = await app.channel.complete(await newest(app))
    assert shown_at(found)["quote"] == ("bob", "I, @bob")


async def test_who_wrote_what_that_root_shares_gets_a_name_too(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada, bob, zed = fake.user("Ada"), fake.user("Bob"), fake.user("Zed")
    shared = {"is_share": True, "author_id": zed.id, "text": "it costs 300", "ts": "1.0"}
    root = {"type": "message", "user": bob.id, "text": "look", "ts": "1.1", "attachments": [shared]}
    room = fake.channel("garden")
    fake.say(room, ada, "and?", extra={"subtype": "thread_broadcast", "root": root})
    found = await app.channel.complete(await newest(app))
    said = "look\nshared message of @zed: it costs 300"
    assert shown_at(found)["quote"] == ("bob", said)


@pytest.mark.parametrize("fault", [Refuse("user_not_found"), ServerError()])
async def test_without_an_answer_an_id_stands_there_and_the_next_message_asks_again(
    fault: Any, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada, room = fake.user("Ada"), fake.channel("garden")
    fake.fail("users.info", fault)
    fake.say(room, ada, "one")
    found = await app.channel.complete(await newest(app))
    assert (found.sender.name, found.incomplete) == (ada.id, False)
    fake.say(room, ada, "two")
    found = await app.channel.complete(await newest(app, 2))
    assert found.sender.name == "ada"
    fake.say(room, ada, "three")
    assert not (await newest(app, 3)).incomplete


async def test_a_message_waits_two_seconds_for_a_name(
    clock: ManualClock, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada, room = fake.user("Ada"), fake.channel("garden")
    asked = Hang()
    fake.fail("users.info", asked)
    fake.say(room, ada, "one")
    work = asyncio.create_task(app.channel.complete(await newest(app)))
    await rest()
    assert not work.done()
    await clock.advance(2.0)
    found = await work
    assert (found.sender.name, found.incomplete) == (ada.id, False)
    asked.release()


async def test_another_process_asks_for_the_names_of_what_was_accepted(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada = fake.user("Ada")
    asked = Hang()
    fake.fail("users.info", asked)
    fake.say(fake.channel("garden"), ada, "one")
    message = replace(await newest(app))
    async with running(fake, http=True) as other:
        await other.ready()
        assert (await other.channel.complete(message)).sender.name == "ada"
    asked.release()


async def test_words_that_look_like_ids_are_not_looked_up(fake: FakeSlack, app: Running) -> None:
    await app.ready()
    ada, room = fake.user("Ada"), fake.channel("garden")
    fake.say(room, ada, "one")
    await app.channel.complete(await newest(app))
    fake.say(room, ada, "mail @UX or @W3C about #CSS")
    message = await newest(app, 2)
    assert (message.incomplete, message.text) == (False, "mail @UX or @W3C about #CSS")


@pytest.mark.parametrize("way", ["new", "edit", "shared"])
async def test_the_model_reads_the_names_from_the_first_message_on(way: str, slack: Play) -> None:
    fake = fake_of(slack)
    ada, bob = fake.user("Ada"), fake.user("Bob")
    asked = Hang()
    fake.fail("users.info", asked)
    extra = everywhere(bob) if way == "shared" else {}
    message = fake.say(fake.im(ada), ada, "" if extra else f"who is @{bob.name}?", extra=extra)
    if way == "edit":
        fake.edit(fake.im(ada), message, f"and who is @{bob.name}?")
    await fake.wait_for_calls("users.info", 1)
    asked.release()
    await slack.settle()
    prompt = prompt_of(slack.model)
    assert "#1 ada]" in prompt
    assert "@bob" in prompt
    assert ada.id not in prompt
    assert bob.id not in prompt
