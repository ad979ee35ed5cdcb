"""The stage of the conformance suite: a platform with people, chats and faults.

A channel's author writes a `Stage` over a fake of the platform that listens on a socket. The suite
runs the real gateway and channel against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Literal, Protocol

Operation = Literal["typing", "first", "edit", "final"]
"""A request to the platform: a typing sign, a first partial text, an edit, a final message."""

BrokenEdit = Literal["unchanged", "gone", "thread"]
"""An edit that is carried out without an answer; or its message, or its thread, was deleted."""


@dataclass(frozen=True, slots=True)
class Person:
    """An author; `id` is the platform's."""

    id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat, or one of its topics if `thread` is set; ids are the platform's."""

    id: str
    thread: str | None = None

    def whole(self) -> Chat:
        """Return the chat of a topic."""
        return replace(self, thread=None)


@dataclass(frozen=True, slots=True)
class PersonMessage:
    """A message of a person; `delivery` is the stage's key to deliver it again."""

    id: str
    chat: Chat
    person: Person
    text: str
    delivery: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A message of the agent, as people see it now."""

    id: str
    text: str
    reply_to: str | None
    thread: str | None = None


class Stage(Protocol):
    """A platform, as its people see it; its clock is given to its constructor.

    It outlives the gateway, which may run several times, each within `connected`.
    """

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings for this stage, without the prefix TAPEWAY_."""

    def answering(self, rules: Sequence[str]) -> Mapping[str, str]:
        """Return the settings for these rules: private, mention, reply, name, thread."""

    def connected(self, url: str) -> AbstractAsyncContextManager[None]:
        """Connect to the gateway at this address."""

    # -- people and chats

    def person(self, name: str, *, is_bot: bool = False) -> Person:
        """Return the person with this name, always the same one; `is_bot` needs `bots`."""

    def group(self) -> Chat:
        """Create a chat of several people; needs `groups`."""

    def private(self, person: Person) -> Chat:
        """Return the chat of a person with the agent; needs `private`."""

    def thread(self, group: Chat) -> Chat:
        """Create a topic in a group; needs `threads`."""

    def calling(self, person: Person | None = None) -> str:
        """Return the text that mentions a person, or the agent."""

    # -- actions of people; none waits for the gateway

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
        """Send a message, in Markdown if people can write it there.

        mention  begin with a mention of the agent, in groups
        like     use the message id of this message in another chat
        """

    async def echo(self, chat: Chat, answer: Answer) -> None:
        """Deliver a message of the agent back to it; needs `bots`."""

    async def redeliver(self, message: PersonMessage, *, as_new: bool = False) -> None:
        """Deliver a message again; with `as_new` under another delivery id."""

    async def edit(self, message: PersonMessage, text: str) -> None:
        """Edit a message as its author; needs `edits`."""

    async def delete(self, message: PersonMessage) -> None:
        """Delete a message as its author; needs `deletions`."""

    async def command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        """Send the agent a command in the platform's own form."""

    async def send_image(
        self, chat: Chat, person: Person, data: bytes, text: str, *, mention: bool = True
    ) -> PersonMessage:
        """Send an image with a caption; needs `media`."""

    async def send_file(
        self, chat: Chat, person: Person, data: bytes, name: str, mime: str, text: str
    ) -> PersonMessage:
        """Send a file with a caption that mentions the agent; needs `media`."""

    # -- what people see

    async def taken(self) -> None:
        """Wait until the gateway has accepted every message."""

    async def seen(self) -> None:
        """Wait until everything that the gateway sent is visible."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition, which is checked after every change."""

    def answers(self, chat: Chat) -> list[Answer]:
        """Return the agent's visible messages in a chat, oldest first."""

    def typing(self, chat: Chat) -> bool:
        """Return whether people see the agent typing now."""

    def typed(self, chat: Chat) -> int:
        """Return how many times typing was shown or started."""

    def pinged(self, chat: Chat) -> list[str]:
        """Return who was alerted without being answered; needs `pings`."""

    def shows(self, piece: str) -> str:
        """Return the visible text of some Markdown; AssertionError: it is too long."""

    def outbound(self) -> bytes:
        """Return everything ever sent to the platform."""

    # -- the gateway's side

    def cut_off(self) -> None:
        """Drop whatever the running gateway still sends, as if it had been killed."""

    def untaken(self) -> int:
        """Return the number of unacknowledged messages, which are delivered again."""

    # -- faults; need `remote`

    def throttle(self, operation: Operation, chat: Chat, seconds: int) -> None:
        """Answer the next request of a kind by asking to wait some seconds."""

    def lose_answer(self, chat: Chat) -> None:
        """Carry out the next send, but disconnect instead of answering it."""

    def break_edit(self, why: BrokenEdit, chat: Chat) -> None:
        """Make the next edit fail."""

    def shut_out(self, chat: Chat) -> None:
        """Refuse everything for a chat from now on."""

    def too_many(self) -> int:
        """Return how many requests exceeded the platform's rate limits."""

    def patient(self) -> Mapping[str, str]:
        """Return the settings with which it takes longest to notice a dead connection."""

    def half_open(self) -> None:
        """Silence every current connection without closing it; new ones work."""

    def stall_events(self) -> None:
        """Deliver no more messages, over new connections either; sends still arrive."""

    def resume_events(self) -> None:
        """Deliver messages again, over connections made from now on."""

    def drop_connections(self) -> None:
        """Break every connection."""

    def listening(self) -> int:
        """Return how many connections wait for messages now."""

    def connections(self) -> int:
        """Return how many connections to the platform are open."""

    def revoke(self) -> None:
        """Make the gateway's token invalid."""

    def compete(self) -> None:
        """Ask for messages once, as another reader with the same token."""
