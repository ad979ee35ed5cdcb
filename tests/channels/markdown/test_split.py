"""Pieces of a text: nothing is lost, everything is complete, all are within the limit."""

from __future__ import annotations

import time

import pytest
import regex  # type: ignore[import-untyped]
from hypothesis import assume, example, given
from hypothesis import strategies as st

from channels.markdown.render import render_spans, to_text
from channels.markdown.split import cut, first, split
from channels.markdown.tree import parse
from tests.channels.markdown.samples import (
    code_of,
    ends_in_code,
    has_in_order,
    letters,
    links_of,
    markdowns,
    rejoin,
)
from tests.kit.examples import examples

limits = st.sampled_from([60, 100, 250, 600])
WORD = "word "


def words_of(text: str) -> list[str]:
    """Return the words of a text's code: a cut adds a line end."""
    return code_of(text).split()


@examples(40)
@given(markdowns | st.text(), limits)
@example(" \n\t\n", 60)
@example("\n\na\n\n", 60)
def test_the_pieces_are_the_text(text: str, limit: int) -> None:
    pieces = cut(text, limit, len)
    assert rejoin(pieces) == (text if text.strip() else "")
    assert [piece.text for piece in pieces] == split(text, limit, len)
    assert all(0 < len(piece.text) <= limit and piece.text.strip() for piece in pieces)


@examples(40)
@given(markdowns, limits)
def test_no_letter_is_lost_between_the_pieces(text: str, limit: int) -> None:
    shown = " ".join(map(to_text, split(text, limit, len)))
    assert has_in_order(letters(shown), letters(to_text(text)))


@examples(40)
@given(markdowns, limits)
def test_no_grapheme_is_cut(text: str, limit: int) -> None:
    ends = {found.end() for found in regex.finditer(r"\X", text)}
    place = 0
    for piece in cut(text, limit, len):
        place += len(piece.source)
        assert place in ends


