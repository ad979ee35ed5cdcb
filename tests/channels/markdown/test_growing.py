"""An answer that grows is drawn as the same text is that comes whole, on every target."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.discord import format as discord
from channels.markdown import plain, split, to_text, tree
from channels.markdown.growing import MAX_EVENTS, MAX_GROWING, MAX_TEXTS, Parses
from channels.markdown.segment import Segment, read_segment
from channels.markdown.tree import parse
from channels.slack import format as slack
from channels.slack.growing import ENDED
from channels.telegram import format as telegram
from channels.web import format as page
from gateway.cli.chat.painting import paint_markdown
from tests.channels.markdown.samples import WORDS, markdowns

TARGETS: dict[str, Callable[[str], Any]] = {
    "telegram": lambda text: (telegram.render_partial(text), telegram.render(text)),
    "discord": lambda text: (discord.render_partial(text), discord.render(text)),
    "slack": lambda text: (slack.settled(slack.begun(text)), slack.render(text), slack.size(text)),
    "page": lambda text: (page.to_html(text), page.linked_images(text)),
    "terminal": lambda text: paint_markdown(text, 60),
    "text": lambda text: (to_text(text), split(text, 60, len)),
}
BEGINNING = (
    "An answer that begins with more characters than the key of an answer has, and then:\n\n"
)
PARTS = [
    *(*WORDS, "<!--", "-->", "\\<", "<script>", "</script>", "\\(", "\\)", "\\[", "\\]", "$$"),
    *("```", "~~~", "- ", "1. ", "> ", "    ", "===", "---", "|a|b|", "|-|-|", "[a]:", "[^1]:"),
    *(
        "\uff1a**",
        "**\uff0c",
        "||",
        "\r\n",
        "# ",
        "@here",
        "<@U1>",
        "[a][b]",
        "[b]: /c",
        "![i](/j)",
    ),
]
ends = st.sampled_from(["", " ", "\n", "\n\n", "\n\n", "\n \n"])
mixed = st.lists(st.tuples(st.sampled_from(PARTS), ends).map("".join), min_size=2, max_size=24).map(
    "".join
)
cells = st.lists(
    st.sampled_from(
        ["a", "`c|d`", "**b**", "3*4*5", "\uff1a**x**\uff0c", "||s||", "\\|", "<b>", "`"]
    ),
    max_size=4,
).map("|".join)
tables = st.lists(
    cells.map("|{}|".format)
    | cells
    | st.sampled_from(["|a|b|\n|-|-|", "", "- item", "# h", "-|-"]),
    max_size=12,
).map("\n".join)

CHANGED = (
    'see [tea] and [cup][1]\n\nmore\n\n[tea]: https://a.example\n[1]: <https://b.example> "a"\n',
    "Head\n\npara\ngraph\n===\nnext\n\nlast\n---\n",
    "> quoted\nlazy\n\n> again\nlazy\n- item\nlazy\n\nend\n\n",
    "text\n\n```py\na = 1\n\nb = 2\n\n```\n\nbehind\n\n~~~\nopen\n\n- x\n",
    "- a\n- b\n\n- c\n\n  d\n\n1. e\n2. f\n\n   g\n\nend\n\nmore\n",
    "a | b\n\na | b\n- | -\n1 | 2\n\n3 | 4\n|x|y|\n|-|-|\n|`a|b`|c|\n|1|2|3|\nend\n\nmore\n",
    "<!-- a\n\nb \\< c\n\n<i> --> d\n\n<div>\ne\n\nf</div>\n\n<script>\n\ng\n\n</script>\n\nh\n\ni",
    "\\(a\n\nb\\) and \\[c *d*\n\ne\\]\n\n\\[f *g* h\\]\n\ni\n\nj",
    "||a\n\nb|| c\n\n||d e|| f||g\n\n||h\n\ni\n\nj||",
    "".join(
        f"a\uff1a**{mark}b{mark}**\uff0cc\n\n" for mark in "\u3001\u3002\u3008\u3009\u300a\u300b"
    ),
    "".join(
        f"a{stop}**b**c\n\n" for stop in map(chr, (*range(0x3008, 0x3012), *range(0xFF01, 0xFF40)))
    ),
    "1. a\n\n2. b\n\n10. c\n\n- d\n\n-e\n\n- f\n\n> g\n\n>h\n",
    "```\n\n@here\n\n`a` @here ```\n\n@channel\n\n` @here `\n\n",
)
"""Texts in which something far below may change what stands above, or seems to."""


numbers = count()


def grows_as_whole(text: str, step: int) -> None:
    """Draw each prefix of a text as it grows, and afresh: as if it were all there is."""
    places = [*range(step, len(text), step), len(text)]
    for name, draw in TARGETS.items():
        begin = f"{name} {next(numbers)}. {BEGINNING}"
        grown = [draw(begin + text[:place]) for place in places]
        for place, found in zip(places, grown, strict=True):
            forget()
            assert draw(begin + text[:place]) == found, (name, text[:place])
        forget()


def forget() -> None:
    """Forget all that was parsed or drawn."""
    tree.PARSES.clear()
    page.BLOCKS.clear()
    ENDED.clear()
    for cached in (page.to_html, page.linked_images, telegram.drawn, discord.render):
        cached.cache_clear()


@pytest.mark.parametrize("text", CHANGED)
def test_a_text_whose_end_changes_its_beginning_is_drawn_alike_at_each_step(text: str) -> None:
    grows_as_whole(text, 1 if len(text) < 100 else 7)


@given(markdowns | mixed | tables, st.integers(5, 40))
@example("", 1)
def test_each_prefix_of_a_text_that_grows_is_drawn_as_afresh(text: str, step: int) -> None:
    grows_as_whole(text, step)


@given(markdowns | mixed | tables, st.integers(1, 12), st.integers(0, 400))
def test_what_is_known_of_a_text_that_grows_and_shrinks_is_what_it_is(
    text: str, step: int, shorter: int
) -> None:
    grown = Parses(key=8)
    for end in [*range(step, len(text), step), len(text), min(shorter, len(text))]:
        assert grown.of(text[:end]) == Parses().of(text[:end])


class Noting:
    """Parses, and notes how many characters at a time."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def __call__(self, text: str, start: int, letters: dict[str, int]) -> Segment:
        self.lengths.append(len(text) - start)
        return read_segment(text, start, letters)


