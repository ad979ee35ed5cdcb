r"""Writes simple formulas with the signs that Unicode has, for readers who are shown no drawing.

Symbols, indices and powers become signs (`\alpha_1 \le x^2`, `$10^{-3}$`), if each has one; any
other formula stays as it was written, with its marks. What comes out has no mark of Markdown and no
dot but in numbers, and stands between blanks and punctuation: it makes no address.
"""

# ruff: noqa: RUF001
from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from unicodedata import lookup

from channels.markdown.literal import formulas
from channels.markdown.tree import parsed

MAX_FORMULA: Final = 80
"""Maximum characters of a formula that is written with signs."""

_Formula = tuple[int, int, str]  # where it is, and its source

_GREEK: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
    " upsilon phi chi psi omega"
)
_CAPITALS: Final = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
_NAMED: Final = """
infty ∞ partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ oint ∮ times × cdot · div ÷ pm ± mp ∓ ast ∗ circ ∘
oplus ⊕ otimes ⊗ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ equiv ≡ approx ≈ sim ∼ cong ≅ propto ∝ ll ≪ gg ≫
in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ emptyset ∅ varnothing ∅
setminus ∖ forall ∀ exists ∃ neg ¬ lnot ¬ land ∧ wedge ∧ lor ∨ vee ∨ to → rightarrow → leftarrow ←
leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⇒ iff ⇔ mapsto ↦ ldots … cdots ⋯
dots … angle ∠ perp ⊥ parallel ∥ prime ′ degree ° therefore ∴ because ∵ triangle △ varepsilon ε
varphi φ vartheta ϑ
"""


def _letter(name: str) -> str:
    size = "SMALL" if name.islower() else "CAPITAL"
    return lookup(f"GREEK {size} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")


_NAMES: Final = _NAMED.split()
_SIGNS: Final = {
    **{name: _letter(name) for name in f"{_GREEK} {_CAPITALS}".split()},
    **dict(zip(_NAMES[::2], _NAMES[1::2], strict=True)),
    **dict.fromkeys(("quad", "qquad"), " "),
}
_WRITTEN: Final = {"-": "\u2212", "*": "\u2217", "'": "\u2032", "<": " < ", ">": " > "}
_RAISED: Final = dict(
    zip(
        "0123456789+\u2212=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW"
        "\u03b2\u03b3\u03b4\u03b8\u03c6\u03c7\u2032\u2218",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᶿᵠᵡ\u2032\u00b0",
        strict=True,
    )
)
_LOWERED: Final = dict(
    zip(
        "0123456789+\u2212=()aehijklmnoprstuvx\u03b2\u03b3\u03c1\u03c6\u03c7",
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ",
        strict=True,
    )
)
_SCRIPTS: Final = {"^": _RAISED, "_": _LOWERED}

_TOKEN: Final = re.compile(
    r"(?P<word>(?<![A-Za-z])[A-Za-z]{1,2}(?![A-Za-z]))|(?P<number>\d+(?:\.\d+)?)"
    r"|\\(?P<name>[A-Za-z]+)|(?P<space>\\[,;:! ]|~|\s+)"
    r"|(?P<script>[\^_])\s*(?:\{(?P<group>[^{}]*)\}|(?P<one>[A-Za-z0-9*']|\\[A-Za-z]+))"
    r"|(?P<sign>[-+=<>(),']|(?<!\*)\*(?!\*)|(?<=[A-Za-z0-9])/(?=[A-Za-z0-9]))|\\(?P<escaped>[{}%])"
)
_INSIDE: Final = re.compile(r"\\(?P<name>[A-Za-z]+)\s?|(?P<space>\s)|(?P<sign>.)")
_BEGINS_BLOCK: Final = re.compile(r"[+=<>]|\d+[.)]")
_NO_FORMULA: Final = re.compile(
    r"[^\x00-\x7f\u3002\uff0e\uff61]|(?<![\\A-Za-z])[A-Za-z]{3}|\n[ \t]*\n|[`\"#@|]|(?<!\\)[\[\]]"
)
"""What says of the signs before it which of them are a formula that is written with signs."""

_OPENING: Final = re.compile(r"\$|\\(?:[(\[]|\Z)")
_STRAY: Final = re.compile(r"(?<!\\)[$`]")
_WIDE: Final = "\u2e80-\u3001\u3003-\uff0d\uff0f-\uff60"
_BEFORE: Final = re.compile(rf"[\s(\[{{\"'*|\u2018\u201c{_WIDE}]")
_AFTER: Final = re.compile(
    rf"\Z|[\s)\]}}\"'*|\u2019\u201d{_WIDE}-]|[.,;:!?\u3002\uff0e\uff61](?=[\s)\]}}\"'*|{_WIDE}]|\Z)"
)


