"""Counts of entries: what is counted, and that parts add up in any order."""

from __future__ import annotations

from random import Random

import pytest

from tape.entry import Entry, anchor, error, event, message, tool_call
from tape.rollups import BLOCK_IDS, blocks_of, counts_of, hour_of

DATE = "2026-01-02T03:04:05.000000+00:00"
SORTS = {
    "said": message("user", "hello", inbox=1, lane="said:1", text="hello"),
    "answered": message("assistant", "hi", final=True, turn="t"),
    "failed": event("turn.end", {"turn": "t", "status": "failed"}),
    "refused": event("access.refused", {"author": "1"}),
    "changed": event("message.delete", {"entry": 1, "message_id": "1"}),
    "anchors": anchor("bread"),
}
OTHERS = [
    message("user", "[said] hello", prompt_of=1),
    message("assistant", "let me see", turn="t"),
    message("user", "", erased="2026-01-31", inbox=1),
    event("turn.end", {"turn": "t", "status": "done"}),
    event("turn.end"),
    tool_call([]),
    error("lost"),
]


def placed(number: int, sort: str) -> Entry:
    new = SORTS[sort]
    return Entry(number, new.kind, new.payload, new.meta, DATE)


@pytest.mark.parametrize("sort", sorted(SORTS))
def test_an_entry_is_counted_as_what_it_is_and_as_nothing_else(sort: str) -> None:
    (block,) = counts_of([placed(2000, sort)]).blocks.values()
    counts = {name: getattr(block, name) for name in SORTS}
    assert counts == {**dict.fromkeys(SORTS, 0), sort: 1}
    assert (block.slot, block.entries, block.first, block.oldest) == (1, 1, 2000, DATE)


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_what_people_do_not_see_as_something_is_only_an_entry(number: int) -> None:
    new = OTHERS[number]
    (block,) = counts_of([Entry(9, new.kind, new.payload, new.meta, DATE)]).blocks.values()
    assert sum(getattr(block, name) for name in SORTS) == 0
    assert block.entries == 1


def test_parts_add_up_in_any_order() -> None:
    random = Random(4)
    names = sorted(SORTS)
    entries = [placed(number, random.choice(names)) for number in range(1, 3000)]
    mixed = random.sample(entries, len(entries))
    assert counts_of(mixed).blocks == counts_of(entries).blocks
    assert counts_of(mixed).lanes == counts_of(entries).lanes
    assert blocks_of(entry.id for entry in mixed) == [0, 1, 2]
    assert counts_of(entries).blocks[1].entries == BLOCK_IDS


def test_a_date_that_cannot_be_read_is_in_the_first_hour() -> None:
    assert hour_of("1970-01-01T02:30:00+00:00") == 2
    assert hour_of("yesterday") == 0
