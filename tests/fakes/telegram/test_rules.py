"""What the fake Telegram refuses, seen over the socket."""

from __future__ import annotations

import aiohttp
import pytest

from tests.fakes.telegram.client import Api
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat, User

FORUM = -1001000000001


@pytest.fixture
def ann(telegram: FakeTelegram) -> User:
    return telegram.user(7, "Ann", "ann")


@pytest.fixture
def private(telegram: FakeTelegram, ann: User) -> Chat:
    return telegram.private_chat(ann)


@pytest.fixture
def forum(telegram: FakeTelegram) -> Chat:
    return telegram.group(FORUM, forum=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        *[(text, "message text is empty") for text in (None, "")],
        *[(text, "text must be non-empty") for text in (" \n\t ", "\u200b")],
    ],
)
async def test_a_message_without_visible_text_is_refused(
    api: Api, private: Chat, text: str | None, why: str
) -> None:
    assert await api.refusal("sendMessage", chat_id=7, text=text) == f"400 Bad Request: {why}"


async def test_a_text_has_at_most_4096_utf_16_units_after_trimming(api: Api, private: Chat) -> None:
    await api("sendMessage", chat_id=7, text="😀" * 2048 + "  \n")
    refused = await api.refusal("sendMessage", chat_id=7, text="😀" * 2048 + "x")
    assert refused == "400 Bad Request: message is too long"


async def test_an_edit_is_too_long_in_other_words(api: Api, private: Chat) -> None:
    sent = await api("sendMessage", chat_id=7, text="short")
    refused = await api.refusal(
        "editMessageText", chat_id=7, message_id=sent["message_id"], text="x" * 4097
    )
    assert refused == "400 Bad Request: MESSAGE_TOO_LONG"


async def test_a_text_is_stored_trimmed_and_its_entities_move_along(
    api: Api, telegram: FakeTelegram, private: Chat
) -> None:
    bold = {"type": "bold", "offset": 2, "length": 4}
    await api("sendMessage", chat_id=7, text=" \nbold text\n", entities=[bold])
    (message,) = telegram.messages(7)
    assert message.text == "bold text"
    assert message.entities == [{"type": "bold", "offset": 0, "length": 4}]


async def test_entities_beyond_a_hundred_are_dropped_without_a_word(
    api: Api, telegram: FakeTelegram, private: Chat
) -> None:
    many = [{"type": "bold", "offset": number * 2, "length": 1} for number in range(103)]
    await api("sendMessage", chat_id=7, text="x " * 103, entities=many)
    assert len(telegram.messages(7)[0].entities) == 100
    assert telegram.calls[-1].dropped_entities == 3


async def test_an_unknown_chat_is_refused(api: Api) -> None:
    refused = await api.refusal("sendMessage", chat_id=1, text="hello")
    assert refused == "400 Bad Request: chat not found"
    refused = await api.refusal("sendMessage", text="hello")
    assert refused == "400 Bad Request: chat_id is empty"


async def test_a_chat_has_a_name_too(api: Api, telegram: FakeTelegram) -> None:
    telegram.group(FORUM, username="Room")
    await api("sendMessage", chat_id="@room", text="hello")
    assert telegram.text_of(FORUM) == "hello"


async def test_who_blocks_the_bot_gets_nothing(api: Api, ann: User, private: Chat) -> None:
    api.telegram.block_bot(ann)
    refused = await api.refusal("sendMessage", chat_id=7, text="hello")
    assert refused == "403 Forbidden: bot was blocked by the user"
    api.telegram.unblock_bot(ann)
    await api("sendMessage", chat_id=7, text="hello")


@pytest.mark.parametrize("kind", ["supergroup", "group"])
async def test_a_bot_that_was_thrown_out_cannot_write(api: Api, kind: str) -> None:
    chat = api.telegram.group(-500, kind=kind)
    api.telegram.kick_bot(chat)
    refused = await api.refusal("sendMessage", chat_id=-500, text="hello")
    assert refused == f"403 Forbidden: bot was kicked from the {kind} chat"
    api.telegram.leave(chat)
    refused = await api.refusal("sendChatAction", chat_id=-500, action="typing")
    assert refused == f"403 Forbidden: bot is not a member of the {kind} chat"


