"""Formulas as MathML: what is drawn, and what no formula can do to the page or to the gateway."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from channels.web.format import to_html
from channels.web.mathml import MAX_SOURCE, mathml
from tests.channels.web.reader import Reader

DRAWN = r"""
x
x^2
a_{ij} b_j
\frac{a}{b}
\sqrt[3]{x+1}
e^{i\pi} + 1 = 0
\sum_{i=1}^{n} i = \frac{n(n+1)}{2}
\int_0^\infty e^{-x^2}\,dx
\lim_{x \to 0} \frac{\sin x}{x}
\prod_{k} a_k \cdot \oint f
\mathbb{R}^n \to \mathcal{L}
\mathrm{d}x / \mathrm{d}t
\hat{x} \bar{y} \vec{v} \widetilde{ab} \overline{AB}
\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{otherwise} \end{cases}
\begin{aligned} a &= b \\[1em] &= c \end{aligned}
\begin{align} a &= b \tag{1} \\ c &= d \end{align}
\begin{array}{c|c} 1 & 2 \\ \hline 3 & 4 \end{array}
\begin{split} a &= b \end{split}
\left( \frac{1}{2} \right]
\left. \frac{dy}{dx} \right|_{x=0}
\binom{n}{k}
a \equiv b \pmod{n}
\underbrace{a+b}_{c}
\sum_{\substack{i<j \\ k}} x
x \in \R, \forall y \exists z
|x| \le \lVert v \rVert
\boxed{42} \cancel{x}
\operatorname{argmax}_x f
\text{if } x < 50\%
P(A \mid B) \approx 0.5
"""
KEPT = r"""
\foo{x}
\href{javascript:alert(1)}{x}
\href{https://example.org}{x}
\url{https://example.org}
\includegraphics{https://example.org/a.png}
\style{color:red}{x}
\class{a}{b}
\cssId{a}{b}
\htmlData{a=b}{c}
\eqref{x}
\ref{x}
\def\a{\a\a}\a
\gdef\a{x}\a
\let\a\b
\newcommand{\a}[1]{#1#1}\a{x}
\renewcommand\a{x}
\providecommand{\a}{x}\a
\DeclareMathOperator{\a}{a}
\phantom{secret}
\raisebox{9em}{x}
\hspace{40em} x
\textcolor{red"onclick=x}{x}
\label{a"onclick=x}
{a
a}
x^2^3
\left( x
\begin{matrix} 1
\begin{foo} 1 \end{foo}
\text{a & b}
a & b
a % b
\unicode{x41}
\ce{H2O}
"""
ATTRIBUTES = {
    *("alttext", "display", "class", "accent", "accentunder", "displaystyle", "largeop", "form"),
    *("movablelimits", "stretchy", "symmetric", "lspace", "rspace", "width", "minsize", "maxsize"),
    *("linethickness", "mathvariant", "scriptlevel"),
}
WRITTEN = "<script> </script> <img src=x onerror=y> \" ' & < > &lt; \0 \ud800 \u202e javascript:"
NAMES = r"""\text \textbf \textsf \href \url \color{red} \textcolor \style \class \htmlId
\label \tag \eqref \ref \hspace{1em} \mspace \kern \raisebox \phantom \cancel \boxed \frac \sqrt
\left( \right) \begin{matrix} \end{matrix} \begin{align} \end{align} \hline \def\a
\let\a \newcommand{\a} \a # ^ _ { } [ ] & \\ x 1 = ( ) % ~ $ \$ \| \operatorname \mathrm \unicode
\char \verb|x| \not \middle|"""
PIECES = [*WRITTEN.split(" "), *NAMES.split(), " ", "\n"]


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def drawn(source: str) -> str | None:
    return mathml(source, f"${source}$", is_block=False)


@pytest.mark.parametrize("source", lines(DRAWN))
def test_a_formula_is_drawn_and_keeps_what_was_written(source: str) -> None:
    found = drawn(source)
    assert found is not None
    read = Reader(found)
    assert read.tags[0][0] == "math"
    assert read.tags[0][1]["alttext"] == f"${source}$"
    assert "style" not in {name for _tag, more in read.tags for name in more}


@pytest.mark.parametrize("source", lines(KEPT))
def test_what_is_not_known_is_shown_as_it_was_written(source: str) -> None:
    assert drawn(source) is None
    read = Reader(to_html(rf"\[{source}\]"))
    assert ("code", {"class": "tex"}) in read.tags
    assert rf"\[{source}\]" in read.text


def test_a_command_that_nobody_listed_is_shown_as_it_was_written() -> None:
    assert drawn(r"\brandnew{x}") is None
    assert drawn(r"\newestcommand{\a}{x}") is None


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.booleans())
@example(r"\text{<img src=x onerror=y>}", True)
@example(r"\textbf{</mtext></math><script>x</script>}", False)
def test_no_formula_makes_a_tag_or_an_attribute_that_is_not_ours(source: str, block: bool) -> None:
    found = mathml(source, f"${source}$", is_block=block)
    if found is None:
        return
    read = Reader(found)
    assert read.other == []
    for tag, attributes in read.tags:
        assert tag.startswith("m") or tag in ("none", "b", "code", "em", "i", "s", "span", "u")
        assert set(attributes) <= ATTRIBUTES
    names = [name for name in ("script", "img", "a", "style") if f"<{name}" in found]
    assert names == []


HOSTILE = (
    *("{" * 10_000, "{" * 5_000 + "}" * 5_000, "x^{" * 2_500 + "}" * 2_500, "'" * 10_000),
    *(
        r"\frac1" * 1_600,
        r"\sqrt{" * 1_400 + "x" + "}" * 1_400,
        r"\hat " * 2_000,
        r"\left(" * 1_600,
    ),
    *(r"\begin{matrix}" * 700, r"\def\a{\a\a}" * 800 + r"\a", r"\def\a#1{#1#1}\a{\a{\a{x}}}"),
    *(r"\text{<b onclick=x>}" * 500, "a_" * 5_000, "&" * 10_000, r"\\" * 5_000, "9" * 10_000),
    *(r"\href{javascript:alert(1)}{x}" * 300, r"\color{red}" * 900 + "x", r"\not" * 2_500),
)


@pytest.mark.parametrize("source", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("length", [10_000, MAX_SOURCE, 600])
def test_a_hostile_formula_draws_no_link_and_nothing_that_runs(source: str, length: int) -> None:
    for text in (rf"\[{source[:length]}\]", f"$${source[:length]}$$", f"$x{source[:150]}$"):
        read = Reader(to_html(text))
        assert not {"a", "script", "style", "img"} & {tag for tag, _more in read.tags}
        assert not [name for _tag, more in read.tags for name in more if name[:2] == "on"]


CRASHING = r"""
import sys, threading
from channels.web.mathml import mathml
shapes = [
    ("{", "}"), ("x^{", "}"), (r"\frac1", ""), (r"\hat ", ""), (r"\sqrt{", "}"), (r"\mathrm{", "}"),
    (r"\left(", r"\right)"), (r"\begin{matrix}", r"\end{matrix}"), (r"\color{red}", ""),
    (r"\binom1", ""), (r"\sum\limits_", ""), (r"\sqrt[", "]x"), (r"\mathop{", "}"),
    (r"\begin{matrix}\frac1{", r"}\end{matrix}"), (r"x^\sqrt ", ""), (r"\pmod{", "}"),
    (r"\frac\\", ""), (r"{\frac1&", "}"), (r"\mbox{", "}"), (r"\substack{", "}"),
]
def draw():
    for opening, closing in shapes:
        for times in (5, 40, 60, 119, 400, 900):
            source = opening * times + "x" + closing * times
            mathml(source, source, is_block=True)
    print("alive")
threading.stack_size(512 * 1024)
thread = threading.Thread(target=draw)
thread.start()
thread.join()
"""


def test_nothing_nests_so_deep_that_the_process_ends() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRASHING], capture_output=True, text=True, check=False
    )
    assert done.stdout == "alive\n", done.stderr


def test_spaces_that_would_cover_other_text_and_colours_are_left_out() -> None:
    for source in (r"\hspace{-9em} x", r"\color{white} x"):
        read = Reader(str(drawn(source)))
        assert [more for tag, more in read.tags if tag != "math"] == [{}, {}]
        assert read.text == "x"


def test_what_nests_a_little_is_drawn() -> None:
    assert drawn("{" * 20 + "x" + "}" * 20)
    assert drawn(r"\begin{aligned}" + r"a &= \frac{\alpha}{\beta} \\ " * 60 + r"\end{aligned}")


def test_threads_may_draw_at_once() -> None:
    found: list[str | None] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(drawn(rf"\frac{{{n}}}{{x}}")))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found)
