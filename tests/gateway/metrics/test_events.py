"""Each metric is moved by the event that it counts, through a real gateway on a fake Telegram."""

from __future__ import annotations

import asyncio
import json
import mmap
import os
import resource
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import pytest

from agent.tool import Role, Tool
from agent.tool_decorator import tool
from gateway.hooks.specs import hookimpl
from gateway.metrics.catalog import OWN, PROCESS
from tests.contracts.texts import loop_time
from tests.fakes.openai.script import Call, RateLimited, Text, ToolCalls, Usage
from tests.fakes.telegram.faults import Refuse
from tests.gateway.metrics.scraping import Samples, key, scrape
from tests.kit.play import Play, opened
from tests.kit.stages.telegram import TelegramStage
from tests.kit.waiting import Patience

PRICES: Final = {"price_input": 10.0, "price_cached": 1.0, "price_output": 100.0}
MEGABYTES: Final = 64 * 1024 * 1024


@tool(name="breaks", role=Role.STRANGER, timeout=0.01)
async def breaks(late: bool = False) -> str:
    """Break, or take too long."""
    if late:
        await anyio.sleep_forever()
    raise RuntimeError("broken")


@dataclass(slots=True)
class Breaks:
    """A plugin whose tool has a bug, and which takes its time to admit a message."""

    admits: asyncio.Event = field(default_factory=asyncio.Event)

    @hookimpl
    async def admit_message(self) -> None:
        await self.admits.wait()

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [breaks]


@dataclass(slots=True)
class Watch:
    """A gateway that runs, and what its metrics were before and after each event."""

    play: Play
    admits: asyncio.Event
    moved: dict[str, tuple[Samples, Samples]] = field(default_factory=dict)

    @property
    def telegram(self) -> TelegramStage:
        assert isinstance(self.play.stage, TelegramStage)
        return self.play.stage

    async def scrape(self) -> Samples:
        """Read the metrics as they are now: what was rendered a second ago is rendered again."""
        await self.play.clock.advance(1)
        return await scrape(self.play.gateway.url)

    async def during(self, event: Event) -> None:
        """Run an event, and keep how far it moved each metric; an event may also look midway."""
        before = await self.scrape()
        seen = await event(self)
        await self.play.settle()
        self.moved[event.__name__] = (before, seen or await self.scrape())


Event = Callable[[Watch], Awaitable[Samples | None]]


async def answered(watch: Watch) -> None:
    watch.play.model.enqueue(Text(("It is ", "ripe."), usage=Usage(1000, 20, 400)))
    await watch.play.ask(watch.play.chat(), watch.play.person(), "the plum?")


async def waited_for(watch: Watch) -> Samples:
    play, gate = watch.play, asyncio.Event()
    play.model.enqueue(Text(("It is ", "ripe."), gate=gate))
    await play.stage.say(play.chat(), play.person(), "the plum?")
    await play.taken()
    await play.clock.advance(40)
    seen = await watch.scrape()
    gate.set()
    return seen


async def stood_in_line(watch: Watch) -> Samples:
    play, patience = watch.play, Patience("a message is accepted")
    watch.admits.clear()
    play.model.enqueue(Text(("Ripe.",)))
    await play.stage.say(play.chat(), play.person(), "the plum?")
    while not await play.gateway.services.ledger.waiting.chats():
        await patience.pause()
    await play.clock.advance(40)
    seen = await watch.scrape()
    watch.admits.set()
    return seen


async def shown_late(watch: Watch) -> None:
    play, gate, chat = watch.play, asyncio.Event(), watch.play.chat()
    play.model.enqueue(Text(("It is ", "ripe."), gate=gate))
    play.stage.throttle("first", chat, 5)
    await play.stage.say(chat, play.person(), "the plum?")
    await play.taken()
    await play.clock.advance(20)
    gate.set()


async def held_back(watch: Watch) -> Samples:
    play, chat = watch.play, watch.play.chat()
    play.model.enqueue(Text(("Ripe.",)))
    play.stage.throttle("final", chat, 30)
    await play.stage.say(chat, play.person(), "the plum?")
    await play.taken()
    await play.clock.advance(10)
    return await watch.scrape()


async def refused_there(watch: Watch) -> None:
    watch.play.model.enqueue(Text(("Ripe.",)))
    watch.telegram.fake.fail("sendMessage", Refuse(403, "Forbidden: bot was kicked"))
    await watch.play.ask(watch.play.chat(), watch.play.person(), "the plum?")


async def delivered_again(watch: Watch) -> None:
    said = await watch.play.ask(watch.play.chat(), watch.play.person(), "the plum?")
    await watch.play.stage.redeliver(said, as_new=True)
    await watch.play.taken()