async def test_a_bot_cannot_begin_a_private_chat(api: Api, ann: User) -> None:
    chat = api.telegram.private_chat(ann, started=False)
    refused = await api.refusal("sendMessage", chat_id=7, text="hello")
    assert refused == "403 Forbidden: bot can't initiate conversation with a user"
    api.telegram.say(chat, ann, "/start")
    await api("sendMessage", chat_id=7, text="hello")


async def test_what_is_answered_must_exist_unless_the_call_says_otherwise(
    api: Api, telegram: FakeTelegram, ann: User, private: Chat
) -> None:
    asked = telegram.say(private, ann, "well?")["message_id"]
    sent = await api("sendMessage", chat_id=7, text="so", reply_parameters={"message_id": asked})
    assert sent["reply_to_message"]["text"] == "well?"
    telegram.delete(private, asked)
    gone = {"message_id": asked}
    refused = await api.refusal("sendMessage", chat_id=7, text="so", reply_parameters=gone)
    assert refused == "400 Bad Request: message to be replied not found"
    lenient = gone | {"allow_sending_without_reply": True}
    await api("sendMessage", chat_id=7, text="so", reply_parameters=lenient)
    assert [message.reply_to for message in telegram.messages(7)] == [asked, None]


async def test_a_message_goes_to_an_open_topic_only(api: Api, ann: User, forum: Chat) -> None:
    topic = api.telegram.topic(forum, "Plans", ann)
    sent = await api("sendMessage", chat_id=FORUM, text="x", message_thread_id=topic.id)
    assert (sent["message_thread_id"], sent["is_topic_message"]) == (topic.id, True)
    for unknown in (1, 99):
        refused = await api.refusal(
            "sendMessage", chat_id=FORUM, text="x", message_thread_id=unknown
        )
        assert refused == "400 Bad Request: message thread not found"
    api.telegram.close_topic(forum, topic)
    refused = await api.refusal("sendMessage", chat_id=FORUM, text="x", message_thread_id=topic.id)
    assert refused == "400 Bad Request: TOPIC_CLOSED"
    api.telegram.reopen_topic(forum, topic)
    await api("sendMessage", chat_id=FORUM, text="x", message_thread_id=topic.id)


async def test_typing_takes_the_general_topic_by_its_id(api: Api, forum: Chat) -> None:
    await api("sendChatAction", chat_id=FORUM, message_thread_id=1, action="typing")
    refused = await api.refusal(
        "sendChatAction", chat_id=FORUM, message_thread_id=9, action="typing"
    )
    assert refused == "400 Bad Request: message thread not found"
    refused = await api.refusal("sendChatAction", chat_id=FORUM, action="dancing")
    assert refused == "400 Bad Request: wrong parameter action in request"
    assert [(it.chat_id, it.thread_id, it.action) for it in api.telegram.typing] == [
        (FORUM, 1, "typing")
    ]


async def test_an_edit_changes_the_bots_own_message(api: Api, private: Chat) -> None:
    sent = await api("sendMessage", chat_id=7, text="one")
    edited = await api("editMessageText", chat_id=7, message_id=sent["message_id"], text="two")
    assert (edited["text"], edited["edit_date"] > 0) == ("two", True)
    (message,) = api.telegram.messages(7)
    assert (message.text, message.edits, message.history) == ("two", 1, ["one", "two"])


async def test_an_edit_that_changes_nothing_is_refused(api: Api, private: Chat) -> None:
    sent = await api("sendMessage", chat_id=7, text="one")
    same = {"chat_id": 7, "message_id": sent["message_id"], "text": "one "}
    assert (await api.refusal("editMessageText", **same)).startswith(
        "400 Bad Request: message is not modified: specified new message content and reply markup"
    )
    await api("editMessageText", **same, entities=[{"type": "bold", "offset": 0, "length": 3}])


