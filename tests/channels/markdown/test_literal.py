"""What looks like a mark is drawn where a person means one, and stays as it was written elsewhere.

Each rule has texts that must be drawn, with what carries the mark, and texts that must not.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from channels.markdown import close_open_marks
from channels.markdown.literal import literals
from channels.markdown.render import Rendered, render_spans
from channels.markdown.tree import parse

STARS_DRAWN = """
*a* → a
**a** → a
***a*** → a
a *b* c → b
a **b c** d → b c
**H**yper**T**ext → H
**H**yper**T**ext → T
**API**s → API
**Note**: → Note
(*a*) → a
"**a**" → a
*a*, b → a
**2** → 2
**3 * 4** → 3 * 4
*x*. → x
a—*b*—c → b
**a**b**C**d → a
my**Sql** → Sql
*see [1]* → see [1]
**f(x) = y** → f(x) = y
**重要** → 重要
这是**重要**的 → 重要
*a b* and *c* → c
**a*b** → a*b
**100%** → 100%
**$5** → $5
*(a)* → (a)
**C++** → C++
**a**! → a
*_a_* → a
"""
STARS_KEPT = """
100*100/400*56
5*3*2=30
2**10
2**3**2
a**b**c
a*b*c
Ab*12*cd
width*height*depth
f(x)*g(y)*2
(a)*(b)*(c)
x[0]*y[1]*z
*.log
3 * 4 * 5
a*b
1*2*3
2*x+3*y
a***b***c
p*q*r=s*t
10**-3 * 10
4*4*4*4
m*c**2
R2*D2*X
0*0
key*value*pair
9*9=81, 8*8=64
n**2 + n**3
foo*bar*baz
e**x
A**B**C
user**name**here
"""
DUNDER_DRAWN = """
__重要__ → 重要
__Note:__ → Note:
__Bold__ a → Bold
__two words__ → two words
__Title Case__ → Title Case
__a b__ c → a b
__Yes!__ → Yes!
__No.__ → No.
__Attention__ → Attention
__100 %__ → 100 %
__see below__ → see below
__It's__ → It's
__A, B__ → A, B
__ÄÖ__ → ÄÖ
__äpfel__ → äpfel
__(a)__ → (a)
__Nº 1__ → Nº 1
__a-b__ → a-b
__a/b__ → a/b
__Step 1__ → Step 1
__Warning!__ x → Warning!
__X__ → X
__OK__ → OK
__注意：__ → 注意：
__日本 語__ → 日本 語
__é__ → é
__Ünder__ → Ünder
__B+__ → B+
__C#__ → C#
__Über uns__ → Über uns
"""
DUNDER_KEPT = """
__init__
__init__.py
__main__
__name__ == "x"
__dict__
__call__()
__next__
__a__
__x1__
__MY_NAME__
__MAX_SIZE__
__file_path__
__Foo_Bar__
__a_b_c__
obj.__class__
self.__enter__
__del__, __new__
__all__ = []
__version__
__len__()
__repr__ and __str__
__getitem__
(__hash__)
__FILE_NAME__.c
__slots__
__my_var__
__pycache__
__stdcall__
__attribute_x__
__future__
"""
BARS_DRAWN = """
||a||
||the butler||.
It was ||the butler||
(||a||)
a ||b|| c
"||x||"
||a b c||
||他||是
他||死||了
a: ||b||
||a||, ||b||
||1||
||a||!
> ||a||
- ||a||
||**a**||
||a|b||
||a *b* c||
[||a||]
—||a||—
||a||?
x ||y||; z
||"a"||
||(a)||
||a.||
ends ||here||
||a||…
||äö||
：||a||。
||a||:
"""
BARS_KEPT = """
a||b
a||b||c
if (a||b||c) return;
a || b || c
first||' '||last
x||touch x && test -f y||touch y
a ||
|| a
||
|| a ||
1||0
true||false
p||q||r||s
$a||$b
foo()||bar
x||y
a||b, c||d
||a b
a b||
ok||fail
|a|
a | b
a|b|c
|||
a||b c||d
isA||isB
n==0||n==1
A||B
m||n||o
0||1||2
"""
SLASHES_DRAWN = r"""
Hello\! → Hello!
1\. a → 1. a
\*a\* → *a*
a\_b → a_b
snake\_case\_name → snake_case_name
\# no heading → # no heading
\- no item → - no item
a \> b → a > b
\[a] → [a]
\`a\` → `a`
\~a → ~a
50\% → 50%
a\. → a.
(\*) → (*)
\_a\_ → _a_
\> → >
a\-b → a-b
\+1 → +1
\! → !
x \| y → x | y
\"a\" → "a"
end\. → end.
\$5 → $5
a\(b → a(b
12\) a → 12) a
\<b> → <b>
a\; → a;
\&amp; → &amp;
\\ → \
a\#1 → a#1
"""
SLASHES_KEPT = r"""
C:\Users\_x_\y
C:\.git\config
D:\a\*.txt
\d+\.\d+x
^\d+\.\d+$
a\b\.c
\frac{a}{b}\,dx
x\{a\}x
\w+\.py
x\n\-y
[\w\.]+
\s\*\s
server\share\_a_\b
%\d\.%d
{a\,b}
\x41\-\x42
re\sub\(a
c:\$x\y
E:\#a\b
\alpha\_{i}
(\d{1,3}\.){3}\d
\bfoo\.bar\b
Z:\(x)\y
\t\|\t
{\.}
a\{b
\mathrm{d}\!x
\p{L}\-x
C:\!a\b
\u00e9\.x
"""
FORMULAS = r"""
\(x\)
\(x^2\)
\(a_b\)
\(a*b*c\)
\[x\,dx\]
\[ x^2\,dx \]
\(\frac{a}{b}\)
\(\alpha_1 + \beta_2\)
\[ a_1 *b* c_2 \]
so \(x_1\) and \(x_2\).
\(|a|\)
\(a < b\)
\[ \sum_{i=0}^n i \]
\(\{a, b\}\)
\( `a` \)
\[ [a] \]
\(a \& b\)
\(\_\)
\(\*\)
\[ a = b \]
\(~a\)
\(f(x)\)
\(#1\)
\(2**3\)
\(\|v\|\)
\[\begin{matrix}1\end{matrix}\]
\(x!\)
\($a$\)
\(a \le b\)
\[ __a__ \]
"""
NO_FORMULAS = r"""
\( → (
\[ → [
\[1\] → [1]
\[x\] → [x]
\[ \] → [ ]
\[1, 2\] → [1, 2]
\(a → (a
a\) → a)
a\] → a]
\\(a\\) → \(a\)
"""
WIDE = """
**注意：**请 → 注意：
**注意**：请 → 注意
这是**“重要”**的 → “重要”
「**重要**」的 → 重要
**（一）**标题 → （一）
请看**《书》**吧 → 《书》
**你好。**世界 → 你好。
**什么？**是的 → 什么？
**走！**快 → 走！
**一、**二 → 一、
**『本』**です → 『本』
これは**「本」**です → 「本」
*「本」*です → 「本」
**重要：**a → 重要：
~~错，~~对 → 错，
**한국어。**그 → 한국어。
**【注】**文 → 【注】
文**【注】**文 → 【注】
**A：**文 → A：
文*。*文 → 。
**，**文 → ，
甲**“乙”**丙 → “乙”
**（a）**b → （a）
文**〈a〉**文 → 〈a〉
**〔a〕**文 → 〔a〕
**…：**文 → …：
**“你”：**我 → “你”：
~~「a」~~b → 「a」
文**（1）**、文 → （1）
**：**： → ：
"""


def lines(texts: str) -> list[str]:
    """Return the texts of a list, one a line."""
    return [line for line in texts.splitlines() if line.strip()]


def pairs(texts: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a list, and what is said of it behind the arrow."""
    for line in lines(texts):
        text, _arrow, said = line.rpartition(" → ")
        yield text, said


def rendered(text: str) -> Rendered:
    return render_spans(text, linkable=lambda _url: True)


@pytest.mark.parametrize(
    ("kinds", "text", "marked"),
    [
        *(("bold italic", *pair) for pair in pairs(STARS_DRAWN)),
        *(("bold", *pair) for pair in pairs(DUNDER_DRAWN)),
        *(("bold italic strike", *pair) for pair in pairs(WIDE)),
    ],
)
def test_a_mark_is_drawn(kinds: str, text: str, marked: str) -> None:
    shown, marks = rendered(text)
    assert marked in [shown[one.start : one.end] for one in marks if one.kind in kinds]


@pytest.mark.parametrize("text", lines(BARS_DRAWN))
def test_a_spoiler_hides(text: str) -> None:
    shown, marks = rendered(text)
    assert "spoiler" in [one.kind for one in marks]
    assert "||" not in shown


@pytest.mark.parametrize("text", lines(BARS_DRAWN))
def test_a_spoiler_hides_while_it_is_written(text: str) -> None:
    start = text.index("||")
    for at in range(start + 3, text.index("||", start + 2) + 2):
        shown, marks = rendered(close_open_marks(text[:at]))
        hidden = {at for one in marks if one.kind == "spoiler" for at in range(one.start, one.end)}
        seen = [char for place, char in enumerate(shown) if place not in hidden]
        assert list(filter(str.isalnum, seen)) == list(filter(str.isalnum, text[:start]))


@pytest.mark.parametrize(
    "text", [*lines(STARS_KEPT), *lines(DUNDER_KEPT), *lines(BARS_KEPT), *lines(SLASHES_KEPT)]
)
def test_what_is_no_mark_stays_as_it_was_written(text: str) -> None:
    shown, marks = rendered(text)
    assert shown == text
    assert marks == []


@pytest.mark.parametrize("text", lines(FORMULAS))
def test_a_formula_stays_as_it_was_written(text: str) -> None:
    assert rendered(text) == (text, [])


@pytest.mark.parametrize(("text", "shown"), [*pairs(SLASHES_DRAWN), *pairs(NO_FORMULAS)])
def test_an_escape_is_taken_away(text: str, shown: str) -> None:
    assert rendered(text).text == shown


CODE_IN_ROWS = ("int | None", "a || b", "ps aux | grep x", "|", "||", "x|y|z", "a |", "| a")


@pytest.mark.parametrize("code", CODE_IN_ROWS)
@pytest.mark.parametrize("ticks", ["`", "``"])
def test_a_pipe_in_code_parts_no_cells(code: str, ticks: str) -> None:
    row = f"| {ticks}{code}{ticks} | meaning |"
    for table in (f"| a | b |\n|---|---|\n{row}", f"{row}\n|:--|--:|\n| 1 | 2 |"):
        cells = [one.data for one in parse(table) if one.name == "Code"]
        assert cells == [code]
        assert len([one for one in parse(table) if one.name == "TableCell"]) == 8


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| 1 | 2 | 3 |", ["1", "2 | 3"]),
        ("1 | 2 | 3", ["1", "2 | 3"]),
        ("| 1 | 2 | 3 | 4 | 5 |", ["1", "2 | 3 | 4 | 5"]),
        ("| 1 | `a|b` | 3 |", ["1", "a|b | 3"]),
        ("| 1 | 2 |", ["1", "2"]),
        ("| 1 |", ["1", ""]),
        (r"| 1 \| 2 | 3 |", ["1 | 2", "3"]),
    ],
)
def test_no_cell_of_a_row_is_lost(row: str, cells: list[str]) -> None:
    found: list[str] = []
    for event in parse(f"| a | b |\n|---|---|\n{row}\n\nend"):
        if event.name == "TableCell" and event.phase == "open":
            found.append("")
        elif event.name in ("Text", "Code") and found:
            found[-1] += event.data
    assert [*found[2:4][:-1], found[3].removesuffix("end")] == cells


