"""The SQL of a query: which index it goes by."""

from __future__ import annotations

import re
from typing import Final

import apsw
import pytest

from tape.database.connection import migrate
from tape.database.query_compiler import MAX_BRANCHES, UNINDEXED_EVENTS, compose
from tape.query import Query
from tape.stores.sqlite import tape_schema

MANY: Final = tuple(f"name {number}" for number in range(MAX_BRANCHES + 1))
PLANS: Final = {
    "entry_anchor": Query("t", kinds=("anchor",), names=("a", "b"), limit=3),
    "entry_anchor_order": Query("t", kinds=("anchor",), since="2026", newest=True),
    "entry_event": Query("t", kinds=("event",), name="message.delete", after=7),
    "entry_author": Query("t", authors=("a", "b", "c"), text="word", newest=True, limit=3),
    "entry_kind": Query("t", kinds=("error", "tool_call"), limit=1),
    "entry_lane": Query("t", lane="a", author="b", kinds=("message",), limit=1),
    "entry_turn": Query("t", turn="a", kinds=("message",)),
    "INTEGER PRIMARY KEY": Query("t", kinds=("message",), after=5, limit=3, newest=True),
}


def plan_of(query: Query) -> str:
    schema = tape_schema()
    connection = apsw.Connection(":memory:")
    migrate(connection, [schema])
    connection.create_scalar_function("entry_says", lambda *_: True, 3)
    sql, values = compose(query, schema.statements)
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", {"tape": 1, **values})
    return "\n".join(row[3] for row in rows)


@pytest.mark.parametrize(("index", "query"), PLANS.items(), ids=PLANS.keys())
def test_a_query_seeks_and_sorts_nothing(index: str, query: Query) -> None:
    plan = plan_of(query)
    assert f"INDEX {index} (" in plan or f"USING {index} (" in plan
    assert "SCAN entry" not in plan
    assert "TEMP B-TREE" not in plan


def test_names_that_every_turn_leaves_and_many_names_are_held_to_each_entry() -> None:
    for query in (Query("t", name="turn.start", limit=1), Query("t", names=MANY, limit=1)):
        plan = plan_of(query)
        assert "USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in plan
        assert "TEMP B-TREE" not in plan


def test_the_events_without_an_index_are_the_same_in_python_and_in_sql() -> None:
    schema = tape_schema()
    texts = [*schema.migrations, schema.statements["tape.by_event_name"]]
    lists = re.findall(r"name NOT IN\s*\(([^)]*)\)", "\n".join(texts))
    assert len(lists) == 2
    assert all(set(re.findall(r"'([^']+)'", one)) == UNINDEXED_EVENTS for one in lists)