async def test_other_messages_cannot_be_edited(api: Api, ann: User, private: Chat) -> None:
    theirs = api.telegram.say(private, ann, "mine")["message_id"]
    refused = await api.refusal("editMessageText", chat_id=7, message_id=theirs, text="x")
    assert refused == "400 Bad Request: message can't be edited"
    refused = await api.refusal("editMessageText", chat_id=7, message_id=99, text="x")
    assert refused == "400 Bad Request: message to edit not found"


async def test_a_bot_deletes_its_own_messages_and_as_administrator_others(
    api: Api, telegram: FakeTelegram, ann: User
) -> None:
    group = telegram.group(FORUM)
    theirs = telegram.say(group, ann, "mine")["message_id"]
    sent = (await api("sendMessage", chat_id=FORUM, text="x"))["message_id"]
    await api("deleteMessage", chat_id=FORUM, message_id=sent)
    assert telegram.messages(FORUM) == []
    assert [message.text for message in telegram.world.removed] == ["x"]
    refused = await api.refusal("deleteMessage", chat_id=FORUM, message_id=sent)
    assert refused == "400 Bad Request: message to delete not found"
    refused = await api.refusal("deleteMessage", chat_id=FORUM, message_id=theirs)
    assert refused == "400 Bad Request: message can't be deleted"
    group.bot_status = "administrator"
    await api("deleteMessage", chat_id=FORUM, message_id=theirs)


async def test_a_draft_is_for_private_chats_and_has_an_id(
    api: Api, telegram: FakeTelegram, private: Chat, forum: Chat
) -> None:
    refused = await api.refusal("sendMessageDraft", chat_id=FORUM, draft_id=1, text="x")
    assert refused == "400 Bad Request: TEXTDRAFT_PEER_INVALID"
    refused = await api.refusal("sendMessageDraft", chat_id=7, draft_id=0, text="x")
    assert refused.startswith("400 ")
    refused = await api.refusal("sendMessageDraft", chat_id=7, draft_id=1, text="x" * 4097)
    assert refused == "400 Bad Request: message is too long"
    refused = await api.refusal("sendMessageDraft", chat_id=7, draft_id=1, text=" ")
    assert refused == "400 Bad Request: text must be non-empty"
    await api("sendMessageDraft", chat_id=7, draft_id=1)
    assert telegram.drafts == {(7, 1): ""}


async def test_a_message_takes_the_place_of_the_drafts(api: Api, private: Chat) -> None:
    for text in ("a", "ab"):
        await api("sendMessageDraft", chat_id=7, draft_id=5, text=text, can_stop=True)
    assert api.telegram.drafts == {(7, 5): "ab"}
    await api("sendMessage", chat_id=7, text="abc")
    assert api.telegram.drafts == {}
    assert [(draft.text, draft.can_stop) for draft in api.telegram.draft_history] == [
        ("a", True),
        ("ab", True),
    ]


@pytest.mark.parametrize(
    ("name", "description", "why"),
    [
        *[(name, "x", "BOT_COMMAND_INVALID") for name in ("Start", "a" * 33, "", "a-b")],
        *[("new", text, "BOT_COMMAND_DESCRIPTION_INVALID") for text in ("", "x" * 257)],
    ],
)
async def test_a_command_has_a_plain_name_and_a_description(
    api: Api, name: str, description: str, why: str
) -> None:
    commands = [{"command": name, "description": description}]
    refused = await api.refusal("setMyCommands", commands=commands)
    assert refused == f"400 Bad Request: {why}"


async def test_commands_are_kept_by_scope(api: Api, telegram: FakeTelegram) -> None:
    commands = [{"command": "new", "description": "Begin anew"}]
    await api("setMyCommands", commands=commands)
    assert await api("getMyCommands") == commands == telegram.commands
    assert await api("getMyCommands", scope={"type": "all_group_chats"}) == []
    await api("deleteMyCommands")
    assert telegram.commands == []


