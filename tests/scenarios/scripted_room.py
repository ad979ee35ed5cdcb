"""A group in which people talk with the agent as a script says, through a whole gateway.

A script is a text of lines `+SECONDS CONVERSATION NAME: TEXT`. The name of the agent is `*`; a text
that begins with `@` calls it, and `NAME^CONVERSATION` replies to its last answer there. A line that
begins with `|` goes on with the text, and one with `#` is a note.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from channels.message import Author, InboundMessage, OutboundMessage, Receipt
from tape.entry import Entry
from tests.fakes.openai.script import Request, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.clock import ManualClock
from tests.kit.plain_channels import MESSAGE, PlainChannel

Kind = Literal["task", "reply task", "join", "follow", "talk", "beginning"]

AGENT: Final = "*"
NAME: Final = "@tapebot"
BEGUN: Final = datetime(2026, 1, 2, 8, tzinfo=UTC)
FIRST: Final = 1000  # the number of the first message, above those of the agent's
_LINE: Final = re.compile(r"\+(\d+) (\w+) ([^\s:^]+)(?:\^(\w+))?: (.+)")


@dataclass(slots=True)
class Said:
    """A line of a script; `reply` is the conversation whose last answer it replies to."""

    number: int
    at: float
    conversation: str
    author: str
    reply: str | None
    text: str
    calls: bool

    @property
    def agent(self) -> bool:
        return self.author == AGENT


@dataclass(slots=True)
class Judged:
    """How a line of a person was linked: its kind, whether that is right, and what was shown.

    `foreign` are the lines of other conversations in the prompt of a call, and `missing` those of
    its own that are not.
    """

    said: Said
    kind: Kind
    right: bool
    foreign: list[Said] = field(default_factory=list)
    missing: list[Said] = field(default_factory=list)


def read_script(path: Path) -> list[Said]:
    """Read a script; raises ValueError for a line that is none."""
    said: list[Said] = []
    at = 0.0
    for row in path.read_text("utf-8").splitlines():
        if row.startswith("|"):
            said[-1].text += f"\n{row[1:].strip()}"
        elif row and not row.startswith("#"):
            found = _LINE.fullmatch(row)
            if found is None:
                raise ValueError(f"{path.name} has the line {row!r}, which is not of a script")
            gap, conversation, author, reply, text = found.groups()
            at += int(gap)
            calls = text.startswith("@") or reply is not None
            text = text.replace("@", NAME, 1) if text.startswith("@") else text
            said.append(Said(len(said), at, conversation, author, reply, text, calls))
    return said


def kind_of(said: Said, before: Sequence[Said]) -> Kind:
    """Return what a person's line is for those before it."""
    same = [one for one in before if one.conversation == said.conversation]
    if not same:
        return ("reply task" if said.reply else "task") if said.calls else "beginning"
    if not said.calls:
        return "talk"
    return "follow" if any(one.author == said.author for one in same) else "join"


