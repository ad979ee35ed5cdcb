"""Slack as the conformance suite's stage: the fake Slack with its people."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import orjson

from channels.testing import Answer, BrokenEdit, Chat, Operation, Person, PersonMessage
from tests.fakes.base.faults import LostAnswer
from tests.fakes.base.http import JsonObject
from tests.fakes.slack.deliveries import Delivery
from tests.fakes.slack.faults import RateLimited
from tests.fakes.slack.rules import MAX_MARKDOWN
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.text import unescaped
from tests.fakes.slack.world import Channel, Message, User, stamp
from tests.kit.clock import ManualClock
from tests.kit.stages.platform import Attachment, PlatformStage, seconds_of

SENDS: Final = "chat.postMessage|chat.startStream"
EDITS: Final = "chat.appendStream|chat.stopStream|chat.update"
METHODS: Final[Mapping[Operation, str]] = MappingProxyType(
    {"typing": "assistant.threads.setStatus", "first": SENDS, "edit": EDITS, "final": SENDS}
)
_LATER_PIECE: Final = re.compile(r":\d+\.\d+")


class SlackStage(PlatformStage[FakeSlack, User]):
    """A Slack workspace with channels, threads and direct messages, heard over Socket Mode."""

    def __init__(self, clock: ManualClock | None = None, *, limits: bool = False) -> None:
        sleep = clock.sleep if clock is not None else asyncio.sleep
        super().__init__(FakeSlack(limits=limits, clock=seconds_of(clock), sleep=sleep), clock)
        self._threads: set[tuple[str, str]] = set()
        # What may be answered, the oldest first: by channel and thread, and commands by channel.
        self._asked: dict[tuple[str, str], list[str]] = {}
        self._commands: dict[str, list[str]] = {}

    def settings(self) -> Mapping[str, str]:
        return {
            "SLACK__BOT_TOKEN": self.fake.bot_token,
            "SLACK__APP_TOKEN": self.fake.app_token,
            "SLACK__SIGNING_SECRET": self.fake.signing_secret,
            "SLACK__BASE_URL": self.fake.base_url,
            "SLACK__REORDER_SECONDS": "0",  # time stands still while something is taken
        }

    def answering(self, rules: Sequence[str]) -> Mapping[str, str]:
        return {"SLACK__ANSWERS": ",".join(rules)}

    # -- who and where

    def group(self) -> Chat:
        return Chat(self.fake.channel().id)

    def private(self, person: Person) -> Chat:
        return Chat(self.fake.im(self._people[person.name]).id)

    def thread(self, group: Chat) -> Chat:
        maker = self._people[self.person("Maker").name]
        root = self.fake.say(group.id, maker, "Let us talk of it here.")
        self._threads.add((group.id, root.ts))
        return Chat(group.id, root.ts)

    def calling(self, person: Person | None = None) -> str:
        user = self._people[person.name] if person is not None else self.fake.workspace.bot
        return f"@{user.name}"

    # -- what people do

    async def echo(self, chat: Chat, answer: Answer) -> None:
        channel = self.fake.find(chat.id)
        self.fake.events.message(channel, dict(channel.messages[answer.id].json))

    async def redeliver(self, said: PersonMessage, *, as_new: bool = False) -> None:
        for number in said.delivery.split():
            self.fake.events.again(self.fake.deliveries.all[int(number)], new_id=as_new)

    async def edit(self, said: PersonMessage, text: str) -> None:
        self.fake.edit(said.chat.id, said.id, text)

    async def delete(self, said: PersonMessage) -> None:
        self.fake.delete(said.chat.id, said.id)

    async def command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        if chat.thread is not None:  # Slack has no slash commands in threads
            return await self.say(chat, person, f",{name}")
        told = self.fake.slash(chat.id, self._people[person.name], name)
        said = PersonMessage(str(told.payload["trigger_id"]), chat, person, f"/tapeway {name}")
        self._commands.setdefault(chat.id, []).append(said.id)
        return said

    def appoint(self, chat: Chat, person: Person) -> None:
        self._people[person.name].is_admin = True

    def dismiss(self, chat: Chat, person: Person) -> None:
        self._people[person.name].is_admin = False

    async def press(self, chat: Chat, person: Person, answer: Answer, label: str) -> None:
        self.fake.tap(chat.id, self._people[person.name], answer.id, label)

    def pass_on(self, chat: Chat, person: Person, *originals: PersonMessage) -> list[PersonMessage]:
        """Share messages in one."""
        found = [
            (self.fake.find(one.chat.id).messages[one.id], self._people[one.person.name])
            for one in originals
        ]
        more = {"attachments": [self.fake.shared(*one) for one in found]}
        user = self._people[person.name]
        sent = self.fake.say(chat.id, user, "", thread=chat.thread, extra=more)
        return [self._said(PersonMessage("", chat, person, ""), sent)]

    def is_taken(self, said: PersonMessage) -> bool:
        deliveries = self.fake.deliveries.all
        return all(deliveries[int(number)].state == "acked" for number in said.delivery.split())

    # -- what people see

    async def taken(self) -> None:
        await self.fake.wait_for(lambda _fake: not self._waiting() and not self.untaken())

    def answers(self, chat: Chat) -> list[Answer]:
        taken: dict[tuple[str, str], int] = {}
        found = [self._answer(message, taken) for message in self._ours(chat.whole())]
        if chat.thread is None:
            return found
        return [answer for answer in found if answer.thread == chat.thread]

    def shown(self, person: Person) -> list[str]:
        return [it.text for it in self.fake.ephemerals if it.user == person.id]

    def typing(self, chat: Chat) -> bool:
        """Return whether a status or a stream can be seen: either says that more is to come."""
        channel = self.fake.find(chat.id)
        status = any(self.fake.status(chat.id, thread) for thread in channel.statuses)
        return status or any(self._streams(message) for message in self._ours(chat))

    def typed(self, chat: Chat) -> int:
        return sum(it.channel_id == chat.id and it.status != "" for it in self.fake.statuses)

    def pinged(self, chat: Chat) -> list[str]:
        return self.fake.pinged(chat.id)

    def noisy(self) -> list[str]:
        channels = self.fake.world.channels
        sent = [one for channel in channels for one in self.fake.messages(channel)]
        # A stream has no setting for previews, and gets none.
        noisy = [one.text for one in sent if one.unfurls and one.stream is None]
        return noisy + [who for channel in channels for who in self.fake.pinged(channel)]

    def shows(self, piece: str) -> str:
        assert 0 < len(piece) <= MAX_MARKDOWN
        return read(piece)

    def outbound(self) -> bytes:
        reading = ("auth.", "conversations.", "users.", "bots.", "files.", "apps.", "team.")
        sent = [call for call in self.fake.calls if not call.method.startswith(reading)]
        return orjson.dumps([(call.method, call.params) for call in sent], default=repr)

    # -- the gateway's end of the line

    def untaken(self) -> int:
        """Count what people said that was neither acknowledged nor, if it never came, fetched.

        What came and was not acknowledged may have been fetched by a gateway that cannot keep it.
        """
        everything = self.fake.deliveries.all
        acked = {_key(it) for it in everything if it.state == "acked"}
        left = [it for it in everything if self._is_said(it) and _key(it) not in acked]
        return len({_key(it) for it in left if not self._made_up_for(it)})

    # -- trouble

    def throttle(self, operation: Operation, chat: Chat, seconds: int) -> None:
        self.fake.fail(METHODS[operation], RateLimited(seconds), channel=chat.id)

    def lose_answer(self, chat: Chat) -> None:
        self.fake.fail(SENDS, LostAnswer(), channel=chat.id)

    def break_edit(self, why: BrokenEdit, chat: Chat) -> None:
        if why == "unchanged":
            self.fake.fail(EDITS, LostAnswer(), channel=chat.id)
            return
        messages = self.fake.find(chat.id).messages
        for message in self._ours(chat):
            del messages[message.ts]
        if why == "thread":
            for message in self.fake.world.thread(self.fake.find(chat.id), chat.thread or ""):
                del messages[message.ts]

    def shut_out(self, chat: Chat) -> None:
        channel = self.fake.find(chat.id)
        if channel.person is not None:
            channel.workspace.users[channel.person].deleted = True
        else:
            channel.members.remove(channel.workspace.bot.id)

    def listening(self) -> int:
        return len(self.fake.sockets.live)

    def compete(self) -> None:
        """Mention another socket in the next greeting: Slack has room for ten of them."""
        self.fake.sockets.others = 1
        self.fake.refresh()

    # -- parts

    def _new_user(self, name: str, is_bot: bool) -> User:
        return self.fake.user(name, is_bot=is_bot)

    def _is_private(self, chat: Chat) -> bool:
        return self.fake.find(chat.id).kind == "im"

    def _say(self, said: PersonMessage, reply_to: str | None, like: str) -> PersonMessage:
        chat, user = said.chat, self._people[said.person.name]
        thread = chat.thread or reply_to
        return self._said(
            said, self.fake.say(chat.id, user, said.text, thread=thread, ts=like or None)
        )

    def _send(self, said: PersonMessage, file: Attachment) -> PersonMessage:
        chat, user = said.chat, self._people[said.person.name]
        sent = self.fake.file(file.name, file.data, file.mime, user)
        message = self.fake.say(chat.id, user, said.text, thread=chat.thread, files=[sent])
        return self._said(said, message)

    def _said(self, said: PersonMessage, message: Message) -> PersonMessage:
        place = said.chat.id, message.ts
        if message.thread_ts is not None:
            self._asked.setdefault((place[0], message.thread_ts), []).append(message.ts)
        deliveries = enumerate(self.fake.deliveries.all)
        told = [str(number) for number, it in deliveries if _key(it) == place]
        return replace(said, id=message.ts, delivery=" ".join(told))

    def _is_said(self, delivery: Delivery) -> bool:
        event = delivery.event
        if event.get("type") != "message" or event.get("subtype") in _CHANGES:
            return False
        return event.get("user") != self.fake.workspace.bot.id

    def _made_up_for(self, delivery: Delivery) -> bool:
        """Return whether the app has fetched what it was not told."""
        if delivery.arrived and delivery.state != "lost":
            return False
        channel_id, ts = _key(delivery)
        message = self.fake.find(channel_id).messages.get(ts)
        return message is None or message.read

    def _waiting(self) -> list[Delivery]:
        """Return what is on its way, without what the gateway fetched in the meantime."""
        pending = self.fake.deliveries.pending
        return [it for it in pending if not (self._is_said(it) and self._made_up_for(it))]

    def _ours(self, chat: Chat) -> list[Message]:
        found = list(self.fake.messages(chat.id))
        found += [it.message for it in self.fake.ephemerals if it.channel_id == chat.id]
        if chat.thread is not None:
            found = [message for message in found if message.thread_ts == chat.thread]
        # What has begun to be streamed may have no text yet.
        return sorted((it for it in found if it.text.strip()), key=stamp)

    def _streams(self, message: Message) -> bool:
        return message.stream is not None and message.stream.is_live(self.fake.clock())

    def _answer(self, message: Message, taken: dict[tuple[str, str], int]) -> Answer:
        thread = message.thread_ts
        made = thread if (message.channel_id, thread or "") in self._threads else None
        payload = (message.metadata or {}).get("event_payload", {})
        reply_to = payload.get("reply_to")
        if reply_to is None and not _is_later_piece(payload):
            reply_to = self._answered(message, taken)
        return Answer(message.ts, read(message.text), reply_to, made, tuple(message.buttons))

    def _answered(self, message: Message, taken: dict[tuple[str, str], int]) -> str | None:
        """Return what people take a message to answer that does not say so in its metadata.

        In a thread of one question it is that; of several the oldest that has no answer yet.
        Without a thread it is a command.
        """
        channel = self.fake.find(message.channel_id)
        place = channel.id, message.thread_ts or ""
        number = taken.get(place, 0)
        taken[place] = number + 1
        if message.thread_ts is None:
            commands = self._commands.get(channel.id, [])
            return commands[number] if number < len(commands) else None
        asked = [*self._root(channel, message), *self._asked.get(place, [])]
        return asked[min(number, len(asked) - 1)] if asked else None

    def _root(self, channel: Channel, message: Message) -> list[str]:
        """Return the question that a thread begins with, unless it was opened to talk in."""
        place = channel.id, message.thread_ts or ""
        root = channel.messages.get(place[1])
        return [] if root is None or root.mine or place in self._threads else [root.ts]


class SlackHttpStage(SlackStage):
    """The same workspace, which tells the gateway at its address instead."""

    def __init__(self, clock: ManualClock | None = None, *, limits: bool = False) -> None:
        super().__init__(clock, limits=limits)
        self.fake.events_at("")

    def settings(self) -> Mapping[str, str]:
        found = dict(super().settings())
        del found["SLACK__APP_TOKEN"]
        return found

    @asynccontextmanager
    async def connected(self, url: str) -> AsyncIterator[None]:
        self.fake.events_at(f"{url}slack/events")
        async with super().connected(url):
            try:
                yield
            finally:
                self.fake.events_at("")

    def cut_off(self) -> None:
        self.fake.events_at("")
        super().cut_off()

    def listening(self) -> int:
        return int(self.fake.http.url != "")


_CHANGES: Final = ("channel_join", "message_changed", "message_deleted")


def read(text: str) -> str:
    """Return what people read of a text: Markdown with nothing that cannot be seen."""
    return unescaped(text).replace("\u200b", "")


def _key(delivery: Delivery) -> tuple[str, str]:
    return delivery.channel, str(delivery.event.get("ts", ""))


def _is_later_piece(payload: JsonObject) -> bool:
    """Return whether a message continues another one, by its key."""
    return any(_LATER_PIECE.search(str(value)) for value in payload.values())
