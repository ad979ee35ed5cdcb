"""A message while it is being written."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.chat.answer import Fold, MessageText


def written(*texts: str, final: str | None = None) -> list[str]:
    """Return the lines that were taken while a text grew, and at its end."""
    message = MessageText(lambda: 40, [])
    lines: list[str] = []
    for text in texts:
        message.write(text)
        lines += message.take()
    if final is not None:
        message.write(final, final=True)
        message.end()
    return plain(lines + message.take())


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]


def test_a_block_is_printed_once_it_has_ended() -> None:
    assert written("one", "one\n\ntw") == ["one"]
    assert written("one", "one\n\ntw", final="one\n\ntwo") == ["one", "", "two"]


def test_the_unfinished_block_is_live_with_its_marks_closed() -> None:
    message = MessageText(lambda: 40, [])
    message.write("one\n\nsome **bold")
    assert message.live() == ["some \x1b[1mbold\x1b[0m"]


def test_a_text_whose_final_part_changed_begins_again_and_nothing_is_hidden() -> None:
    lines = written("half an ans\n\nw", "other", final="other text")
    assert lines == ["half an ans", "", "w", "[starting over]", "other text"]


def test_a_text_that_is_written_a_second_time_is_printed_once() -> None:
    assert written("one\n\ntw", "o", "one\n", "one\n\ntwo\n\nth", final="one\n\ntwo") == [
        "one",
        "",
        "two",
    ]


def test_what_is_not_final_may_change_without_a_trace() -> None:
    assert written("one\n\nsome [li", final="one\n\nsome li") == ["one", "", "some li"]
    assert written("half an ans", final="Stopped.") == ["Stopped."]
    assert written("a\n\nb", "a\n\nc\n\nd", "a\n\nc\n\ne", final="a\n\nc") == ["a", "", "c"]


def test_space_at_the_end_that_the_final_text_lacks_is_no_change() -> None:
    assert written("all\n\nof it ", final="all\n\nof it\n\nEnd.") == [
        "all",
        "",
        "of it",
        "",
        "End.",
    ]
    assert written("all of it\n\n", final="all of it") == ["all of it"]


def test_characters_that_move_the_cursor_or_turn_text_around_are_escaped() -> None:
    lines = written(final="a\x1b[2Jb \u202ec")
    assert lines == ["a\\u001b[2Jb \\u202ec"]


def test_long_code_is_folded_and_kept_whole() -> None:
    folds: list[Fold] = []
    message = MessageText(lambda: 40, folds)
    code = "\n".join(f"x{n}" for n in range(40))
    message.write(f"```py\n{code}")
    assert plain(message.live())[-1] == "╰─ 28 more lines"
    message.write(f"```py\n{code}\n```\nend")
    message.end()
    lines = plain(message.take())
    assert lines[12:] == ["  x11", "╰─ 28 more lines; Ctrl-O shows them", "end"]
    assert folds == [("py", code)]


def test_short_code_is_shown_whole() -> None:
    assert written(final="```\na\nb\n```") == ["╭─", "  a", "  b", "╰─"]


@given(st.text(st.sampled_from("ab \n-#`>*[(\r"), max_size=80), st.integers(1, 9))
def test_the_end_looks_the_same_whatever_the_pieces(text: str, size: int) -> None:
    ends = range(size, len(text), size)
    growing = written(*(text[:end] for end in ends), final=text)
    whole = written(final=text)
    assert "".join(growing).split() == "".join(whole).split()
