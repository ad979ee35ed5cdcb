"""A channel's direct messages and ephemeral messages: chats of their own within a Telegram chat."""

from __future__ import annotations

import pytest

from channels.message import MessageLink
from channels.telegram.adapter import FROM_GROUP, HOLD_SECONDS, THINKING
from channels.telegram.address import Address, address_of, moved
from channels.telegram.api import BotApi
from channels.telegram.outbound import TelegramSender
from channels.telegram.permalink import write_link
from channels.telegram.settings import TelegramSettings
from channels.telegram.troubles import EPHEMERAL_LATE
from tape.entry import Entry
from tests.channels.telegram.bots import GROUP, Bot, Running
from tests.fakes.openai.script import Text
from tests.fakes.telegram.part_methods import EPHEMERAL_SECONDS
from tests.fakes.telegram.world import Chat, User
from tests.kit.gateways import names, tape_of

DIRECT = -1009000000001
AT = "@tapeway_bot"


def subscribers(bot: Bot) -> tuple[Chat, User, User]:
    """Make a channel's direct messages and two of its subscribers."""
    chat = bot.fake.direct_messages("News")
    return chat, bot.fake.user(141, "Cy"), bot.fake.user(142, "Di")


async def tape_read(bot: Bot, chat: str) -> list[Entry]:
    await bot.settled(DIRECT)
    return await tape_of(bot.gateway, f"telegram:{chat}").read()


# -- a channel's direct messages


async def test_each_subscriber_has_a_chat_and_is_answered_in_its_topic(bot: Bot) -> None:
    chat, cy, di = subscribers(bot)
    bot.fake.say_directly(chat, cy, f"{AT} my door code is 4711, remember it")
    await bot.settled(DIRECT)
    bot.fake.say_directly(chat, di, f"{AT} what did others write?")
    theirs = await tape_read(bot, f"{DIRECT}.T141")
    own = await tape_read(bot, f"{DIRECT}.T142")
    assert "4711" not in bot.prompts()[-1]
    assert names(theirs).count("turn.start") == names(own).count("turn.start") == 1
    sends = [call.params["direct_messages_topic_id"] for call in bot.fake.calls_of("sendMessage")]
    assert sends == [141, 142]
    assert [one.json["direct_messages_topic"]["topic_id"] for one in bot.fake.messages(DIRECT)] == [
        141,
        142,
    ]


async def test_neither_typing_nor_a_draft_goes_to_a_channel_s_direct_messages(bot: Bot) -> None:
    chat, cy, _di = subscribers(bot)
    bot.model.enqueue(Text(("It is ", "noon."), delay=0.01))
    bot.fake.say_directly(chat, cy, f"{AT} what time is it?")
    await bot.settled(DIRECT)
    assert bot.fake.typing == []
    assert bot.fake.calls_of("sendChatAction", "sendMessageDraft") == []
    assert all(call.ok for call in bot.fake.calls_of("sendMessage", "editMessageText"))
    assert bot.fake.text_of(DIRECT).endswith("noon.")


async def test_what_the_people_of_the_channel_and_a_subscriber_write_asks_nothing(bot: Bot) -> None:
    chat, cy, di = subscribers(bot)
    bot.fake.say_directly(chat, cy, "is the shop open on Monday?")
    bot.fake.say_directly(chat, cy, "yes, from ten", writer=di)
    entries = await tape_read(bot, f"{DIRECT}.T141")
    assert bot.prompts() == []
    assert [e.meta["text"] for e in entries if e.kind == "message"] == [
        "is the shop open on Monday?",
        "yes, from ten",
    ]
    bot.fake.say_directly(chat, di, f"{AT} what did the customer want?", writer=cy)
    await bot.settled(DIRECT)
    assert "Monday" not in bot.prompts()[-1]  # it was asked in another subscriber's chat


