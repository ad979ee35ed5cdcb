"""Texts for each rule of what is a mark: those that must be drawn, and those that must not."""

# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator

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
\(a*b*c!\)
\(\frac{a}{b}\)
\[ \frac{1}{2}\,dx \]
\(x_q\)
\(x^{y^2}\)
\(x^{Q}\)
\(|a|\)
\( `a` \)
\[ [a] \]
\[a\]
\(a \& b\)
\(\_\)
\(\*\)
\(#1\)
\(2**3\)
\(\|v\|\)
\[\begin{matrix}1\end{matrix}\]
\(x!\)
\($a$\)
\[ __a__ \]
\(\sin x\)
\(\sqrt{x}\)
\(\mathbb{R}\)
\(\text{if } x\)
\(\unknown\)
\(+ x\)
\(a.b\)
\(velocity\)
$e^{i\pi} + 1 = 0$
$\hat{x}_1$
$\left( x \right)$
www.$x$.org
https://example.org/$x$
a$x$ b
$x$.org is
so $x$@home
"""
SIGNS = r"""
\(x\) → x
\(x^2\) → x²
\(a_1\) → a₁
\[x\,dx\] → x dx
\[ x^2\,dx \] → x² dx
\(\alpha_1 + \beta_2\) → α₁ + β₂
\[ a_1 *b* c_2 \] → a₁ ∗b∗ c₂
so \(x_1\) and \(x_2\). → so x₁ and x₂.
\(a<b\) → a < b
\[ \sum_{i=0}^n i \] → ∑ᵢ₌₀ⁿ i
\(\{a, b\}\) → {a, b}
\[ a = b \] → a = b
\(f(x)\) → f(x)
\(f'(x)\) → f′(x)
\(a \le b\) → a ≤ b
$x$ → x
$\pi$ → π
$E = mc^2$ → E = mc²
$H_2O$ → H₂O
$CO_2$, and → CO₂, and
$10^{-3}$ → 10⁻³
$90^\circ$ → 90°
$2 \times 3$ → 2 × 3
$x^{n+1}$ → xⁿ⁺¹
$a_{ij}$ → aᵢⱼ
$A^T$ → Aᵀ
$\Delta t$ → Δ t
$\int_0^1 f$ → ∫₀¹ f
the $n$-th → the n-th
中文$x^2$，好 → 中文x²，好
$x \in A \cup B$ → x ∈ A ∪ B
$50\%$ → 50%
**$x^2$** → x²
$$a^2 + b^2 = c^2$$ → a² + b² = c²
$1/2$ → 1/2
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
