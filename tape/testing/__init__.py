"""Checks that a tape store or a strategy keeps its contract, for any test framework.

Run every check in `STORE_CHECKS` and `SEARCH_CHECKS` on a new, empty store, those in `UNIT_CHECKS`
if the store has a unit of work, and those in `ERASING_CHECKS` if it can erase. `STORE_CHECKS`
includes `TAPE_CHECKS`, which read tapes. `STRATEGY_CHECKS` take a strategy of `tape.construct`. A
check that fails raises AssertionError.

    for check in (*STORE_CHECKS, *SEARCH_CHECKS):
        store = make_store()
        try:
            await check(store)
        finally:
            await store.close()
"""

from tape.testing.erasing import ERASING_CHECKS
from tape.testing.search import SEARCH_CHECKS
from tape.testing.stores import STORE_CHECKS, UNIT_CHECKS, StoreCheck, UnitCheck
from tape.testing.strategies import STRATEGY_CHECKS, StrategyCheck
from tape.testing.tapes import TAPE_CHECKS

__all__ = [
    "ERASING_CHECKS",
    "SEARCH_CHECKS",
    "STORE_CHECKS",
    "STRATEGY_CHECKS",
    "TAPE_CHECKS",
    "UNIT_CHECKS",
    "StoreCheck",
    "StrategyCheck",
    "UnitCheck",
]