async def test_a_reply_to_the_bot_in_a_subscriber_s_topic_asks_it(bot: Bot) -> None:
    chat, cy, _di = subscribers(bot)
    bot.fake.say_directly(chat, cy, f"{AT} when do you open?")
    await bot.settled(DIRECT)
    (answer,) = bot.fake.messages(DIRECT)
    bot.fake.say_directly(chat, cy, "and on Sunday?", reply_to=answer.message_id)
    await bot.settled(DIRECT)
    assert len(bot.prompts()) == 2
    assert "when do you open?" in bot.prompts()[-1]


@pytest.mark.settings(ACCESS__MODE="paired", ACCESS__ALLOW=f"telegram:{DIRECT}")
async def test_opening_a_channel_s_direct_messages_opens_those_of_every_subscriber(
    bot: Bot,
) -> None:
    chat, cy, di = subscribers(bot)
    for who in (cy, di):
        bot.fake.say_directly(chat, who, f"{AT} hello")
        await bot.settled(DIRECT)
    assert len(bot.fake.messages(DIRECT)) == len(bot.prompts()) == 2


@pytest.mark.settings(ACCESS__MODE="paired", ACCESS__ALLOW="telegram:141")
async def test_who_is_let_in_in_private_is_not_for_that_reason_in_a_channel_s_direct_messages(
    bot: Bot,
) -> None:
    chat, cy, _di = subscribers(bot)
    bot.fake.say_directly(chat, cy, f"{AT} hello")
    entries = await tape_read(bot, f"{DIRECT}.T141")
    assert "access.refused" in names(entries)
    assert bot.prompts() == []


async def test_a_subscriber_is_forgotten_by_a_button_in_their_own_chat(bot: Bot) -> None:
    chat, cy, _di = subscribers(bot)
    bot.fake.say_directly(chat, cy, f"{AT} remember the code 4711")
    await bot.settled(DIRECT)
    bot.fake.say_directly(chat, cy, ",forget me")
    await bot.settled(DIRECT)
    card = bot.fake.messages(DIRECT)[-1]
    assert card.json["direct_messages_topic"]["topic_id"] == 141
    bot.fake.press(DIRECT, cy, card.message_id, next(iter(card.buttons)))
    while "4711" in str(await tape_read(bot, f"{DIRECT}.T141")):
        await bot.pass_by(1)


# -- ephemeral messages


def lab(bot: Bot, *, admin: bool = False) -> tuple[User, User]:
    bot.fake.group(GROUP, "Lab", admin=admin)
    return bot.fake.user(7, "Ada"), bot.fake.user(8, "Ben")


async def test_an_ephemeral_message_is_answered_to_its_one_person(bot: Bot) -> None:
    ada, _ben = lab(bot)
    bot.fake.say_ephemerally(GROUP, ada, "/ask what is my secret word? Rumpel")
    await bot.settled(GROUP)
    assert bot.fake.messages(GROUP) == []  # nothing is said in public
    shown = [one for (who, _n), (one, _at) in bot.fake.chat(GROUP).ephemerals.items() if who == 7]
    assert [one.mine for one in shown] == [True]
    (send,) = bot.fake.calls_of("sendMessage")
    assert send.params["ephemeral_message_parameters"] == {"receiver_user_id": 7}
    assert send.params["reply_parameters"] == {"ephemeral_message_id": 1}
    bot.fake.say(GROUP, _ben, f"{AT} which word did Ada say?")
    await bot.settled(GROUP)
    assert "Rumpel" not in bot.prompts()[-1]


async def test_two_ephemeral_messages_are_two_though_both_have_the_message_id_0(bot: Bot) -> None:
    ada, ben = lab(bot)
    for who, text in ((ada, "one"), (ada, "two"), (ben, "three")):
        bot.fake.say_ephemerally(GROUP, who, text)
        await bot.settled(GROUP)
    chats = {person: f"{GROUP}.E{person}" for person in (7, 8)}
    tapes = {one: await tape_of(bot.gateway, f"telegram:{chats[one]}").read() for one in chats}
    said = {
        one: [e.meta["text"] for e in entries if "inbox" in e.meta]
        for one, entries in tapes.items()
    }
    assert said == {7: ["one", "two"], 8: ["three"]}
    assert len(bot.prompts()) == 3


