"""Buttons below messages, who presses them, and who administers a workspace of Slack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest

from channels.errors import ChannelDown, ChannelError, SendRefused
from channels.message import Author, Button, InboundMessage, OutboundMessage
from tests.channels.slack.hosts import Running, running
from tests.fakes.slack.faults import Refuse
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, Message, User
from tests.kit.clock import ManualClock

CHOICES = (Button("This channel", "0123456789:channel"), Button("No", "0123456789:no"))


@dataclass
class Room:
    """A channel in which the app asks with buttons."""

    app: Running
    fake: FakeSlack
    place: Channel
    ada: User

    async def ask(self, text: str = "Shall I?", **more: object) -> Message:
        values: dict[str, object] = {"idem": "n-1", "kind": "notice", "buttons": CHOICES} | more
        message = OutboundMessage("slack", self.place.id, text, **values)  # type: ignore[arg-type]
        (receipt,) = await self.app.channel.deliver(message)
        return self.place.messages[receipt.platform_id]

    async def presses(self, count: int = 1) -> list[InboundMessage]:
        def found() -> list[InboundMessage]:
            return [one for one in self.app.host.accepted if one.kind == "press"]

        await self.app.host.until(lambda: len(found()) >= count)
        return found()


@asynccontextmanager
async def room(*refusals: Exception) -> AsyncIterator[Room]:
    clock = ManualClock()
    async with FakeSlack() as fake, running(fake, clock=clock, refusals=refusals) as app:
        await app.ready()
        ada = fake.user("Ada")
        yield Room(app, fake, fake.channel("ops", members=[ada]), ada)


@pytest.fixture
async def ops() -> AsyncIterator[Room]:
    async with room() as made:
        yield made


async def test_a_question_has_buttons_and_its_whole_text_where_search_finds_it(ops: Room) -> None:
    text = f"# Open?\n\n{'Many **words** to read. ' * 300}"
    shown = await ops.ask(text)
    assert {label: one["value"] for label, one in shown.buttons.items()} == {
        button.label: button.token for button in CHOICES
    }
    assert shown.text.count("Many words to read.") == 300
    assert shown.blocks[0]["type"] == "markdown"
    assert not shown.unfurls
    assert shown.metadata is not None
    assert ops.fake.pinged(ops.place.id) == []


async def test_nobody_is_alerted_by_a_question_or_its_buttons(ops: Room) -> None:
    await ops.ask(f"<!channel> @here <@{ops.ada.id}>", buttons=(Button("<!here> @all", "a:b"),))
    assert ops.fake.pinged(ops.place.id) == []


async def test_a_server_whose_blocks_have_no_markdown_gets_sections_that_fit(ops: Room) -> None:
    ops.fake.fail("chat.postMessage", Refuse("invalid_blocks"))
    shown = await ops.ask("Many **words** to read. " * 300)
    pieces = [one["text"]["text"] for one in shown.blocks if one["type"] == "section"]
    assert "".join(pieces).count("Many words to read.") == 300
    assert len(pieces) == 2
    assert list(shown.buttons) == ["This channel", "No"]


async def test_a_long_label_is_cut_to_what_slack_shows(ops: Room) -> None:
    assert list((await ops.ask(buttons=(Button("x" * 90, "a:b"),))).buttons) == ["x" * 75]


async def test_an_edit_without_buttons_removes_them(ops: Room) -> None:
    shown = await ops.ask()
    await ops.ask("Opened by *Ada*.", edits=shown.ts, buttons=())
    assert (shown.text, shown.buttons) == ("Opened by Ada.", {})


async def test_the_edit_of_a_long_question_is_shown_whole(ops: Room) -> None:
    shown = await ops.ask("word " * 1500)
    await ops.ask("WORD " * 1500, edits=shown.ts, buttons=())
    assert str(shown.blocks[0]["text"]).count("WORD") == 1500


async def test_a_press_is_a_message_of_the_person_with_the_token_and_the_place(ops: Room) -> None:
    shown = await ops.ask()
    told = ops.fake.tap(ops.place, ops.ada, shown, "No")
    (found,) = await ops.presses()
    assert (found.press, found.message_id, found.chat_id) == (
        "0123456789:no",
        shown.ts,
        ops.place.id,
    )
    assert (found.sender.id, found.chat_kind, found.thread_id) == (ops.ada.id, "group", None)
    assert found.server_id == ops.fake.workspace.team_id
    assert found.ext_id.startswith("press/")
    assert told.payload["response_url"] not in str(found)


async def test_a_press_in_a_thread_is_in_that_thread(ops: Room) -> None:
    root = ops.fake.say(ops.place, ops.ada, "here")
    shown = await ops.ask(thread_id=root.ts)
    ops.fake.tap(ops.place, ops.ada, shown, "No")
    (found,) = await ops.presses()
    assert (found.thread_id, found.message_id) == (root.ts, shown.ts)


async def test_two_people_who_press_at_once_are_two_presses(ops: Room) -> None:
    shown, bob = await ops.ask(), ops.fake.user("Bob")
    for person in (ops.ada, bob):
        ops.fake.tap(ops.place, person, shown, "No")
    found = await ops.presses(2)
    assert {one.sender.id for one in found} == {ops.ada.id, bob.id}


async def test_a_press_that_is_delivered_again_is_the_same_press(ops: Room) -> None:
    told = ops.fake.tap(ops.place, ops.ada, await ops.ask(), "No")
    await ops.presses()
    again = ops.fake.events.again(told)
    await ops.fake.wait_for(lambda _fake: again.state == "acked")
    assert len(await ops.presses()) == 1


async def test_a_press_is_acknowledged_only_once_it_is_on_the_disk() -> None:
    async with room(ChannelDown("the disk is full")) as ops:
        told = ops.fake.tap(ops.place, ops.ada, await ops.ask(), "No")
        await ops.fake.wait_for(lambda _fake: told.arrived or bool(told.envelopes))
        await ops.app.host.until(lambda: not ops.app.host.refusals)
        assert told.state != "acked"
        later = ops.fake.tap(ops.place, ops.ada, list(ops.place.messages.values())[-1], "No")
        await ops.fake.wait_for(lambda _fake: later.state == "acked")
        assert len(await ops.presses()) == 1


@pytest.mark.parametrize(("age", "state"), [(0.0, "acked"), (900.0, "lost")])
async def test_over_http_a_press_counts_only_if_slack_has_just_signed_it(
    age: float, state: str
) -> None:
    async with FakeSlack() as fake, running(fake, http=True) as app:
        await app.ready()
        ada = fake.user("Ada")
        place = fake.channel("ops", members=[ada])
        sent = OutboundMessage("slack", place.id, "Shall I?", kind="notice", buttons=CHOICES)
        (receipt,) = await app.channel.deliver(sent)
        told = fake.tap(place, ada, receipt.platform_id, "No")
        async with app.web() as web:
            fake.http.age = age
            body, headers = fake.http.signed(told)
            answer = await web.post("/slack/events", content=body, headers=headers)
        assert answer.status_code == (200 if state == "acked" else 401)
        assert [one.press for one in app.host.accepted] == (
            ["0123456789:no"] if state == "acked" else []
        )


async def test_what_other_parts_of_the_app_show_is_acknowledged_and_ignored(ops: Room) -> None:
    shown = await ops.ask()
    told = ops.fake.press(ops.place, ops.ada, shown, "somebody.elses", "a:b")
    await ops.fake.wait_for(lambda _fake: told.state == "acked")
    assert ops.app.host.accepted == []


async def test_the_answer_to_a_press_is_seen_by_its_person_only(ops: Room) -> None:
    ops.fake.tap(ops.place, ops.ada, await ops.ask(), "No")
    (press,) = await ops.presses()
    await ops.app.channel.answer_press(press, "")
    await ops.app.channel.answer_press(press, "This question is for <!here>.")
    (seen,) = ops.fake.ephemerals
    assert (seen.user, seen.channel_id) == (ops.ada.id, ops.place.id)
    assert seen.text.replace("\u200b", "").startswith("This question is for")
    assert "<!here>" not in seen.text


async def test_a_guest_of_another_company_presses_as_the_person_that_it_is(ops: Room) -> None:
    guest = ops.fake.guest("Eve", home=ops.fake.add_workspace("Elsewhere", "xoxb-2"))
    ops.fake.tap(ops.place, guest, await ops.ask(), "No")
    (press,) = await ops.presses()
    assert (press.sender.id, press.account) == (guest.id, "")


def by(ops: Room, user: User, **more: object) -> InboundMessage:
    values = {"message_id": "1.0", "text": "", "date": "", "chat_kind": "group"} | more
    author = Author(user.id, user.name)
    return InboundMessage("slack", ops.place.id, "x", sender=author, **values)  # type: ignore[arg-type]


async def test_admins_and_owners_of_the_workspace_administer_its_channels(ops: Room) -> None:
    assert not await ops.app.channel.administers(by(ops, ops.ada))
    ops.ada.is_admin = True
    assert await ops.app.channel.administers(by(ops, ops.ada))
    ops.ada.is_admin, ops.ada.is_owner = False, True
    assert await ops.app.channel.administers(by(ops, ops.ada))
    ops.ada.deleted = True
    assert not await ops.app.channel.administers(by(ops, ops.ada))


async def test_the_admin_of_another_company_administers_nothing_here(ops: Room) -> None:
    guest = ops.fake.guest("Eve", home=ops.fake.add_workspace("Elsewhere", "xoxb-2"))
    guest.is_admin = guest.is_owner = True
    assert not await ops.app.channel.administers(by(ops, guest))


async def test_webhooks_and_bots_administer_nothing_and_are_not_asked_about(ops: Room) -> None:
    hook = replace(by(ops, ops.ada), sender=Author("B1", "Hook", True, acts_as="other"))
    ops.ada.is_admin = True
    assert not await ops.app.channel.administers(hook)
    assert not await ops.app.channel.administers(by(ops, ops.ada, chat_kind="private"))


async def test_who_administers_is_an_error_where_slack_does_not_say(ops: Room) -> None:
    ops.fake.fail("users.info", Refuse("internal_error"))
    with pytest.raises(ChannelError):
        await ops.app.channel.administers(by(ops, ops.ada))


async def test_bots_and_webhooks_write_as_something_else_than_a_person(ops: Room) -> None:
    robot = ops.fake.user("Robot", is_bot=True)
    ops.fake.say(ops.place, robot, "beep")
    ops.fake.say(ops.place, robot, "a webhook", classic=True)
    ops.fake.say(ops.place, ops.ada, "a person")
    await ops.app.heard(3)
    assert [one.sender.acts_as for one in ops.app.host.accepted] == ["other", "other", "person"]


async def test_who_added_the_app_is_the_author_of_the_change(ops: Room) -> None:
    place = ops.fake.channel("new", member=False)
    ops.fake.join(place, by=ops.ada)
    await ops.app.host.until(lambda: any(one.change for one in ops.app.host.accepted))
    (found,) = [one for one in ops.app.host.accepted if one.change]
    assert (found.change, found.sender.id) == ("added", ops.ada.id)
    assert found.server_id == ops.fake.workspace.team_id


async def test_the_private_chat_with_a_person_is_opened(ops: Room) -> None:
    assert await ops.app.channel.private_chat(ops.ada.id) == ops.fake.im(ops.ada).id
    with pytest.raises(SendRefused):
        await ops.app.channel.private_chat("U0NOBODY")


@pytest.mark.parametrize("name", ["open", "handoff", "rewind", "forget"])
async def test_commands_have_their_form_behind_the_slash(name: str, ops: Room) -> None:
    ops.fake.slash(ops.place, ops.ada, f"{name} it")
    await ops.app.heard(1)
    assert ops.app.host.texts() == [f",{name} it"]
    assert ops.app.host.accepted[0].server_id == ops.fake.workspace.team_id


async def test_the_pairing_hint_says_what_to_write_and_to_whom(ops: Room) -> None:
    hint = ops.app.channel.pairing_hint("4F7K-2Q")
    assert "`pair 4F7K-2Q` to @tapeway" in hint
    assert "direct message" in hint
