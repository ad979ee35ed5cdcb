"""Strategies for Markdown, well-formed and not, and what a conversion must keep of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from channels.markdown.split import Piece
from channels.markdown.tree import parse

WORDS = [
    *("tea", "word", "a", "I", "3.14", "2", "snake_case_name", "e.g.", "it's", "x*y", "50%", "c++"),
    *("\u4e2d\u6587", "\u8336\u3002\u597d\uff0c", "\u3053\u3093", "\ud55c\uad6d", "caf\u00e9"),
    *("e\u0301\u0323", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea"),
    *("\U0001f44d\U0001f3fd", "\u2764\ufe0f", "\U0001f600", "\u0e01\u0e33", "\U00020bb7"),
    *("-", "+", "*", "#", "##", ">", "1.", "=", "|", "~5", "$5", "&amp;", "\\*", "\\", "`", "**"),
    *("<b>", "</b>", "<div>", "<br/>", "<!-- c -->", "1 < 2", "[a]", "[", "](", "![", "||s||", "_"),
    *("https://a.org/_b_/c", "http://x.org/?a=1&b=~2", "@name", "/start", "\t", "\u00a0", "$x_1$"),
]
words = st.sampled_from(WORDS)
long_words = st.builds(
    lambda word, n: word * n, st.sampled_from(["ab", "\u6f22", "\U0001f600"]), st.integers(1, 90)
)
lines = st.lists(words | words | words | long_words, min_size=1, max_size=6).map(" ".join)
spans = st.one_of(
    lines.map(lambda t: f"**{t}**"),
    lines.map(lambda t: f"*{t}*"),
    lines.map(lambda t: f"~~{t}~~"),
    lines.map(lambda t: f"`{t}`"),
    lines.map(lambda t: f"`` {t} ``"),
    lines.map(lambda t: f"[{t}](https://example.org/a_b)"),
    lines.map(lambda t: f"![{t}](https://example.org/c.png)"),
    lines.map(lambda t: f"[{t}](docs/page.md)"),
    st.just("<https://example.org/auto>"),
)
inlines = st.lists(lines | spans, min_size=1, max_size=4).map(" ".join)
paragraphs = st.lists(inlines, min_size=1, max_size=3).map("\n".join)
code = st.lists(lines | st.sampled_from(["", "    deep", "```", "- x", "> y"]), max_size=6).map(
    "\n".join
)
fences = st.builds(
    lambda body, mark, info, lead: _indented(f"{mark}{info}\n{body}\n{mark}", lead, lead),
    code,
    st.sampled_from(["```", "````", "~~~", "~~~~"]),
    st.sampled_from(["", "python", " c++ title=x"]),
    st.sampled_from(["", "", "", "  ", "   "]),
)
cells = st.lists(
    st.sampled_from(["a", "tea", "**b**", "`c`", "\u4e2d\u6587", "[l](https://x.org)", ""]),
    min_size=2,
    max_size=2,
)
tables = st.lists(cells, min_size=1, max_size=8).map(
    lambda rows: "\n".join(
        f"| {' | '.join(row)} |" for row in [["h1", "h2"], ["---", ":-:"], *rows]
    )
)


def _indented(text: str, first: str, rest: str) -> str:
    return first + text.replace("\n", "\n" + rest)


def _listed(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bullets = [
        ("- ", "  "),
        ("* ", "  "),
        ("1. ", "   "),
        ("9) ", "   "),
        ("-   ", "    "),
        ("10. ", "    "),
        (" - ", "   "),
        ("  2. ", "     "),
    ]
    items = st.lists(children, min_size=1, max_size=4)
    return st.builds(
        lambda blocks, bullet, gap: gap.join(_indented(b, *bullet) for b in blocks),
        items,
        st.sampled_from(bullets),
        st.sampled_from(["\n", "\n\n"]),
    )


def _nested(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    some = st.lists(children, min_size=1, max_size=3)
    joined = st.builds(lambda parts, gap: gap.join(parts), some, st.sampled_from(["\n\n", "\n"]))
    return _listed(joined) | joined.map(lambda t: _indented(t, "> ", "> "))


leaves = st.one_of(
    paragraphs,
    paragraphs,
    fences,
    tables,
    st.builds(lambda n, t: "#" * n + " " + t, st.integers(1, 6), inlines),
    st.sampled_from(["---", "Head\n===", "    indented\n      code", "<div>\n<b>x</b>\n</div>"]),
    st.sampled_from(
        ["```py\nopen", "**half", "[half](http", '[1]: https://x.org/ "t"', "- [x] done\n- [ ] not"]
    ),
)
blocks = st.recursive(leaves, _nested, max_leaves=4)


def _written(parts: list[str], gap: str, end: str, newline: str) -> str:
    return (gap.join(parts) + end).replace("\n", newline)


markdowns = st.builds(
    _written,
    st.lists(blocks, min_size=1, max_size=4),
    st.sampled_from(["\n\n", "\n\n", "\n", "\n\n\n\n"]),
    st.sampled_from(["", "\n", "  \n\n"]),
    st.sampled_from(["\n", "\n", "\n", "\r\n"]),
)


def letters(text: str) -> str:
    """Return the characters of a text that must not be lost."""
    return "".join(re.findall(r"[^\W_]", text))


def rejoin(pieces: Iterable[Piece]) -> str:
    """Return the text that was cut."""
    return "".join(piece.source for piece in pieces)


def has_in_order(text: Sequence[str], wanted: Sequence[str]) -> bool:
    """Return whether all that is wanted appears in a text, in its order."""
    rest = iter(text)
    return all(char in rest for char in wanted)


def code_of(text: str) -> str:
    """Return the text of a text's code blocks."""
    inside, found = False, []
    for event in parse(text):
        if event.name == "CodeBlock":
            inside = event.phase == "open"
        elif inside:
            found.append(event.data)
    return "".join(found)


def links_of(text: str) -> list[str]:
    """Return the urls of the links of a text."""
    return [e.data["dest_url"] for e in parse(text) if e.phase == "open" and e.name == "Link"]


def ends_in_code(text: str) -> bool:
    """Return whether a paragraph after a text would be code."""
    return "zzz" in code_of(text + "\n\nzzz")
