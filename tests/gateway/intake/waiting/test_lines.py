"""Who asks goes first; order holds within a session, and sessions let each other in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.intake.waiting.lines import MAX_RUN, SessionLines


def taken(lines: SessionLines, most: int = 1000) -> list[int]:
    """Take what goes next, as if it was placed at once."""
    found, _urgent = lines.take(most)
    lines.settle()
    return [number for _key, number in found]


def all_taken(lines: SessionLines, most: int = 1) -> list[int]:
    found: list[int] = []
    while lines:
        found += taken(lines, most)
    return found


def test_a_question_goes_before_the_talk_of_other_sessions() -> None:
    lines = SessionLines()
    for number in range(1, 1001):
        lines.add("loud", number, urgent=False)
    lines.add("private", 1001, urgent=True)
    assert lines.take(64) == ([("private", 1001)], True)


def test_what_stands_before_a_question_in_its_session_comes_with_it_and_nothing_else() -> None:
    lines = SessionLines()
    lines.add("group", 1, urgent=False)
    lines.add("other", 2, urgent=False)
    lines.add("group", 3, urgent=True)
    lines.add("group", 4, urgent=False)
    assert lines.take(64) == ([("group", 1), ("group", 3)], True)
    lines.settle()
    assert not lines.has_urgent


def test_of_questions_the_older_goes_first() -> None:
    lines = SessionLines()
    for number, key in enumerate("cab", start=1):
        lines.add(key, number, urgent=True)
    assert all_taken(lines) == [1, 2, 3]


def test_a_flood_of_mentions_in_one_session_lets_others_in_between() -> None:
    lines = SessionLines()
    for number in range(1, 1001):
        lines.add("flood", number, urgent=True)
    assert all_taken(lines)[:3] == [1, 2, 3]
    for number in range(1, 1001):
        lines.add("flood", number, urgent=True)
    lines.add("one", 2001, urgent=True)
    lines.add("two", 2002, urgent=True)
    assert set(taken(lines, 4)) == {1, 2, 2001, 2002}


def test_a_session_that_asks_for_the_first_time_does_not_catch_up_with_a_long_flood() -> None:
    lines = SessionLines()
    for number in range(1, 101):
        lines.add("flood", number, urgent=True)
    for _ in range(50):
        taken(lines, 1)
    for number in range(201, 301):
        lines.add("newcomer", number, urgent=True)
    first = taken(lines, 20)
    assert len([number for number in first if number > 200]) in (10, 11)


def test_a_session_with_endless_talk_before_its_question_lets_others_in_between() -> None:
    lines = SessionLines()
    for number in range(1, 1000):
        lines.add("long", number, urgent=False)
    lines.add("long", 1000, urgent=True)
    assert taken(lines, 64) == list(range(1, 65))
    lines.add("short", 1001, urgent=True)
    assert taken(lines, 64)[0] == 1001
    assert 1000 in all_taken(lines, 64)


def test_questions_from_before_the_start_come_behind_new_ones_by_their_age() -> None:
    lines = SessionLines()
    lines.add("old", 1, urgent=True, old=True)
    lines.add("older", 2, urgent=True, old=True)
    lines.add("new", 10, urgent=True)
    lines.add("newer", 11, urgent=True)
    assert all_taken(lines) == [10, 11, 1, 2]


def test_a_new_question_takes_what_its_session_has_left_over_before_it() -> None:
    lines = SessionLines()
    lines.add("one", 1, urgent=True, old=True)
    lines.add("two", 2, urgent=True, old=True)
    lines.add("two", 10, urgent=True)
    assert all_taken(lines) == [2, 10, 1]


def test_talk_is_taken_a_hundred_messages_of_one_session_before_the_next() -> None:
    lines = SessionLines()
    for number in range(1, 151):
        lines.add("a", number, urgent=False)
        lines.add("b", 1000 + number, urgent=False)
    order = all_taken(lines, 64)
    assert order[:MAX_RUN] == list(range(1, 101))
    assert order[MAX_RUN : 2 * MAX_RUN] == list(range(1001, 1101))


def test_talk_that_gave_way_goes_on_where_it_was() -> None:
    lines = SessionLines()
    for number in range(1, 11):
        lines.add("a", number, urgent=False)
    lines.add("b", 100, urgent=False)
    found, _urgent = lines.take(64)
    for key, number in reversed(found[3:]):
        lines.add(key, number, urgent=False, again=True)
    lines.settle()
    assert taken(lines) == [4, 5, 6, 7, 8, 9, 10, 100]


def test_a_line_that_is_merged_waits_in_the_order_of_acceptance() -> None:
    lines = SessionLines()
    for number, key in enumerate(["new", "old", "new", "old"], start=1):
        lines.add(key, number, urgent=False)
    lines.merge("new", "old")
    assert all_taken(lines) == [1, 2, 3, 4]
    assert len(lines) == 0


@given(
    st.lists(
        st.one_of(
            st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), st.integers(1, 9)
        )
    )
)
def test_nothing_is_lost_or_doubled_and_each_session_keeps_its_order(
    steps: list[tuple[str, bool, bool] | int],
) -> None:
    lines, found = SessionLines(), list[tuple[str, int]]()
    added, number = list[tuple[str, int]](), 0
    for step in [*steps, 1000, 1000, 1000]:
        if isinstance(step, int):
            some, urgent = lines.take(step)
            placed = some[: max(1, len(some) // 2)] if step < 1000 else some
            for key, one in reversed(some[len(placed) :]):
                lines.add(key, one, urgent=urgent and bool(one % 2), again=True)
            lines.settle()
            found += placed
        else:
            key, urgent, old = step
            number += 1
            lines.add(key, number, urgent=urgent, old=old and number < 5)
            added.append((key, number))
    while lines:
        found += lines.take(7)[0]
        lines.settle()
    for key in "abc":
        assert [one for one in found if one[0] == key] == [one for one in added if one[0] == key]
