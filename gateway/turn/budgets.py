"""The budgets of people: a turn is counted when it begins; once they are used up, it is refused."""

from __future__ import annotations

from typing import Final

from agent.tool import Role
from channels.message import OutboundMessage
from gateway.delivery.outbox import commit_with_sends, outbound_event
from gateway.hooks.messages import address_of
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.settings.sections import BudgetSettings
from gateway.storage.ledger.budgets import SPEND, DayLimits, Spender
from gateway.storage.ledger.rows import OutboxRow
from tape.entry import event
from tape.errors import UnitFailed
from tape.unit_of_work import Unit

WHY: Final = "the day's budget is used up"
USED_UP: Final = (
    "I've answered you here as often as I may today. Please ask me again tomorrow (my day begins at"
    " 00:00 UTC). Until then, I read along without answering you."
)


def limits_of(settings: BudgetSettings, role: Role) -> DayLimits | None:
    """Return what a role may use per person, chat and day, or None for the owner."""
    if role >= Role.OWNER:
        return None
    if role >= Role.MEMBER:
        return DayLimits(settings.member_turns, settings.member_tokens, settings.member_cost)
    return DayLimits(settings.stranger_turns, settings.stranger_tokens, settings.stranger_cost)


def spend(services: Services, unit: Unit, question: Question) -> None:
    """Count a question's turn in the unit that begins it; a resumed turn was counted before."""
    limits = limits_of(services.settings.budget, question.role)
    if limits is not None and not question.turn_id:
        services.ledger.budgets.spend(unit, _spender(services, question), limits)


def is_used_up(cause: UnitFailed) -> bool:
    return cause.statement == SPEND


async def refuse(services: Services, question: Question) -> list[OutboxRow]:
    """End a question without a turn; return the notice, which its author gets once a day."""
    who, message = _spender(services, question), question.message
    first = not await services.ledger.budgets.refused(who)
    sends = []
    if first:
        get_log().warning("budget.used_up", person=who.person, session=who.session_id)
        idem = f"n-budget:{message.account}:{who.person}:{who.session_id}:{who.day}"
        sends = [OutboundMessage(**address_of(message), text=USED_UP, kind="notice", idem=idem)]
    unit = Unit()
    services.ledger.inbox.end(unit, question.rows, "refused", WHY)
    services.ledger.budgets.refuse(unit, who)
    ended = {"status": "refused", "entries": list(question.entry_ids), "why": WHY}
    entries = [*map(outbound_event, sends), event("message.end", ended)]
    unit.append(question.tape, entries, key=f"inbox:{question.rows[0].id}:end")
    return await commit_with_sends(services, unit, sends, question.session_id, question.lane)


def _spender(services: Services, question: Question) -> Spender:
    day = services.clock.now().date().isoformat()
    name = question.message.sender.name
    return Spender(day, question.asker, question.session_id, name)
