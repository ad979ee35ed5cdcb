"""The estimate of tokens."""

from __future__ import annotations

from tape.tokens import estimate, estimate_message, estimate_text


def test_a_text_costs_a_quarter_of_its_bytes() -> None:
    assert estimate_text("abcdefgh") == 2
    assert estimate_text("中文字符") == 3
    assert estimate_text("") == 0


def test_a_text_with_a_lone_surrogate_is_estimated_all_the_same() -> None:
    assert estimate_text("abc\ud800defg") >= 2


def test_a_message_costs_six_beside_its_text() -> None:
    assert estimate_message({"role": "user", "content": "abcdefgh"}) == 8


def test_messages_cost_the_sum() -> None:
    one = {"role": "user", "content": "abcdefgh"}
    assert estimate([one, one, one]) == 3 * estimate_message(one)
    assert estimate([]) == 0


def test_calls_and_parts_are_counted() -> None:
    call = {"id": "c1", "function": {"name": "tape.search", "arguments": '{"query": "tea"}'}}
    bare = estimate_message({"role": "assistant", "content": ""})
    assert estimate_message({"role": "assistant", "content": "", "tool_calls": [call]}) > bare + 15
    parts = [{"type": "text", "text": "x" * 400}]
    assert estimate_message({"role": "user", "content": parts}) > 100
