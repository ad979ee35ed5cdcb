"""The stage of the conformance suite: a platform with people, chats and faults.

A channel's author writes a `Stage` that controls a fake platform listening on a socket. The suite
runs the real gateway and channel against this fake platform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Literal, Protocol

Operation = Literal["typing", "first", "edit", "final"]
"""A kind of request: a typing sign, the first partial text, an edit, or a final message."""

BrokenEdit = Literal["unchanged", "gone", "thread"]
"""How an edit breaks: it is done but unanswered, or its message or its thread was deleted."""


@dataclass(frozen=True, slots=True)
class Person:
    """An author; `id` is the platform's id of the person."""

    id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat, or one of its topics if `thread` is set; both ids are the platform's."""

    id: str
    thread: str | None = None

    def whole(self) -> Chat:
        """Return the whole chat that a topic belongs to."""
        return replace(self, thread=None)


@dataclass(frozen=True, slots=True)
class PersonMessage:
    """A person's message; `delivery` is the stage's key for delivering it again."""

    id: str
    chat: Chat
    person: Person
    text: str
    delivery: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A message from the agent, as people in the chat see it now, with its buttons' labels."""

    id: str
    text: str
    reply_to: str | None
    thread: str | None = None
    buttons: tuple[str, ...] = ()


class Stage(Protocol):
    """A platform as its people see it; its constructor gets the clock.

    The stage outlives the gateway, which may run several times, each time within `connected`.
    """

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings for this stage, named without the prefix TAPEWAY_."""

    def answering(self, rules: Sequence[str]) -> Mapping[str, str]:
        """Return the settings that enable these rules: private, mention, reply, name, thread."""

    def connected(self, url: str) -> AbstractAsyncContextManager[None]:
        """Connect the platform to the gateway at this address."""

    # -- people and chats

    def person(self, name: str, *, is_bot: bool = False) -> Person:
        """Return the one person with this name; `is_bot` needs `bots`."""

    def group(self) -> Chat:
        """Create a chat with several people; needs `groups`."""

    def private(self, person: Person) -> Chat:
        """Return the chat of one person with the agent; needs `private`."""

    def thread(self, group: Chat) -> Chat:
        """Create a topic in a group; needs `threads`."""

    def appoint(self, chat: Chat, person: Person) -> None:
        """Make a person an administrator of a chat, or of its server; needs `admins`."""

    def dismiss(self, chat: Chat, person: Person) -> None:
        """Take away what `appoint` gave; needs `admins`."""

    def calling(self, person: Person | None = None) -> str:
        """Return the text that mentions a person, or the agent if there is none."""

    # -- what people do; none of these calls waits for the gateway

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

        mention  whether a message to a group begins with a mention of the agent
        like     a message of another chat whose message id this one gets too
        """

    async def echo(self, chat: Chat, answer: Answer) -> None:
        """Deliver one of the agent's own messages to the agent; needs `bots`."""

    async def redeliver(self, message: PersonMessage, *, as_new: bool = False) -> None:
        """Deliver a message again; `as_new` gives it another delivery id."""

    async def edit(self, message: PersonMessage, text: str) -> None:
        """Edit a message as its author; needs `edits`."""

    async def delete(self, message: PersonMessage) -> None:
        """Delete a message as its author; needs `deletions`."""

    async def command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        """Send the agent a command in the form that the platform uses."""

    async def press(self, chat: Chat, person: Person, answer: Answer, label: str) -> None:
        """Press a button of a message; needs `buttons`."""

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
        """Wait until the gateway has accepted every message sent so far."""

    async def seen(self) -> None:
        """Wait until everything that the gateway sent is visible to people."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds; it is checked after every change."""

    def answers(self, chat: Chat) -> list[Answer]:
        """Return the agent's visible messages in a chat, oldest first."""

    def shown(self, person: Person) -> list[str]:
        """Return what only this person was shown after pressing buttons; needs `buttons`."""

    def typing(self, chat: Chat) -> bool:
        """Return whether people see the agent typing now."""

    def typed(self, chat: Chat) -> int:
        """Return how often a typing sign was shown or typing was switched on."""

    def pinged(self, chat: Chat) -> list[str]:
        """Return the people notified by a message that was no reply to them; needs `pings`."""

    def shows(self, piece: str) -> str:
        """Return some Markdown as people see it; raises AssertionError if it is too long."""

    def outbound(self) -> bytes:
        """Return all bytes ever sent to the platform."""

    # -- the gateway's side

    def cut_off(self) -> None:
        """Drop what the running gateway sends from now on, as if it had been killed."""

    def untaken(self) -> int:
        """Return the number of unacknowledged messages, which will be delivered again."""

    # -- faults; all need `remote`

    def throttle(self, operation: Operation, chat: Chat, seconds: int) -> None:
        """Answer the next request of this kind by asking to wait some seconds."""

    def lose_answer(self, chat: Chat) -> None:
        """Carry out the next send, but disconnect without answering it."""

    def break_edit(self, why: BrokenEdit, chat: Chat) -> None:
        """Make the next edit fail."""

    def shut_out(self, chat: Chat) -> None:
        """Refuse every request for a chat from now on."""

    def too_many(self) -> int:
        """Return how many requests exceeded the platform's rate limits."""

    def patient(self) -> Mapping[str, str]:
        """Return settings that make the gateway notice a dead connection as late as possible."""

    def half_open(self) -> None:
        """Silence every open connection without closing it; new connections work."""

    def stall_events(self) -> None:
        """Deliver no more messages, even over new connections; sends still arrive."""

    def resume_events(self) -> None:
        """Deliver messages again, but only over connections opened from now on."""

    def drop_connections(self) -> None:
        """Break every connection."""

    def listening(self) -> int:
        """Return how many connections are waiting for messages."""

    def connections(self) -> int:
        """Return how many connections to the platform are open."""

    def revoke(self) -> None:
        """Make the gateway's token invalid."""

    def compete(self) -> None:
        """Request messages once, as a second reader with the same token."""
