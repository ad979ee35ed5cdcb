"""Record what a turn has used, in the transaction that ends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from agent.spent import CALLS, ESTIMATED, Spent
from agent.turn_log import TurnLog
from gateway.metrics.catalog import CACHED, COMPLETION, COST, PROMPT
from gateway.metrics.meters import Meters
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.settings import Settings
from gateway.storage.ledger.usage import TurnUsage
from tape.entry import EVENT, TOOL_CALL
from tape.unit_of_work import Unit

MILLION: Final = 1_000_000


async def record_usage(
    services: Services,
    unit: Unit,
    question: Question,
    turn_id: str,
    prices: Settings,
    log: TurnLog | None = None,
) -> list[TurnUsage]:
    """Add a turn's usage to the unit of work that ends the turn, however it ends; return it.

    `prices` are the settings that chose its model. `log` is the log of a turn that runs. A turn of
    an earlier process has used more than its log knows, so its tape is read too.
    """
    author, session_id = question.message.sender, question.session_id
    spent = log.spent if log and not question.turn_id else Spent()
    if question.turn_id:
        tape = services.tapes.tape(question.tape)
        for entry in await tape.find(turn=turn_id, kinds=(EVENT, TOOL_CALL)):
            spent.take(entry)
        for deferred in log.deferred if log else ():
            spent.take(deferred)
    found = []
    for model, counts in spent.models.items():
        cached = min(counts["cached_tokens"], counts["prompt_tokens"])
        usage = TurnUsage(
            turn_id,
            model,
            services.clock.now().date().isoformat(),
            session_id,
            f"{question.message.channel}:{author.id}",
            author.name,
            calls=counts[CALLS],
            input=counts["prompt_tokens"] - cached,
            cached=cached,
            output=counts["completion_tokens"],
            cost=cost_of(prices, model, counts),
            estimated=counts[ESTIMATED],
        )
        services.ledger.usage.record(unit, usage)
        found.append(usage)
    return found


def count_usage(meters: Meters, used: Iterable[TurnUsage]) -> None:
    """Count what a turn used, once its end is committed."""
    for one in used:
        meters.add(PROMPT, one.model, by=one.input + one.cached)
        meters.add(CACHED, one.model, by=one.cached)
        meters.add(COMPLETION, one.model, by=one.output)
        if one.cost is not None:
            meters.add(COST, one.model, by=one.cost)


def cost_of(settings: Settings, model: str, counts: Mapping[str, int]) -> float | None:
    """Return what tokens cost by the model's prices, or None if these are not known."""
    prices = settings.prices(model)
    if prices is None:
        return None
    prompt, output = counts["prompt_tokens"], counts["completion_tokens"]
    cached = min(counts["cached_tokens"], prompt)
    cost = (prompt - cached) * prices.input + cached * prices.cached + output * prices.output
    return cost / MILLION
