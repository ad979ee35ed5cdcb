"""Accept messages where several processes share the work."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import anyio

from channels.message import InboundMessage
from gateway.access.pairing import PAIRED, Pairing
from gateway.logs import get_log
from gateway.services import Services
from gateway.sharing.shared import CHANGED
from gateway.sharing.workers import VOID_CODE
from gateway.storage.ledger.rows import InboxRow
from tape.errors import UnitFailed


async def accept_for_all(
    services: Services,
    pairing: Pairing,
    messages: Sequence[InboundMessage],
    kept_back: Collection[tuple[str, str]] | None,
) -> list[InboxRow]:
    """Write messages to their sessions; whoever holds these takes them in.

    Once something is written, it is queued as well, even if the caller is cancelled.
    """
    shared = services.shared
    assert shared is not None
    # A plugin may take its time for that: nothing is written yet, so it may be cancelled.
    sessions = [await accepted_in(services, message) for message in messages]
    places = [(one, services.tapes.session_tape(one).name) for one in sessions]
    accept, once, works = shared.sessions.accept, services.guard.once, shared.works
    pairs = any(message.change == PAIRED for message in messages)
    code = pairing.used if pairs else ""
    with anyio.CancelScope(shield=True):
        try:
            rows, arrivals = await once(
                lambda: accept(messages, kept_back, places, code, works=works)
            )
        except UnitFailed as failed:
            if failed.statement != VOID_CODE:
                raise
            late = [pairing.too_late(message) for message in messages]
            rows, arrivals = await once(lambda: accept(late, kept_back, places, works=works))
        shared.accepted(rows, arrivals)
    if code:
        shared.bus.send(CHANGED)
    return rows


async def accepted_in(services: Services, message: InboundMessage) -> str:
    """Return the session that a message will be taken in as a part of."""
    try:
        return await services.pipeline.resolve_session(message)
    except Exception as cause:  # a plugin's error must not keep a platform from being answered
        get_log().error("hook.resolve_session_failed", exc_info=cause)
        return services.pipeline.default_session(message)
