"""What holds of calls and results that are paired for a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tape.context import Message, pair_up

call_ids = st.sampled_from(["c1", "c2", "c3"])
wire_messages = st.lists(
    st.builds(lambda n: {"role": "user", "content": f"u{n}"}, st.integers(0, 9))
    | st.builds(
        lambda ids, content: {
            "role": "assistant",
            "content": content,
            "tool_calls": [{"id": one} for one in ids],
        },
        st.lists(call_ids | st.none(), max_size=3, unique=True),
        st.sampled_from(["", "I look"]),
    )
    | st.builds(lambda one: {"role": "tool", "tool_call_id": one, "content": "r"}, call_ids)
    | st.just({"role": "tool", "content": "stray"}),
    max_size=12,
)


def unpaired(messages: list[Message]) -> list[Message]:
    """Return what a provider would refuse: calls and results that do not meet at once."""
    wrong: list[Message] = []
    open_calls: list[str] = []
    for one in [*messages, {"role": "end"}]:
        if one["role"] == "tool":
            call_id = one.get("tool_call_id")
            if call_id is not None and call_id in open_calls:
                open_calls.remove(call_id)
            else:
                wrong.append(one)
            continue
        if open_calls:
            wrong.append(one)
        open_calls = [call["id"] for call in one.get("tool_calls") or ()]
    return wrong


def is_in_order(kept: list[Message], given: list[Message]) -> bool:
    """Return whether the kept messages are in their original order."""
    plain = [one for one in kept if one["role"] == "user"]
    if plain != [one for one in given if one["role"] == "user"]:
        return False
    rest = iter(one for one in given if one["role"] != "tool")
    steps = (one for one in kept if one["role"] != "tool")
    return all(any(_is_from(step, other) for other in rest) for step in steps)


def _is_from(step: Message, other: Message) -> bool:
    return bool((step["role"], step["content"]) == (other["role"], other["content"]))


@given(wire_messages)
def test_pairing_leaves_nothing_unpaired_and_keeps_the_order(messages: list[Message]) -> None:
    kept = pair_up(messages)
    assert unpaired(kept) == []
    assert is_in_order(kept, messages)
    assert pair_up(kept) == kept


@given(wire_messages)
def test_pairing_keeps_everything_that_is_paired(messages: list[Message]) -> None:
    if not unpaired(messages) and all(one.get("tool_calls", True) for one in messages):
        assert pair_up(messages) == messages
