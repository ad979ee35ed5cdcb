"""What Telegram, Discord and Slack share in the chaos run: people in places, faults and moments."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from itertools import islice
from types import MappingProxyType, TracebackType
from typing import Any, ClassVar, Final, Generic, Protocol, Self, TypeVar

from channels.testing import Answer, Chat, PersonMessage
from tests.chaos.plan import Question, Roll, Trouble
from tests.chaos.record import Record, Sent
from tests.chaos.stage import Stage
from tests.chaos.traps import Traps
from tests.fakes.base.connection import Outcome
from tests.fakes.base.faults import Doing, LostAnswer, Reset, ServerError, Slow
from tests.fakes.base.http import Answer as HttpAnswer
from tests.kit.gateways import OPEN
from tests.kit.stages.registry import OpenStage

FRIENDS: Final = ("Dan", "Eve")
"""Who has a private chat, each of them a place; others ask in shared ones."""

PEOPLE: Final = ("Ann", "Ben", "Cem")
PRIVATE: Final = len(FRIENDS)

KILLS: Final = (
    "kill-draft",
    "kill-before-final",
    "kill-after-final",
    "kill-told-final",
    "kill-mid-long",
)
"""Kill points of each of them: its moments are those of the requests that show an answer."""

REDELIVER: Final = MappingProxyType({"redeliver": Roll(1, 3), "redeliver-new": Roll(1, 3)})
_ERRORS: Final = ("server-500", "server-502", "server-503", "lost-answer", "reset")


def failing(methods: tuple[str, ...], *more: str) -> dict[str, Roll]:
    """Return how requests fail: as everywhere, and in `more` ways."""
    rolls = {name: Roll(1, 2, methods) for name in (*more, *_ERRORS)}
    return {**rolls, "slow": Roll(0.2, 1.5, methods)}


class Request(Protocol):
    """A request of the bot, as a fake keeps it."""

    @property
    def at(self) -> float: ...

    @property
    def ok(self) -> bool: ...


class Driver(OpenStage, Protocol):
    """A stage of the conformance suite whose platform is a fake of ours."""

    @property
    def fake(self) -> Any: ...

    def is_taken(self, said: PersonMessage) -> bool: ...


StageT = TypeVar("StageT", bound=Driver)
RequestT = TypeVar("RequestT", bound=Request)


class Platform(Stage, Generic[StageT, RequestT]):
    """One platform, with friends in private chats and people in shared ones.

    after  the kill point after which the gateway does not hear that something was shown
    told   the kill point at which it has heard so, and may not have written it down
    """

    after: ClassVar[Mapping[str, str]] = {"draft": "kill-draft", "final": "kill-after-final"}
    told: ClassVar[Mapping[str, str]] = {"final": "kill-told-final"}
    own: ClassVar[Mapping[str, str]] = {}
    """The settings that only this run has."""

    def __init__(self, traps: Traps, stage: StageT) -> None:
        self._traps = traps
        self.stage = stage
        self.stage.fake.between = self._between
        self.places: list[Chat] = []
        self._said: list[PersonMessage] = []

    async def __aenter__(self) -> Self:
        """Be there, with people in every place."""
        await self.stage.__aenter__()
        for name in PEOPLE:
            self.stage.person(name)
        private = [self.stage.private(self.stage.person(name)) for name in FRIENDS]
        self.places = [*private, *self._shared()]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Be gone."""
        await self.stage.__aexit__(kind, error, trace)

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings."""
        return {"WEB__ENABLED": "false", **OPEN, **self.stage.settings(), **self.own}

    async def ready(self) -> None:
        """Wait until the gateway listens."""
        await self.stage.fake.connected()

    async def ask(self, question: Question) -> None:
        """Ask a question; where others are, the agent is mentioned, perhaps by an edit only."""
        place, chat = question.place, self.places[question.place]
        person = self.stage.person(FRIENDS[place] if place < PRIVATE else PEOPLE[question.person])
        text = f"{question.token} {question.kind} please"
        # In a thread that the agent was asked in, everything asks it.
        if question.by_edit and place >= PRIVATE and chat.thread is None:
            said = await self.stage.say(chat, person, "well", mention=False)
            await self.stage.edit(said, f"{self.stage.calling()} {text}")
        else:
            said = await self.stage.say(chat, person, text)
        self._said.append(said)

    async def talk(self, texts: Sequence[str]) -> list[str]:
        """Have people say to each other what asks nothing, in turn where not everything does."""
        rooms = [chat for chat in self.places[PRIVATE:] if chat.thread is None]
        for number, text in enumerate(texts):
            person = self.stage.person(PEOPLE[number % len(PEOPLE)])
            await self.stage.say(rooms[number % len(rooms)], person, text, mention=False)
        return list(texts)

    async def trouble(self, trouble: Trouble) -> None:
        """Deliver messages again, or let requests and connections fail.

        Only what was taken can come again; the rest still comes in its order.
        """
        if trouble.name not in REDELIVER:
            self._disturb(trouble)
            return
        taken = (said for said in reversed(self._said) if self.stage.is_taken(said))
        for said in reversed(list(islice(taken, int(trouble.much)))):
            await self.stage.redeliver(said, as_new=trouble.name == "redeliver-new")

    def heal(self) -> None:
        """End everything that goes wrong."""
        self.stage.fake.forget_faults()

    async def see(self, record: Record) -> None:
        """Write down what the bot's messages are."""
        for place, chat in enumerate(self.places):
            found = self.stage.answers(chat.whole())
            record.texts[place] = [(it.id, it.text) for it in found if self._is_in(it, chat)]

    def _is_in(self, answer: Answer, chat: Chat) -> bool:
        """Return whether an answer in a chat, or in a thread of it, is in no other place."""
        where = Chat(chat.id, answer.thread)
        return where == chat or where not in self.places

    def made(self, request: RequestT) -> tuple[int, str] | None:
        """Return the place and id of the message that a request made."""
        return self._sent(request) if request.ok else None

    def _sent(self, request: RequestT) -> tuple[int, str] | None:
        key, message_id = self._sends(request)
        for place, chat in enumerate(self.places):
            if self._key(chat) == key:
                return place, message_id
        return None

    def _fail(self, trouble: Trouble, times: int = 1) -> None:
        self.stage.fake.fail(trouble.where, *[self._fault(trouble)] * times)

    def _fault(self, trouble: Trouble) -> Any:
        name = trouble.name
        if name.startswith("server-"):
            return ServerError(int(name.removeprefix("server-")))
        if name == "slow":
            return Slow(trouble.much)
        return LostAnswer() if name == "lost-answer" else Reset()

    # -- moments

    def _between(self, request: RequestT, answer: Doing) -> Outcome | Coroutine[Any, Any, Outcome]:
        """Answer a request; the gateway may be killed before it is done, or before that is heard.

        A piece of a long answer is a moment of three kinds, in turn: before, after, and told.
        """
        moment = self._moment(request)
        is_mid = moment == "mid" and self._traps.has("kill-mid-long")
        way = len(self._traps.record.kills) % 3 if is_mid else -1
        if way == 0:
            self._traps.kill("kill-mid-long")
        if way == 0 or (moment == "final" and self._traps.springs("kill-before-final")):
            self._keep(request, heard=False)
            return None
        outcome = answer()
        if asyncio.iscoroutine(outcome):
            return self._later(request, moment, way, outcome)
        return self._after(request, moment, way, outcome)

    async def _later(
        self, request: RequestT, moment: str, way: int, outcome: Coroutine[Any, Any, Outcome]
    ) -> Outcome:
        return self._after(request, moment, way, await outcome)

    def _after(self, request: RequestT, moment: str, way: int, outcome: Outcome) -> Outcome:
        killed = way == 1 or (
            request.ok and moment in self.after and self._traps.springs(self.after[moment])
        )
        if way == 1:
            self._traps.kill("kill-mid-long")
        failed = isinstance(outcome, HttpAnswer) and outcome.status >= 500
        self._keep(request, heard=not (killed or failed or outcome is None))
        self._soon(moment, way)
        return None if killed else outcome

    def _soon(self, moment: str, way: int) -> None:
        """Kill the gateway before or after it has written down what it heard."""
        seconds = 0.002 + 0.01 * len(self._traps.record.sent) % 0.05
        if way == 2:
            self._traps.kill_soon("kill-mid-long", seconds)
        if moment in self.told and self._traps.has(self.told[moment]):
            self._traps.kill_soon(self.told[moment], seconds)

    def _keep(self, request: RequestT, *, heard: bool) -> None:
        """Write down a message that was made, or that the gateway may think was made."""
        found = self._sent(request)
        if found is not None and (request.ok or not heard):
            place, message_id = found
            made = message_id if request.ok else ""
            sent = Sent(made, place, request.at, time.monotonic(), heard)
            self._traps.record.sent.append(sent)

    # -- parts

    @abstractmethod
    def _shared(self) -> list[Chat]:
        """Create the places where all people are."""

    @abstractmethod
    def _disturb(self, trouble: Trouble) -> None:
        """Make requests fail, or the gateway's connections."""

    @abstractmethod
    def _moment(self, request: RequestT) -> str:
        """Return what a request shows of an answer: a "draft", "mid" of a long one, or "final"."""

    @abstractmethod
    def _sends(self, request: RequestT) -> tuple[str, str]:
        """Return the chat of a request that sends a message, and the id of that message."""

    def _key(self, chat: Chat) -> str:
        """Return how a request names a chat."""
        return chat.id
