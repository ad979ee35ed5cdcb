"""Telegram as the conformance suite's stage: the fake Bot API with its people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import orjson

from channels.telegram.format import render
from channels.testing import Answer, BrokenEdit, Chat, Operation, Person, PersonMessage
from tests.fakes.base.faults import LostAnswer
from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.entities import alerted, checked, detected
from tests.fakes.telegram.faults import RetryAfter
from tests.fakes.telegram.rules import MAX_ENTITIES, MAX_TEXT, Refusal
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.updates import OTHER_POLLER
from tests.fakes.telegram.world import Chat as TelegramChat
from tests.fakes.telegram.world import Message, User
from tests.kit.clock import ManualClock
from tests.kit.stages.platform import Attachment, PlatformStage, seconds_of

TYPING_LASTS: Final = 5.0
METHODS: Final[Mapping[Operation, str]] = MappingProxyType(
    {
        "typing": "sendChatAction",
        "first": "sendMessage",
        "edit": "editMessageText",
        "final": "sendMessage",
    }
)
FORWARDED: Final = ("text", "entities", "caption", "caption_entities", "photo", "document")
RULES: Final = MappingProxyType(
    {
        "private": "private",
        "mention": "mention",
        "reply": "reply",
        "name": "name",
        "thread": "topic",
    }
)


class TelegramStage(PlatformStage[FakeTelegram, User]):
    """A Telegram with supergroups, forums and private chats."""

    def __init__(self, clock: ManualClock | None = None, *, limits: bool = False) -> None:
        super().__init__(FakeTelegram(limits=limits, clock=seconds_of(clock)), clock)

    def settings(self) -> Mapping[str, str]:
        return {"TELEGRAM__TOKEN": self.fake.token, "TELEGRAM__BASE_URL": self.fake.base_url}

    def answering(self, rules: Sequence[str]) -> Mapping[str, str]:
        return {"TELEGRAM__ANSWERS": ",".join(RULES[rule] for rule in rules)}

    # -- who and where

    def group(self) -> Chat:
        return Chat(str(self._group(forum=False).id))

    def private(self, person: Person) -> Chat:
        return Chat(str(self.fake.private_chat(self._people[person.name]).id))

    def thread(self, group: Chat) -> Chat:
        chat = self.fake.chat(int(group.id))
        chat.forum = chat.kind != "private"
        maker = self._people[self.person("Maker").name]
        topic = self.fake.topic(chat, f"Topic {len(chat.topics) + 1}", maker)
        return Chat(group.id, str(topic.id))

    def calling(self, person: Person | None = None) -> str:
        user = self._people[person.name] if person is not None else self.fake.world.bot
        return f"@{user.username}"

    # -- what people do

    async def echo(self, chat: Chat, answer: Answer) -> None:
        message = self.fake.chat(int(chat.id)).messages[int(answer.id)]
        self.fake.push_update({"message": message.json})

    async def redeliver(self, said: PersonMessage, *, as_new: bool = False) -> None:
        self.fake.redeliver(int(said.delivery), new_id=as_new)

    async def edit(self, said: PersonMessage, text: str) -> None:
        self.fake.edit(int(said.chat.id), int(said.id), text)

    async def delete(self, said: PersonMessage) -> None:
        self.fake.delete(int(said.chat.id), int(said.id))

    async def command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        return await self.say(chat, person, f"/{name}", mention=False)

    def appoint(self, chat: Chat, person: Person) -> None:
        self.fake.promote(int(chat.id), self._people[person.name])

    def dismiss(self, chat: Chat, person: Person) -> None:
        self.fake.promote(int(chat.id), self._people[person.name], "member")

    async def press(self, chat: Chat, person: Person, answer: Answer, label: str) -> None:
        self.fake.press(int(chat.id), self._people[person.name], int(answer.id), label)

    def pass_on(self, chat: Chat, person: Person, *originals: PersonMessage) -> list[PersonMessage]:
        """Forward messages, each by itself."""
        return [self._forward(PersonMessage("", chat, person, one.text), one) for one in originals]

    def is_taken(self, said: PersonMessage) -> bool:
        number = int(said.delivery)
        return any(it.confirmed for it in self.fake.updates.all if it.update_id == number)

    # -- what people see

    async def taken(self) -> None:
        await self.fake.wait_for(lambda fake: not fake.updates.pending)

    def answers(self, chat: Chat) -> list[Answer]:
        return [_answer(message) for message in self._ours(chat)]

    def shown(self, person: Person) -> list[str]:
        return [
            one.shown for one in self.fake.presses if str(one.person) == person.id and one.shown
        ]

    def typing(self, chat: Chat) -> bool:
        """A sign lasts some seconds, or until the next message of the bot."""
        number = int(chat.id)
        sends = self.fake.calls_of("sendMessage")
        said = [call.at for call in sends if call.ok and call.params["chat_id"] == number]
        signs = [sign.at for sign in self.fake.typing if sign.chat_id == number]
        last = max(signs, default=-TYPING_LASTS)
        return self.fake.clock() - last < TYPING_LASTS and last >= max(said, default=last)

    def typed(self, chat: Chat) -> int:
        return sum(sign.chat_id == int(chat.id) for sign in self.fake.typing)

    def pinged(self, chat: Chat) -> list[str]:
        ours = self._ours(chat)
        return [who for message in ours for who in alerted(message.text, message.entities)]

    def noisy(self) -> list[str]:
        sent = [one for chat in self.fake.world.chats for one in self.fake.messages(chat)]
        return [one.text for one in sent if one.previews or alerted(one.text, one.entities)]

    def shows(self, piece: str) -> str:
        text, entities = render(piece)
        assert len(entities) <= MAX_ENTITIES
        fit = checked(text, list(entities))
        assert 0 < fit.length <= MAX_TEXT
        return fit.text

    def outbound(self) -> bytes:
        sent = [call for call in self.fake.calls if call.method != "getUpdates"]
        return orjson.dumps([(call.method, call.params) for call in sent], default=repr)

    # -- the gateway's end of the line

    def untaken(self) -> int:
        return len(self.fake.updates.pending)

    # -- trouble

    def throttle(self, operation: Operation, chat: Chat, seconds: int) -> None:
        self.fake.fail(METHODS[operation], RetryAfter(seconds, int(chat.id)))

    def lose_answer(self, chat: Chat) -> None:
        self.fake.fail("sendMessage", LostAnswer())

    def break_edit(self, why: BrokenEdit, chat: Chat) -> None:
        if why == "unchanged":
            self.fake.fail("editMessageText", LostAnswer())
            return
        place = self.fake.chat(int(chat.id))
        for message in self._ours(chat):
            self.fake.world.remove(place, message.message_id)
        if why == "thread":
            del place.topics[int(chat.thread or 0)]

    def shut_out(self, chat: Chat) -> None:
        self.fake.chat(int(chat.id)).bot_status = "kicked"

    def patient(self) -> Mapping[str, str]:
        return {"TELEGRAM__POLL_SECONDS": "50"}

    def listening(self) -> int:
        return self.fake.polls

    def compete(self) -> None:
        self.fake.updates.end_poll(Refusal(409, OTHER_POLLER))

    # -- parts

    def _new_user(self, name: str, is_bot: bool) -> User:
        username = f"{name.lower()}_{'bot' if is_bot else 'x'}"
        return self.fake.user(1000 + len(self._people), name, username, is_bot)

    def _say(self, said: PersonMessage, reply_to: str | None, like: str) -> PersonMessage:
        place, (text, entities) = self.fake.chat(int(said.chat.id)), typed(said.text)
        if like:
            place.ids = iter(range(int(like), 2**31))
        json = self.fake.say(
            place,
            self._people[said.person.name],
            text,
            entities=entities,
            reply_to=int(reply_to) if reply_to else None,
            topic=_topic(said.chat),
        )
        return self._said(json, replace(said, text=text))

    def _send(self, said: PersonMessage, file: Attachment) -> PersonMessage:
        place, user, topic = int(said.chat.id), self._people[said.person.name], _topic(said.chat)
        data, name, mime = file
        if mime.startswith("image/"):
            json = self.fake.send_photo(place, user, data=data, caption=said.text, topic=topic)
        else:
            json = self.fake.send_document(
                place, user, data=data, name=name, mime=mime, caption=said.text, topic=topic
            )
        return self._said(json, said)

    def _forward(self, said: PersonMessage, original: PersonMessage) -> PersonMessage:
        json = self.fake.chat(int(original.chat.id)).messages[int(original.id)].json
        origin = {"type": "user", "date": json["date"], "sender_user": json["from"]}
        content = {name: json[name] for name in FORWARDED if name in json}
        place, user = int(said.chat.id), self._people[said.person.name]
        sent = self.fake.send(
            place, user, content | {"forward_origin": origin}, topic=_topic(said.chat)
        )
        return self._said(sent, said)

    def _is_private(self, chat: Chat) -> bool:
        return not chat.id.startswith("-")

    def _group(self, *, forum: bool) -> TelegramChat:
        number = -1001000000001 - sum(chat < 0 for chat in self.fake.world.chats)
        return self.fake.group(number, f"Group {-number % 1000}", forum)

    def _said(self, json: JsonObject, said: PersonMessage) -> PersonMessage:
        delivery = str(self.fake.updates.all[-1].update_id)
        return replace(said, id=str(json["message_id"]), delivery=delivery)

    def _ours(self, chat: Chat) -> list[Message]:
        found = self.fake.messages(int(chat.id))
        if chat.thread is None:
            return found
        return [message for message in found if message.topic == _topic(chat)]


_AT: Final = "\ue000"


def typed(markdown: str) -> tuple[str, list[JsonObject]]:
    """Return what a client sends of what is typed: code is marked, and nothing else found in it."""
    text = markdown
    marks: list[JsonObject] = []
    if "`" in markdown:  # what we send mentions nobody, but what people type does
        text, marks = render(markdown.replace("@", _AT))
        text = text.replace(_AT, "@")
    code = [mark for mark in marks if mark["type"] in ("code", "pre")]
    found = [
        entity
        for entity in detected(text)
        if not any(mark["offset"] <= entity["offset"] < _end(mark) for mark in code)
    ]
    return text, sorted([*code, *found], key=lambda entity: int(entity["offset"]))


def _end(entity: JsonObject) -> int:
    return int(entity["offset"] + entity["length"])


def _topic(chat: Chat) -> int | None:
    return int(chat.thread) if chat.thread else None


def _answer(message: Message) -> Answer:
    reply_to = message.reply_to
    topic = message.topic
    return Answer(
        str(message.message_id),
        message.text,
        str(reply_to) if reply_to is not None and reply_to != topic else None,
        str(topic) if topic is not None else None,
        tuple(message.buttons),
    )
