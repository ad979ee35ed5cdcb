"""The conformance suite's play: a stage, the real gateway on it, and a model over HTTP."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeVar

import httpx2
from anyio import to_thread

from channels.testing import Answer, Chat, Need, Person, PersonMessage, Stage, skip_reason
from gateway.app import Gateway, access_admin
from gateway.assembly import Internals
from gateway.sharing.rooms.shared_rooms import PAUSE_SECONDS
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import Entry
from tape.stores.sqlite import tape_schema
from tape.turn_events import is_take, read_take
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import RestingClock
from tests.kit.gateways import PATIENT, every, gateway_of, over, tape_of
from tests.kit.mortal import LastingStore, Moment, MortalPart, MortalStore, Strike
from tests.kit.promised import class_of, is_on_a_server
from tests.kit.server_store import LastingDatabase, lasting_database
from tests.kit.stages.registry import STAGES, OpenStage

T = TypeVar("T")

LEASE: Final = 600
"""Seconds of the leases on a server, as the stage renews them: no gateway outlives them here."""

CONNECT_SECONDS: Final = 600
"""Seconds of the real time in which the model must accept a connection: more than a test may take.

It is in the gateway's own process, which on a busy machine takes a while to ask for a hundred.
"""

SLOTS_SECONDS: Final = 0.1
"""Seconds in which a gateway that shares its rate limits gets a few slots for its requests."""

LOOK_AGAIN: Final = 1.0
"""Seconds between two looks for sessions once a gateway was killed, which may miss one at first."""

A_DAY_S_LOOKS: Final = 3600


@dataclass(slots=True)
class Play:
    """A gateway that runs, and who is around it."""

    channel: str
    stage: Stage
    gateway: Gateway
    model: FakeOpenAI
    clock: RestingClock
    mortal: MortalStore | None = None
    database: LastingDatabase | None = None
    """The database on a server, if an earlier gateway was killed on it."""

    @property
    def store(self) -> MortalStore:
        """The store of a house that lasts."""
        assert self.mortal is not None
        return self.mortal

    def kill_at(self, moment: Moment, strike: Strike) -> None:
        """Kill the gateway before or after the first transaction that a strike is about."""
        self.store.kill_at(moment, strike, self.stage.cut_off)

    def kill(self) -> None:
        """Kill the gateway now: nothing of it is written, or reaches anybody, any more."""
        self.store.kill(self.stage.cut_off)

    async def killed(self) -> None:
        """Advance the clock until the gateway is killed."""
        await self.clock.run(self.store.killed.wait())

    async def health(self) -> tuple[int, dict[str, Any]]:
        """Ask /health/ready, as whoever watches the gateway does."""
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
            response = await client.get(f"{self.gateway.url}health/ready")
        return response.status_code, dict(response.json())

    def has(self, need: Need) -> bool:
        """Return whether the channel has something."""
        return skip_reason([need], class_of(self.channel)) is None

    def person(self, name: str = "Alice") -> Person:
        """Return somebody."""
        return self.stage.person(name)

    def chat(self, person: Person | None = None) -> Chat:
        """Make a chat: of several people where there is such a thing."""
        if self.has("groups"):
            return self.stage.group()
        return self.stage.private(person or self.person())

    async def ask(self, chat: Chat, person: Person, text: str, **how: Any) -> PersonMessage:
        """Say something that asks the agent, and wait until all is answered."""
        said = await self.stage.say(chat, person, text, **how)
        await self.settle()
        return said

    async def ask_command(self, chat: Chat, person: Person, name: str) -> PersonMessage:
        """Give a command, and wait until it is answered."""
        said = await self.stage.command(chat, person, name)
        await self.settle()
        return said

    async def settle(self) -> None:
        """Advance the clock until every message is answered as far as it will be."""
        await self.clock.run(self._settled())

    async def run(self, work: Awaitable[T]) -> T:
        """Advance the clock until something is done."""
        return await self.clock.run(work)

    async def taken(self) -> None:
        """Wait until what was said is taken in, while no time passes but for calls' slots."""
        await self.stage.taken()
        if isinstance(self.mortal, MortalPart):  # a name may be asked for first
            await self.clock.run(self.gateway.taken_in())
        else:
            await self.gateway.taken_in()
        await self.clock.advance(0)

    async def begun(self) -> None:
        """Wait, while hardly any time passes, until what was said is taken in, and begun."""
        await self.taken()
        if isinstance(self.mortal, MortalPart):
            await self.clock.advance(SLOTS_SECONDS)

    async def pairing_code(self) -> str:
        """Return a fresh code with which somebody becomes an owner."""
        made = await self.clock.run(access_admin(self.gateway).pair())
        return str(made["code"])

    def answer(self, said: PersonMessage) -> Answer:
        """Return the one answer to a message."""
        found = [one for one in self.stage.answers(said.chat) if one.reply_to == said.id]
        assert len(found) == 1, f"{said.text!r} has {len(found)} answers: {found}"
        return found[0]

    @property
    def adds(self) -> bool:
        """Return whether what somebody adds to a question that waits is asked with it."""
        return self.gateway.channels[self.channel].traits.adds_to_waiting

    async def answer_with(self, said: PersonMessage) -> Answer:
        """Return the one answer to a message, or to the last one of the same question."""
        entries = await self.tape(said.chat)
        own = next(entry.id for entry in entries if entry.meta.get("message_id") == said.id)
        takes = (read_take(entry).takes for entry in entries if is_take(entry))
        last = next(take[-1] for take in takes if own in take)
        (newest,) = [entry.meta["message_id"] for entry in entries if entry.id == last]
        return self.answer(replace(said, id=newest))

    def texts(self, chat: Chat) -> list[str]:
        """Return what the agent said in a chat."""
        return [answer.text for answer in self.stage.answers(chat)]

    async def tape(self, chat: Chat) -> list[Entry]:
        """Return the tape of a chat."""
        return await tape_of(self.gateway, f"{self.channel}:{chat.id}").read()

    async def events(self, chat: Chat, name: str) -> list[dict[str, Any]]:
        """Return the data of a chat's events of a name."""
        return [e.payload["data"] for e in await self.tape(chat) if e.name == name]

    async def _settled(self) -> None:
        await self.stage.taken()
        if isinstance(self.mortal, MortalPart):
            # A moment passes once everything rests: what was taken is claimed, or handed on; a
            # room's page is shown what another process might have written.
            was, moment = -1, 0.001 if self.gateway.rooms is None else 2 * PAUSE_SECONDS
            while was != (was := self.mortal.asked):
                await self.clock.sleep(moment)
                await self.gateway.idle()
                while self.database is not None and await to_thread.run_sync(self.database.waits):
                    await self.clock.sleep(LOOK_AGAIN)
                    await self.gateway.idle()
        await self.gateway.idle()
        await self.stage.seen()