@examples(40)
@given(markdowns, limits)
def test_code_stays_code_and_no_piece_is_left_in_it(text: str, limit: int) -> None:
    infos = [
        len(e.data["Fenced"])
        for e in parse(text)
        if isinstance(e.data, dict) and "Fenced" in e.data
    ]
    assume(max(infos, default=0) < limit // 4)
    pieces = split(text, limit, len)
    assert [piece for piece in pieces[:-1] if ends_in_code(piece)] == []
    cut_code = "".join("".join(words_of(piece)) for piece in pieces)
    assert cut_code == "".join(words_of(text))


@examples(40)
@given(markdowns, limits)
def test_a_link_is_not_cut_if_it_fits(text: str, limit: int) -> None:
    whole = [e.end - e.start for e in parse(text) if e.name == "Link"]
    if max(whole, default=0) <= limit // 3:
        assert has_in_order(
            [url for piece in split(text, limit, len) for url in links_of(piece)], links_of(text)
        )


def test_a_fence_is_closed_and_opened_again_with_its_language() -> None:
    text = "~~~~python\n" + "".join(f"line {n}\n" for n in range(40)) + "~~~~\n\nend"
    pieces = split(text, 100, len)
    assert len(pieces) == 4
    assert all(p.startswith("~~~~python\nline ") for p in pieces[:-1])
    assert all("\n~~~~" in piece[5:] for piece in pieces[:-1])
    assert "".join(map(code_of, pieces)) == "".join(f"line {n}\n" for n in range(40))


def test_a_fence_in_a_list_in_a_quote_stays_there_as_far_as_it_can() -> None:
    body = "".join(f">   line {n}\n" for n in range(20))
    text = f"> - item\n>\n>   ```py\n{body}>   ```\n> - next"
    pieces = split(text, 80, len)
    assert pieces[0].startswith("> - item\n>\n>   ```py\n>   line 0\n")
    assert pieces[0].endswith("\n>   ```")
    assert pieces[1].startswith("> ```py\n> line ")
    assert "".join(map(code_of, pieces)) == "".join(f"line {n}\n" for n in range(20))
    assert pieces[-1].endswith("> - next")


def test_an_indented_fence_is_cut_without_a_change_to_its_code() -> None:
    text = "   ```\n" + "".join(f"   line {n}\n     deep\n" for n in range(20)) + "   ```"
    for limit in (60, 75, 90):
        found = "".join(map(code_of, split("Words. " * 5 + "\n\n" + text, limit, len)))
        assert found == "".join(f"line {n}\n  deep\n" for n in range(20))


def test_a_giant_line_of_code_is_cut_in_its_fence() -> None:
    pieces = split("```js\n" + "x" * 500 + "\n```", 100, len)
    assert all(p.startswith("```js\nx") and p.endswith("x\n```") for p in pieces)
    assert "".join(map(code_of, pieces)).replace("\n", "") == "x" * 500


def test_a_table_is_cut_between_rows_and_repeats_its_header() -> None:
    rows = [f"| {n} | tea |" for n in range(60)]
    head = "| n | what |\n|--:|------|\n"
    pieces = split(head + "\n".join(rows), 200, len)
    assert all(piece.startswith(head) for piece in pieces)
    assert [row for piece in pieces for row in piece.splitlines()[2:]] == rows


@pytest.mark.parametrize("mark", ["1.", "{n}."])
def test_an_ordered_list_keeps_its_numbers(mark: str) -> None:
    text = "\n".join(f"{mark.format(n=n)} item" for n in range(1, 31))
    pieces = split(text, 80, len)
    assert "\n".join(map(to_text, pieces)) == "\n".join(f"{n}. item" for n in range(1, 31))


def test_a_nested_list_is_no_code_in_the_next_piece() -> None:
    text = "1. top\n" + "".join(f"    - nested {n}\n" for n in range(30)) + "2. next\n    - deep"
    pieces = split(text, 100, len)
    assert all(line.startswith("• nested") for line in to_text(pieces[1]).splitlines())
    assert [e for piece in pieces for e in parse(piece) if e.name == "CodeBlock"] == []
    assert "2. next\n    - deep" in pieces[-1]


def test_a_quote_stays_a_quote() -> None:
    pieces = split("> " + "Some words. " * 40, 100, len)
    assert all(piece.startswith("> Some") for piece in pieces)


def test_a_cut_prefers_blocks_then_sentences_then_words() -> None:
    block = "First. " * 8
    assert split(f"{block}\n\n{'Second. ' * 8}", 100, len)[0] == block.strip()
    sentences = split("One two three four. " * 20, 100, len)
    assert all(piece.endswith("four.") for piece in sentences)
    assert all(piece.endswith("word") for piece in split(WORD * 90, 100, len))
    chinese = split("今天天气很好\uff0c我们去喝茶。" * 30, 100, len)
    assert all(piece.endswith("。") for piece in chinese)


def test_a_heading_does_not_end_a_piece() -> None:
    text = f"{WORD * 15}\n\n## Head\n\n{WORD * 15}"
    assert split(text, 100, len) == [(WORD * 15).strip(), f"## Head\n\n{(WORD * 15).strip()}"]


def test_a_span_that_fits_goes_whole_into_the_next_piece() -> None:
    link = f"[{WORD * 10}](https://example.org/page)"
    for span in (link, f"**{'word ' * 15}word**", f"`{WORD * 15}`", f"![{WORD * 10}](c.png)"):
        assert split(f"{'a ' * 30}{span} end", 100, len)[1].startswith(span)


def test_a_span_that_is_too_large_is_closed_and_opened_again() -> None:
    for mark in ("**", "~~", "*", "`"):
        pieces = split(f"{mark}{'word ' * 60}word{mark}", 100, len)
        assert all(
            p.startswith(f"{mark}word") and p.rstrip("` ").endswith(("d", "d" + mark))
            for p in pieces
        )
    link = split(f"[{'word ' * 60}word](https://x.org)", 100, len)
    assert all(p.startswith("[word") and p.endswith("word](https://x.org)") for p in link)


def test_a_word_that_is_too_large_is_cut_between_graphemes() -> None:
    family = "👨‍👩‍👧"
    pieces = split(family * 100, 64, len)
    assert all(set(regex.findall(r"\X", piece)) == {family} for piece in pieces)
    flags = split("🇩🇪" * 100, 61, len)
    assert all(len(piece) % 2 == 0 for piece in flags)


def test_one_grapheme_that_is_too_large_is_cut() -> None:
    text = "a" + "\u0301" * 300
    pieces = split(text, 100, len)
    assert "".join(pieces) == text
    assert all(len(piece) <= 100 for piece in pieces)


def test_text_that_would_become_a_mark_at_the_beginning_of_a_piece_is_escaped() -> None:
    for mark in ("-", "#", ">", "+", "12."):
        for limit in range(9, 19):
            pieces = split(f"word {mark} " * 20, limit, lambda text: len(to_text(text)))
            names = {event.name for piece in pieces for event in parse(piece)}
            assert names == {"Paragraph", "Text"}
            assert sum(to_text(piece).count(mark) for piece in pieces) == 20


def test_an_item_after_the_rest_of_another_stays_an_item() -> None:
    pieces = split(f"1. {WORD * 30}\n2. ```\n   code\n   ```", 100, len)
    assert "".join(map(code_of, pieces)) == "code\n"


def test_an_escape_and_an_entity_are_not_cut() -> None:
    for text in ("\\*" * 100, "&amp;" * 50):
        for limit in (59, 60, 61):
            shown = "".join(map(to_text, split(text, limit, len)))
            assert shown == to_text(text)


def test_a_combining_mark_on_a_space_stays_on_it() -> None:
    assert all(piece[0] == "a" for piece in split("ab \u0301cd " * 40, 60, len))


def test_an_address_with_chinese_in_it_is_not_cut() -> None:
    address = "https://zh.example.org/" + "\u8336" * 30
    text = ("\u4eca\u5929" * 12 + f" {address} ") * 6
    for limit in range(60, 120):
        assert sum(piece.count(address) for piece in split(text, limit, len)) == 6


def test_a_small_block_does_not_make_a_small_piece() -> None:
    assert len(split(f"Tiny.\n\n{'Some words. ' * 40}", 100, len)[0]) > 50


def test_a_row_that_fits_without_the_header_is_not_cut() -> None:
    row = f"| {'a' * 20} | [l](https://x.org/{'b' * 12}) |"
    text = f"| head one | head two |\n|---|---|\n{row}\n{row}"
    assert [piece for piece in split(text, 70, len) if row in piece] == [row, row]


def test_a_fence_that_the_end_of_its_item_closed_is_closed() -> None:
    text = "- item\n\n  ```\n" + "  code\n" * 12 + "\nafter"
    last = split(text, 60, len)[-1]
    assert code_of(last).strip("code\n") == ""
    assert to_text(last).endswith("\nafter")


def test_the_first_piece_does_not_change_while_the_text_goes_on() -> None:
    text = "".join(f"Paragraph {n}, with **bold**. {WORD * 9}\n\n- item\n" for n in range(40))
    first = split(text, 400, len)[0]
    later = [split(text[:end], 400, len)[0] for end in range(len(first) + 60, len(text), 37)]
    assert set(later) == {first}


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        WORD * 20_000,
        "漢" * 100_000,
        "[" * 30_000,
        "```\n" * 20_000,
        "> " * 2_000,
        "<div>\n" * 10_000,
        "1. x\n" * 10_000,
        "- " * 2_000,
        "a" + "\n" * 100_000 + "b",
    ],
    ids=lambda text: repr(text[:6]),
)
def test_a_hostile_text_is_cut_with_few_measurements(text: str) -> None:
    measured = 0

    def measure(piece: str) -> int:
        nonlocal measured
        measured += len(piece)
        return len(piece)

    pieces = cut(text, 2000, measure)
    assert rejoin(pieces) == text
    assert measured < 20 * len(text) + 100_000


