"""Rendering Markdown as lines of a terminal."""

from __future__ import annotations

import re

import pytest
from wcwidth import width

from gateway.cli.chat.painting import paint_code, paint_markdown, paint_text

COLOURS = re.compile(r"\x1b\[([\d;]*)m")


def plain(lines: list[str]) -> list[str]:
    return [COLOURS.sub("", line) for line in lines]


@pytest.mark.parametrize(
    ("markdown", "lines"),
    [
        ("**bold** and *slanted*", ["\x1b[1mbold\x1b[0m and \x1b[3mslanted\x1b[0m"]),
        ("`code`", ["\x1b[36mcode\x1b[0m"]),
        ("# Title", ["\x1b[1mTitle\x1b[0m"]),
        ("[here](https://a.org/x)", ["here (https://a.org/x)"]),
        ("![cat](https://a.org/c.png)", ["cat (https://a.org/c.png)"]),
        ("<b>tags</b>", ["<b>tags</b>"]),
        ("- a\n  - [x] b", ["• a", "  ☑ b"]),
    ],
)
def test_marks_become_styles_and_everything_else_is_kept(markdown: str, lines: list[str]) -> None:
    assert paint_markdown(markdown, 80) == lines


@pytest.mark.parametrize("columns", [12, 20, 40])
def test_lines_are_wrapped_between_words_only(columns: int) -> None:
    text = "several short words and *some of them* marked, again and again, to the very end"
    lines = plain(paint_markdown(text, columns))
    assert max(map(width, lines)) <= columns
    assert " ".join(lines).split() == text.replace("*", "").split()


def test_chinese_is_wrapped_between_characters_and_latin_words_in_it_stay_whole() -> None:
    lines = plain(paint_markdown("使用Python语言和Tapeway很好。谢谢", 10))
    assert lines == ["使用Python", "语言和", "Tapeway很", "好。谢谢"]


def test_further_lines_of_items_and_quotes_are_indented() -> None:
    assert plain(paint_markdown("- one two three four", 12)) == ["• one two", "  three four"]
    assert plain(paint_markdown("> one two three four", 12)) == ["> one two", "> three four"]


def test_an_address_stays_on_one_line_so_that_it_can_be_opened() -> None:
    address = "https://example.org/" + "path/" * 20
    assert address in plain(paint_markdown(f"see {address} there", 40))


def test_a_table_that_is_too_wide_is_wrapped_between_words() -> None:
    table = "| name | what it does |\n|---|---|\n| kettle | boils water for tea |"
    lines = plain(paint_markdown(table, 20))
    assert max(map(width, lines)) <= 20
    assert {"kettle", "boils", "water", "tea"} <= set(" ".join(lines).split())


def test_code_stands_between_two_marks_of_which_the_first_has_its_language() -> None:
    assert plain(paint_code("py", "if x:\n\ty", 80)) == ["╭─ py", "  if x:", "      y", "╰─"]


def test_no_colour_is_one_that_vanishes_on_light_or_on_dark() -> None:
    lines = [*paint_markdown("# a\n**b** `c` ~~d~~", 80), *paint_code("", "x", 80)]
    used = {code for line in lines for found in COLOURS.findall(line) for code in found.split(";")}
    assert used <= {"", "0", "1", "2", "3", "9", "36"}


def test_text_without_marks_is_shown_as_it_is() -> None:
    assert plain(paint_text("query=*x* `y`", 80, "2")) == ["query=*x* `y`"]