def test_a_block_that_has_ended_is_parsed_no_more() -> None:
    read = Noting()
    paragraph = "A **paragraph** of some words, `code` and [a link](https://a.example).\n\n"
    parses, text = Parses(read, 8), ""
    for _number in range(50):
        for char in (paragraph[:30], paragraph[30:]):
            text += char
            parses.of(text)
    assert max(read.lengths) < 3 * len(paragraph)
    assert sum(read.lengths) < 5 * len(text)


def test_a_row_that_has_ended_is_parsed_no_more() -> None:
    read = Noting()
    parses, text = Parses(read, 8), "These are the teas of the house:\n\n| a | b |\n|---|:-:|\n"
    for number in range(100):
        text += f"| tea {number} | **good** |\n"
        parses.of(text)
    assert max(read.lengths) < 200


def test_a_text_is_parsed_once_for_all_who_ask() -> None:
    forget()
    text = BEGINNING + "a **b** \\( c! \\) ||d||\n\n| a |\n|---|\n| `|` |\n"
    for ask in (parse, parse, slack.neutral, slack.size, to_text, plain.plain):
        ask(text)
    assert tree.PARSES.sizes()[0] == 1


def test_what_is_kept_of_texts_has_a_bound() -> None:
    parses = Parses()
    for number in range(3 * MAX_GROWING):
        parses.of(f"{number} " + "a *b* c\n\n" * 60)
        texts, kept, answers, ended = parses.sizes()
        assert texts <= MAX_TEXTS
        assert answers <= MAX_GROWING
        assert max(kept, ended) <= MAX_EVENTS
    assert min(texts, kept, answers, ended) > 0
    parses.of("*a* " * MAX_EVENTS)
    assert parses.sizes()[0] == 1
