"""Whatever is said in a room, memory and work are bounded, and everybody is answered their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from channels.message import Author, InboundMessage
from gateway.context.rooms.memory import MAX_LIKELY, RoomMemory
from tape.linking import Linker
from tape.linking.asleep import REACH
from tape.linking.boosted_trees import Row, Trees
from tape.linking.features_lane import MAX_LANES
from tape.linking.features_pair import MAX_CANDIDATES, MAX_OLDER
from tape.linking.model import Model
from tape.linking.room import WINDOW, Heard
from tape.linking.weights import load
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.context.bad_rooms import BAD_ROOMS, BadRoom, some_words
from tests.gateway.context.memories import says
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import OPEN
from tests.kit.play import prompt_of
from tests.kit.tasks import ENGLISH, Task

BYTES_A_MESSAGE: Final = 5_000
"""Maximum bytes that a room takes for each message that it remembers."""

AROUND: Final = 4  # messages of the room between two questions
MAX_CALLS: Final = 10_000  # maximum calls of functions for a message, some for each word
HEARD: Final = 60  # messages of the room before the first question
ASKERS: Final = ("9001", "9002", "9003")


def hear(memory: RoomMemory, make: BadRoom, numbers: range) -> None:
    """Say the messages of these numbers, and link each."""
    for number in numbers:
        message = make(number)
        said = memory.utterance(message, number)
        memory.hear(said, memory.link(said, None), number, message.sender.handle)


def walk(root: object) -> Iterator[tuple[str, object]]:
    """Give every object that a room memory holds, each once and with its path."""
    todo, seen = [("", root)], set()
    while todo:
        path, one = todo.pop()
        if id(one) in seen or isinstance(one, Linker | type) or callable(one):
            continue
        seen.add(id(one))
        yield path, one
        if isinstance(one, dict):
            todo += [(f"{path}{{}}", part) for pair in one.items() for part in pair]
        elif isinstance(one, Sequence | set | frozenset) and not isinstance(one, str | bytes):
            todo += [(f"{path}[]", part) for part in one]
        slots = (name for kind in type(one).__mro__ for name in getattr(kind, "__slots__", ()))
        names = [*slots, *getattr(one, "__dict__", ())]
        todo += [(f"{path}.{name}", getattr(one, name)) for name in names if hasattr(one, name)]


def sizes(memory: RoomMemory) -> dict[str, int]:
    """Return how long the longest of each kind of container and text is, and the bytes of all."""
    found: dict[str, int] = {"bytes": 0}
    for path, one in walk(memory):
        found["bytes"] += sys.getsizeof(one)
        if hasattr(one, "__len__"):
            found[path] = max(found.get(path, 0), len(one))
    return found


@pytest.mark.parametrize("name", BAD_ROOMS)
def test_what_is_remembered_of_a_room_does_not_grow_with_what_is_said(name: str) -> None:
    memory = RoomMemory(Linker())
    full = WINDOW + REACH + WINDOW - 1  # when the entries are about to be tidied
    hear(memory, BAD_ROOMS[name], range(1, full))
    before = sizes(memory)
    hear(memory, BAD_ROOMS[name], range(full, 2 * full))
    after = sizes(memory)
    grown = {path: (before.get(path), size) for path, size in after.items()}
    assert {p: pair for p, pair in grown.items() if pair[1] > 1.25 * (pair[0] or 0) + 8} == {}
    assert after["bytes"] <= BYTES_A_MESSAGE * WINDOW


class Counted(Trees):
    """Trees that count the rows that they judge."""

    __slots__ = ("rows", "trees")

    def __init__(self, trees: Trees) -> None:
        self.trees, self.rows = trees, 0

    def score(self, row: Row) -> float:
        self.rows += 1
        return self.trees.score(row)

    def scores(self, rows: Sequence[Row], margin: float) -> list[float]:
        self.rows += len(rows)
        return self.trees.scores(rows, margin)

    def estimates(self, rows: Sequence[Row], margin: float) -> list[float]:
        self.rows += len(rows)
        return self.trees.estimates(rows, margin)


def counting() -> tuple[Model, dict[str, Counted]]:
    """Return the shipped model with trees that count, and these by their stage."""
    model = load()
    stages = ("pair", "lane", "new", "relevance")
    counted = {stage: Counted(getattr(model, stage)) for stage in stages}
    return replace(model, **counted), counted  # type: ignore[arg-type]


def calls_of(work: Callable[[], None]) -> int:
    """Return how many functions written in Python some work calls."""
    calls = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", BAD_ROOMS)
def test_the_work_of_a_link_and_of_a_view_is_bounded(name: str) -> None:
    make = BAD_ROOMS[name]
    memory = RoomMemory(Linker())
    hear(memory, make, range(1, WINDOW + 20))
    model, counted = counting()
    memory.linker = Linker(model)
    for number in range(WINDOW + 20, WINDOW + 30):
        for stage in counted.values():
            stage.rows = 0
        assert calls_of(partial(hear, memory, make, range(number, number + 1))) <= MAX_CALLS
        assert counted["pair"].rows <= MAX_CANDIDATES + MAX_OLDER * (MAX_OLDER + 2) + 1
        assert counted["lane"].rows <= MAX_LANES
        assert counted["new"].rows <= 1
    key = memory.room.heard[-1].key
    counted["relevance"].rows = 0
    chosen = memory.linker.chosen(memory.room, key, MAX_LIKELY)
    assert counted["relevance"].rows <= WINDOW
    assert len(chosen) <= MAX_LIKELY


def ask(who: str, number: int, text: str) -> InboundMessage:
    """Return a question of somebody who asks the agent."""
    return says(number, who, text, addressed=True, why="mention")


async def ask_around(
    group: GroupChat, make: BadRoom, numbers: Iterator[int], who: str, text: str, answer: str
) -> str:
    """Ask the agent, say a few things of the room behind it; return what the model was shown."""
    assert group.asked is not None
    before = len(group.asked.requests)
    group.asked.enqueue(Text((answer,)))
    await group.hear(ask(who, next(numbers), text))
    assert len(group.asked.requests) == before + 1, "the question was not asked once"
    shown = prompt_of(group.asked)
    await group.hear(*(quiet(make(next(numbers))) for _ in range(AROUND)))
    return shown


def quiet(message: InboundMessage) -> InboundMessage:
    return replace(message, addressed=False, why="said to the group")


def has(prompt: str, task: Task) -> list[str]:
    """Return what a prompt has of a task."""
    return [one for one in (task.asks, task.answer, task.then) if one in prompt]


def statuses(home: Path, table: str) -> set[str]:
    """Return the statuses of all rows of one of the ledger's tables."""
    with closing(apsw.Connection(str(home / "tapeway.db"))) as database:
        return {str(row[0]) for row in database.execute(f"SELECT status FROM {table}")}


