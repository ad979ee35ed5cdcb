"""The benchmark of the gateway between Telegram and a model: `python -m bench.gateway --help`.

The gateway is the real process, on the disk that TMPDIR names. Telegram and the model are fakes
on real sockets, in the benchmark's process; the model answers at once, in eight pieces.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from bench.burner import WAYS, Burn, Where
from bench.crowd import Crowd, Outcome, Question, chatter
from bench.figures import Bar, Figure, latencies, progress, report
from bench.many.backlog import wait_figures
from bench.many.placing import Placing
from bench.many.talk import FULL, Case, read_cases, talk_figures
from bench.stage import LONGEST, Stage, answer, staged
from bench.talk import LINES_A_CALL, TalkingRoom, answer_in_words
from tests.fakes.openai.script import Call, Reply, Request, Text, ToolCalls

PRIVATE: Final = 300
GROUPS: Final = 100
"""So many chats that at 60 messages a second none has two within the second it must wait."""

WARM_UP: Final = 20
AT_ONCE: Final = 40
LAG_RATE: Final = 5
COMPUTE: Final = "compute something"

MODEL_BARS: Final = MappingProxyType({50: Bar("<", 20)})
ANSWER_BARS: Final = MappingProxyType({95: Bar("<", 100)})
NONE_BAR: Final = Bar("=", 0)
CPU_BAR: Final = Bar("<", 12)
MEMORY_BAR: Final = Bar("<", 120)
GROUP_BAR: Final = Bar(">", 1000)
LAG_BARS: Final = MappingProxyType({99: Bar("<", 50)})
CALLS_BAR: Final = Bar("=", 1)
BODY_BAR: Final = Bar("<", 3000)
FLAT_BAR: Final = Bar("<", 1.1)
FILES_BAR: Final = Bar("<", 10)
FAIR_BAR: Final = Bar("<", 1.25)
BUSY: Final = "one of many in a busy chat"
BARRED_RATE: Final = 10
"""At this rate, in messages a second, the bars of time and CPU hold."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rates: Sequence[int] = (2, 10, 30, 60)
    seconds: float = 10.0
    turns: int = 2000
    chats: int = 500
    group_messages: int = 5000
    burn_seconds: float = 5.0
    soak_messages: int = 100_000
    soak_turns: int = 10_000
    soak_chats: int = 5_000
    waiting: int = 10_000
    rooms: int = 20
    room_lines: int = 300
    groups: tuple[Case, ...] = ()
    messages: int = 4_000
    backlog: int = 2_000
    kept: Path | None = None


QUICK: Final = Size((10, 30), 4.0, 300, 100, 1000, 2.0, 5_000, 500, 500, 1_000, 20, 90)


async def load_figures(size: Size) -> list[Figure]:
    """Measure from an update to its answer, and the CPU that it takes, at each rate."""
    figures: list[Figure] = []
    for rate in size.rates:
        progress(f"{rate} messages a second, {size.seconds:g} s")
        async with staged() as stage:
            figures += await _at_rate(stage, rate, size.seconds)
    return figures


async def _at_rate(stage: Stage, rate: int, seconds: float) -> list[Figure]:
    crowd = Crowd(stage, PRIVATE, GROUPS)
    await crowd.ask_fast(WARM_UP, 2)
    await crowd.all_answered()
    cpu, own = stage.cpu_seconds(), time.process_time()
    asked = await crowd.ask_at(rate, seconds)
    await crowd.all_answered()
    cpu, own = stage.cpu_seconds() - cpu, time.process_time() - own
    outcome = crowd.outcome(asked)
    barred = rate == BARRED_RATE
    name = f"{rate}/s"
    return [
        *_times(name, outcome, barred=barred),
        Figure(f"{name}: not answered, or twice", outcome.missing + outcome.again, "", NONE_BAR),
        Figure(
            f"{name}: CPU an answer", cpu / len(asked) * 1000, "ms", CPU_BAR if barred else None
        ),
        Figure(f"{name}: CPU an answer, the fakes'", own / len(asked) * 1000, "ms"),
    ]


