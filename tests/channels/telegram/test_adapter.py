"""The Telegram channel over a socket: updates in by long poll or webhook, each once."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from agent.events import AgentEvent
from channels.errors import ChannelDown, ChannelUnfit, MediaRefused
from channels.message import Media, OutboundMessage
from channels.telegram.addressing import COMMANDS
from channels.telegram.inbound import ALLOWED_UPDATES
from channels.telegram.polling import MIN_POLL_SECONDS, OFFSET_SECONDS
from tests.channels.telegram.bots import Running, running
from tests.fakes.base.faults import Hang, LostAnswer, Reset, ServerError
from tests.fakes.telegram.faults import Refuse, RetryAfter
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.clock import rest, settle


def offsets(fake: FakeTelegram) -> list[int | None]:
    return [call.params.get("offset") for call in fake.calls_of("getUpdates")]


async def confirmed(fake: FakeTelegram) -> None:
    """Wait until every update was confirmed."""
    with anyio.fail_after(30):
        await fake.wait_for(lambda it: not it.updates.pending)


async def test_it_tells_its_commands_asks_for_everything_and_is_then_ready(app: Running) -> None:
    await app.host.until(lambda: app.host.times_ready == 1)
    await app.fake.wait_for_calls("getUpdates", 2)
    assert [command["command"] for command in app.fake.commands] == list(COMMANDS)
    first, second = (call.params for call in app.fake.calls_of("getUpdates")[:2])
    assert (first["timeout"], second["timeout"]) == (0, 25)
    assert first["allowed_updates"] == second["allowed_updates"] == list(ALLOWED_UPDATES)
    deleted = app.fake.calls_of("deleteWebhook")[0].params
    assert deleted == {"drop_pending_updates": False}
    assert app.host.warnings == []


async def test_privacy_mode_is_noted_with_the_remedy() -> None:
    async with FakeTelegram(can_read_all_group_messages=False) as fake, running(fake) as app:
        await app.host.until(lambda: app.host.times_ready == 1)
        (note,) = app.host.warnings
        assert "/setprivacy" in note


async def test_d7_the_offset_moves_only_when_updates_are_on_the_disk(fake: FakeTelegram) -> None:
    fake.say(fake.private_chat(ada := fake.user(7, "Ada")), ada, "one")
    async with running(fake, refuses=[OSError("the disk is full")]) as app:
        assert str(await app.error()) == "the disk is full"
    assert offsets(fake) == [None]
    assert len(fake.updates.pending) == 1
    async with running(fake) as app:
        await confirmed(fake)
        assert app.host.texts() == ["one"]
        assert offsets(fake)[-1] == fake.updates.all[0].update_id + 1


async def test_a1_an_update_that_comes_again_is_the_same_event(
    fake: FakeTelegram, app: Running
) -> None:
    ada = fake.user(7, "Ada")
    fake.say(fake.private_chat(ada), ada, "one")
    await confirmed(fake)
    fake.redeliver(fake.updates.all[0].update_id)
    fake.redeliver(fake.updates.all[0].update_id, new_id=True)
    fake.say(7, ada, "two")
    await app.host.until(lambda: "two" in app.host.texts())
    assert app.host.texts() == ["one", "two"]


async def test_d2_what_was_said_meanwhile_comes_in_order(fake: FakeTelegram) -> None:
    ada = fake.user(7, "Ada")
    for number in range(250):
        fake.say(fake.private_chat(ada), ada, str(number))
    async with running(fake) as app:
        await confirmed(fake)
        assert app.host.texts() == [str(number) for number in range(250)]


BROKEN: list[Any] = [
    {"message": {"chat": None}},
    {"message": "text"},
    {"message": {"message_id": 1, "chat": {"id": "x"}, "text": "a"}},
    {"message": {"message_id": 1, "chat": {"id": 7}, "from": {"id": 7}, "date": 1e99}},
    {"my_chat_member": {}},
    {"callback_query": []},
    {"callback_query": {"id": "1", "message": {}, "data": "a:b"}},
    {"callback_query": {"id": "1", "message": {"chat": {"id": 7}, "message_id": 1}}},
    {"stopped_message_generation": {}},
    {"edited_message": []},
]


@pytest.mark.parametrize("broken", BROKEN, ids=str)
async def test_an_update_that_cannot_be_read_is_kept_once_and_the_next_ones_come(
    broken: dict[str, Any], fake: FakeTelegram, app: Running
) -> None:
    number = fake.push_update(broken)
    ada = fake.user(7, "Ada")
    fake.say(fake.private_chat(ada), ada, "next")
    await confirmed(fake)
    kept, read = app.host.accepted
    assert (kept.kind, kept.ext_id) == ("unreadable", f"unreadable/{number}")
    assert read.text == "next"
    assert len(app.host.errors) == 1
    polls = len(offsets(fake))
    await settle()
    assert len(offsets(fake)) == polls


async def test_an_update_too_deep_to_write_down_stops_nothing(app: Running) -> None:
    deep = b"[" * 1000 + b"]" * 1000
    app.fake.push_update(b'{"update_id":1,"message":{"chat":%b}}' % deep)
    ada = app.fake.user(7, "Ada")
    app.fake.say(app.fake.private_chat(ada), ada, "next")
    await app.host.until(lambda: "next" in app.host.texts())
    assert app.host.accepted[0].kind == "unreadable"


async def test_updates_of_other_kinds_are_confirmed_and_forgotten(app: Running) -> None:
    app.fake.push_update({"from_the_future": {}})
    await confirmed(app.fake)
    assert app.host.accepted == []


async def test_an_update_without_a_number_does_not_make_it_spin(app: Running) -> None:
    await app.host.until(lambda: app.host.times_ready == 1)
    app.fake.updates.push(b'{"update_id":"x","message":{}}')
    await app.host.until(lambda: len(app.host.accepted) == 1)
    polls = len(offsets(app.fake))
    await rest()
    assert len(offsets(app.fake)) <= polls + 1


@pytest.mark.parametrize("poll_seconds", [0, 25])
async def test_a_server_that_answers_long_polls_at_once_does_not_make_it_spin(
    poll_seconds: int, fake: FakeTelegram
) -> None:
    fake.updates.poll = _at_once  # type: ignore[method-assign, assignment]
    async with running(fake, poll_seconds=poll_seconds) as app:
        await app.host.until(lambda: app.host.times_ready == 1)
        await rest()
        before = len(offsets(fake))
        assert before <= 3
        await app.clock.advance(MIN_POLL_SECONDS)
        await fake.wait_for_calls("getUpdates", before + 1)
        await rest()
        assert len(offsets(fake)) <= before + 2


async def _at_once(_limit: int, _timeout: float) -> bytes:
    return b"[]"


async def test_after_a_quiet_day_no_offset_is_asked_for(fake: FakeTelegram, app: Running) -> None:
    ada = fake.user(7, "Ada")
    fake.say(fake.private_chat(ada), ada, "one")
    await confirmed(fake)
    await app.clock.advance(OFFSET_SECONDS + 1)
    fake.updates.end_poll()
    await fake.wait_for(lambda it: offsets(it)[-1] is not None)
    polls = len(offsets(fake))
    fake.updates.end_poll()
    await fake.wait_for_calls("getUpdates", polls)
    await app.clock.advance(MIN_POLL_SECONDS)
    await fake.wait_for(lambda it: offsets(it)[-1] is None)


@pytest.mark.parametrize(
    ("method", "fault", "kind", "words"),
    [
        ("getMe", Refuse(401, "Unauthorized"), ChannelUnfit, "@BotFather"),
        ("getMe", Refuse(404, "Not Found"), ChannelUnfit, "`tapeway init`"),
        ("getMe", ServerError(502), ChannelDown, "cannot be reached"),
        ("getUpdates", Refuse(401, "Unauthorized"), ChannelUnfit, "@BotFather"),
    ],
)
async def test_f4_what_is_wrong_with_the_bot_ends_it_with_a_sentence(
    method: str, fault: Refuse, kind: type[Exception], words: str, fake: FakeTelegram
) -> None:
    fake.fail(method, fault)
    async with running(fake) as app:
        error = await app.error()
    assert type(error) is kind
    assert words in str(error)
    assert app.host.times_ready == 0


@pytest.mark.parametrize(
    "fault", [Refuse(400, "Bad Request: BOT_COMMAND_INVALID"), RetryAfter(300)], ids=str
)
async def test_commands_that_cannot_be_set_or_must_wait_are_no_reason_not_to_run(
    fake: FakeTelegram, fault: Refuse | RetryAfter
) -> None:
    fake.fail("setMyCommands", fault)
    async with running(fake) as app:
        await app.host.until(lambda: app.host.times_ready == 1)
        assert app.host.errors[0].startswith("telegram.commands_not_set")


async def test_d7_while_nothing_can_be_written_down_the_same_updates_are_asked_for(
    fake: FakeTelegram,
) -> None:
    ada = fake.user(7, "Ada")
    fake.say(fake.private_chat(ada), ada, "one")
    async with running(fake, refuses=[ChannelDown("the disk is full")]) as app:
        await app.host.until(lambda: app.host.downs == ["the disk is full"])
        assert app.host.times_ready == 0
        await app.clock.advance(2)
        await app.host.until(lambda: app.host.texts() == ["one"])
        await app.host.until(lambda: app.host.times_ready == 1)
    assert offsets(fake)[:2] == [None, None]
    assert len(fake.calls_of("getMe")) == 1


async def test_f4_a_second_reader_is_told_of_and_the_first_goes_on_when_it_is_gone() -> None:
    async with FakeTelegram() as fake, running(fake) as first:
        await fake.wait_for_calls("getUpdates", 2)
        async with running(fake):
            await first.host.until(lambda: bool(first.host.downs))
            assert "one reader" in first.host.downs[0]
        await first.clock.advance(5)
        await first.host.until(lambda: first.host.times_ready == 2)
        assert first.host.confirmed > 0  # that it may still listen, before it polled again


@pytest.mark.parametrize(
    "fault", [ServerError(502), ServerError(503), Reset(), LostAnswer(), RetryAfter(3)]
)
async def test_f2_a_poll_that_fails_is_made_again_by_itself(fault: Any, fake: FakeTelegram) -> None:
    fake.fail("getUpdates", fault)
    async with running(fake) as app:
        await app.host.until(lambda: len(app.host.downs) == 1)
        await app.clock.advance(5)
        await app.host.until(lambda: app.host.times_ready == 1)
    assert len(fake.calls_of("getMe")) == 1


async def test_a_sloppy_server_of_few_fields_will_do() -> None:
    async with FakeTelegram(unknown_methods_true=True) as fake, running(fake) as app:
        ada = fake.user(7, "Ada")
        fake.say(fake.group(-5, kind="group"), ada, "Robin, hello")
        await app.host.until(lambda: app.host.texts() == ["Robin, hello"])
        assert app.host.accepted[0].addressed
        assert app.host.warnings == []


async def test_stopping_ends_it_before_it_began_and_twice(fake: FakeTelegram) -> None:
    async with running(fake) as app:
        await app.channel.stop()
        await app.channel.stop()
        await app.run.end()
    assert fake.calls_of("getUpdates") == []


# Files


async def test_e8_a_file_is_fetched_and_what_cannot_be_is_told_why(app: Running) -> None:
    await app.host.until(lambda: app.host.times_ready == 1)
    file = app.fake.world.file(b"12345", "photos/{}.jpg")
    photo = Media("image", "photo", file.file_id)
    assert await app.channel.fetch(photo, 5) == b"12345"
    with pytest.raises(MediaRefused, match="larger than announced"):
        await app.channel.fetch(photo, 4)
    with pytest.raises(MediaRefused, match="larger than 8 MB"):
        await app.channel.fetch(Media("image", "photo", "f", size=8_000_001), 8_000_000)
    with pytest.raises(MediaRefused, match="refused the download"):
        await app.channel.fetch(Media("image", "photo", "unknown"), 5)
    large = app.fake.world.file(b"", "photos/{}.jpg", 30_000_000)
    with pytest.raises(MediaRefused, match="too big"):
        await app.channel.fetch(Media("image", "photo", large.file_id), 5)


async def test_a_group_s_budget_is_another_than_a_person_s() -> None:
    async with FakeTelegram() as fake, running(fake, group_per_minute=7, per_second=3) as app:
        assert app.channel.budget_of("-100").count == 7
        assert app.channel.budget_of("7").count == 0
        assert app.channel.traits.bot.count == 3


async def test_d3_a_channel_that_is_started_again_remembers_what_was_written(
    fake: FakeTelegram,
) -> None:
    fake.fail("getUpdates", Refuse(401, "Unauthorized"))
    async with running(fake) as app:
        await app.error()
        pacing = app.channel.pacing
        app.run.start()
        await app.host.until(lambda: app.host.times_ready == 1)
        assert app.channel.pacing is pacing


async def test_d1_a_poll_that_fails_does_not_cut_off_a_send(app: Running) -> None:
    ada = app.fake.user(7, "Ada")
    app.fake.private_chat(ada)
    await app.fake.wait_for_calls("getUpdates", 2)
    held = Hang(done_first=True)
    app.fake.fail("sendMessage", held)
    receipts: list[str] = []

    async def send() -> None:
        sent = await app.channel.send(OutboundMessage("telegram", "7", "once"))
        receipts.extend(receipt.platform_id for receipt in sent)

    async with anyio.create_task_group() as group:
        group.start_soon(send)
        await app.fake.wait_for_calls("sendMessage", 1)
        app.fake.fail("getUpdates", ServerError(502))
        app.fake.say(7, ada, "one")
        await app.host.until(lambda: len(app.host.downs) == 1)
        held.release()
    assert receipts == [str(message.message_id) for message in app.fake.messages(7)]


async def test_e6_typing_that_began_before_a_reconnect_ends_with_the_answer(app: Running) -> None:
    ada = app.fake.user(7, "Ada")
    app.fake.say(app.fake.private_chat(ada), ada, "one")
    await app.host.until(lambda: app.host.texts() == ["one"])
    await app.channel.on_event(AgentEvent("accepted"), app.host.accepted[0])
    await app.fake.wait_for_calls("sendChatAction", 1)
    app.fake.fail("getUpdates", Refuse(401, "Unauthorized"))
    app.fake.say(7, ada, "two")
    await app.error()
    app.run.start()
    await app.host.until(lambda: app.host.times_ready == 2)
    await app.channel.on_event(AgentEvent("final"), app.host.accepted[0])
    assert app.channel.typing_indicator is not None
    assert not app.channel.typing_indicator.threads
