"""How quickly `,stop` ends a turn if the process that hears it does not hold the turn."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from bench.figures import Bar, Figure, latencies, progress
from bench.fleet.load import taking
from bench.fleet.stage import FleetStage, staged_fleet
from bench.stage import LONGEST, USERNAME
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.world import Chat, User
from tests.postgres import Server

MODEL_SECONDS: Final = 60.0
WARM_UP: Final = 5
STOP_BAR: Final = {95: Bar("<", 300)}
_POLL: Final = 0.001
_ENDED: Final = """
SELECT count(*) FROM entry WHERE name = 'turn.end' AND payload LIKE '%"status":"stopped"%'
"""


async def stop_figures(server: Server, workers: int, rounds: int) -> list[Figure]:
    """Stop turns one after the other, each in a chat of its own; the model would go on."""
    progress(f"{rounds} turns are stopped at an ingress, {workers} workers")
    async with staged_fleet(server, workers, taking(MODEL_SECONDS)) as stage:
        taken = [await _stopped(stage, number) for number in range(WARM_UP + rounds)]
        ended = int(stage.rows(_ENDED)[0][0])
    name = ",stop at an ingress that does not hold the turn"
    return [
        *latencies(f"{name}: update -> stopped in the chat", taken[WARM_UP:], (50, 95), STOP_BAR),
        Figure(f"{name}: turns stopped", ended, "", Bar("=", WARM_UP + rounds)),
    ]


async def _stopped(stage: FleetStage, number: int) -> float:
    """Ask, stop once the model answers, and return the seconds until the chat says so."""
    telegram, asked = stage.telegram, len(stage.model.requests)
    user = telegram.user(7000 + number, f"Friend {number}")
    chat = telegram.private_chat(user)
    async with asyncio.timeout(LONGEST):
        telegram.say(chat, user, f"question {number}: is the deploy through? @{USERNAME}")
        while len(stage.model.requests) == asked or not _edits(stage, chat):  # noqa: ASYNC110
            await asyncio.sleep(_POLL)
        return await _stop(stage, chat, user)


async def _stop(stage: FleetStage, chat: Chat, user: User) -> float:
    before = len(stage.telegram.calls)
    begun = time.perf_counter()
    stage.telegram.say(chat, user, ",stop")
    while True:
        for call in stage.telegram.calls[before:]:
            if _is_to(call, chat) and "Stopped" in str(call.params.get("text")):
                return time.perf_counter() - begun
        await asyncio.sleep(_POLL)


def _edits(stage: FleetStage, chat: Chat) -> bool:
    """Return whether the chat shows the beginning of the answer."""
    return any(
        _is_to(call, chat) and call.params.get("text") for call in stage.telegram.calls[-20:]
    )


def _is_to(call: Call, chat: Chat) -> bool:
    return str(call.params.get("chat_id")) == str(chat.id)
