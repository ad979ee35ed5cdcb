"""What of a prompt is cached and what it costs, against values worked out by hand."""

from __future__ import annotations

from bench.replay.prompts import Call, Piece, Prompts, pieces_of

FRAME = 100
A, B, C = Piece(b"a", 10), Piece(b"b", 20), Piece(b"c", 40)
MINUTE = 60.0


def test_nothing_of_the_first_prompt_is_cached() -> None:
    assert Prompts(FRAME).send(0, [1], [A, B]) == Call((1,), 130, (0, 0))


def test_the_longest_prefix_that_was_sent_is_cached_with_what_stands_before_it() -> None:
    prompts = Prompts(FRAME)
    prompts.send(0, [], [A, B])
    prompts.send(1, [], [A, C])
    assert prompts.send(2, [], [A, B, C]).cached == (130, 130)
    assert prompts.send(3, [], [C, A]).cached == (100, 100)


def test_a_provider_forgets_after_an_hour_or_after_five_minutes() -> None:
    prompts = Prompts(FRAME)
    prompts.send(0, [], [A])
    assert prompts.send(5 * MINUTE, [], [A, B]).cached == (110, 110)
    assert prompts.send(11 * MINUTE, [], [A, B]).cached == (130, 0)
    assert prompts.send(72 * MINUTE, [], [A]).cached == (0, 0)


def test_a_cached_token_costs_a_tenth() -> None:
    assert Call((), 130, (100, 0)).cost == 40
    assert Call((), 130, (0, 0)).cost == 130


def test_a_message_costs_its_bytes_by_four_and_six() -> None:
    (piece,) = pieces_of([{"role": "user", "content": "äh" * 4}])
    assert piece.tokens == 12 // 4 + 6
