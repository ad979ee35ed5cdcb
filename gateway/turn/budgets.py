"""The budgets of people: a turn is counted when it begins; once they are used up, it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.tool import Role
from agent.tools.words import as_code
from channels.message import OutboundMessage
from gateway.delivery.outbox import commit_with_sends, outbound_event
from gateway.hooks.messages import address_of
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.settings.sections import BudgetSettings
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.budgets import SPEND, DayLimits, Spender
from gateway.storage.ledger.rows import OutboxRow
from tape.entry import event
from tape.errors import UnitFailed
from tape.unit_of_work import Unit

WHY: Final = "the day's budget is used up"
USED_UP: Final = (
    "I've answered you here as much as I may today. Please ask me again tomorrow (my day begins at"
    " 00:00 UTC). Until then, I read along without answering you."
)
OWNERS_HEAR: Final = (
    "{name} has used up today's answers in {chat}. `tapeway usage --by person` shows what everybody"
    " used; the settings that begin with TAPEWAY_BUDGET__ say how much a person may."
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


async def check(services: Services, question: Question) -> None:
    """Raise UnitFailed if no turns are left: tapes in files would begin one all the same."""
    limits = limits_of(services.settings.budget, question.role)
    if limits is not None and limits.turns:
        used, _refused = await services.ledger.budgets.read(_spender(services, question))
        if used >= limits.turns:
            raise UnitFailed(SPEND, 1, 0)


def is_used_up(cause: UnitFailed) -> bool:
    return cause.statement == SPEND


async def refuse(
    services: Services, question: Question, owners: Sequence[AccessRule] = ()
) -> list[OutboxRow]:
    """End a question without a turn; return the notices to send.

    Its author gets one a day, and so does each owner, in private, for all people together. That is
    decided once, and then written however often the database does not answer.
    """
    who, message = _spender(services, question), question.message
    retrying, read = services.guard.retrying, services.ledger.budgets.read
    _turns, refused = await retrying("refusal", lambda: read(who))
    sends = []
    if not refused:
        get_log().warning("budget.used_up", person=who.person, session=who.session_id)
        idem = f"n-budget:{message.account}:{who.person}:{who.session_id}:{who.day}"
        sends = [OutboundMessage(**address_of(message), text=USED_UP, kind="notice", idem=idem)]
        sends += [_to_owner(owner, question, who) for owner in owners if owner.private_chat]
    unit = Unit()
    services.ledger.inbox.end(unit, question.rows, "refused", WHY)
    services.ledger.budgets.refuse(unit, who)
    ended = {"status": "refused", "entries": list(question.entry_ids), "why": WHY}
    entries = [*map(outbound_event, sends), event("message.end", ended)]
    unit.append(question.tape, entries, key=f"inbox:{question.rows[0].id}:end")
    place = (question.session_id, question.lane)
    return await retrying("refusal", lambda: commit_with_sends(services, unit, sends, *place))


def _to_owner(owner: AccessRule, question: Question, who: Spender) -> OutboundMessage:
    message = question.message
    text = OWNERS_HEAR.format(name=as_code(who.name), chat=as_code(who.session_id))
    idem = f"n-budget-owner:{owner.account_id}:{owner.id}:{who.day}"
    place = (message.channel, owner.private_chat, text, idem, message.account)
    return OutboundMessage(*place, kind="notice")


def _spender(services: Services, question: Question) -> Spender:
    day = services.clock.now().date().isoformat()
    name = question.message.sender.name
    return Spender(day, question.asker, question.session_id, name)
