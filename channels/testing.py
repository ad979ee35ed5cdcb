"""The conformance suite's kit, free of any test framework: what a chat may rely on, and a stage.

A platform's author writes a `Stage`: people, chats and trouble, acted out on a stand-in of the
platform that is spoken to over a socket. The suite runs the real gateway with the real channel
against it, once for each of `PROMISES`; `skip_reason` tells which of them a channel need not keep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias

from channels.base import Capability, Channel, Feature

Need: TypeAlias = Capability | Feature
Operation = Literal["typing", "first", "edit", "final"]
"""What a platform is asked for: a sign, partial text, more of it, a whole message."""

BrokenEdit = Literal["unchanged", "gone", "thread"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who writes; `id` is the platform's."""

    id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat, or with `thread` a topic of one; ids are the platform's."""

    id: str
    thread: str | None = None

    def whole(self) -> Chat:
        """Return the chat that a topic is of."""
        return replace(self, thread=None)


@dataclass(frozen=True, slots=True)
class PersonMessage:
    """A message of a person; `delivery` is what the stage needs to deliver it again."""

    id: str
    chat: Chat
    person: Person
    text: str
    delivery: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A message of the agent's, as people see it now."""

    id: str
    text: str
    reply_to: str | None
    thread: str | None = None


class Stage(Protocol):
    """A platform, as its people see it.

    Entered before the gateway starts and left after it has ended; `connected` while one runs, which
    may be several times. Times are those of the clock that the stage was made with.
    """

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings for this stage, without the prefix TAPEWAY_."""
        ...

    def answering(self, rules: Sequence[str]) -> Mapping[str, str]:
        """Return the settings under which only these rules ask the agent; needs `rules`.

        private, mention, reply, name, thread
        """
        ...

    def connected(self, url: str) -> AbstractAsyncContextManager[None]:
        """Be in touch with the gateway whose address this is."""
        ...

    # -- who and where

    def person(self, name: str, *, is_bot: bool = False) -> Person:
        """Return the person of a name, the same one each time; `is_bot` needs `bots`."""
        ...

    def group(self) -> Chat:
        """Make a chat of several people; needs `groups`."""
        ...

    def private(self, person: Person) -> Chat:
        """Return the chat of a person with the agent; needs `private`."""
        ...

    def thread(self, group: Chat) -> Chat:
        """Make a topic in a group; needs `threads`."""
        ...

    def calling(self, person: Person | None = None) -> str:
        """Return what a message holds that mentions a person, or the agent."""
        ...

    # -- what people do; none of it waits for the gateway to have noticed

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
        """Write a message, in Markdown where the platform's people can.

        `mention`: in a group, begin with a mention of the agent. `like`: with the message id that
        this message of another chat has.
        """
        ...

    async def echo(self, chat: Chat, answer: Answer) -> None:
        """Deliver a message of the agent's to the agent; needs `bots`."""
        ...

    async def redeliver(self, said: PersonMessage, *, as_new: bool = False) -> None:
        """Deliver a message a second time; `anew`: as a delivery of another id."""
        ...

    async def edit(self, said: PersonMessage, text: str) -> None:
        """Let the author of a message change it; needs `edits`."""
        ...

    async def delete(self, said: PersonMessage) -> None:
        """Let the author of a message delete it; needs `deletions`."""
        ...

    async def command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        """Give the agent a command, in the platform's own way."""
        ...

    async def send_image(
        self, chat: Chat, person: Person, data: bytes, text: str, *, mention: bool = True
    ) -> PersonMessage:
        """Send an image with a text; needs `media`."""
        ...

    async def send_file(
        self, chat: Chat, person: Person, data: bytes, name: str, mime: str, text: str
    ) -> PersonMessage:
        """Send a file with a text that mentions the agent; needs `media`."""
        ...

    # -- what people see

    async def taken(self) -> None:
        """Wait until the gateway has taken what was said."""
        ...

    async def seen(self) -> None:
        """Wait until what the gateway has sent is seen."""
        ...

    async def until(self, so: Callable[[], bool]) -> None:
        """Wait until something is so; it is asked again after every change."""
        ...

    def answers(self, chat: Chat) -> list[Answer]:
        """Return the agent's messages that can be seen in a chat, the oldest first."""
        ...

    def typing(self, chat: Chat) -> bool:
        """Tell whether people see at this moment that an answer is on its way."""
        ...

    def typed(self, chat: Chat) -> int:
        """Return how often typing was shown, or begun."""
        ...

    def pinged(self, chat: Chat) -> list[str]:
        """Return who was alerted without having been answered; needs `pings`."""
        ...

    def shows(self, piece: str) -> str:
        """Return what people read of a piece of Markdown; AssertionError: it does not fit."""
        ...

    def outbound(self) -> bytes:
        """Return everything that ever went out to the platform."""
        ...

    # -- the gateway's end of the line

    def cut_off(self) -> None:
        """Let nothing of the gateway that runs now reach anybody any more: it was killed."""
        ...

    def untaken(self) -> int:
        """Return how many messages nobody has said to have taken: they are delivered again."""
        ...

    # -- trouble; needs `remote`

    def throttle(self, operation: Operation, chat: Chat, seconds: int) -> None:
        """Answer the next request of a kind with the wish to be left alone for so long."""
        ...

    def lose_answer(self, chat: Chat) -> None:
        """Carry out the next send, and break off before saying so."""
        ...

    def break_edit(self, why: BrokenEdit, chat: Chat) -> None:
        """Let the next edit fail.

        unchanged     it is made and no answer comes: made again, it changes nothing
        gone, thread  the message, or the whole thread, is not there any more
        """
        ...

    def shut_out(self, chat: Chat) -> None:
        """Take nothing for a chat any more, for good."""
        ...

    def too_many(self) -> int:
        """Return how many requests were refused because the platform takes no more of them."""
        ...

    def patient(self) -> Mapping[str, str]:
        """Return the settings under which a dead connection is noticed the latest."""
        ...

    def half_open(self) -> None:
        """Let every connection of now stay open while nothing comes through it; new ones work."""
        ...

    def stall_events(self) -> None:
        """Let the gateway hear nothing more, over new connections either; sends arrive."""
        ...

    def resume_events(self) -> None:
        """Let the gateway hear what is said, if it asks again."""
        ...

    def drop_connections(self) -> None:
        """Break every connection."""
        ...

    def listening(self) -> int:
        """Return how many connections wait at this moment for what is said."""
        ...

    def connections(self) -> int:
        """Return how many connections to the platform are open."""
        ...

    def revoke(self) -> None:
        """Let the gateway's token be no good any more."""
        ...

    def compete(self) -> None:
        """Let somebody else with the same token ask for what is said, once."""
        ...


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise to chats; `needs` is what a channel must have for it to mean anything."""

    id: str
    promise: str
    needs: tuple[Need, ...] = ()


PROMISES: Final[Mapping[str, Promise]] = MappingProxyType(
    {
        line.id: line
        for line in (
            Promise("A1", "The same event, delivered twice, is one turn and one reply."),
            Promise(
                "A4", "An edit before its turn is what the turn sees; later it is told.", ("edits",)
            ),
            Promise("A5", "Equal message ids in different chats are different messages."),
            Promise("B1", "What nobody asks is on the tape, and nothing happens.", ("groups",)),
            Promise("B2", "The agent answers what addresses it; each way can be switched off."),
            Promise(
                "B3", "Others' mentions, and its name in code or a link, ask nothing.", ("groups",)
            ),
            Promise("B4", "A bare mention is answered from the recent conversation.", ("groups",)),
            Promise("B5", "Bots are ignored; where they are not, never without end.", ("bots",)),
            Promise("B6", "A burst of one person is one turn; a command goes first.", ("bursts",)),
            Promise("B7", "Who may talk is decided before anything is spent.", ("strangers",)),
            Promise(
                "C1", "Two people at once: each gets an answer to the own message.", ("groups",)
            ),
            Promise("C2", "Requests run side by side, those of one conversation in order."),
            Promise("C3", "What does not fit the queue is told; nothing is dropped silently."),
            Promise("C4", "`stop` ends the turn and what waits behind it; the tape says who."),
            Promise("C5", "A hundred chats at once: nothing reaches another chat."),
            Promise("C6", "A tool that burns a CPU holds up nobody else.", ("typing",)),
            Promise("D1", "Killed at any moment: one complete answer each after the restart."),
            Promise(
                "D2", "What was said while the gateway was down is answered, in order.", ("remote",)
            ),
            Promise(
                "D3", "Told to wait, the final comes once, in order, others go on.", ("remote",)
            ),
            Promise("D4", "A refused edit: the final still comes, once.", ("remote", "edit")),
            Promise("D5", "Partial text becomes the answer, or goes."),
            Promise(
                "D6", "A permanent refusal is written down and stops nothing else.", ("remote",)
            ),
            Promise(
                "D7", "While the database is away nothing is taken; then all goes on by itself."
            ),
            Promise("D8", "A resumed turn runs no tool again: its result, or that it is unknown."),
            Promise("E1", "A reply says what it answers, and stays in its thread."),
            Promise("E2", "Any Markdown of any length arrives whole."),
            Promise("E3", "What cannot be drawn is its text."),
            Promise("E4", "Reasoning, arguments and results of tools reach no chat."),
            Promise("E5", "Nobody can make the agent ping everybody.", ("pings",)),
            Promise("E6", "Typing shows at once, and ends with the turn.", ("typing",)),
            Promise("E7", "An error is one sentence with an id that the log has."),
            Promise("E8", "Images reach a model that sees; files are named.", ("media",)),
            Promise("F1", "A dead socket is noticed, and the gap is filled.", ("remote",)),
            Promise("F2", "After a hundred reconnects one connection lives.", ("remote",)),
            Promise("F3", "Quiet is healthy; deaf is not, and says so.", ("remote",)),
            Promise("F4", "A wrong token fails fast, with the remedy; others run on.", ("remote",)),
            Promise("G1", "A mention after much talk finds what was talked of.", ("groups",)),
            Promise("G2", "Text of others is data: quoted, with its author's id.", ("groups",)),
            Promise("H1", "For any message: what became of it, and why."),
            Promise("H2", "No secret in logs, errors, tapes, pages or what is explained."),
        )
    }
)
"""What every channel owes its people; the letters are those of the tests' names."""