@pytest.mark.parametrize("name", BAD_ROOMS)
async def test_everybody_is_answered_and_shown_nobody_else_s_task(
    name: str, model: FakeOpenAI, tmp_path: Path
) -> None:
    make, numbers, triple = BAD_ROOMS[name], count(1), ENGLISH[-1]
    async with open_group(tmp_path, model, **OPEN) as group:
        await group.hear(*(quiet(make(next(numbers))) for _ in range(HEARD)))
        for who, task in zip(ASKERS, triple, strict=True):
            prompt = await ask_around(group, make, numbers, who, task.asks, task.answer)
            assert task.asks in prompt
            assert [has(prompt, other) for other in triple if other is not task] == [[], []]
        for who, task in zip(ASKERS, triple, strict=True):
            prompt = await ask_around(group, make, numbers, who, task.then, "Yes, of course.")
            assert has(prompt, task) == [task.asks, task.answer, task.then]
            assert [has(prompt, other) for other in triple if other is not task] == [[], []]
        assert [post.text for post in group.posts] == [
            *(task.answer for task in triple),
            *["Yes, of course."] * 3,
        ]
        entries = await group.tape.find()
        said = [entry for entry in entries if "inbox" in entry.meta]
        assert len(said) == next(numbers) - 1
        assert "the linker failed" not in {e.meta.get("link", {}).get("why") for e in said}
        await assert_read_again_as_it_was(group)
    assert statuses(tmp_path, "inbox") <= {"done", "taped"}
    assert statuses(tmp_path, "outbox") == {"sent"}