def with_signs(text: str) -> str:
    """Return a Markdown text in which simple formulas are written with signs."""
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return text
    parts, last = list[str](), 0
    found, code = _found(text)
    strays = _strays(text, [*code, *(span[:2] for span in found)])
    for start, end, source in found:
        if start < last or (start and not _BEFORE.match(text, start - 1)):
            continue
        if _is_unsure(text, start, strays):
            continue
        if _AFTER.match(text, end) and (signs := as_signs(source)) is not None:
            parts += (text[last:start], signs)
            last = end
    return "".join([*parts, text[last:]]) if parts else text


def decided(text: str) -> str:
    """Return an unfinished text before a formula of which it is not known how it is written."""
    start = max(0, len(text) - MAX_FORMULA - len("\\(\\)"))
    for found in _NO_FORMULA.finditer(text, start):
        start = found.end()
    begun = _OPENING.search(text, start)
    return text[: begun.start()] if begun else text


def _found(text: str) -> tuple[list[_Formula], list[tuple[int, int]]]:
    """Return the formulas of a text, in order, and where its code is."""
    found: list[_Formula] = []
    texts: list[tuple[int, int]] = []
    code: list[tuple[int, int]] = []
    is_block = False
    for event in parsed(text).events:
        if event.name == "CodeBlock":
            is_block = event.phase == "open"
        if event.name in ("Code", "CodeBlock"):
            code.append((event.start, event.end))
        elif event.name in ("InlineMath", "DisplayMath"):
            found.append((event.start, event.end, event.data))
        elif event.name == "Text" and not is_block:
            texts.append((event.start, event.end))
    if "\\(" in text or "\\[" in text:
        found += _bracketed(text, texts)
    return sorted(found), code


def _bracketed(text: str, texts: list[tuple[int, int]]) -> Iterator[_Formula]:
    r"""Yield the formulas in `\(..\)` and `\[..\]` that begin in what is text to the parser."""
    at = 0
    for start, end in formulas(text):
        while at < len(texts) and texts[at][1] <= start:
            at += 1
        if end is None or at == len(texts) or texts[at][0] > start:
            continue
        source = text[start + 2 : end - 2]
        if text[start + 1] == "(" or not source.isalnum():  # `\[a\]` may be an escape
            yield start, end, source


def _strays(text: str, taken: list[tuple[int, int]]) -> list[int]:
    """Return the places of dollars and backticks outside of code and formulas, in order."""
    places = {at for span in taken for at in range(*span)}
    return [one.start() for one in _STRAY.finditer(text) if one.start() not in places]


def _is_unsure(text: str, start: int, strays: list[int]) -> bool:
    """Return whether a formula may become a part of something that begins before it."""
    begins = text.rfind("\n\n", 0, start)
    before = strays[bisect_right(strays, begins) : bisect_left(strays, start)]
    return any(text[at] == "`" or text[start] == "\\" for at in before)


@lru_cache(maxsize=512)
def as_signs(source: str) -> str | None:
    """Return a formula as signs, or None where one of its parts has none."""
    source, at = source.strip(), 0
    if not source or len(source) > MAX_FORMULA or "\n" in source:
        return None
    parts: list[str] = []
    for token in _TOKEN.finditer(source):
        shown = _shown(token) if token.start() == at else None
        if shown is None:
            return None
        parts.append(shown)
        at = token.end()
    shown = " ".join("".join(parts).split())
    return shown if at == len(source) and shown and not _BEGINS_BLOCK.match(shown) else None


def _shown(token: re.Match[str]) -> str | None:
    if token["script"]:
        return _script(_SCRIPTS[token["script"]], token["one"] or token["group"])
    if token["name"]:
        return _SIGNS.get(token["name"])
    if token["space"]:
        return "" if token["space"] == "\\!" else " "
    if token["sign"]:
        return _WRITTEN.get(token["sign"], token["sign"])
    return token["word"] or token["number"] or token["escaped"]


def _script(forms: dict[str, str], source: str) -> str | None:
    """Return what is raised or lowered, or None if some of it cannot be."""
    shown = ""
    for found in _INSIDE.finditer(source):
        if found["space"]:
            continue
        sign = _SIGNS.get(found["name"], "") if found["name"] else found["sign"]
        form = forms.get(_WRITTEN.get(sign, sign).strip())
        if form is None:
            return None
        shown += form
    return shown or None
