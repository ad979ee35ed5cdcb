"""The window of a platform in which nobody can know whether a message was made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tests.chaos.record import Record, Sent

RECEIPT_SECONDS: Final = 1.0
"""A kill so soon after a send counts as one between the request and its receipt."""

START_SECONDS: Final = 0.1
"""A gateway takes longer than this before it sends: until then a request is of the one before."""


@dataclass(frozen=True, slots=True)
class Window:
    """How a platform's window is judged.

    causes  the moments that may have cut a message off from its receipt; none: it is certain
    cuts    the moments that may have cut off anything that was sent to a place
    late    the moments at which a process may have stopped with a request that it made later
    """

    causes: Callable[[Record, int, str], frozenset[float]]
    cuts: Callable[[Record, int], frozenset[float]]
    late: Callable[[Record, int, str], frozenset[float]] = lambda _record, _place, _id: frozenset()


def _receipt_causes(record: Record, place: int, message_id: str) -> frozenset[float]:
    for sent in record.sent:
        if (sent.place, sent.message_id) == (place, message_id):
            return _cut_off(record, sent)
    return frozenset()


def _cut_off(record: Record, sent: Sent) -> frozenset[float]:
    until = sent.applied_at + RECEIPT_SECONDS
    killed = frozenset(
        kill for kill in record.kills if sent.called_at <= _gone(record, kill) and kill <= until
    )
    # A request that was answered by a kill was cut off by that kill, once.
    return killed or (frozenset() if sent.heard else frozenset({sent.called_at}))


def _gone(record: Record, kill: float) -> float:
    """Return until when a request may still come in from a gateway that was killed."""
    return min((start for start in record.starts if start >= kill), default=kill) + START_SECONDS


def _receipt_cuts(record: Record, place: int) -> frozenset[float]:
    unheard = {sent.called_at for sent in record.sent if sent.place == place and not sent.heard}
    return frozenset({*record.kills, *unheard})


RECEIPTS: Final = Window(_receipt_causes, _receipt_cuts)
"""Between a request and its receipt: a platform where a second send is a second message."""

NONE: Final = Window(lambda _record, _place, _id: frozenset(), lambda _record, _place: frozenset())
"""A place where a second send under the same key is the same message: nothing is uncertain."""
