"""What the tests of the loop share: how its events and entries are read."""

from __future__ import annotations

from agent.errors import ContextOverflow
from agent.events import AgentEvent
from agent.testing import ScriptedModel
from tape.handle import Tape
from tape.turn_events import TURN_START
from tests.agent.scripted import Stage

TOO_LONG = [ContextOverflow("too long")]


def kinds(events: list[AgentEvent]) -> list[str]:
    return [happened.kind for happened in events]


def said(events: list[AgentEvent]) -> str:
    return "".join(happened.data["delta"] for happened in events if happened.kind == "text")


async def names(tape: Tape, since: str = TURN_START) -> list[str]:
    found = [entry.name or entry.kind for entry in await tape.read()]
    return found[found.index(since) + 1 :]


def deferred(stage: Stage) -> list[tuple[int, str]]:
    data = [entry.payload["data"] for entry in stage.log.deferred]
    return [(step["step"], step["status"]) for step in data]


def shown(model: ScriptedModel, call: int = -1) -> list[str]:
    return [str(shown["content"]) for shown in model.requests[call].messages]
