"""Discord as the conformance suite's stage: the fake REST and gateway with its people."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Self

import orjson
from PIL import Image

from channels.discord.format import render
from channels.testing import Answer, BrokenEdit, Chat, Operation, Person, PersonMessage
from tests.fakes.base.faults import LostAnswer
from tests.fakes.discord.faults import RateLimited
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.rules import MAX_CONTENT
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import COMMAND_ANSWER, Channel, Guild, Message, User
from tests.kit.clock import ManualClock
from tests.kit.stages.platform import Attachment, PlatformStage, seconds_of

KINDS: Final[Mapping[Operation, str]] = MappingProxyType(
    {"typing": "typing", "first": "post", "edit": "edit", "final": "post"}
)
READS: Final = frozenset({"GET"})
SNAPSHOT: Final = (
    *("type", "content", "embeds", "attachments", "components", "sticker_items", "mentions"),
    *("timestamp", "edited_timestamp", "flags"),
)
"""What a forward keeps of a message."""


class DiscordStage(PlatformStage[FakeDiscord, User]):
    """A Discord with one server of many channels, threads, and private chats."""

    def __init__(
        self,
        clock: ManualClock | None = None,
        *,
        limits: bool = False,
        kind: type[FakeDiscord] = FakeDiscord,
    ) -> None:
        # The SDK would sleep out what the headers say, in seconds of its own.
        fake = kind(limits=limits, rate_headers=clock is None, clock=seconds_of(clock))
        super().__init__(fake, clock)
        fake.gateway.prompting = True
        self._guild: Guild | None = None

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._guild = self.fake.guild("Guild")
        return self

    def settings(self) -> Mapping[str, str]:
        return {
            "DISCORD__TOKEN": self.fake.token,
            "DISCORD__BASE_URL": self.fake.base_url,
            "DISCORD__GATEWAY_URL": self.fake.gateway_url,
        }

    def answering(self, rules: Sequence[str]) -> Mapping[str, str]:
        return {"DISCORD__ANSWERS": ",".join(rules)}

    # -- who and where

    def group(self) -> Chat:
        assert self._guild is not None
        name = f"channel-{len(self._guild.channels) + 1}"
        return Chat(str(self.fake.text_channel(self._guild, name).id))

    def private(self, person: Person) -> Chat:
        return Chat(str(self.fake.dm(self._people[person.name]).id))

    def thread(self, group: Chat) -> Chat:
        maker = self._people[self.person("Maker").name]
        name = f"Thread {len(self.fake.world.channels)}"
        return Chat(group.id, str(self.fake.thread(int(group.id), maker, name).id))

    def forum_post(self) -> Chat:
        """Create a forum with one post, which is a thread."""
        assert self._guild is not None
        forum = self.fake.forum(self._guild)
        maker = self._people[self.person("Maker").name]
        post, _first = self.fake.forum_post(forum, maker, "Leases", "All about leases.")
        return Chat(str(forum.id), str(post.id))

    def calling(self, person: Person | None = None) -> str:
        user = self._people[person.name] if person is not None else self.fake.bot
        return f"<@{user.id}>"

    # -- what people do

    async def echo(self, chat: Chat, answer: Answer) -> None:
        self.fake.redeliver(self._where(chat, int(answer.id)), int(answer.id))

    async def redeliver(self, said: PersonMessage, *, as_new: bool = False) -> None:
        """An event has no id of its own: `as_new` or not, it is the message again."""
        self.fake.redeliver(self._place(said.chat), int(said.id))

    async def edit(self, said: PersonMessage, text: str) -> None:
        self.fake.edit(self._place(said.chat), int(said.id), text)

    async def delete(self, said: PersonMessage) -> None:
        self.fake.delete(self._place(said.chat), int(said.id))

    async def command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        """Use a slash command; what stands in the chat for it is the bot's first answer to it."""
        place = self._place(chat)
        guild = place.guild_id
        await self.fake.wait_for(lambda fake: fake.commands.find(name, guild) is not None)
        used = self.fake.slash(place, self._people[person.name], name)
        await self.fake.wait_for(lambda _fake: used.original is not None)
        return PersonMessage(str(used.original), chat, person, f"/{name}")

    def appoint(self, chat: Chat, person: Person) -> None:
        assert self._guild is not None
        role = self.fake.role(self._guild, "moderators", permissions=Permission.ADMINISTRATOR)
        self.fake.join(self._guild, self._people[person.name], role)

    def dismiss(self, chat: Chat, person: Person) -> None:
        assert self._guild is not None
        self.fake.join(self._guild, self._people[person.name]).roles.clear()

    async def press(self, chat: Chat, person: Person, answer: Answer, label: str) -> None:
        place = self._where(chat, int(answer.id))
        message = place.messages[int(answer.id)]
        self.fake.press(place, self._people[person.name], message, label)

    def pass_on(self, chat: Chat, person: Person, *originals: PersonMessage) -> list[PersonMessage]:
        """Forward messages in one: Discord keeps what they say and when, and not who wrote them."""
        shown = [self._place(one.chat).messages[int(one.id)].json for one in originals]
        kept = [{name: one[name] for name in SNAPSHOT if name in one} for one in shown]
        snapshots = [{"message": one} for one in kept]
        first = {"channel_id": shown[0]["channel_id"], "message_id": shown[0]["id"]}
        more = {"message_reference": first | {"type": 1}, "message_snapshots": snapshots}
        sent = self.fake.say(self._place(chat), self._people[person.name], "", extra=more)
        return [PersonMessage(str(sent.id), chat, person, "")]

    def is_taken(self, said: PersonMessage) -> bool:
        return (self._place(said.chat).id, int(said.id)) not in self.fake.unconfirmed

    # -- what people see

    async def taken(self) -> None:
        await self.fake.wait_for(lambda fake: not fake.unconfirmed)
        await self.fake.gap_closed()

    def answers(self, chat: Chat) -> list[Answer]:
        found = [one for place in self._places(chat) for one in self.fake.messages(place)]
        # That a command was used is noted by the bot, but said by who used it.
        said = [one for one in found if one.json["type"] != COMMAND_ANSWER]
        return [self._answer(one) for one in sorted(said, key=lambda one: one.id)]

    def shown(self, person: Person) -> list[str]:
        used = [it for it in self.fake.commands.interactions.values() if it.pressed is not None]
        return [
            it.channel.messages[number].text
            for it in used
            for number in it.messages
            if str(it.user.id) == person.id and number in it.channel.messages
        ]

    def typing(self, chat: Chat) -> bool:
        return self.fake.is_typing(self._place(chat))

    def typed(self, chat: Chat) -> int:
        number = self._place(chat).id
        return sum(sign.channel_id == number for sign in self.fake.typing)

    def pinged(self, chat: Chat) -> list[str]:
        found = [ping for place in self._places(chat) for ping in self.fake.pinged(place)]
        return [f"{ping.kind} {ping.id}" for ping in found if ping.kind != "replied"]

    def shows(self, piece: str) -> str:
        text = render(piece)
        assert 0 < len(text) <= MAX_CONTENT
        return text

    def outbound(self) -> bytes:
        sent = [call for call in self.fake.calls if call.verb not in READS]
        return orjson.dumps(
            [
                (call.verb, call.path, call.params, [len(one.data) for one in call.files])
                for call in sent
            ]
        )

    # -- the gateway's end of the line

    def untaken(self) -> int:
        return len(self.fake.unconfirmed)

    # -- trouble

    def throttle(self, operation: Operation, chat: Chat, seconds: int) -> None:
        self.fake.fail(KINDS[operation], RateLimited(seconds), channel=self._place(chat))

    def lose_answer(self, chat: Chat) -> None:
        self.fake.fail("post", LostAnswer())

    def break_edit(self, why: BrokenEdit, chat: Chat) -> None:
        if why == "unchanged":
            self.fake.fail("edit", LostAnswer())
            return
        place = self._place(chat)
        if why == "thread":
            self.fake.delete_channel(place)
            return
        for message in self.fake.messages(place):
            self.fake.delete(place, message.id)

    def shut_out(self, chat: Chat) -> None:
        place = self._place(chat)
        if place.person is not None:
            place.person.takes_dms = False
        else:
            self.fake.deny(place, Permission.SEND_MESSAGES, Permission.SEND_MESSAGES_IN_THREADS)

    def listening(self) -> int:
        return self.fake.live_sockets

    def compete(self) -> None:
        """Begin a second session: Discord lets both hear everything, and tells neither."""
        self.fake.gateway.new_session(0)

    # -- parts

    def _new_user(self, name: str, is_bot: bool) -> User:
        return self.fake.user(name, is_bot=is_bot)

    def _say(self, said: PersonMessage, reply_to: str | None, like: str) -> PersonMessage:
        message = self.fake.say(
            self._place(said.chat),
            self._people[said.person.name],
            said.text,
            reply_to=int(reply_to) if reply_to else None,
            id=int(like) if like else None,
        )
        return replace(said, id=str(message.id))

    def _send(self, said: PersonMessage, file: Attachment) -> PersonMessage:
        sent = self.fake.attachment(*file, dimensions=_size_of(file))
        user = self._people[said.person.name]
        message = self.fake.say(self._place(said.chat), user, said.text, files=[sent])
        return replace(said, id=str(message.id))

    def _is_private(self, chat: Chat) -> bool:
        return self._place(chat).person is not None

    def _place(self, chat: Chat) -> Channel:
        return self.fake.channel(int(chat.thread or chat.id))

    def _places(self, chat: Chat) -> list[Channel]:
        """Return a channel with its threads, or the thread; what is deleted is nowhere."""
        number = int(chat.thread or chat.id)
        channels = self.fake.world.channels.values()
        return [one for one in channels if number in (one.id, one.parent_id)]

    def _where(self, chat: Chat, message_id: int) -> Channel:
        return next(one for one in self._places(chat) if message_id in one.messages)

    def _answer(self, message: Message) -> Answer:
        channel = self.fake.channel(message.channel_id)
        return Answer(
            str(message.id),
            message.text,
            str(message.reply_to) if message.reply_to is not None else None,
            str(channel.id) if channel.is_thread else None,
            tuple(one["label"] for row in message.json["components"] for one in row["components"]),
        )


def _size_of(file: Attachment) -> tuple[int, int] | None:
    """Return the size of an image, as Discord would find it."""
    try:
        with Image.open(io.BytesIO(file.data)) as image:
            return image.size
    except OSError:
        return None