async def test_every_piece_of_a_long_answer_goes_to_the_one_person(bot: Bot) -> None:
    ada, _ben = lab(bot)
    bot.model.enqueue(Text(("word " * 2_000,)))
    bot.fake.say_ephemerally(GROUP, ada, "tell me all")
    await bot.settled(GROUP)
    sends = bot.fake.calls_of("sendMessage")
    assert len(sends) > 1
    assert all(call.ok and "ephemeral_message_parameters" in call.params for call in sends)
    assert bot.fake.messages(GROUP) == []


async def test_an_answer_grows_in_an_ephemeral_message_that_only_its_person_sees(bot: Bot) -> None:
    ada, _ben = lab(bot)
    bot.model.enqueue(Text(("It is ", "almost ", "noon."), delay=0.05, sleep=bot.clock.sleep))
    bot.fake.say_ephemerally(GROUP, ada, "what time is it?")
    await bot.settled(GROUP)
    calls = bot.fake.calls_of("editMessageText", "sendMessageDraft", "sendChatAction")
    assert calls == []
    ((message, _at),) = [
        one for (who, _number), one in bot.fake.chat(GROUP).ephemerals.items() if who == 7
    ]
    assert message.text == "It is almost noon."


def seen(bot: Bot, who: int = 7) -> list[list[str]]:
    """Return what somebody sees of the bot in the group, each with what it was before."""
    shown = bot.fake.chat(GROUP).ephemerals.items()
    return [one.history for (person, _number), (one, _at) in shown if person == who]


async def think(bot: Bot, who: User, seconds: float, text: str) -> None:
    bot.model.enqueue(Text((" ", text), delay=seconds, sleep=bot.clock.sleep))
    bot.fake.say_ephemerally(GROUP, who, "think long")
    await bot.until(lambda: bot.model.requests)
    await bot.pass_by(seconds + 1)
    await bot.settled(GROUP)


async def test_an_ephemeral_answer_that_takes_long_begins_as_a_sentence_in_time(bot: Bot) -> None:
    ada, _ben = lab(bot)
    await think(bot, ada, EPHEMERAL_SECONDS + 5, "Late.")
    (history,) = seen(bot)
    assert (history[0], history[-1]) == (THINKING, "Late.")
    assert bot.fake.messages(GROUP) == []
    (send,) = bot.fake.calls_of("sendMessage")
    assert "ephemeral_message_parameters" in send.params


async def test_an_ephemeral_answer_that_comes_in_time_is_the_only_message(bot: Bot) -> None:
    ada, _ben = lab(bot)
    await think(bot, ada, HOLD_SECONDS - 3, "Early.")
    await bot.pass_by(HOLD_SECONDS)
    assert seen(bot) == [["Early."]]


async def test_an_ephemeral_answer_that_is_cut_off_leaves_no_sentence_behind(bot: Bot) -> None:
    ada, _ben = lab(bot, admin=True)
    bot.model.enqueue(Text((" ", "Never."), delay=100, sleep=bot.clock.sleep))
    bot.fake.say_ephemerally(GROUP, ada, "think long")
    await bot.until(lambda: bot.model.requests)
    await bot.pass_by(HOLD_SECONDS + 2)
    assert seen(bot) == [[THINKING]]
    bot.fake.say_ephemerally(GROUP, ada, "/stop")
    await bot.settled(GROUP)
    assert [history[-1] for history in seen(bot)] == ["Stopped."]


