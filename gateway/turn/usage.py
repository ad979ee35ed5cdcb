"""Record what a turn has used, in the transaction that ends it."""

from __future__ import annotations

from collections.abc import Mapping

from agent.spent import CALLS, Spent
from gateway.pipeline.turn import Turn
from gateway.services import Services
from gateway.settings import Settings
from gateway.storage.ledger.usage import TurnUsage
from tape.entry import EVENT
from tape.unit_of_work import Unit

MILLION = 1_000_000


async def record_usage(services: Services, unit: Unit, turn: Turn) -> None:
    """Add a turn's usage to the unit of work that ends the turn, however it ends."""
    author, session_id = turn.message.sender, turn.question.session_id
    for model, counts in (await _spent(turn)).models.items():
        cached = min(counts["cached_tokens"], counts["prompt_tokens"])
        usage = TurnUsage(
            turn.id,
            model,
            services.clock.now().date().isoformat(),
            session_id,
            f"{turn.message.channel}:{author.id}",
            author.name,
            calls=counts[CALLS],
            input=counts["prompt_tokens"] - cached,
            cached=cached,
            output=counts["completion_tokens"],
            cost=cost_of(services.settings, model, counts),
        )
        services.ledger.usage.record(unit, usage)


def cost_of(settings: Settings, model: str, counts: Mapping[str, int]) -> float:
    """Return what tokens cost by the model's prices, which are per million tokens."""
    prices = settings.model(model)
    prompt, output = counts["prompt_tokens"], counts["completion_tokens"]
    cached = min(counts["cached_tokens"], prompt)
    of_cached = prices.price_input if prices.price_cached is None else prices.price_cached
    cost = (prompt - cached) * prices.price_input + cached * of_cached
    return (cost + output * prices.price_output) / MILLION


async def _spent(turn: Turn) -> Spent:
    if not turn.question.turn_id:
        return turn.log.spent
    # An earlier process began the turn: only the tape knows what it used until then.
    spent = Spent()
    for entry in await turn.tape.find(turn=turn.id, kinds=(EVENT,)):
        spent.take(entry)
    for deferred in turn.log.deferred:
        spent.take(deferred)
    return spent
