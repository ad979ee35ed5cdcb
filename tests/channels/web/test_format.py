"""From Markdown to the page's HTML: what a message can and cannot do to the page."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.web.format import linked_images, to_html
from tests.channels.web.reader import Reader

TAGS = {"a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
TAGS |= {"math", "mi", "mn", "mo", "mrow", "mspace", "mtext", "span"}
TAGS |= {"s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"}
ATTRIBUTES = {
    "a": {"href", "title", "target", "rel", "data-image"},
    "code": {"class"},
    "math": {"alttext", "display"},
    "mo": {"form", "stretchy", "lspace", "rspace"},
    "mspace": {"width"},
    "span": {"class"},
    "ol": {"start"},
    "td": {"class"},
    "th": {"class"},
}
ALIGNMENTS = {"left", "center", "right"}


def links(text: str) -> list[str]:
    return [attributes["href"] for tag, attributes in Reader(to_html(text)).tags if tag == "a"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <b onclick='x()'>bold</b> word",
        "<img src=x onerror=alert(1)>",
        "<!-- comment --> <?php ?> <!DOCTYPE html> <![CDATA[x]]>",
        "- <iframe src='//x'></iframe>",
        "| a |\n|---|\n| <svg/onload=x> |",
    ],
)
def test_html_in_a_message_is_shown_as_the_text_that_it_is(text: str) -> None:
    read = Reader(to_html(text))
    assert {tag for tag, _ in read.tags} <= TAGS
    assert read.other == []
    assert "<" in read.text


@pytest.mark.parametrize(
    "target",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "javascript&colon;alert(1)",
        "java\tscript:alert(1)",
        "<javascript:alert(1)>",
        "vbscript:x",
        "data:text/html,<script>x</script>",
        "file:///etc/passwd",
    ],
)
def test_a_target_that_would_run_or_read_something_is_not_a_link(target: str) -> None:
    for text in (f"[a]({target})", f"![a]({target})", f"<{target}>", f"[a]\n\n[a]: {target}"):
        found = [link.lower().replace("%09", "") for link in links(text)]
        assert not any(link.startswith(("java", "vb", "data:", "file:")) for link in found)


def test_a_link_opens_elsewhere_and_tells_nothing_of_us() -> None:
    html = to_html('[tea](https://example.org/?a=1&b="2" "a \\"title\\"")')
    ((_, _), (tag, attributes)) = Reader(html).tags
    assert tag == "a"
    assert attributes == {
        "href": "https://example.org/?a=1&b=%222%22",
        "title": 'a "title"',
        "target": "_blank",
        "rel": "noopener noreferrer",
    }
    assert links("<https://example.org/>") == ["https://example.org/"]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("see https://x.org/a_b_c*d?x=1&copy=2.", "https://x.org/a_b_c*d?x=1&copy=2"),
        ("(https://x.org/wiki/A_(b))", "https://x.org/wiki/A_(b)"),
        ("**HTTP://x.org** https://", "HTTP://x.org"),
        ("看https://x.org/a。好", "https://x.org/a"),
        ("| a |\n|---|\n| https://x.org |", "https://x.org"),
        ("[https://x.org](https://y.org)", "https://y.org"),
        ("Fact[^1]\n\n[^1]: https://x.org/1", "https://x.org/1"),
    ],
)
def test_a_bare_url_is_a_link_without_what_follows_it(text: str, target: str) -> None:
    assert links(text) == [target]


@pytest.mark.parametrize("text", ["`https://x.org`", "xhttps://x.org", "ftp://x.org", "https://."])
def test_what_is_no_url_is_no_link(text: str) -> None:
    assert links(text) == []


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("so $a_1 * b_2$", "$a_1 * b_2$"),
        (r"so \(x \le *y*\)", r"\(x \le *y*\)"),
        ("$$\nx\n= 2\n$$", "$$\nx\n= 2\n$$"),
        (r"\[x \\ y\]", r"\[x \\ y\]"),
        ("> $$\n> x\n> $$", "$$\nx\n$$"),
        ("> \\[\n> x\n> \\]", "\\[\nx\n\\]"),
        ("| a |\n|-|\n| $x$ |", "$x$"),
        ("- **so $x$**", "$x$"),
    ],
)
def test_a_formula_is_drawn_with_what_was_written(text: str, written: str) -> None:
    tags = Reader(to_html(text)).tags
    assert [more["alttext"] for tag, more in tags if tag == "math"] == [written]


@pytest.mark.parametrize("text", [r"$\foo{a_1}$", r"\(\foo *y*\)", "$$\n\\foo\n$$", r"\[\foo\]"])
def test_a_formula_that_cannot_be_drawn_is_shown_as_it_was_written(text: str) -> None:
    read = Reader(to_html(text))
    assert [more for tag, more in read.tags if tag == "code"] == [{"class": "tex"}]
    assert read.text.strip() == text


def test_a_long_formula_in_a_line_may_scroll() -> None:
    tags = Reader(to_html(f"so ${'a + ' * 16}b$")).tags
    assert ("span", {"class": "math math-long"}) in tags


@pytest.mark.parametrize(
    "text", ["$5 and $10", "5$, or 10$.", "$HOME and $PATH", "`$x$`", r"\$x$", "US$ 1.50$", "$ x $"]
)
def test_money_and_shells_are_no_formulas(text: str) -> None:
    assert "math" not in to_html(text)


def test_an_image_is_a_link_so_that_the_page_loads_nothing() -> None:
    read = Reader(to_html('![a "cat"](https://example.org/cat.png)'))
    assert [tag for tag, _ in read.tags] == ["p", "a"]
    assert read.tags[1][1] == {
        "href": "https://example.org/cat.png",
        "target": "_blank",
        "rel": "noopener noreferrer",
        "data-image": "0",
    }
    assert read.text.strip() == 'a "cat"'
    assert links("![a](https://x.org/?a=1&copy=2)") == ["https://x.org/?a=1&copy=2"]
    assert Reader(to_html("![](https://x.org/a.png)")).text.strip() == "https://x.org/a.png"


def test_the_images_of_a_text_have_the_numbers_of_their_links() -> None:
    text = "![a](https://x.org/a)\n\n> - ![b ![c](no)][d]\n\n`![e](no)` ![f](data:image/png;x)\n"
    text += "\n|t|\n|-|\n|![g](https://x.org/g?a=1&b=2)|\n\n[d]: /d"
    urls = linked_images(text)
    assert urls == ("https://x.org/a", "/d", "data:image/png;x", "https://x.org/g?a=1&b=2")
    tags = Reader(to_html(text)).tags
    numbers = {more["data-image"]: more["href"] for _tag, more in tags if "data-image" in more}
    assert numbers == {str(number): url for number, url in enumerate(urls)}


@pytest.mark.parametrize("piece", ["![", "[", r"\(", "[[a]", "[a][", "![a](b", "https://a.b/)"])
def test_what_leads_nowhere_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(text: str) -> float:
        began = time.process_time()
        to_html(text)
        return time.process_time() - began

    seconds(piece)
    short, long = (
        min(seconds(f"{number} {piece * times}") for number in range(5)) for times in (1000, 8000)
    )
    assert long < 20 * short


def test_no_text_of_any_length_is_shown_as_it_was_written() -> None:
    text = "\n\n".join(f"**{number}** ![a](https://x.org/{number})" for number in range(2_000))
    read = Reader(to_html(text))
    assert [tag for tag, _ in read.tags] == ["p", "strong", "a"] * 2_000
    assert "*" not in read.text
    assert linked_images(text)[1_999] == "https://x.org/1999"
    assert "<strong>b</strong>" in to_html("[" * 600 + "**b** ")


@pytest.mark.parametrize(("level", "shown"), [(1, 3), (2, 4), (3, 5), (4, 6), (5, 6), (6, 6)])
def test_headings_stand_below_those_of_the_page(level: int, shown: int) -> None:
    assert to_html(f"{'#' * level} Tea") == f"<h{shown}>Tea</h{shown}>\n"


def test_headings_that_are_underlined_are_lowered_too() -> None:
    assert to_html("Tea\n===") == "<h3>Tea</h3>\n"


def test_a_table_is_a_table() -> None:
    read = Reader(to_html("| a | b |\n|:--|--:|\n| 1 | *2* |\n"))
    assert [tag for tag, _ in read.tags][:5] == ["table", "thead", "tr", "th", "th"]
    assert [a["class"] for tag, a in read.tags if tag == "td"] == ["left", "right"]
    assert ("em", {}) in read.tags


def test_lines_stay_lines_and_struck_text_is_struck() -> None:
    assert to_html("a\nb ~~c~~") == "<p>a<br>\nb <s>c</s></p>\n".replace("<br>", "<br />")


def test_code_is_shown_as_it_is_written() -> None:
    read = Reader(to_html("```html\n<b>&amp;\n```\n\n`<i>`"))
    assert read.text.split() == ["<b>&amp;", "<i>"]
    assert ("code", {"class": "language-html"}) in read.tags


markup = r"""<script> </script> <img src=x onerror=y> onload="x" javascript: ]( ![ [ ) ` ``` ~~~
< > ' & &lt; &#60; \ | |-| # * _ ~~ - 1. > https://x.org/ a $ $$ \( \) \[ \] [^1]: https:// :"""
words = st.sampled_from([*markup.split(), "<img src=x onerror=y>", "\n", "\n\n", " ", "    ", "\0"])


@given(st.lists(words | st.text(max_size=3), max_size=25).map("".join))
@example('[a](<x" onclick=y>)')
@example('!["><script>](x)')
@example('```"><script>\n```')
def test_no_text_makes_a_tag_or_an_attribute_that_is_not_ours(text: str) -> None:
    read = Reader(to_html(text))
    assert read.other == []
    for tag, attributes in read.tags:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES.get(tag, set())
        assert tag not in ("td", "th") or attributes.get("class", "left") in ALIGNMENTS
        target = attributes.get("href", "").strip().lower()
        assert not target.startswith(("javascript:", "vbscript:", "data:text", "file:"))


@given(st.text(st.sampled_from("<>&\"'/= abscript")))
def test_what_looks_like_html_is_read_back_as_it_was_written(text: str) -> None:
    plain = " ".join(text.split())
    assert Reader(to_html(f"x{plain}")).text.strip() == f"x{plain}"


def test_the_target_of_no_link_is_shown() -> None:
    assert "https://x.org" in Reader(to_html("Sources\n\n[1]: https://x.org")).text
    assert "https://x.org" not in Reader(to_html("See [A].\n\n[a]: https://x.org")).text
    assert "https://y.org" in Reader(to_html("[a]\n\n[a]: https://x.org\n[b]: https://y.org")).text


def test_a_definition_leads_where_its_target_says() -> None:
    text = "[a]\n\n[a]: https://x.org/Foo_\\(b\\)"
    assert links(text) == ["https://x.org/Foo_(b)"]
    for target in (r"https://x.org\\.y.org/", r"<https://x.org\ .y.org/>", "<https://x.or g/>"):
        found = links(f"[a]\n\n[a]: {target}")
        assert not any("x.org.y" in link or "x.org/" in link for link in found)


def test_a_path_is_no_formula() -> None:
    assert Reader(to_html(r"D:\data\[old]\a and 1\]")).text.strip() == r"D:\data\[old]\a and 1]"


def test_a_mark_in_a_cell_leaves_the_cells_behind_it_in_their_columns() -> None:
    page = to_html("| a | b |\n|:--|--:|\n| **c** | *d* |\n| e | f |\n")
    assert re.findall(r'class="(\w+)">', page) == ["left", "right"] * 3