@pytest.mark.parametrize("started", [True, False])
async def test_an_ephemeral_answer_that_comes_too_late_goes_to_the_private_chat(
    bot: Bot, *, started: bool
) -> None:
    ada, _ben = lab(bot)
    bot.fake.private_chat(ada, started=started)
    long = "word " * 1_500
    await think(bot, ada, EPHEMERAL_SECONDS + 5, long)
    assert bot.fake.messages(GROUP) == []
    (history,) = seen(bot)
    told = [one.text for one in bot.fake.messages(7) if one.mine]
    parts = [history[-1], *(one.removeprefix(FROM_GROUP.strip()) for one in told)]
    assert len("".join(parts).split()) == 1_500 if started else told == []
    (note,) = bot.gateway.status.states["telegram"].notes
    assert EPHEMERAL_LATE.remedy in note


@pytest.mark.settings(ACCESS__MODE="paired", ACCESS__ALLOW=f"telegram:{GROUP}")
async def test_an_open_group_is_open_for_ephemeral_messages_too(bot: Bot) -> None:
    ada, _ben = lab(bot)
    bot.fake.say_ephemerally(GROUP, ada, "hello")
    await bot.settled(GROUP)
    assert len(bot.prompts()) == 1


@pytest.mark.settings(ACCESS__MODE="paired")
async def test_a_refusal_of_an_ephemeral_message_is_said_to_its_person_alone(bot: Bot) -> None:
    ada, _ben = lab(bot)
    bot.fake.say_ephemerally(GROUP, ada, "hello")
    await bot.settled(GROUP)
    assert bot.prompts() == []
    assert bot.fake.messages(GROUP) == []
    assert all("ephemeral_message_parameters" in c.params for c in bot.fake.calls_of("sendMessage"))


async def test_a_reply_to_the_bot_s_ephemeral_message_goes_on_with_its_conversation(
    bot: Bot,
) -> None:
    ada, _ben = lab(bot, admin=True)
    bot.fake.say_ephemerally(GROUP, ada, "my word is Rumpel")
    await bot.settled(GROUP)
    ((answer, _at),) = [
        one for (who, _number), one in bot.fake.chat(GROUP).ephemerals.items() if who == 7
    ]
    bot.fake.say_ephemerally(GROUP, ada, "which word?", reply_to=answer)
    await bot.settled(GROUP)
    assert "Rumpel" in bot.prompts()[-1]


# -- addresses


@pytest.mark.parametrize(
    ("chat", "address"),
    [
        ("-1001.T141", Address(-1001, topic=141)),
        ("-1001.T-5", Address(-1001, topic=-5)),
        ("-1001.E7", Address(-1001, receiver=7)),
        ("-1001.X7", Address("-1001.X7")),
        ("-1001", Address(-1001)),
        ("@ops", Address("@ops")),
    ],
)
def test_the_id_of_a_part_is_its_address(chat: str, address: Address) -> None:
    assert address_of(chat) == address


def test_a_part_moves_with_its_group_and_stays_a_part() -> None:
    assert moved("-5.E7", "-1005") == "-1005.E7"
    assert moved("-5", "-1005") == "-1005"


def test_there_is_no_link_to_what_not_everybody_sees() -> None:
    assert write_link("5", "-1009.T141") == write_link("i5", "-1009.E7") == ""


async def test_a_removed_draft_is_deleted_where_it_was_shown(app: Running) -> None:
    fake = app.fake
    fake.group(GROUP, "Lab", admin=True)
    fake.user(7, "Ada")
    values = {"token": fake.token, "base_url": fake.base_url}
    api = BotApi(TelegramSettings.model_validate(values))
    await api.open()
    sender = TelegramSender(api)
    shown = await sender.show(f"{GROUP}.E7", None, None, None, "half a")
    assert shown == "o1"
    assert await sender.show(f"{GROUP}.E7", None, None, shown, "half an answer") == shown
    await sender.delete(f"{GROUP}.E7", shown)
    await api.close()
    assert fake.chat(GROUP).ephemerals == {}
    assert app.channel.link_to(MessageLink("o1", f"{GROUP}.E7")) == ""