async def assert_read_again_as_it_was(group: GroupChat) -> None:
    """Assert that a room that was forgotten links as the one that was kept."""
    rooms = group.gateway.parts.memories
    kept = await rooms.of(group.tape.name)
    rooms.forget([group.tape.name])
    again = await rooms.of(group.tape.name)
    for one, other in zip(again.room.heard, kept.room.heard, strict=True):
        assert told(one) == told(other)


def told(heard: Heard) -> list[object]:
    """Return what is remembered of a message; the numbers of messages begin again."""
    return [getattr(heard, name) for name in Heard.__slots__ if name != "number"]


def named(number: int, name: str, text: str, **more: object) -> InboundMessage:
    """Return a message of somebody whose id is the name."""
    said = says(number, name, text, **more)
    return replace(said, sender=Author(name, name, handle=f"{name.lower()}_1"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Will", "will it rain tomorrow?"),
        ("The", "the printer is out of paper"),
        ("May", "may I have the key?"),
        ("Kestrel", "kestrel is down again"),
    ],
)
def test_a_common_word_at_the_beginning_names_somebody_only_with_a_sign(
    name: str, text: str
) -> None:
    memory = RoomMemory(Linker.shipped())
    for number, who in enumerate((name, "Ann", "Bob", "Cid", "Dan", "Eve")):
        message = named(number + 1, who, f"does anybody know how the kestrel works, {number}?")
        said = memory.utterance(message, number)
        memory.hear(said, memory.link(said, None), number + 1)
    assert memory.people(named(9, "Ann", text)) == ()
    for marked in (f"{name}: {text}", f"{name}, {text}", f"@{name} {text}"):
        assert memory.people(named(9, "Ann", marked)) == (name,)
    assert memory.people(named(9, "Ann", "cid look at that")) == ("Cid",)


async def test_a_common_name_brings_nobody_s_task_into_another_s_prompt(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    said = (
        ("Will", "which Linux desktop is good for an old laptop?", "Xfce needs little memory."),
        ("May", "will leeks and potatoes make a dinner for six guests?", "They do, with stock."),
        ("Eve", "may photos be renamed by a script that reads their dates?", "Exiftool does it."),
    )
    async with open_group(tmp_path, model, **OPEN) as group:
        prompts = []
        for number, (who, text, answer) in enumerate(said, 1):
            model.enqueue(Text((answer,)))
            await group.hear(named(number, who, text, addressed=True, why="mention"))
            prompts.append(prompt_of(model))
    shown = [[text in prompt for _who, text, _answer in said] for prompt in prompts]
    assert shown == [[True, False, False], [False, True, False], [False, False, True]]


async def test_a_flood_behind_a_question_that_waits_is_no_part_of_its_view(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with open_group(tmp_path, model, **OPEN) as group:
        talk = [
            says(number, "9002", f"my {some_words(number, 4)} leaks") for number in range(2, 80)
        ]
        await group.hear(ask("9001", 1, "which bread goes well with a pumpkin soup?"), *talk)
        shown = prompt_of(model)
    assert "which bread" in shown
    assert not [number for number in range(2, 80) if some_words(number, 4) in shown]


async def test_whoever_asks_ten_things_in_a_row_is_answered_and_shown_to_nobody_else(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with open_group(tmp_path, model, **OPEN) as group:
        await group.accept(
            *(ask("9001", number, f"what is {some_words(number, 4)}?") for number in range(1, 11))
        )
        await group.settled()
        asked = "\n".join(prompt_of(model, number) for number in range(len(model.requests)))
        assert all(some_words(number, 4) in asked for number in range(1, 11))
        await group.hear(ask("9002", 11, "which bread goes well with a pumpkin soup?"))
        shown = prompt_of(model)
    assert not [number for number in range(1, 11) if some_words(number, 4) in shown]
    assert statuses(tmp_path, "inbox") <= {"done", "taped"}
