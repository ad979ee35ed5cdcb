"""The fence: what a process may still write about sessions that it has lost."""

from __future__ import annotations

import pytest

from gateway.sharing.claims import HeldSessions
from gateway.sharing.fencing import Fencing
from gateway.storage.ledger.leases import Leases
from tape.errors import SessionLost
from tape.stores.memory import MemoryStore
from tape.unit_of_work import Unit
from tests.clock import ManualClock


def test_a_turn_does_not_begin_in_a_session_that_was_lost() -> None:
    fencing = Fencing(HeldSessions("aa", ManualClock(), 60), str, lambda _arrival: None)
    unit = Unit()
    Leases(MemoryStore(), "aa").claim(unit, "telegram:1", "t")
    with pytest.raises(SessionLost):
        fencing.framed(unit)
