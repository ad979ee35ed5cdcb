"""What is looked up of a message after its event was acknowledged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channels.errors import ChannelDown
from channels.message import InboundMessage
from tests.channels.slack.hosts import Running, all_delivered, running, slack
from tests.fakes.base.faults import ServerError
from tests.fakes.slack.faults import Refuse
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock, rest

LONG = "KeyError: 'zebra'\n" + "line\n" * 200 + "the end"
PNG = b"\x89PNG"


async def only(app: Running) -> InboundMessage:
    await app.heard(1)
    (message,) = app.host.accepted
    return message


@pytest.mark.parametrize("kind", ["snippet", "stub of a text file"])
async def test_the_whole_text_of_a_file_is_looked_up(
    kind: str, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada = fake.user("Ada")
    stub = fake.file("x.log", LONG.encode(), "text/plain", ada, stub=True)
    file = stub if kind != "snippet" else fake.snippet("x.py", LONG, ada)
    fake.say(fake.im(ada), ada, "why?", files=[file])
    message = await only(app)
    assert message.incomplete
    found = await app.channel.complete(message)
    (excerpt,) = found.excerpts
    assert (excerpt.label, excerpt.text) == ("text file", LONG)
    assert (found.media, found.incomplete, found.omitted) == ((), False, ())
    assert "files" not in found.raw
    assert await app.channel.complete(replace(message)) == found


async def test_a_stub_in_a_shared_message_becomes_its_picture_there(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada, bob = fake.user("Ada"), fake.user("Bob")
    stub = fake.file("plan.png", PNG, "image/png", bob, stub=True)
    original = fake.say(fake.channel("elsewhere"), bob, "the plan", files=[stub])
    await app.heard(1)
    app.host.accepted.clear()
    shared = {"attachments": [fake.shared(original, bob)]}
    fake.say(fake.im(ada), ada, "", extra=shared)
    message = await only(app)
    (excerpt,) = (await app.channel.complete(message)).excerpts
    assert (excerpt.author, excerpt.text) == ("Bob", "the plan")
    assert [(one.kind, one.name) for one in excerpt.media] == [("image", "plan.png")]


async def test_what_slack_does_not_show_is_named(fake: FakeSlack, app: Running) -> None:
    await app.ready()
    ada = fake.user("Ada")
    stub = fake.file("x.log", b"secret", "text/plain", ada, stub=True)
    fake.say(fake.im(ada), ada, "why?", files=[stub])
    message = await only(app)
    fake.fail("files.info", Refuse("file_not_found"))
    found = await app.channel.complete(message)
    assert [one.label for one in found.media] == ["file that Slack does not show me"]
    assert not found.incomplete


async def test_it_is_worth_another_try_if_slack_does_not_answer(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    ada = fake.user("Ada")
    stub = fake.file("x.log", b"all", "text/plain", ada, stub=True)
    fake.say(fake.im(ada), ada, "why?", files=[stub])
    message = await only(app)
    fake.fail("files.info", ServerError())
    with pytest.raises(ChannelDown):
        await app.channel.complete(message)
    assert (await app.channel.complete(message)).excerpts[0].text == "all"


@pytest.mark.parametrize("place", ["channel", "thread"])
async def test_a2_a_mention_that_comes_first_without_its_files_gets_them(
    place: str, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    fake.events.first_twin, fake.events.twin_delay = "app_mention", 0.05
    fake.events.bare_mentions = True
    ada, room = fake.user("Ada"), fake.channel()
    root = fake.say(room, ada, "here") if place == "thread" else None
    await app.heard(1 if root else 0)
    app.host.accepted.clear()
    plan = fake.file("plan.png", PNG, "image/png", ada)
    fake.say(room, ada, "@tapeway what is it?", files=[plan], thread=root)
    await all_delivered(fake)
    message = await only(app)
    assert (message.media, message.incomplete) == ((), True)
    found = await app.channel.complete(message)
    assert [one.name for one in found.media] == ["plan.png"]
    assert (found.ext_id, found.addressed, found.why) == (message.ext_id, True, "mention")
    assert (found.thread_id, found.incomplete) == (message.thread_id, False)


async def test_a2_a_mention_whose_two_events_come_at_once_is_the_one_with_the_files() -> None:
    clock = ManualClock()
    async with slack(clock) as fake, running(fake, clock=clock, reorder_seconds=0.2) as app:
        await app.ready()
        fake.events.first_twin = "app_mention"
        fake.events.bare_mentions = True
        ada = fake.user("Ada")
        plan = fake.file("plan.png", PNG, "image/png", ada)
        fake.say(fake.channel(), ada, "@tapeway what is it?", files=[plan])
        while not app.host.accepted:
            await clock.advance(0.05)
            await rest()
        (message,) = app.host.accepted
        assert [one.name for one in message.media] == ["plan.png"]
        assert (message.addressed, message.incomplete) == (True, False)


async def test_a_mention_is_asked_as_it_came_if_its_message_cannot_be_read(
    fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    fake.events.first_twin, fake.events.twin_delay = "app_mention", 0.05
    fake.say(fake.channel(), fake.user("Ada"), "@tapeway hello")
    message = await only(app)
    fake.fail("conversations.history", Refuse("channel_not_found"))
    found = await app.channel.complete(message)
    assert (found.text, found.addressed, found.incomplete) == ("@tapeway hello", True, False)
