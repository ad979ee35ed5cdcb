"""What is played: messages as a platform would bring them, in a group of people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from bench.irc import Line, Log
from channels.message import Author, InboundMessage

CHANNEL: Final = "irc"
TITLE: Final = "#room"


@dataclass(frozen=True, slots=True)
class Said:
    """A message, numbered within its room; `answer` is what the agent answers, if it is asked."""

    number: int
    at: datetime
    message: InboundMessage
    answer: str = ""


@dataclass(frozen=True, slots=True)
class PlayedRoom:
    """The messages of a room in the order said, and who replies to whom where it is known.

    `replies` are all that the room's platform told, those that the messages do not show included.
    """

    name: str
    said: tuple[Said, ...]
    replies: Mapping[int, int]


def room_of(
    log: Log, *, replied: float = 0.0, asking: Collection[int] = (), answer: str = ""
) -> PlayedRoom:
    """Return a log as a room.

    replied  the share of the annotated links that are replies, beside the log's own
    asking   the lines that ask the agent
    answer   what it answers, with {} for the line's text
    """
    replies = replies_of(log, replied)
    said = tuple(_said(log, replies, asking, answer))
    return PlayedRoom(log.name, said, replies)


def replies_of(log: Log, replied: float = 0.0) -> dict[int, int]:
    """Return a log's own replies, and a share of its annotated links as replies."""
    given = {
        line: max(parents) for line, parents in log.parents.items() if _gives(log, line, replied)
    }
    return given | log.replies


def said_as(
    room: str,
    number: int,
    at: datetime,
    author: Author,
    text: str,
    *,
    mentions: tuple[str, ...] = (),
    reply: int | None = None,
    thread: str | None = None,
    answer: str = "",
) -> Said:
    """Return what somebody says in a room; who gets an answer has asked for it."""
    message = InboundMessage(
        channel=CHANNEL,
        chat_id=room,
        chat_kind="group",
        chat_title=TITLE,
        ext_id=f"{room}/{number}",
        message_id=str(number),
        sender=author,
        text=text,
        date=at.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
        mentions=mentions,
        reply_to=None if reply is None else str(reply),
        thread_id=thread,
        addressed=bool(answer),
        why="mention" if answer else "",
    )
    return Said(number, at, message, answer)


def _said(
    log: Log, replies: Mapping[int, int], asking: Collection[int], answer: str
) -> Iterator[Said]:
    for line in log.lines:
        yield said_as(
            log.name,
            line.number,
            moment(log, line),
            Author(line.author, line.author),
            line.text,
            mentions=line.mentions,
            reply=replies.get(line.number),
            answer=answer.replace("{}", line.text) if line.number in asking else "",
        )


def moment(log: Log, line: Line) -> datetime:
    """Return when a line was said."""
    return log.begun + timedelta(seconds=line.at)


def _gives(log: Log, line: int, share: float) -> bool:
    digest = sha256(f"{log.name}/{line}".encode()).digest()
    return digest[0] < 256 * share
