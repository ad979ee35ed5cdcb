"""A gateway on the time of a room that is played, and a model server that answers as it is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

import structlog

from bench.replay.room import said_as
from channels.message import Author
from gateway.app import Gateway, running_gateway
from gateway.clock import SystemClock
from gateway.settings import load_settings
from tape.entry import dump
from tape.tokens import estimate_message, estimate_text
from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI

Store = Literal["sqlite", "memory"]
START: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class RoomClock(SystemClock):
    """Waits as ever, and shows the moment at which the room's newest message was said."""

    moment: datetime = START

    def now(self) -> datetime:
        """Return that moment."""
        return self.moment


@dataclass(slots=True)
class Playing:
    """A gateway that a room is played to.

    `answer` is what the model says next; `asked` has the bodies of the requests that it got.
    """

    gateway: Gateway
    clock: RoomClock
    answer: str = "yes"
    asked: list[dict[str, Any]] = field(default_factory=list)


@asynccontextmanager
async def playing(store: Store = "memory") -> AsyncIterator[Playing]:
    """Run a gateway to play rooms to, in a home that is thrown away."""
    found: list[Playing] = []

    def answer(request: Request) -> Reply:
        found[0].asked.append(request.body)
        return Text((found[0].answer,))

    clock = RoomClock()
    with TemporaryDirectory() as home:
        async with FakeOpenAI(default=answer) as model:
            settings = load_settings(_environ(Path(home), model, store), folder=Path(home))
            async with running_gateway(settings, only=[], http=False, clock=clock) as gateway:
                found.append(Playing(gateway, clock))
                yield found[0]


def quiet_log() -> None:
    """Keep the gateway's log to itself: a room's answers go nowhere, and each would be told."""
    structlog.configure(processors=[_drop])


def _drop(*_event: object) -> Any:
    raise structlog.DropEvent


def _environ(home: Path, model: FakeOpenAI, store: Store) -> dict[str, str]:
    return {
        "TAPEWAY_HOME": str(home),
        "TAPEWAY_ACCESS__MODE": "open",
        "TAPEWAY_BUDGET__STRANGER_TURNS": "0",
        "TAPEWAY_BUDGET__PARALLEL_PER_PERSON": "0",
        "TAPEWAY_BUFFER__DEBOUNCE": "0",
        "TAPEWAY_TAPE__DISK_RESERVE": "0",
        "TAPEWAY_TAPE__URL": "memory:" if store == "memory" else "",
        "TAPEWAY_SECRETS": str(home / "none"),
        "TAPEWAY_AGENT__BASE_URL": model.base_url,
        "TAPEWAY_AGENT__API_KEY": "sk-nobody",
        "TAPEWAY_AGENT__MODEL": "model",
        "TAPEWAY_AGENT__PROBE": "false",
    }


async def frame_tokens() -> int:
    """Return the tokens of what stands before the view of a question in a group, as it is sent.

    These are the system prompt and the tools; they are counted as the product counts a view.
    """
    async with playing() as room:
        asked = said_as("frame", 1, START, Author("ann", "Ann"), "which way?", answer="that way")
        await room.gateway.parts.intake.accept([asked.message])
        await room.gateway.taken_in()
        await room.gateway.idle()
        (body,) = room.asked
    system = sum(estimate_message(one) for one in body["messages"] if one["role"] == "system")
    return system + estimate_text(dump(body.get("tools", [])))