async def tools_ran(watch: Watch) -> None:
    names = ("tape_info", "{}"), ("nothing", "{}"), ("breaks", "{}"), ("breaks", '{"late": true}')
    calls = tuple(Call(str(number), *one) for number, one in enumerate(names))
    watch.play.model.enqueue(ToolCalls(calls), Text(("Done.",)))
    await watch.play.ask(watch.play.chat(), watch.play.person(), "how long is the tape?")


async def model_was_busy(watch: Watch) -> None:
    watch.play.model.enqueue(RateLimited())
    await watch.play.ask(watch.play.chat(), watch.play.person(), "the plum?")


async def stopped(watch: Watch) -> None:
    play, chat, gate = watch.play, watch.play.chat(), asyncio.Event()
    play.model.enqueue(Text(("It ", "is."), gate=gate))
    await play.stage.say(chat, play.person(), "the plum?")
    await play.taken()
    await play.clock.advance(3)
    await play.ask_command(chat, play.person(), "stop")


async def database_was_away(watch: Watch) -> Samples:
    play = watch.play
    play.store.away = True
    await play.stage.say(play.chat(), play.person(), "one")
    await play.clock.advance(5)
    seen = await watch.scrape()
    play.store.away = False
    await play.clock.advance(60)
    return seen


async def loop_was_late(watch: Watch) -> None:
    with loop_time(watch.play.clock):
        await watch.play.clock.advance(3)


async def disk_shrank(watch: Watch) -> Samples:
    with pytest.MonkeyPatch.context() as patch:
        small = type(shutil.disk_usage("/"))(1000, 990, 10)
        patch.setattr("shutil.disk_usage", lambda _path: small)
        return await watch.scrape()


async def process_grew(watch: Watch) -> Samples:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(Path(os.devnull).open("rb"))  # noqa: ASYNC230
        pages = stack.enter_context(mmap.mmap(-1, MEGABYTES))
        pages.write(b"x" * MEGABYTES)
        await anyio.to_thread.run_sync(sum, range(3_000_000))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        return await watch.scrape()


async def fell_silent(watch: Watch) -> Samples:
    watch.play.stage.stall_events()
    await watch.play.clock.advance(90)
    seen = await watch.scrape()
    watch.play.stage.resume_events()
    return seen


EVENTS: Final[tuple[Event, ...]] = (
    fell_silent,
    *(answered, waited_for, stood_in_line, shown_late, held_back, refused_there),
    *(delivered_again, tools_ran),
    *(model_was_busy, stopped, database_was_away, loop_was_late, disk_shrank, process_grew),
)


@dataclass(frozen=True, slots=True)
class Moved:
    """An event, and by how much one of a metric's samples changes in it: at least, or exactly."""

    event: Event
    labels: Mapping[str, str] = field(default_factory=dict)
    by: float = 1
    least: bool = False
    suffix: str = ""


TELEGRAM: Final = {"channel": "telegram"}
MODEL: Final = {"model": "model"}


def turn(event: Event, outcome: str) -> Moved:
    return Moved(event, {**TELEGRAM, "outcome": outcome})


def call(event: Event, outcome: str) -> Moved:
    return Moved(event, {**MODEL, "outcome": outcome})


def ran(outcome: str) -> Moved:
    return Moved(tools_ran, {"outcome": outcome})


def some(event: Event, labels: Mapping[str, str] | None = None, least: float = 1) -> Moved:
    return Moved(event, labels or {}, least, least=True)


