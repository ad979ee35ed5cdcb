"""Searches cost what they find, and leave the event loop its turns."""

from __future__ import annotations

from typing import Final

import pytest

from tape.deleted import deletion
from tape.entry import Entry, NewEntry, message
from tape.handle import Tape
from tape.memory import MemoryStore
from tape.query import Query

pytestmark = pytest.mark.anyio

T: Final = "chat"


class Reading(MemoryStore):
    """Counts the entries that it gave."""

    given = 0

    async def query(self, query: Query) -> list[Entry]:
        found = await super().query(query)
        self.given += len(found)
        return found


def said(text: str) -> NewEntry:
    return message("user", text)


async def test_a_search_reads_no_deletions_but_of_its_hits() -> None:
    store = Reading()
    tape = Tape(store, T)
    await tape.append(said("plum"), said("plum tart"))
    await tape.append(*(deletion(number, "x") for number in range(100, 600)), deletion(3, "3"))
    assert [entry.id for entry in await tape.search("plum")] == [4]
    assert store.given < 10