class PostingChannel(PlainChannel):
    """A channel whose posts can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.posted = asyncio.Condition()

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        receipts = await super().deliver(message)
        async with self.posted:
            self.posted.notify_all()
        return receipts

    async def wait_for_posts(self, count: int) -> None:
        """Wait until there are so many posts."""
        async with self.posted:
            await self.posted.wait_for(lambda: len(self.posts) >= count)


class ScriptedRoom:
    """A script being played; the model answers each call when the script has the answer."""

    def __init__(self, script: Sequence[Said], group: GroupChat, clock: ManualClock) -> None:
        self.script, self.group, self.clock = script, group, clock
        self.answers: dict[int, tuple[str, asyncio.Event]] = {}
        self.asked: dict[int, asyncio.Event] = {}
        self.posts: dict[str, str] = {}
        self.prompts: dict[int, list[str]] = {}

    async def play(self) -> None:
        """Play all of it."""
        self._plan()
        self.group.model.default = self._answer
        waiting: list[Said] = []
        for said in self.script:
            self.clock.jump(BEGUN + timedelta(seconds=said.at) - self.clock.now())
            if said.agent:
                await self._give(waiting.pop(0), said)
                continue
            await self.group.accept(self._message(said))
            await self.group.gateway.taken_in()
            if said.calls:
                if not await self._is_behind(said, waiting):
                    await self.asked[said.number].wait()
                waiting.append(said)

    async def _give(self, call: Said, answer: Said) -> None:
        """Have the model give a call's answer, and wait until it is posted."""
        channel: Any = self.group.channel
        await self.asked[call.number].wait()
        self.answers[call.number][1].set()
        await channel.wait_for_posts(len(channel.posts) + 1)
        self.posts[answer.conversation] = str(len(channel.posts))

    async def _is_behind(self, said: Said, waiting: Sequence[Said]) -> bool:
        """Return whether a call was put behind one that waits for its answer, in the same lane."""
        lanes = self._lanes(await self.group.tape.read())
        return lanes[said.number] in {lanes[one.number] for one in waiting}

    def _lanes(self, entries: Sequence[Entry]) -> dict[int, str]:
        return {
            int(entry.meta["message_id"]) - FIRST: str(entry.meta["lane"])
            for entry in entries
            if "inbox" in entry.meta
        }

    async def judged(self) -> list[Judged]:
        """Return how each line of a person was linked, and what its prompt showed."""
        lanes = self._lanes(await self.group.settled())
        return [
            self._judge(said, self.script[: said.number], lanes)
            for said in self.script
            if not said.agent
        ]

    def _judge(self, said: Said, before: Sequence[Said], lanes: dict[int, str]) -> Judged:
        people = [one for one in before if not one.agent]
        same = [one for one in people if one.conversation == said.conversation]
        lane = lanes[said.number]
        if same:
            right = lane == lanes[self._continued(said, same).number]
        else:
            right = lane not in {lanes[one.number] for one in people}
        found = Judged(said, kind_of(said, before), right)
        if said.calls:
            shown = "\n".join(self.prompts[said.number])
            for one in before:
                own = one.conversation == said.conversation
                if own and one.text not in shown:
                    found.missing.append(one)
                elif not own and one.text in shown:
                    found.foreign.append(one)
        return found

    def _continued(self, said: Said, same: Sequence[Said]) -> Said:
        """Return what a line goes on from: the last call that is answered, or the last line."""
        answered = [one for one in same if one.calls]
        return answered[-1] if answered else same[-1]

    def _plan(self) -> None:
        """Find the answer of each call; they come in the order of the calls."""
        waiting: list[Said] = []
        for said in self.script:
            if said.agent:
                call = waiting.pop(0)
                assert call.conversation == said.conversation, f"{said} comes before another answer"
                self.answers[call.number] = (said.text, asyncio.Event())
                self.asked[call.number] = asyncio.Event()
            elif said.calls:
                waiting.append(said)
        assert not waiting, f"{waiting} have no answers"

    def _answer(self, request: Request) -> Text:
        said = next(
            one
            for one in reversed(self.script)
            if one.number in self.answers
            and one.number not in self.prompts
            and one.text in request.last_user_text
        )
        messages = request.body["messages"]
        self.prompts[said.number] = [str(one["content"]) for one in messages[1:]]
        self.asked[said.number].set()
        text, gate = self.answers[said.number]
        return Text((text[:1], text[1:]), gate=gate)

    def _message(self, said: Said) -> InboundMessage:
        number = FIRST + said.number
        return replace(
            MESSAGE,
            ext_id=f"{MESSAGE.chat_id}/{number}",
            message_id=str(number),
            sender=Author(f"id-{said.author}", said.author, handle=said.author.lower()),
            text=said.text,
            date=(BEGUN + timedelta(seconds=said.at)).isoformat(),
            addressed=said.calls,
            why=("reply" if said.reply else "mention") if said.calls else "said to the group",
            reply_to=self.posts[said.reply] if said.reply else None,
        )


@asynccontextmanager
async def scripted_room(
    home: Path, model: FakeOpenAI, script: Sequence[Said]
) -> AsyncIterator[ScriptedRoom]:
    """Open a group in which a script can be played."""
    clock = ManualClock()
    more = {"BUFFER__DEBOUNCE": "0", "BUDGET__STRANGER_TURNS": "0", "TAPE__URL": "memory:"}
    channel = PostingChannel()
    async with open_group(home, model, channel=channel, clock=clock, **more) as group:
        yield ScriptedRoom(script, group, clock)


def counts(judged: Sequence[Judged]) -> dict[str, tuple[int, int]]:
    """Return how many lines of each kind are right, and how many there are.

    A task is `shown alone` if its prompt has nothing of other conversations, and any other call is
    `shown whole` if its prompt has all of its own.
    """
    everything: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for one in judged:
        found: dict[str, bool] = {one.kind: one.right}
        if one.said.calls and "task" in one.kind:
            found["shown alone"] = not one.foreign
        elif one.said.calls:
            found["shown whole"] = not one.missing
        everything.update(found.keys())
        right.update(name for name, is_right in found.items() if is_right)
    return {name: (right[name], everything[name]) for name in sorted(everything)}