TABLE: Final[Mapping[str, tuple[Moved, ...]]] = {
    "tapeway_messages_total": (turn(answered, "new"), turn(delivered_again, "repeated")),
    "tapeway_inbox_messages": (Moved(waited_for, TELEGRAM),),
    "tapeway_inbox_oldest_seconds": (some(waited_for, TELEGRAM, 40),),
    "tapeway_unplaced_messages": (Moved(stood_in_line, TELEGRAM),),
    "tapeway_unplaced_oldest_seconds": (some(stood_in_line, TELEGRAM, 40),),
    "tapeway_outbox_messages": (Moved(held_back, TELEGRAM),),
    "tapeway_first_text_seconds": (
        Moved(answered, TELEGRAM, 1, suffix="_count"),
        Moved(waited_for, {**TELEGRAM, "le": "0.1"}, 1, suffix="_bucket"),
    ),
    "tapeway_answer_seconds": (
        Moved(answered, TELEGRAM, 1, suffix="_count"),
        Moved(shown_late, TELEGRAM, 20, least=True, suffix="_sum"),
    ),
    "tapeway_turns_total": (
        turn(answered, "done"),
        turn(delivered_again, "done"),
        turn(model_was_busy, "failed"),
        turn(stopped, "stopped"),
    ),
    "tapeway_sends_total": (turn(answered, "sent"), turn(refused_there, "dead")),
    "tapeway_model_calls_total": (
        call(answered, "ok"),
        call(model_was_busy, "rate_limited"),
        call(stopped, "cancelled"),
    ),
    "tapeway_prompt_tokens_total": (Moved(answered, MODEL, 1000),),
    "tapeway_cached_tokens_total": (Moved(answered, MODEL, 400),),
    "tapeway_completion_tokens_total": (Moved(answered, MODEL, 20),),
    "tapeway_cost_total": (Moved(answered, MODEL, (600 * 10 + 400 * 1 + 20 * 100) / 1e6),),
    "tapeway_context_system_tokens_total": (some(answered, least=100),),
    "tapeway_context_schema_tokens_total": (some(answered, least=100),),
    "tapeway_context_people_tokens_total": (some(answered, least=8),),
    "tapeway_context_agent_tokens_total": (some(tools_ran, least=40),),
    "tapeway_context_tool_tokens_total": (Moved(answered, {}, 0), some(tools_ran, least=20)),
    "tapeway_tool_runs_total": tuple(map(ran, ("ok", "refused", "failed", "timeout"))),
    "tapeway_edits_total": (some(waited_for, TELEGRAM),),
    "tapeway_edits_dropped_total": (some(shown_late, TELEGRAM),),
    "tapeway_rate_limits_total": (Moved(shown_late, TELEGRAM), Moved(held_back, TELEGRAM)),
    "tapeway_channel_up": (Moved(fell_silent, TELEGRAM, -1),),
    "tapeway_store_up": (Moved(database_was_away, {}, -1),),
    "tapeway_event_loop_lag_seconds": (
        Moved(loop_was_late, {}, 2, least=True, suffix="_sum"),
        Moved(loop_was_late, {}, 1, least=True, suffix="_count"),
    ),
    "tapeway_room_reads_total": (Moved(answered, {}, 1), Moved(delivered_again, {}, 1)),
    "tapeway_disk_free_bytes": (Moved(disk_shrank, {}, 10),),
    "tapeway_disk_size_bytes": (Moved(disk_shrank, {}, 1000),),
    "process_cpu_seconds_total": (some(process_grew, least=0.01),),
    "process_resident_memory_bytes": (some(process_grew, least=MEGABYTES // 2),),
    "process_virtual_memory_bytes": (some(process_grew, least=MEGABYTES // 2),),
    "process_open_fds": (some(process_grew, least=40),),
    "process_max_fds": (Moved(process_grew, {}, -1),),
}
SHOWN: Final = {"tapeway_disk_free_bytes", "tapeway_disk_size_bytes"}
"""Gauges of which the value after the event counts: the one before depends on the machine."""

STILL: Final = {"tapeway_build_info", "process_start_time_seconds"}
"""What says who runs, and doesn't move while it does."""


@pytest.fixture(scope="module")
async def watched(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Watch]:
    """Have everything happen once."""
    more: dict[str, Any] = {"MODELS": json.dumps({"model": PRICES})}
    async with opened("telegram", lasts=True) as house:
        plugin = Breaks()
        plugin.admits.set()
        async with house.playing(tmp_path_factory.mktemp("home"), plugin, **more) as play:
            watch = Watch(play, plugin.admits)
            for event in EVENTS:
                await watch.during(event)
            yield watch


@pytest.mark.parametrize("name", [one.name for one in (*OWN, *PROCESS) if one.name not in STILL])
async def test_a_metric_is_moved_by_what_it_counts(name: str, watched: Watch) -> None:
    for expected in TABLE[name]:
        before, after = watched.moved[expected.event.__name__]
        sample = key(f"{name}{expected.suffix}", **expected.labels)
        change = after[sample] - (0 if name in SHOWN else before[sample])
        if expected.least:
            assert change >= expected.by, expected.event.__name__
        else:
            assert change == pytest.approx(expected.by), expected.event.__name__


async def test_what_runs_is_named_with_its_version_and_its_start(watched: Watch) -> None:
    before, after = watched.moved["answered"]
    assert after[key("tapeway_build_info", version=version("tapeway"))] == 1
    start = key("process_start_time_seconds")
    assert after[start] == before[start] > 0


async def test_no_label_is_a_chat_or_a_person(watched: Watch) -> None:
    _before, after = watched.moved["process_grew"]
    labels = {label for _name, labels in after for label in labels}
    values = {name: {value for label, value in labels if label == name} for name, _ in labels}
    assert values.keys() == {"channel", "model", "outcome", "le", "version"}
    assert values["channel"] == {"telegram"}
    assert values["model"] == {"model"}