def test_a_long_answer_is_cut_quickly() -> None:
    part = "## Head\n\nSome **bold** text with `code`, and a [link](https://x.org/a?b=c). " * 2
    text = (part + WORD * 20 + "\n\n- one\n- two\n\n```py\nx = 1\n```\n\n") * 150
    assert len(text) > 40_000
    began = time.process_time()
    split(text, 4096, len)
    assert time.process_time() - began < 0.6  # about 25 ms on an idle machine


@pytest.mark.parametrize("shape", ["- ", "> ", "[a]", "[a](", "<", "<a", "`a ", "*a ", "|a"])
def test_hostile_markdown_takes_work_that_grows_with_its_length_only(shape: str) -> None:
    def work(size: int) -> int:
        """Return how many characters are measured, the bulk of what a split costs."""
        measured = 0

        def measure(text: str) -> int:
            nonlocal measured
            measured += len(text)
            return len(text)

        split((shape * size)[:size], 500, measure)
        return measured

    assert work(16_000) <= 6 * work(4_000)


def test_text_that_is_nested_deeper_than_anybody_reads_is_cut_like_plain_text() -> None:
    text = "- " * 5_000 + "a"
    pieces = cut(text, 500, len)
    assert rejoin(pieces) == text
    assert sum(len(piece.text) for piece in pieces) <= len(text)


@examples(40)
@given(markdowns | st.text(), limits)
def test_the_first_piece_is_the_same_alone(text: str, limit: int) -> None:
    assert [first(text, limit, len)][: bool(text.strip())] == split(text, limit, len)[:1]


LONG = "secret " * 60 + "end"


@pytest.mark.parametrize(
    "text",
    [
        f"It was ||{LONG}|| and no more.",
        f"||a **{LONG}** {LONG}|| f",
        f"**a ||{LONG}** {LONG}|| f",
        f"> - ||{'秘密。' * 160}|| f",
        f"||{'secret' * 80}|| f",
        f"||[{LONG}](https://e.org) {LONG}||, f",
        f"a ||{LONG}\n{LONG}|| f",
        f"||{LONG}|| a ||{LONG}||",
    ],
)
def test_a_spoiler_is_hidden_in_every_piece(text: str) -> None:
    pieces = split(text, 100, len)
    assert len(pieces) > 3
    for piece in pieces:
        shown, marks = render_spans(piece, linkable=lambda _url: True)
        hidden = {at for one in marks if one.kind == "spoiler" for at in range(one.start, one.end)}
        seen = "".join(" " if at in hidden else char for at, char in enumerate(shown))
        assert not any(word in seen for word in ("secret", "end", "秘", "密")), piece