def test_what_is_in_code_is_no_concern_of_the_rules() -> None:
    for text in ("`2*3*4`", "```\n__init__ a||b\n```", "`C:\\_x\\y`"):
        (mark,) = rendered(text).marks
        assert mark.kind in ("code", "pre")
        assert rendered(text).text == text.strip("`").strip("\n")


def test_a_rule_goes_by_words_and_not_by_what_stands_behind() -> None:
    for text in (*lines(STARS_KEPT), *lines(DUNDER_KEPT)):
        found = literals(text)
        assert literals(f"{text} and *more* `code`")[: len(found)] == found


@pytest.mark.parametrize("text", ["，_重要_，", "（_a_）", "，*重要*，", "。~~重要~~。"])
def test_each_mark_opens_and_closes_beside_wide_punctuation(text: str) -> None:
    assert len(render_spans(text, linkable=bool).marks) == 1


@pytest.mark.parametrize(
    "text",
    ["\\[" + " " * 10_000 + "y\\]", "\\[ 1, " * 1500, "a*" * 5000, "__a" * 3000, "a\\*" * 3000],
)
def test_the_time_of_the_rules_grows_no_faster_than_the_text(text: str) -> None:
    begun = time.process_time()
    literals(text)
    assert time.process_time() - begun < 0.2  # the first took 0.4 when it was squared