async def test_a_reaction_needs_its_message(api: Api, ann: User, private: Chat) -> None:
    said = api.telegram.say(private, ann, "hello")["message_id"]
    thumb = [{"type": "emoji", "emoji": "👍"}]
    await api("setMessageReaction", chat_id=7, message_id=said, reaction=thumb)
    assert api.telegram.reactions == {(7, said): thumb}
    refused = await api.refusal("setMessageReaction", chat_id=7, message_id=99, reaction=thumb)
    assert refused == "400 Bad Request: message to react not found"


async def test_a_group_that_became_a_supergroup_says_where_it_is(api: Api) -> None:
    old = api.telegram.group(-500, kind="group")
    new = api.telegram.migrate(old)
    status, body = await api.call("sendMessage", chat_id=-500, text="hello")
    assert status == 400
    assert body["description"] == "Bad Request: group chat was upgraded to a supergroup chat"
    assert body["parameters"] == {"migrate_to_chat_id": new.id}
    await api("sendMessage", chat_id=new.id, text="hello")
    assert api.telegram.text_of(new.id) == "hello"


async def test_members_and_administrators_are_told(api: Api, ann: User, private: Chat) -> None:
    group = api.telegram.group(FORUM)
    api.telegram.join(group, ann)
    assert (await api("getChatMember", chat_id=FORUM, user_id=7))["status"] == "member"
    refused = await api.refusal("getChatMember", chat_id=FORUM, user_id=99)
    assert refused == "400 Bad Request: PARTICIPANT_ID_INVALID"
    assert await api("getChatAdministrators", chat_id=FORUM) == []
    group.members[7] = ann, "creator"
    (creator,) = await api("getChatAdministrators", chat_id=FORUM)
    assert creator["user"]["first_name"] == "Ann"
    refused = await api.refusal("getChatAdministrators", chat_id=7)
    assert refused == "400 Bad Request: there are no administrators in the private chat"
    await api("leaveChat", chat_id=FORUM)
    assert (await api.refusal("getChat", chat_id=FORUM)).startswith("403 ")


async def test_a_file_is_sent_with_its_caption_and_can_be_sent_again(
    api: Api, telegram: FakeTelegram, private: Chat
) -> None:
    form = aiohttp.FormData({"chat_id": "7", "caption": "a table "})
    form.add_field("document", b"1,2", filename="table.csv")
    async with api.session.post(api.url("sendDocument"), data=form) as answer:
        sent = (await answer.json())["result"]
    assert (sent["caption"], sent["document"]["file_name"]) == ("a table", "table.csv")
    again = await api("sendDocument", chat_id=7, document=sent["document"]["file_id"])
    assert again["document"] == sent["document"]
    file = await api("getFile", file_id=sent["document"]["file_id"])
    url = f"{telegram.base_file_url}{telegram.token}/{file['file_path']}"
    async with api.session.get(url) as answer:
        assert await answer.read() == b"1,2"
    refused = await api.refusal("editMessageText", chat_id=7, message_id=1, text="x")
    assert refused == "400 Bad Request: there is no text in the message to edit"


@pytest.mark.parametrize(
    ("params", "description"),
    [
        ({}, "there is no photo in the request"),
        ({"photo": "no-file"}, "wrong file identifier/HTTP URL specified"),
        ({"photo": "file-1", "caption": "x" * 1025}, "message caption is too long"),
    ],
)
async def test_a_photo_must_be_there_and_its_caption_short(
    api: Api, telegram: FakeTelegram, private: Chat, params: dict[str, str], description: str
) -> None:
    telegram.world.file(b"p", "photos/{}.jpg")
    refused = await api.refusal("sendPhoto", chat_id=7, **params)
    assert refused == f"400 Bad Request: {description}"
    await api("sendPhoto", chat_id=7, photo="file-1", caption="x" * 1024)
    await api("sendVoice", chat_id=7, voice="file-1")
