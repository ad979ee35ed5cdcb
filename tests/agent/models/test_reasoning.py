"""Reasoning that stands in a model's text never gets into the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model import Piece, ReasoningPiece, ResetPiece, TextPiece
from agent.models.reasoning import InlineReasoning, TextSplitter


def split(
    text: str, inline: InlineReasoning | None = None, size: int = 3, *, complete: bool = True
) -> tuple[str, str]:
    """Return the reasoning and the text that are left of an answer."""
    pieces = pieces_of(text, inline or InlineReasoning(), size, complete=complete)
    said = ""
    for piece in pieces:
        if isinstance(piece, TextPiece):
            said += piece.delta
        elif isinstance(piece, ResetPiece):
            said = ""
    return "".join(one.delta for one in pieces if isinstance(one, ReasoningPiece)), said


def pieces_of(
    text: str, inline: InlineReasoning, size: int, *, complete: bool = True
) -> list[Piece]:
    splitter = TextSplitter(inline)
    deltas = [text[start : start + size] for start in range(0, len(text), size)]
    pieces = [piece for delta in deltas for piece in splitter.feed(delta)]
    pieces += splitter.end(complete=complete)
    if not any(isinstance(piece, ResetPiece) for piece in pieces):
        shown = [piece.delta for piece in pieces if isinstance(piece, TextPiece)]
        assert "".join(splitter.texts) == "".join(shown)
    return pieces


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 100])
@pytest.mark.parametrize(
    "text",
    [
        "<think>hm</think>yes",
        "\n<think>hm</think>\n\nyes",
        "<thinking>hm</thinking> yes",
        "[THINK]hm[/THINK]yes",
        "<thought>hm</thought>yes",
        "<think></think>\n<think>hm</think>yes",
    ],
)
def test_reasoning_at_the_beginning_is_no_text_wherever_it_is_cut(text: str, size: int) -> None:
    assert split(text, size=size) == ("hm", "yes")


@pytest.mark.parametrize("size", [1, 4, 100])
def test_reasoning_that_is_never_closed_is_no_text(size: int) -> None:
    assert split("<think>I wonder </thin", size=size) == ("I wonder </thin", "")


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(
    "text",
    [
        "Models write <think>hm</think> first.",
        "`</think>` ends it.",
        "```xml\n<think>\nhm\n</think>\n```",
        "It is:\n\n    </think>\n",
        "a < b and [x](y) [/T",
        "<thinker> is no tag",
        "<",
        " \n ",
    ],
)
def test_tags_in_code_and_in_the_middle_are_text(text: str, size: int) -> None:
    inline = InlineReasoning()
    assert split(text, inline, size) == ("", text)
    assert not inline.begins_open


@given(st.text(alphabet="ab<>/thinkTHINK[]` \n", max_size=60), st.integers(1, 9))
def test_how_an_answer_is_cut_changes_nothing(text: str, size: int) -> None:
    assert split(text, size=size) == split(text, size=len(text) or 1)


@pytest.mark.parametrize("size", [1, 4])
def test_a_closing_tag_without_an_opening_one_takes_the_draft_back_and_is_learned(
    size: int,
) -> None:
    changes: list[bool] = []
    inline = InlineReasoning(learned=changes.append)
    first = pieces_of("I wonder.\n</think>\n\nyes", inline, size)
    assert sum(isinstance(piece, ResetPiece) for piece in first) == 1
    assert first[-1] == TextPiece("s" if size == 1 else "yes")
    assert changes == [True]
    later = pieces_of("Once more.</think>no", inline, size)
    assert not any(isinstance(piece, ResetPiece) for piece in later)
    assert split("Once more.</think>no", inline, size) == ("Once more.", "no")
    assert changes == [True]


def test_an_answer_without_a_tag_is_given_at_its_end_and_unlearns_it() -> None:
    changes: list[bool] = []
    inline = InlineReasoning(known=True, learned=changes.append)
    assert split("just an answer", inline)[1] == "just an answer"
    assert changes == [False]
    assert not inline.begins_open


def test_an_answer_that_was_cut_before_the_tag_stays_reasoning() -> None:
    inline = InlineReasoning("open")
    assert split("I wonder whe", inline, complete=False) == ("I wonder whe", "")
    assert inline.begins_open


def test_open_may_be_set_beforehand() -> None:
    inline = InlineReasoning("open")
    assert split("hm</think>yes", inline) == ("hm", "yes")
    assert split("<think>hm</think>yes", inline) == ("hm", "yes")
    split("just an answer", inline)
    assert inline.begins_open


def test_a_server_that_sends_reasoning_apart_is_not_held_back() -> None:
    splitter = TextSplitter(InlineReasoning("open"))
    splitter.apart = True
    assert splitter.feed("yes") == [TextPiece("yes")]


def test_off_leaves_text_alone() -> None:
    text = "<think>hm</think>yes"
    assert split(text, InlineReasoning("off")) == ("", text)


def test_the_tags_are_a_parameter() -> None:
    inline = InlineReasoning(tags=("reason", "◁think▷"))
    assert split("<reason>hm</reason>yes", inline) == ("hm", "yes")
    assert split("◁think▷hm◁/think▷yes", inline) == ("hm", "yes")
    assert split("<think>hm</think>yes", inline) == ("", "<think>hm</think>yes")
