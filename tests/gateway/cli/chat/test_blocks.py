"""Cutting a growing text into its blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.chat.blocks import BlockReader, TextBlock


def read(*pieces: str) -> list[TextBlock]:
    reader = BlockReader()
    done = [block for piece in pieces for block in reader.feed(piece)]
    return done + reader.close()


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one\ntwo", ["one\ntwo"]),
        ("one\n\ntwo", ["one", "two"]),
        ("# Title\nunder it", ["# Title", "under it"]),
        ("text\n## Title", ["text", "## Title"]),
        ("- a\n- b\n  - c", ["- a", "- b\n  - c"]),
        ("- a\n\n  still a\n\nnot a", ["- a\n\n  still a", "not a"]),
        ("1. Run\n   ```\n   a\n\n   b\n   ```", ["1. Run\n   ```\n   a\n\n   b\n   ```"]),
        ("| a |\n|---|\n| 1 |", ["| a |\n|---|\n| 1 |"]),
        ("> a\n> b", ["> a\n> b"]),
        ("```py\nx\n\n- y\n```", ["x\n\n- y"]),
        ("~~~\n```\n~~~\nafter", ["```", "after"]),
        ("\n\n", []),
    ],
)
def test_a_text_is_cut_between_its_top_level_blocks(text: str, blocks: list[str]) -> None:
    assert [block.text for block in read(text)] == blocks


def test_a_fence_has_its_language_and_others_have_none() -> None:
    assert [block.language for block in read("a\n```py\nx\n```\n```\ny")] == [None, "py", ""]


def test_a_block_knows_whether_a_blank_line_stands_above_it() -> None:
    blocks = read("a\n\nb\n```\nc\n```\n\nd\n- e")
    assert [(block.text, block.spaced) for block in blocks] == [
        ("a", False),
        ("b", True),
        ("c", False),
        ("d", True),
        ("- e", False),
    ]


def test_what_has_not_ended_is_open() -> None:
    reader = BlockReader()
    assert [block.text for block in reader.feed("one\n\ntw")] == ["one"]
    assert reader.open == TextBlock("tw", None, spaced=True)


@given(st.lists(st.text(st.sampled_from("ab \n-#>|*"), max_size=6), max_size=12))
def test_no_character_that_can_be_seen_is_lost_whatever_the_pieces(pieces: list[str]) -> None:
    seen = "".join(block.text for block in read(*pieces))
    assert "".join(seen.split()) == "".join("".join(pieces).split())


@given(st.text(st.sampled_from("ab \n-#`>|1."), max_size=60), st.integers(1, 7))
def test_the_size_of_the_pieces_changes_no_word(text: str, size: int) -> None:
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert "".join(block.text for block in read(*pieces)).split() == (
        "".join(block.text for block in read(text)).split()
    )