LACKS: Final[Mapping[Need, str]] = MappingProxyType(
    {
        "groups": "its chats have one person each",
        "private": "every chat of it is a room",
        "threads": "its chats have no threads",
        "names": "the agent is called by a mention only",
        "rules": "who is asked is chosen with each message",
        "bursts": "a line is sent on purpose: nothing is waited for",
        "bots": "no bots write there",
        "strangers": "whoever is there is the owner, or let in by the owner",
        "edits": "nothing that was said can be changed",
        "deletions": "the agent is not told what was deleted",
        "pings": "it alerts nobody",
        "remote": "there is no platform between the gateway and its people",
        "exclusive": "several may hear what is said, and none is told of another",
        "edit": "a message that was sent stays as it is",
        "typing": "it has no sign for typing",
        "native_stream": "partial text is sent and edited there",
        "media": "nothing but text can be sent there",
        "idempotent_send": "a second send is a second message there",
        "lookup": "what was sent cannot be found by its key",
        "backfill": "the platform delivers by itself what was said meanwhile",
        "routes": "it needs no address of the gateway's",
    }
)


def skip_reason(needs: Sequence[Need], channel: type[Channel]) -> str | None:
    """Return why a channel cannot keep what needs all these; None: it must."""
    has = channel.capabilities | channel.features
    return next((LACKS[need] for need in needs if need not in has), None)
