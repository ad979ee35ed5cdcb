"""Ids in their order, as a sorted list has them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.intake.waiting.ids import SortedIds
from gateway.intake.waiting.lines import SessionLines

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 300)),
        st.tuples(st.just("take"), st.integers(1, 100)),
        st.tuples(st.just("remove"), st.sets(st.integers(1, 300))),
    )
)


@given(STEPS)
def test_ids_are_those_of_a_sorted_list(steps: list[tuple[str, object]]) -> None:
    ids, known = SortedIds(), list[int]()
    for what, value in steps:
        if isinstance(value, set):
            assert ids.remove(value) == sum(number in value for number in known)
            known = [number for number in known if number not in value]
        elif what == "add" and isinstance(value, int) and value not in known:
            ids.add(value)
            known = sorted([*known, value])
        elif what == "take" and isinstance(value, int):
            for _ in range(min(value, len(known))):
                assert ids.take() == known.pop(0)
        assert (list(ids), len(ids), bool(ids)) == (known, len(known), bool(known))
        assert all((number in ids) == (number in known) for number in range(301))
        if known:
            assert (ids.first, ids.last) == (known[0], known[-1])


def test_a_flood_in_one_line_is_cheap_to_promote_and_to_take_apart() -> None:
    # With a search from one end, this takes minutes: a test ends after three.
    lines, flood = SessionLines(), range(1, 200_001)
    for number in flood:
        lines.add("flood", number, urgent=False)
    for number in flood:
        lines.promote("flood", number)
    assert lines.has_urgent
    while lines:
        ahead = lines.next("flood", 65)
        lines.remove("flood", set(ahead[1:]))
        assert lines.take(1) == ([("flood", ahead[0])], True)
        lines.settle()