def _times(name: str, outcome: Outcome, *, barred: bool) -> list[Figure]:
    none: Mapping[int, Bar] = {}
    to_model = latencies(
        f"{name}: update -> model", outcome.to_model, (50, 95), MODEL_BARS if barred else none
    )
    to_answer = latencies(
        f"{name}: update -> answer", outcome.to_answer, (50, 95), ANSWER_BARS if barred else none
    )
    return [*to_model, *to_answer]


async def memory_figures(size: Size) -> list[Figure]:
    """Measure the memory of a gateway that is ready, and after many turns in many chats."""
    progress(f"{size.turns} turns in {size.chats} chats")
    async with staged() as stage:
        figures = _memory("ready", stage)
        crowd = Crowd(stage, size.chats * 3 // 4, size.chats - size.chats * 3 // 4)
        begun = time.perf_counter()
        asked = await crowd.ask_fast(size.turns, AT_ONCE)
        await crowd.all_answered()
        took = time.perf_counter() - begun
        outcome = crowd.outcome(asked)
        name = f"{size.turns} turns"
        return [
            *figures,
            *_memory(f"after {name} in {size.chats} chats", stage),
            Figure(f"{name}, {AT_ONCE} at once", size.turns / took, "answers/s"),
            Figure(
                f"{name}: not answered, or twice", outcome.missing + outcome.again, "", NONE_BAR
            ),
        ]


def _memory(name: str, stage: Stage, bar: Bar | None = MEMORY_BAR) -> list[Figure]:
    """Return what is resident, what is the process's share of it, and what is its own alone."""
    used = stage.process.memory_full_info()
    figures = [Figure(f"memory {name}, RSS", used.rss / 1e6, "MB", bar)]
    if hasattr(used, "pss"):
        figures.append(Figure(f"memory {name}, PSS", used.pss / 1e6, "MB"))
    return [*figures, Figure(f"memory {name}, USS", used.uss / 1e6, "MB")]


async def group_figures(size: Size) -> list[Figure]:
    """Measure how fast messages of groups get on their tapes, none of them for the agent."""
    count = size.group_messages
    progress(f"{count} group messages")
    async with staged() as stage:
        updates = chatter(stage.telegram, count, GROUPS)
        placing = Placing(stage.home, before=0)
        accepted = await placing.all_accepted(count)
        taped = await placing.all_placed(count)
        begun = updates[0].handed_out or 0.0
        cpu = sum(stage.process.cpu_times()[:2])
        return [
            Figure("group messages accepted", count / (accepted - begun), "a second", GROUP_BAR),
            Figure("group messages on their tapes", count / (taped - begun), "a second", GROUP_BAR),
            Figure("group messages, CPU of the process in all", cpu, "s"),
        ]


async def rooms_figures(size: Size) -> list[Figure]:
    """Measure what a line costs in groups with three conversations that also ask the agent.

    With numbers of groups, measure instead what a line costs there that asks nothing.
    """
    if size.groups:
        return await talk_figures(size.groups, size.messages, size.kept)
    lines = size.rooms * size.room_lines
    progress(f"{size.rooms} groups with {size.room_lines} lines and three conversations each")
    async with staged(answer_in_words, TELEGRAM__GROUP_PER_MINUTE="0") as stage:
        crowd = Crowd(stage, 0, 0)
        rooms = [TalkingRoom(crowd, number) for number in range(size.rooms)]
        asked: list[Question] = []
        cpu = stage.cpu_seconds()
        for done in range(0, size.room_lines, LINES_A_CALL):
            now = min(LINES_A_CALL, size.room_lines - done)
            task = done // LINES_A_CALL % 2 == 1
            asked += [room.go_on(now, task=task) for room in rooms]
            await crowd.all_answered()
        cpu = stage.cpu_seconds() - cpu
        outcome = crowd.outcome(asked)
        name = f"{size.rooms} rooms of {size.room_lines} lines"
        return [
            Figure(f"{name}: CPU a line", cpu / lines * 1000, "ms"),
            Figure(f"{name}: questions", len(asked), ""),
            Figure(
                f"{name}: not answered, or twice", outcome.missing + outcome.again, "", NONE_BAR
            ),
            *_memory(f"after {name}", stage, None),
        ]


async def backlog_figures(size: Size) -> list[Figure]:
    """Measure what others wait for while messages wait to be placed; see `bench.many.backlog`."""
    case = size.groups[0] if size.groups else Case(100, 30)
    return await wait_figures(case, size.backlog, size.seconds, size.kept)


async def lag_figures(size: Size) -> list[Figure]:
    """Measure what the event loop and other chats feel while a tool computes."""
    figures: list[Figure] = []
    for where in WAYS:
        progress(f"a tool computes: {where}, {size.burn_seconds:g} s")
        answers = partial(_burning, Burn(seconds=size.burn_seconds, where=where))
        async with staged(answers, "bench.burner:Burner") as stage:
            figures += await _lag(stage, where, size.burn_seconds)
    return figures


def _burning(burn: Burn, request: Request) -> Reply:
    """Call the tool when somebody asks to compute, and answer when it is done."""
    last = request.body["messages"][-1]
    if last["role"] == "user" and COMPUTE in str(last["content"]):
        return ToolCalls((Call("call_1", "burn", burn.model_dump_json()),))
    return answer(request)


async def _lag(stage: Stage, where: Where, seconds: float) -> list[Figure]:
    crowd = Crowd(stage, PRIVATE, GROUPS)
    await crowd.ask_fast(WARM_UP, 2)
    await crowd.all_answered()
    crowd.ask(COMPUTE)
    await stage.model.wait_for_requests(WARM_UP + 1)
    asked = await crowd.ask_at(LAG_RATE, seconds * 0.9)
    await crowd.all_answered()
    last = (request.body["messages"][-1] for request in stage.model.requests)
    told = next(message["content"] for message in last if message["role"] == "tool")
    late = [int(part) / 1e6 for part in str(told).split()]
    bars: Mapping[int, Bar] = LAG_BARS if where == "process" else {}
    name = f"tool computes {where}"
    return [
        *latencies(f"{name}: event loop late by", late, (50, 99), bars),
        *latencies(f"{name}: update -> answer", crowd.outcome(asked).to_answer, (50, 95)),
    ]


async def ping_figures(_size: Size) -> list[Figure]:
    """Count what a "ping" in a private chat sends to the model."""
    progress("a ping")
    async with staged() as stage:
        user = stage.telegram.user(4000, "Alice")
        stage.telegram.say(stage.telegram.private_chat(user), user, "ping")
        async with asyncio.timeout(LONGEST):
            await stage.telegram.wait_for_calls("sendMessage", 1)
        posts = [request for request in stage.model.requests if request.method == "POST"]
        return [
            Figure("ping, model requests", len(posts), "", CALLS_BAR),
            Figure("ping, request body", max(post.body_bytes for post in posts), "bytes", BODY_BAR),
        ]


async def soak_figures(size: Size) -> list[Figure]:
    """Measure whether memory and open files stay flat over many messages in many chats."""
    figures: list[Figure] = []
    used: list[float] = []
    files: list[int] = []
    async with staged() as stage:
        half = size.soak_chats // 2
        crowd = Crowd(stage, half, half)
        asked: list[Question] = []
        for tenth in range(1, 11):
            progress(f"tenth {tenth} of {size.soak_messages} messages and {size.soak_turns} turns")
            chatter(stage.telegram, size.soak_messages // 10, half)
            asked += await crowd.ask_fast(size.soak_turns // 10, AT_ONCE)
            await crowd.all_answered()
            used.append(stage.process.memory_info().rss / 1e6)
            files.append(stage.process.num_fds())
        outcome = crowd.outcome(asked)
    name = f"{size.soak_messages} messages, {size.soak_turns} turns, {size.soak_chats} chats"
    figures += [
        Figure(f"{name}: memory after the first tenth", used[0], "MB"),
        Figure(f"{name}: memory after the last tenth", used[-1], "MB", MEMORY_BAR),
        Figure(f"{name}: last tenth / first", used[-1] / used[0], "", FLAT_BAR),
        Figure(f"{name}: open files, last tenth - first", files[-1] - files[0], "", FILES_BAR),
        Figure(f"{name}: not answered, or twice", outcome.missing + outcome.again, "", NONE_BAR),
    ]
    return figures


async def fair_figures(size: Size) -> list[Figure]:
    """Measure what others wait for their answers while one chat has many questions waiting."""
    figures: list[Figure] = []
    medians: list[float] = []
    for waiting in (0, size.waiting):
        progress(f"{waiting} questions wait in one chat")
        async with staged(_slow_for_one, TURN__QUEUE_PER_CHAT="100000") as stage:
            crowd = Crowd(stage, PRIVATE, GROUPS)
            await crowd.ask_fast(WARM_UP, 2)
            await crowd.all_answered()
            busy = stage.telegram.user(9000, "Busy")
            chat = stage.telegram.private_chat(busy)
            for number in range(waiting):
                stage.telegram.say(chat, busy, f"{BUSY} {number}")
            if waiting:
                await Placing(stage.home, before=0).all_placed(waiting, every=0.1)
            asked = await crowd.ask_at(LAG_RATE, size.seconds * 2)
            await crowd.all_answered()
            times = crowd.outcome(asked).to_answer
            name = f"{waiting} wait elsewhere: update -> answer"
            found = latencies(name, times, (50, 95))
            figures += found
            medians.append(found[-1].value)
    return [*figures, Figure("p95 with / without them", medians[1] / medians[0], "", FAIR_BAR)]


def _slow_for_one(request: Request) -> Reply:
    if BUSY in request.last_user_text:
        return Text(("busy ",) * 8, delay=0.1)
    return answer(request)


Part = Callable[[Size], Coroutine[Any, Any, list[Figure]]]

PARTS: Final[Mapping[str, Part]] = MappingProxyType(
    {
        "load": load_figures,
        "memory": memory_figures,
        "groups": group_figures,
        "rooms": rooms_figures,
        "backlog": backlog_figures,
        "lag": lag_figures,
        "ping": ping_figures,
        "fair": fair_figures,
        "soak": soak_figures,
    }
)
LONG: Final = ("fair", "soak", "backlog")
"""Parts that take minutes: measured when they are named."""

GIVEN: Final = ("rates", "groups", "messages", "backlog", "seconds", "kept")
"""What of a size the command line may give."""


def main() -> None:
    """Measure what the command line asks for; print the table, and write the JSON."""
    options = _options()
    size = QUICK if options.quick else Size()
    given = {name: getattr(options, name) for name in GIVEN}
    size = replace(size, **{name: value for name, value in given.items() if value is not None})
    figures: list[Figure] = []
    for name in options.only or [name for name in PARTS if name not in LONG]:
        figures += asyncio.run(PARTS[name](size))
    report(figures, options.json)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure less, within a minute")
    parser.add_argument(
        "--rates", type=int, nargs="+", metavar="N", help="messages a second (2 10 30 60)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="NAME", help=f"of: {', '.join(PARTS)}"
    )
    many = parser.add_argument_group("of rooms and backlog")
    many.add_argument(
        "--groups",
        type=read_cases,
        metavar="N,NxM",
        help=f"rooms: so many groups with M lines each ({FULL}), of which none asks;"
        " backlog: the first of them (100x30)",
    )
    many.add_argument("--messages", type=int, metavar="N", help="rooms: measured in each (4000)")
    many.add_argument("--backlog", type=int, metavar="N", help="messages that wait (2000)")
    many.add_argument("--seconds", type=float, help="for which is asked beside them (10)")
    many.add_argument(
        "--kept", type=Path, metavar="FOLDER", help="keeps the filled homes; each run copies one"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
