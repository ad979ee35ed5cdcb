"""A random walk over a tape store: the same operations on every store, and what came of each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

from tape.construct.constructor import BUDGET
from tape.context import default_tape_context as shown_by_default
from tape.context import pair_up, view, view_entries
from tape.deletions import deletion
from tape.entry import NewEntry, dump, event, message, tool_call, tool_result
from tape.errors import TapeError
from tape.handle import ForkTape, Tape, find_fork
from tape.query import Query
from tape.rewind import branch, find_anchor, out_of_view
from tape.service import TapeService
from tape.store import TapeStore
from tape.testing.stores import UNSHOWABLE

A_TAPE = 400  # operations on a tape before the next is begun
MAX_FORKS = 5  # that are kept at hand, open or closed
WORDS = ("tea", "milk", "kettle", "的", "打印", "Straße")
LANES = ("a", "b")
TURNS = ("t1", "t2", "t3")
ANCHORS = ("phase:one", "phase:two", "task/done")


class Walk:
    """Walks over one store; equal seeds take equal steps, whatever the store."""

    def __init__(self, store: TapeStore, seed: int) -> None:
        self._store = store
        self._random = Random(seed)
        self._tape = Tape(store, "tape-0")
        self._forks: list[ForkTape] = []
        self._names: list[str] = []
        self._size = 2
        self.steps = 0

    async def step(self) -> tuple[str, str]:
        """Do the next operation; return its name and a digest of what it returned or raised."""
        if self.steps % A_TAPE == 0:
            self._tape = Tape(self._store, f"tape-{self.steps // A_TAPE}")
            self._forks, self._names = [], []
        self.steps += 1
        (operation,) = self._random.choices(*zip(*_OPERATIONS, strict=True))
        try:
            found = await operation(self)
        except TapeError as refused:
            found = type(refused).__name__
        self._size = await self._tape.size()
        text = str(found)
        for number, name in reversed([*enumerate(self._names)]):  # a fork of a fork first
            text = text.replace(name, f"fork-{number}")
        return operation.__name__, blake2b(text.encode(), digest_size=8).hexdigest()

    def _meta(self) -> dict[str, Any]:
        meta: dict[str, Any] = {"turn": self._random.choice(TURNS)}
        if self._random.random() < 0.5:
            meta["lane"] = self._random.choice(LANES)
        return meta

    def _id(self) -> int:
        return self._random.randint(1, self._size + 2)

    def _text(self) -> str:
        return " ".join(self._random.choices(WORDS, k=3))

    def _entries(self) -> list[NewEntry]:
        meta = self._meta()
        calls = [{"id": f"c{n}", "function": {"name": "look"}} for n in range(2)]
        several: tuple[list[NewEntry], ...] = (
            [message("user", self._text(), **meta)],
            [message("user", self._text(), inbox=self._size, author="7", **meta)],
            [message("assistant", self._text(), **meta)],
            [tool_call(calls, **meta)],
            [tool_result([self._text(), {"found": self._id()}], **meta)],
            [tool_call(calls, **meta), tool_result(["one", "two"], **meta)],
            [event("turn.start", {"turn": meta["turn"], "takes": [self._id()]}, **meta)],
            [event("turn.retake", {"turn": meta["turn"], "takes": [self._id()]}, **meta)],
            [event("loop.step", {"n": self._id()}, **meta)],
        )
        return self._random.choice(several)

    def _place(self) -> Tape:
        """Return the tape or one of its forks."""
        return self._random.choice([self._tape, *self._forks])

    async def append(self) -> object:
        return await self._tape.append(*self._entries())

    async def append_with_a_key(self) -> object:
        return await self._tape.append(*self._entries(), key=self._random.choice("kl"))

    async def append_to_a_fork(self) -> object:
        return await self._place().append(*self._entries())

    async def append_nonsense(self) -> object:
        return await self._place().append(*self._entries(), self._random.choice(UNSHOWABLE))

    async def _near(self, place: Tape) -> int:
        return self._random.randint(1, await place.size() + 2)

    async def delete(self) -> object:
        place = self._place()
        return await place.append(deletion(await self._near(place), "m"))

    async def edit(self) -> object:
        place, text = self._place(), self._text()
        data = {"entry": await self._near(place), "text": text, "content": text}
        return await place.append(event("message.edit", data, **self._meta()))

    async def hand_off(self) -> object:
        name, lane = self._random.choice(ANCHORS), self._random.choice([*LANES, None])
        meta = {"lane": lane} if lane else {}
        return await self._place().handoff(name, {"n": self._id()}, **meta)

    async def rewind(self) -> object:
        to = self._random.choice([*ANCHORS, "session/start", "nowhere", str(self._id())])
        return await self._place().rewind(to)

    async def fork(self) -> object:
        at = self._random.choice([None, None, *ANCHORS])
        fork = await self._place().fork(at)
        self._names.append(fork.name)
        if len(self._forks) == MAX_FORKS:
            self._forks.pop(self._random.randrange(MAX_FORKS))
        self._forks.append(fork)
        return fork.at

    async def merge(self) -> object:
        return await self._random.choice(self._forks).merge() if self._forks else None

    async def discard(self) -> object:
        if not self._forks:
            return None
        fork = self._random.choice(self._forks)
        await fork.discard("not wanted")
        return await fork.state()

    async def read_a_fork(self) -> object:
        if not self._forks:
            return None
        fork = await find_fork(Tape(self._store, self._random.choice(self._forks).name))
        return await fork.state(), await fork.size(), await fork.read(), await fork.own_entries()

    async def branch(self) -> object:
        name = f"{self._tape.name}-as-of-{self._id()}"
        return await branch(self._tape, await find_anchor(self._tape, str(self._id())), name)

    async def read_views(self) -> object:
        place, lane = self._place(), self._random.choice(LANES)
        whole = await place.full_context()
        running = await view_entries(place, lane=lane, turn=self._random.choice(TURNS))
        lanes = await view(place, shown_by_default(), lane)
        return await place.context(), whole, pair_up(whole), running, lanes

    async def construct(self) -> object:
        found = await self._place().context_for(self._text(), budget=BUDGET // 8)
        return found.messages, found.entries

    async def search(self) -> object:
        return await self._place().search(self._random.choice(WORDS), limit=5)

    async def ask(self) -> object:
        place = self._place()
        query = Query(
            place.name,
            after=self._random.choice([0, self._id()]),
            before=self._random.choice([None, self._id()]),
            kinds=self._random.choice([None, ("message",), ("anchor", "event")]),
            lane=self._random.choice([None, *LANES]),
            turn=self._random.choice([None, None, *TURNS]),
            text=self._random.choice([None, None, *WORDS]),
            limit=self._random.choice([None, 1, 5]),
            newest=self._random.random() < 0.5,
        )
        found = await place.run_query(query)
        if place is self._tape:
            assert found == query.pick(await place.read()), query
        return found, await out_of_view(place)

    async def list_forks(self) -> object:
        service = TapeService(self._store, Path("workspace"))
        return sorted([fork.at for fork in await service.open_forks(self._tape.name)])


_OPERATIONS: tuple[tuple[Callable[[Walk], Awaitable[object]], float], ...] = (
    (Walk.append, 30),
    (Walk.append_with_a_key, 3),
    (Walk.append_to_a_fork, 14),
    (Walk.append_nonsense, 2),
    (Walk.delete, 5),
    (Walk.edit, 5),
    (Walk.hand_off, 4),
    (Walk.rewind, 3),
    (Walk.fork, 5),
    (Walk.merge, 4),
    (Walk.discard, 2),
    (Walk.branch, 0.5),
    (Walk.read_a_fork, 2),
    (Walk.list_forks, 0.5),
    (Walk.read_views, 8),
    (Walk.construct, 2),
    (Walk.search, 4),
    (Walk.ask, 6),
)


async def history(store: TapeStore, seed: int, steps: int) -> list[tuple[str, str]]:
    """Walk over a store, and return what came of each step and, last, of the whole store."""
    walk = Walk(store, seed)
    passed = [await walk.step() for _ in range(steps)]
    infos = [info for info in await store.tapes() if ".fork." not in info.name]
    return [*passed, ("sizes", dump([[info.name, info.size] for info in infos]))]
