"""What providers put beside a message and its calls comes back as it was sent."""

from __future__ import annotations

from typing import Any

from agent.models.extras import CALL, MESSAGE, Extras


def collected(*deltas: dict[str, Any]) -> dict[str, Any]:
    extras = Extras(MESSAGE)
    for delta in deltas:
        extras.add(delta)
    return extras.whole(join=True)


def test_what_every_message_has_is_no_extra() -> None:
    plain: dict[str, Any] = {
        "role": "assistant",
        "content": "hi",
        "tool_calls": [],
        "refusal": None,
    }
    assert collected(plain) == {}


def test_texts_go_on_over_deltas() -> None:
    assert collected(
        {"reasoning_content": "The user "}, {"reasoning_content": None}, {"reasoning_content": "x"}
    ) == {"reasoning_content": "The user x"}


def test_lists_grow_and_objects_are_merged() -> None:
    one = {"blocks": [1], "extra_content": {"google": {"thought": True}}}
    two = {"blocks": [2], "extra_content": {"google": {"thought_signature": "c2ln"}}}
    assert collected(one, two) == {
        "blocks": [1, 2],
        "extra_content": {"google": {"thought": True, "thought_signature": "c2ln"}},
    }


def test_empty_fields_are_left_out() -> None:
    assert collected({"annotations": [], "reasoning": None, "reasoning_content": ""}) == {}


def test_openrouter_s_details_are_put_together_by_their_index() -> None:
    text = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
    sealed = {"type": "reasoning.encrypted", "data": "abc", "index": 1}
    found = collected(
        {"reasoning_details": [{**text, "text": "First "}]},
        {"reasoning_details": [{**text, "text": "thought"}]},
        {"reasoning_details": [{**text, "text": None, "signature": "sig"}]},
        {"reasoning_details": [sealed]},
    )
    whole = {**text, "text": "First thought", "signature": "sig"}
    assert found == {"reasoning_details": [whole, sealed]}


def test_sealed_details_are_never_joined() -> None:
    sealed = [
        {"type": "reasoning.encrypted", "data": name, "id": name, "index": 0} for name in "ab"
    ]
    assert collected(*[{"reasoning_details": [one]} for one in sealed]) == {
        "reasoning_details": sealed
    }


def test_the_details_of_a_whole_message_without_index_stay_apart() -> None:
    details = [{"type": "reasoning.text", "text": text} for text in ("one", "two")]
    assert collected({"reasoning_details": details}) == {"reasoning_details": details}


def test_a_call_keeps_what_stands_beside_its_function() -> None:
    extras = Extras(CALL)
    signed = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    extras.add({"index": 0, "id": "a", "function": {"name": "one"}, **signed})
    extras.add({"index": 0, "function": {"arguments": "{}"}, **signed})
    assert extras.whole(join=False) == signed