def prompt_of(model: FakeOpenAI, number: int = -1) -> str:
    """Return everything that the model was shown in one request."""
    return "\n".join(str(m["content"]) for m in model.requests[number].body["messages"])


@dataclass(slots=True)
class House:
    """A stage and a model, on which several gateways may run in turn."""

    channel: str
    stage: OpenStage
    model: FakeOpenAI
    clock: RestingClock
    lasting: LastingStore | LastingDatabase | None = field(default=None)
    looks: float = 600.0
    """Seconds between two looks of a gateway on a server for what nobody said to it."""

    killed: bool = False
    """Whether a gateway was killed here."""

    def last(self) -> None:
        """Keep everything in a store in memory that outlives the gateways, and can be killed."""
        self.lasting = self.lasting or _new_store(self.clock)

    @asynccontextmanager
    async def playing(
        self,
        home: Path,
        *plugins: object,
        rules: Sequence[str] | None = None,
        also: Sequence[str] = (),
        **settings: str,
    ) -> AsyncIterator[Play]:
        """Run a gateway; `rules` are the only ones that ask the agent.

        `also` names other channels that run.
        """
        chosen = self.stage.answering(rules) if rules is not None else {}
        more = {
            "ACCESS__MODE": "open",
            "AGENT__CONNECT_TIMEOUT": str(CONNECT_SECONDS),
            "BUDGET__STRANGER_TURNS": "0",
            **self.stage.settings(),
            **chosen,
            **settings,
        }
        only = [self.channel, *also]
        mortal = await self._store(more)
        database = self.lasting if isinstance(self.lasting, LastingDatabase) else None
        how: dict[str, Any] = {
            "clock": self.clock,
            "only": only,
            "internals": self._internals(mortal),
        }
        async with AsyncExitStack() as stack:
            starts = gateway_of(home, self.model, *plugins, **how, **more)
            async with _slots(self.clock, isinstance(mortal, MortalPart)):
                gateway = await stack.enter_async_context(starts)
            await stack.enter_async_context(self.stage.connected(gateway.url))
            play = Play(self.channel, self.stage, gateway, self.model, self.clock, mortal)
            play.database = database if self.killed else None
            yield play
        if mortal is not None and mortal.killed.is_set():
            self.killed = True
            _drop_remains()
            if isinstance(self.lasting, LastingDatabase):
                await to_thread.run_sync(self.lasting.wait_until_left)

    def _internals(self, store: MortalStore | None) -> Internals:
        """Return those of the next gateway: one that shares its work seldom looks by itself."""
        if store is None:
            return PATIENT
        if not isinstance(store, MortalPart):
            return over(store)
        names = ("claims", "workers", "accounts", "rooms", "quiet_rooms", "silent_process")
        seconds = dict.fromkeys(names, self.looks)
        if self.killed:
            seconds["claims"] = LOOK_AGAIN
        return replace(over(store), intervals=every(**seconds).intervals)

    async def _store(self, settings: dict[str, str]) -> MortalStore | None:
        """Return what the next gateway has of the store, if that is not a file of its own."""
        lasting = self.lasting
        if isinstance(lasting, LastingDatabase):
            settings["TAPE__URL"] = lasting.reached_at
            for name in ("SHARING__LEASE", "SHARING__POLLER_LEASE"):
                settings.setdefault(name, str(max(self.looks, LEASE)))
            if self.looks > LEASE:
                settings.setdefault("SHARING__KEEP", str(self.looks))
            return MortalPart(await to_thread.run_sync(lasting.open))
        if lasting is None and settings.get("TAPE__URL") == "memory:":
            lasting = _new_store(self.clock)  # whose every byte can be searched for canaries
        return MortalStore(lasting) if lasting is not None else None


