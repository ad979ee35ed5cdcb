"""What the stages of Discord, Slack and Telegram share: a fake with its people, and its trouble."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from channels.testing import Chat, Person, PersonMessage
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.slack.server import FakeSlack
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.clock import ManualClock


class Account(Protocol):
    """A person on a platform."""

    @property
    def id(self) -> object: ...

    @property
    def is_bot(self) -> bool: ...


class Attachment(NamedTuple):
    """A file that a person sends."""

    data: bytes
    name: str
    mime: str


PlatformT = TypeVar("PlatformT", bound=FakeDiscord | FakeSlack | FakeTelegram)
UserT = TypeVar("UserT", bound=Account)


def seconds_of(clock: ManualClock | None) -> Callable[[], float]:
    """Return the seconds that a fake goes by."""
    return clock.monotonic if clock is not None else time.monotonic


class PlatformStage(ABC, Generic[PlatformT, UserT]):
    """A fake platform while the context is open; every fault that was asked for must happen.

    Whatever was sent, no message may be noisy.
    """

    def __init__(self, fake: PlatformT, clock: ManualClock | None) -> None:
        self.fake = fake
        if clock is not None:
            self.fake.epoch = clock.now().timestamp() - clock.monotonic()
        self._people: dict[str, UserT] = {}

    async def __aenter__(self) -> Self:
        await self.fake.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.fake.__aexit__(kind, error, trace)
        if error is None:
            assert self.fake.faults_left == []
            assert self.noisy() == []

    @asynccontextmanager
    async def connected(self, url: str) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self.fake.cut_off = False

    # -- who and where

    def person(self, name: str, *, is_bot: bool = False) -> Person:
        user = self._people.get(name)
        if user is None:
            user = self._people[name] = self._new_user(name, is_bot)
        return Person(str(user.id), name, user.is_bot)

    @abstractmethod
    def calling(self, person: Person | None = None) -> str: ...

    # -- what people do

    async def say(
        self,
        chat: Chat,
        person: Person,
        text: str,
        *,
        mention: bool = True,
        reply_to: str | None = None,
        like: PersonMessage | None = None,
    ) -> PersonMessage:
        text = self._addressed(chat, text) if mention else text
        said = PersonMessage("", chat, person, text)
        return self._say(said, reply_to, like.id if like is not None else "")

    async def send_image(
        self, chat: Chat, person: Person, data: bytes, text: str, *, mention: bool = True
    ) -> PersonMessage:
        text = self._addressed(chat, text) if mention else text
        file = Attachment(data, "image.png", "image/png")
        return self._send(PersonMessage("", chat, person, text), file)

    async def send_file(
        self, chat: Chat, person: Person, data: bytes, name: str, mime: str, text: str
    ) -> PersonMessage:
        said = PersonMessage("", chat, person, self._addressed(chat, text))
        return self._send(said, Attachment(data, name, mime))

    @abstractmethod
    def pass_on(self, chat: Chat, person: Person, *originals: PersonMessage) -> list[PersonMessage]:
        """Send messages of others on, in one message where the platform has such a thing."""

    @abstractmethod
    def is_taken(self, said: PersonMessage) -> bool:
        """Return whether the gateway has acknowledged a message."""

    # -- what people see

    async def seen(self) -> None:
        """What was answered is seen."""

    async def until(self, so: Callable[[], bool]) -> None:
        await self.fake.wait_for(lambda _fake: so())

    def noisy(self) -> list[str]:
        """Return the messages that show a preview of a link, or alert whom they do not answer."""
        return []

    # -- the gateway's end of the line, and trouble

    def cut_off(self) -> None:
        self.fake.cut_off = True
        self.drop_connections()

    def too_many(self) -> int:
        return self.fake.too_many

    def patient(self) -> Mapping[str, str]:
        return {}

    def half_open(self) -> None:
        self.fake.half_open()

    def stall_events(self) -> None:
        self.fake.silence()

    def resume_events(self) -> None:
        self.fake.silence(False)

    def drop_connections(self) -> None:
        self.fake.drop_connections()

    def connections(self) -> int:
        return self.fake.open_connections

    def revoke(self) -> None:
        self.fake.token_revoked = True

    # -- parts

    @abstractmethod
    def _new_user(self, name: str, is_bot: bool) -> UserT: ...

    @abstractmethod
    def _say(self, said: PersonMessage, reply_to: str | None, like: str) -> PersonMessage: ...

    @abstractmethod
    def _send(self, said: PersonMessage, file: Attachment) -> PersonMessage: ...

    @abstractmethod
    def _is_private(self, chat: Chat) -> bool: ...

    def _addressed(self, chat: Chat, text: str) -> str:
        return text if self._is_private(chat) else f"{self.calling()} {text}".strip()
