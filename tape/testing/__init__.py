"""The conformance suites of tape stores, independent of any test framework.

Run every check of `STORE_CHECKS` and `SEARCH_CHECKS` on a fresh store of yours, and those of
`UNIT_CHECKS` if it has a unit of work. `TAPE_CHECKS`, which read tapes, are among `STORE_CHECKS`.
Checks raise AssertionError.

    for check in (*STORE_CHECKS, *SEARCH_CHECKS):
        store = make_store()
        try:
            await check(store)
        finally:
            await store.close()
"""

from tape.testing.search import SEARCH_CHECKS
from tape.testing.stores import STORE_CHECKS, UNIT_CHECKS, StoreCheck, UnitCheck
from tape.testing.tapes import TAPE_CHECKS

__all__ = [
    "SEARCH_CHECKS",
    "STORE_CHECKS",
    "TAPE_CHECKS",
    "UNIT_CHECKS",
    "StoreCheck",
    "UnitCheck",
]
