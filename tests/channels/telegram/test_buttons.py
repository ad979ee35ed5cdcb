"""Buttons below messages, who presses them, and who administers a chat of Telegram."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from channels.errors import ChannelError, SendRefused
from channels.message import Author, Button, InboundMessage, OutboundMessage
from channels.telegram.inbound import parse
from tests.channels.telegram.bots import Running, running
from tests.channels.telegram.raw import ADA, FORUM, GROUP, ME, PRIVATE, Json, said
from tests.fakes.telegram.entities import alerted
from tests.fakes.telegram.faults import Refuse
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Message, User

ROOM = -1001
CHOICES = (Button("This channel", "0123456789:channel"), Button("No", "0123456789:no"))
QUESTION = OutboundMessage("telegram", str(ROOM), "Shall I?", buttons=CHOICES)


async def asked(app: Running, question: OutboundMessage = QUESTION) -> Message:
    """Send the question to the room, and return it as people see it."""
    await app.host.until(lambda: app.host.times_ready == 1)
    if ROOM not in app.fake.world.chats:
        app.fake.group(ROOM, "Ops")
    (receipt,) = await app.channel.deliver(question)
    return app.fake.chat(ROOM).messages[int(receipt.platform_id)]


def person(app: Running, number: int, name: str) -> User:
    return app.fake.user(number, name)


async def pressed(app: Running, count: int) -> list[InboundMessage]:
    await app.host.until(lambda: len(app.host.accepted) >= count)
    return app.host.accepted


async def test_a_question_has_a_row_for_each_of_its_buttons(app: Running) -> None:
    shown = await asked(app)
    assert shown.buttons == {button.label: button.token for button in CHOICES}
    assert [len(row) for row in shown.markup["inline_keyboard"]] == [1, 1]


async def test_the_longest_token_is_data_that_telegram_takes(app: Running) -> None:
    longest = replace(QUESTION, buttons=(Button("Yes", "x" * 60),))
    assert (await asked(app, longest)).buttons == {"Yes": "x" * 60}


async def test_a_press_is_a_message_of_the_person_with_the_token_and_the_place(
    fake: FakeTelegram, app: Running
) -> None:
    question = await asked(app)
    press = fake.press(ROOM, person(app, 7, "Ada"), question.message_id, "No")
    (found,) = await pressed(app, 1)
    assert (found.kind, found.press) == ("press", "0123456789:no")
    assert found.ext_id == f"press/{press.id}"
    assert (found.chat_id, found.message_id) == (str(ROOM), str(question.message_id))
    assert (found.sender, found.chat_kind) == (Author("7", "Ada"), "group")
    assert not found.addressed


async def test_two_people_who_press_at_once_are_two_presses(app: Running) -> None:
    question = await asked(app)
    for number, name in ((7, "Ada"), (8, "Bob")):
        app.fake.press(ROOM, person(app, number, name), question.message_id, "No")
    found = await pressed(app, 2)
    assert [one.sender.id for one in found] == ["7", "8"]
    assert found[0].ext_id != found[1].ext_id


async def test_a_press_that_is_delivered_again_is_the_same_press(app: Running) -> None:
    question = await asked(app)
    app.fake.press(ROOM, person(app, 7, "Ada"), question.message_id, "No")
    await pressed(app, 1)
    app.fake.redeliver(app.fake.updates.all[-1].update_id)
    app.fake.redeliver(app.fake.updates.all[-1].update_id, new_id=True)
    with anyio.fail_after(30):
        await app.fake.wait_for(lambda it: not it.updates.pending)
    assert len(app.host.accepted) == 1


async def test_a_press_is_confirmed_only_once_it_is_on_the_disk(fake: FakeTelegram) -> None:
    ada = fake.user(7, "Ada")
    async with running(fake) as app:
        question = await asked(app)
    fake.press(ROOM, ada, question.message_id, "No")
    async with running(fake, refuses=[OSError("the disk is full")]) as app:
        assert str(await app.error()) == "the disk is full"
    assert len(fake.updates.pending) == 1
    async with running(fake) as app:
        assert [one.kind for one in await pressed(app, 1)] == ["press"]


async def test_an_edit_without_buttons_removes_them_and_one_with_buttons_replaces_them(
    app: Running,
) -> None:
    shown = await asked(app)
    again = replace(QUESTION, edits=str(shown.message_id), buttons=(Button("Later", "a:b"),))
    await asked(app, again)
    assert shown.buttons == {"Later": "a:b"}
    await asked(app, replace(again, text="Opened by Ada.", buttons=()))
    assert (shown.text, shown.buttons) == ("Opened by Ada.", {})
    assert "reply_markup" not in shown.json


async def test_the_buttons_stand_below_the_last_piece_of_a_text_sent_without_its_entities(
    fake: FakeTelegram, app: Running
) -> None:
    await asked(app)
    fake.fail("sendMessage", Refuse(400, "Bad Request: can't parse entities"))
    receipts = await app.channel.deliver(replace(QUESTION, text=f"**a** {'word ' * 1000}"))
    sent = [fake.chat(ROOM).messages[int(one.platform_id)] for one in receipts]
    assert [bool(one.buttons) for one in sent] == [False] * (len(sent) - 1) + [True]


async def test_the_answer_to_a_press_is_an_alert_for_its_person_and_is_cut_to_fit(
    fake: FakeTelegram, app: Running
) -> None:
    question = await asked(app)
    ada = person(app, 7, "Ada")
    for _press in range(3):
        fake.press(ROOM, ada, question.message_id, "No")
    first, second, third = await pressed(app, 3)
    await app.channel.answer_press(first, "This question is for somebody else.")
    await app.channel.answer_press(second, "")
    await app.channel.answer_press(third, "😀" * 150)
    shown = [(one.shown, one.alert) for one in fake.presses]
    assert shown[:2] == [("This question is for somebody else.", True), ("", False)]
    assert shown[2] == ("😀" * 99 + "…", True)


async def test_a_press_that_telegram_no_longer_knows_is_refused_not_fatal(app: Running) -> None:
    question = await asked(app)
    app.fake.press(ROOM, person(app, 7, "Ada"), question.message_id, "No")
    (found,) = await pressed(app, 1)
    await app.channel.answer_press(found, "once")
    with pytest.raises(ChannelError, match="too old"):
        await app.channel.answer_press(found, "twice")


@pytest.mark.parametrize(
    ("below", "thread"),
    [
        ({"message_id": 5, "chat": GROUP, "date": 0}, None),  # too old to be shown to the bot
        ({"message_id": 5, "chat": FORUM, "date": 1767225600}, "1"),
        ({"message_id": 5, "chat": FORUM, "is_topic_message": True, "message_thread_id": 3}, "3"),
    ],
)
def test_a_press_is_in_the_topic_of_its_message(below: Json, thread: str | None) -> None:
    found = parse({"callback_query": {"id": "9", "from": ADA, "message": below, "data": "a:b"}}, ME)
    assert found is not None
    assert (found.thread_id, found.message_id, found.press) == (thread, "5", "a:b")


def test_a_press_outside_of_chats_with_the_bot_is_ignored() -> None:
    inline = {"id": "9", "from": ADA, "inline_message_id": "x", "data": "a:b"}
    assert parse({"callback_query": inline}, ME) is None


def by(acts_as: str, number: str = "7", chat: str = str(ROOM)) -> InboundMessage:
    update = said("hi", PRIVATE if chat == "7" else {**GROUP, "id": int(chat)})
    found = parse(update, ME)
    assert found is not None
    return replace(found, sender=Author(number, "Ada", acts_as=acts_as))  # type: ignore[arg-type]


async def test_who_administers_a_group_is_asked_each_time(fake: FakeTelegram, app: Running) -> None:
    await asked(app)
    for number, status in ((7, "member"), (8, "administrator"), (9, "creator")):
        fake.promote(ROOM, person(app, number, f"P{number}"), status)
    found = [await app.channel.administers(by("person", one)) for one in ("7", "8", "9")]
    assert found == [False, True, True]
    fake.promote(ROOM, person(app, 8, "P8"), "member")
    assert not await app.channel.administers(by("person", "8"))


async def test_an_anonymous_admin_administers_and_other_chats_never_do(app: Running) -> None:
    await asked(app)
    assert await app.channel.administers(by("chat", str(ROOM)))
    assert not await app.channel.administers(by("other", "-1002"))
    assert not await app.channel.administers(by("person", chat="7"))
    assert app.fake.calls_of("getChatAdministrators") == []


async def test_who_administers_is_an_error_where_telegram_does_not_say(app: Running) -> None:
    await asked(app)
    app.fake.chat(ROOM).bot_status = "kicked"
    with pytest.raises(ChannelError):
        await app.channel.administers(by("person"))


async def test_whom_a_message_in_the_name_of_a_chat_is_by(fake: FakeTelegram, app: Running) -> None:
    await asked(app)
    room, other = fake.chat(ROOM), fake.group(-1002, "News", kind="channel", member=False)
    fake.say_as(ROOM, room, "as the group")
    fake.say_as(ROOM, other, "as a channel")
    fake.say(ROOM, person(app, 7, "Ada"), "as herself")
    found = await pressed(app, 3)
    assert [(one.sender.id, one.sender.acts_as) for one in found] == [
        (str(ROOM), "chat"),
        ("-1002", "other"),
        ("7", "person"),
    ]


async def test_who_added_the_bot_is_the_author_of_the_change(app: Running) -> None:
    await app.host.until(lambda: app.host.times_ready == 1)
    room = app.fake.group(ROOM, "Ops", member=False)
    app.fake.join(room, by=person(app, 7, "Ada"))
    app.fake.leave(room, by=person(app, 7, "Ada"))
    app.fake.join(room)  # by an anonymous administrator
    found = await pressed(app, 3)
    assert [(one.change, one.sender.id, one.sender.acts_as) for one in found] == [
        ("added", "7", "person"),
        ("removed", "7", "person"),
        ("added", str(ROOM), "chat"),
    ]


async def test_the_private_chat_with_a_person_has_the_persons_id(app: Running) -> None:
    assert await app.channel.private_chat("7") == "7"
    with pytest.raises(SendRefused):
        await app.channel.private_chat("-1001")


async def test_the_pairing_hint_is_a_link_with_the_code(app: Running) -> None:
    await app.host.until(lambda: app.host.times_ready == 1)
    assert "https://t.me/tapeway_bot?start=4F7K-2Q" in app.channel.pairing_hint("4F7K-2Q")


async def test_privacy_mode_delivers_the_commands_that_this_bot_has() -> None:
    async with FakeTelegram(can_read_all_group_messages=False) as fake, running(fake) as app:
        await asked(app)
        ada = person(app, 7, "Ada")
        for text in ("/open@tapeway_bot", ",open", "/open", "/forget me", "/handoff the plan"):
            fake.say(ROOM, ada, text)
        await pressed(app, 4)
        lines = [one.command for one in app.host.accepted]
        assert lines == [",open", ",open", ",forget me", ",handoff the plan"]


async def test_nothing_that_is_sent_previews_a_link_or_mentions_anybody(app: Running) -> None:
    text = "See https://example.org, [this](https://example.org), @ada_lovelace and `@ada_x`."
    shown = await asked(app, replace(QUESTION, text=text))
    assert not shown.previews
    assert alerted(shown.text, shown.entities) == []
    await asked(app, replace(QUESTION, text=f"{text} Now.", edits=str(shown.message_id)))
    assert not shown.previews
    assert alerted(shown.text, shown.entities) == []
    assert "`" not in shown.text
    assert "@ada_x" in shown.text  # code is as it was written
