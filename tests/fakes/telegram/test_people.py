"""What people do, as python-telegram-bot reads the updates it makes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import telegram as ptb

from tests.fakes.telegram.client import Api
from tests.fakes.telegram.people import People
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat, User

GROUP = -1001000000001


@pytest.fixture
def ann(telegram: FakeTelegram) -> User:
    return telegram.user(7, "Ann", "ann", last_name="Lee", language_code="en")


@pytest.fixture
def group(telegram: FakeTelegram) -> Chat:
    return telegram.group(GROUP, "Team")


@pytest.fixture
async def bot(telegram: FakeTelegram) -> AsyncIterator[ptb.Bot]:
    made = ptb.Bot(telegram.token, base_url=telegram.base_url, base_file_url=telegram.base_file_url)
    async with made:
        yield made


async def read(bot: ptb.Bot) -> list[ptb.Update]:
    """Return the new updates; none may have a field that the SDK does not know."""
    updates = list(await bot.get_updates(allowed_updates=ptb.Update.ALL_TYPES))
    if updates:
        await bot.get_updates(offset=updates[-1].update_id + 1, timeout=0)
    for update in updates:
        assert dict(update.api_kwargs) == {}
        assert update.effective_message is None or not update.effective_message.api_kwargs
    return updates


async def message(bot: ptb.Bot) -> ptb.Message:
    (update,) = await read(bot)
    assert update.message is not None
    return update.message


async def test_the_bot_learns_who_it_is(bot: ptb.Bot, telegram: FakeTelegram) -> None:
    me = await bot.get_me()
    assert (me.id, me.username, me.can_read_all_group_messages) == (123456, "tapeway_bot", True)
    assert telegram.bot["username"] == "tapeway_bot"


async def test_a_private_message_has_its_writer_and_its_chat(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User
) -> None:
    telegram.say(telegram.private_chat(ann), ann, "hello")
    said = await message(bot)
    assert said.from_user is not None
    assert (said.from_user.full_name, said.from_user.language_code) == ("Ann Lee", "en")
    assert (said.chat.id, said.chat.type, said.chat.username) == (7, "private", "ann")
    assert abs(said.date.timestamp() - telegram.now) <= 1


async def test_entities_are_found_in_a_text(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    bob = telegram.user(8, "Bob")
    telegram.say(group, ann, "😀 @tapeway_bot ask Bob", mentions={"Bob": bob})
    said = await message(bot)
    assert {it.type: text for it, text in said.parse_entities().items()} == {
        "mention": "@tapeway_bot",
        "text_mention": "Bob",
    }
    telegram.say(group, ann, "x = 1", entities=[{"type": "code", "offset": 0, "length": 5}])
    assert [it.type for it in (await message(bot)).entities] == ["code"]


async def test_an_answer_holds_what_it_answers_and_quotes(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    first = telegram.say(group, ann, "one 😀 two")["message_id"]
    second = telegram.say(group, ann, "and", reply_to=first)["message_id"]
    telegram.say(group, ann, "but", reply_to=second, quote="nd")
    _, _, last = await read(bot)
    assert last.message is not None
    assert last.message.reply_to_message is not None
    assert last.message.reply_to_message.text == "and"
    assert last.message.reply_to_message.reply_to_message is None
    assert last.message.quote is not None
    assert (last.message.quote.text, last.message.quote.position) == ("nd", 1)
    # The thread of the answers, though there are no topics here: a send to it is refused.
    assert (last.message.message_thread_id, last.message.is_topic_message) == (first, None)


async def test_a_message_of_a_topic_answers_the_topics_first_one(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User
) -> None:
    forum = telegram.group(GROUP, forum=True)
    topic = telegram.topic(forum, "Plans", ann)
    telegram.say(forum, ann, "here", topic=topic.id)
    telegram.say(forum, ann, "in General", topic=1)
    _, here, general = (update.message for update in await read(bot))
    assert here is not None
    assert here.reply_to_message is not None
    assert (here.message_thread_id, here.is_topic_message) == (topic.id, True)
    assert here.reply_to_message.forum_topic_created is not None
    assert here.reply_to_message.forum_topic_created.name == "Plans"
    assert general is not None
    assert (general.message_thread_id, general.is_topic_message) == (None, None)


async def test_a_forwarded_message_names_its_origin(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    for origin in (ann, group, "Someone"):
        telegram.say(group, ann, "as I heard", forward_from=origin)
    updates = await read(bot)
    origins = [update.message.forward_origin for update in updates if update.message]
    assert [type(origin) for origin in origins] == [
        ptb.MessageOriginUser,
        ptb.MessageOriginChat,
        ptb.MessageOriginHiddenUser,
    ]


async def test_a_photo_comes_in_sizes_and_can_be_loaded(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    for caption in ("an album", ""):
        telegram.send_photo(group, ann, data=b"p" * 5000, caption=caption, media_group="a1")
    first, second = (update.message for update in await read(bot))
    assert first is not None
    assert second is not None
    assert (first.caption, second.caption) == ("an album", None)
    assert first.media_group_id == second.media_group_id == "a1"
    assert [size.width for size in first.photo] == [90, 320, 1280]
    file = await bot.get_file(first.photo[-1].file_id)
    assert await file.download_as_bytearray() == b"p" * 5000


async def test_a_document_and_a_voice_can_be_loaded(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    telegram.send_document(group, ann, data=b"a,b", name="table.csv", mime="text/csv")
    document = (await message(bot)).document
    assert document is not None
    assert (document.file_name, document.mime_type, document.file_size) == (
        "table.csv",
        "text/csv",
        3,
    )
    telegram.send_voice(group, ann, data=b"ogg", duration=4)
    voice = (await message(bot)).voice
    assert voice is not None
    file = await bot.get_file(voice.file_id)
    assert await file.download_as_bytearray() == b"ogg"


async def test_a_file_of_more_than_20_mb_cannot_be_loaded(api: Api, ann: User, group: Chat) -> None:
    size = 20 * 1024 * 1024 + 1
    sent = api.telegram.send_document(group, ann, data=b"", name="film.mkv", size=size)
    assert sent["document"]["file_size"] == size
    refused = await api.refusal("getFile", file_id=sent["document"]["file_id"])
    assert refused == "400 Bad Request: file is too big"
    assert await api.refusal("getFile", file_id="x") == "400 Bad Request: invalid file_id"


async def test_an_edit_is_an_update_and_a_deletion_is_none(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    said = telegram.say(group, ann, "hello @ann")["message_id"]
    telegram.edit(group, said, "bye")
    telegram.delete(group, said)
    _, edited = await read(bot)
    assert edited.edited_message is not None
    assert edited.edited_message.text == "bye"
    assert (edited.edited_message.entities, edited.edited_message.edit_date is None) == ((), False)


async def test_a_reaction_is_told(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    await read(bot)
    said = telegram.say(group, ann, "hello")["message_id"]
    telegram.react(group, ann, said, "👍")
    _, update = await read(bot)
    assert update.message_reaction is not None
    assert update.message_reaction.new_reaction == (ptb.ReactionTypeEmoji("👍"),)


async def test_a_migration_is_told_in_both_chats(bot: ptb.Bot, telegram: FakeTelegram) -> None:
    new = telegram.migrate(telegram.group(-500, kind="group"))
    to, origin = (update.message for update in await read(bot))
    assert to is not None
    assert origin is not None
    assert (to.chat.id, to.migrate_to_chat_id) == (-500, new.id)
    assert (origin.chat.id, origin.migrate_from_chat_id) == (new.id, -500)


async def test_the_bots_own_membership_is_told(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User
) -> None:
    group = telegram.group(GROUP, member=False)
    telegram.join(group, by=ann)
    telegram.kick_bot(group, by=ann)
    telegram.block_bot(ann)
    changes = [update.my_chat_member for update in await read(bot)]
    assert [
        (it.chat.id, it.old_chat_member.status, it.new_chat_member.status) for it in changes if it
    ] == [(GROUP, "left", "member"), (GROUP, "member", "kicked"), (7, "member", "kicked")]


async def test_who_joins_and_leaves_is_told(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User, group: Chat
) -> None:
    telegram.join(group, ann)
    telegram.leave(group, ann)
    joined, left = (update.message for update in await read(bot))
    assert joined is not None
    assert left is not None
    assert [user.id for user in joined.new_chat_members] == [7]
    assert left.left_chat_member is not None
    assert left.left_chat_member.id == 7


async def test_a_stopped_draft_is_told(api: Api, telegram: FakeTelegram, ann: User) -> None:
    # The SDK does not know this kind of update.
    chat = telegram.private_chat(ann)
    await api("sendMessageDraft", chat_id=7, draft_id=5, text="and so", can_stop=True)
    telegram.stop_draft(chat, 5)
    (update,) = await api("getUpdates")
    stopped = update["stopped_message_generation"]
    assert (stopped["chat"]["id"], stopped["draft_id"]) == (7, 5)


async def test_privacy_mode_hides_what_is_not_for_the_bot(api: Api, ann: User, group: Chat) -> None:
    api.telegram.can_read_all_group_messages = False
    own = (await api("sendMessage", chat_id=GROUP, text="mine"))["message_id"]
    people: People = api.telegram
    people.say(group, ann, "hidden")
    people.say(group, ann, "/new@other_bot hidden")
    people.say(group, ann, "@other_bot hidden")
    people.say(group, ann, "/new shown")
    people.say(group, ann, "/new@Tapeway_Bot shown")
    people.say(group, ann, "well, @TAPEWAY_BOT, shown")
    people.say(group, ann, "shown", reply_to=own)
    people.say(api.telegram.private_chat(ann), ann, "shown")
    people.send_photo(group, ann, data=b"", caption="hidden")
    people.join(group, ann)
    updates = await api("getUpdates")
    shown = [update["message"].get("text", "") for update in updates]
    assert len(shown) == 6
    assert all("shown" in text for text in shown[:5])
    assert "new_chat_members" in updates[5]["message"]
    group.bot_status = "administrator"
    people.say(group, ann, "shown to an administrator")
    assert len(await api("getUpdates")) == 7


def test_ids_run_per_supergroup_and_over_all_other_chats() -> None:
    people = People(User(1, "Bot", is_bot=True), lambda: 0.0, True)
    ann = people.user(7, "Ann")
    private, small = people.private_chat(ann), people.group(-5, kind="group")
    large, other = people.group(GROUP), people.group(GROUP - 1)
    ids = [people.say(chat, ann, "x")["message_id"] for chat in (private, small, large, other)]
    assert ids == [1, 2, 2, 2]


async def test_an_answer_to_another_topic_names_what_it_answers_without_its_text(
    bot: ptb.Bot, telegram: FakeTelegram, ann: User
) -> None:
    forum = telegram.group(GROUP, "Team", forum=True)
    one, two = (telegram.topic(forum, name, ann) for name in ("one", "two"))
    photo = telegram.send_photo(forum, ann, data=b"x", caption="the pond", topic=one.id)
    near = telegram.say(forum, ann, "nice", topic=one.id, reply_to=photo["message_id"])
    assert "external_reply" not in near
    await read(bot)
    telegram.say(forum, ann, "look", topic=two.id, reply_to=photo["message_id"])
    far = await message(bot)
    assert far.reply_to_message is None
    assert far.external_reply is not None
    assert (far.external_reply.message_id, far.external_reply.photo) != (None, ())
    assert far.external_reply.origin.to_dict()["sender_user"]["id"] == ann.id
    assert far.quote is not None
    assert (far.quote.text, far.quote.is_manual) == ("the pond", None)


async def test_somebody_sends_any_content_and_changes_it(
    bot: ptb.Bot, telegram: FakeTelegram, group: Chat, ann: User
) -> None:
    place = {"latitude": 1.0, "longitude": 2.0, "live_period": 60}
    sent = telegram.send(group, ann, {"location": place})
    assert (await message(bot)).location is not None
    telegram.change(group, sent["message_id"], {"location": None, "text": "here"})
    (update,) = await read(bot)
    assert update.edited_message is not None
    assert (update.edited_message.text, update.edited_message.location) == ("here", None)