@asynccontextmanager
async def _slots(clock: RestingClock, wanted: bool) -> AsyncIterator[None]:
    """Have those wake meanwhile who wait for nothing but a slot of a shared rate limit."""

    async def wake() -> None:
        while wanted:
            await clock.advance_to_next(SLOTS_SECONDS)

    task = asyncio.ensure_future(wake())
    try:
        yield
    finally:
        task.cancel()


def _drop_remains() -> None:
    """Drop what a killed gateway left open, such as a connection that had just been made.

    The process that it stands for would have taken it along: nobody is to be warned of it, least
    of all the test that runs when the garbage is collected.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def _new_store(clock: RestingClock) -> LastingStore:
    return LastingStore([tape_schema(), ledger_schema()], clock.now)


@asynccontextmanager
async def opened(
    channel: str, *, limits: bool = False, lasts: bool = False, model: FakeOpenAI | None = None
) -> AsyncIterator[House]:
    """Open a house; `limits` holds the platform to its own, `lasts` see `House.last`.

    Without a `model`, it has one of its own.
    """
    clock = RestingClock()
    async with AsyncExitStack() as stack:
        kept = stack.enter_context(lasting_database(clock.now)) if is_on_a_server() else None
        stage = await stack.enter_async_context(STAGES[channel](clock, limits=limits))
        if model is None:
            model = await stack.enter_async_context(FakeOpenAI())
        house = House(channel, stage, model, clock, kept)
        if lasts:
            house.last()
        yield house


@asynccontextmanager
async def playing(
    channel: str,
    home: Path,
    *plugins: object,
    limits: bool = False,
    rules: Sequence[str] | None = None,
    days: bool = False,
    model: FakeOpenAI | None = None,
    **settings: str,
) -> AsyncIterator[Play]:
    """Raise the curtain; time stands still until the test lets it pass, which may be `days`."""
    in_memory = {"TAPE__URL": "memory:", **settings}
    async with opened(channel, limits=limits, model=model) as house:
        house.looks = A_DAY_S_LOOKS if days else house.looks
        async with house.playing(home, *plugins, rules=rules, **in_memory) as play:
            yield play
