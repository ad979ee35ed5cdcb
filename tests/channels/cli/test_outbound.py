"""Printing an answer while it is written."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from channels.cli.format import to_terminal
from channels.cli.outbound import Printer


def test_a_growing_text_is_printed_piece_by_piece() -> None:
    printer = Printer()
    texts = ("Hel", "Hello", "Hello", "Hello you")
    assert [printer.next("m1", text) for text in texts] == ["Hel", "lo", "", " you"]
    assert printer.finish("m1", "Hello you!") == "!\n"


def test_a_text_that_changed_begins_again_on_a_new_line() -> None:
    printer = Printer()
    printer.next("m1", "wrong")
    assert printer.next("m1", "right") == "\n[starting over]\nright"
    assert printer.finish("m1", "right!") == "!\n"


def test_a_message_that_was_never_a_draft_is_printed_whole() -> None:
    printer = Printer()
    assert printer.finish("m1", "Hello") == "Hello\n"
    assert printer.next("m1", "Hello") == "Hello"


def test_two_answers_at_once_are_kept_apart() -> None:
    printer = Printer()
    assert printer.next("m1", "one") == "one"
    assert printer.next("m2", "two") == "two"
    assert printer.next("m1", "one more") == " more"
    printer.finish("m1", "one more")
    assert printer.next("m2", "two more") == " more"
    printer.finish("m2", "two more")
    assert printer.next("m2", "two") == "two"


def test_an_answer_of_the_same_id_starts_over_after_its_end() -> None:
    printer = Printer()
    printer.finish("m1", "Hello")
    assert printer.next("m1", "Hello") == "Hello"


@given(st.lists(st.text(st.sampled_from("ab\n\x1b[31m中\r"), max_size=4), max_size=8))
def test_what_was_printed_in_the_end_is_the_text_whatever_the_pieces(pieces: list[str]) -> None:
    printer = Printer()
    whole = "".join(pieces)
    printed = "".join(printer.next("m1", text) for text in accumulate(pieces))
    assert printed + printer.finish("m1", whole) == to_terminal(whole) + "\n"


def test_a_sentence_in_the_place_of_what_was_begun_stands_on_its_own_line() -> None:
    printer = Printer()
    assert printer.next("m1", "half an ans") == "half an ans"
    assert printer.finish("m1", "Stopped.") == "\nStopped.\n"
    assert printer.next("m1", "Stopped.") == "Stopped."


def test_what_is_said_after_an_answer_was_cut_off_stands_on_its_own_line() -> None:
    printer = Printer()
    assert printer.cut_off() == ""
    printer.next("m1", "half an ans")
    assert printer.cut_off() == "\n"
    assert printer.cut_off() == ""
