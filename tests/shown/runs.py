"""The runs of letters and digits of a Markdown text, and which of them a reader need not see.

This looks at characters near a run and at nothing else: what it allows in a wrong place is either
found there anyway, or is the target of a link that the reader must have.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

Why = Literal["address", "language", "ordinal", "box", "reference", "command", "title", "label"]
"""Why a run may be missing.

label  the name by which a link finds its address elsewhere, or a note its text
"""

_RUN: Final = re.compile(r"[^\W_]+")
_LEAD: Final = r"^(?:[ \t>*+-]|\d{1,9}[.)](?=[ \t]))*"
_FENCE: Final = re.compile(_LEAD + r"(?:`{3,}(?P<info>[^`\n]*)|~{3,}(?P<waves>[^\n]*))$", re.M)
_LEADS: Final = re.compile(_LEAD + r"(?:\d{1,9}[.)]$)?", re.M)
_ORDINAL: Final = re.compile(r"\d{1,9}(?=[.)])")
_BOX: Final = re.compile(r"(?<!\S)\[([xX])\](?=\s)")
_REFERENCE: Final = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,31}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
_TARGET: Final = re.compile(
    r"\]\([ \t]*\n?[ \t]*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>(?:[^\s()<>]|\([^\s()]*\))*))"
    r"(?P<title>\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*\n?[ \t]*\)"
)
_ANGLED: Final = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]+:[^\s<>]*>")
_NAMED: Final = re.compile(r"\]\[(?P<name>[^\[\]\n]{1,200})\]")
_DEFINED: Final = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+)?\[(?P<name>[^\^\[\]\n][^\[\]\n]*)\]:[ \t]*\n?[ \t>]*"
    r"(?:<(?P<angled>[^<>\n]*)>|(?P<bare>\S+))"
    r"(?P<title>[ \t]*\n?[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$",
    re.M,
)
_NOTE: Final = re.compile(r"\[\^(?P<name>[^\[\]\s]+)\]")
_FORMULA: Final = re.compile(
    r"\\\(.{1,500}?\\\)|\\\[.{1,500}?\\\]|\$\$[^$]{1,500}\$\$|(?<![\\\w$])\$[^\s$](?:[^$\n]*[^\s$])?\$",
    re.S,
)
_MARKS: Final = re.compile(r"\*+|_+|~+|\|+|`+|.", re.S)
_COMMAND: Final = re.compile(r"\\(?:begin|end)\{[^{}]*\}|\\[A-Za-z]+|\\.")


_UNALIKE: Final = ("Mn", "Mc", "Cf")


class Run(NamedTuple):
    """A run of a source, without accents; `others` are forms in which it may be shown."""

    text: str
    start: int
    end: int
    whys: frozenset[Why] = frozenset()
    target: str = ""
    others: tuple[str, ...] = ()


@dataclass(slots=True)
class Source:
    """A text, its runs, and the places of the marks that a reader does not see."""

    text: str
    runs: list[Run]
    marks: set[int] = field(default_factory=set)
    formulas: list[tuple[int, int]] = field(default_factory=list)


def bare(text: str) -> str:
    """Return a text without accents and invisible characters, which no two programs write alike."""
    if text.isascii():
        return text
    return "".join(char for char in text if unicodedata.category(char) not in _UNALIKE)


def letters(text: str) -> str:
    """Return the letters and digits of an address, however it is escaped."""
    return "".join(_RUN.findall(bare(unquote(unescape(text))))).casefold()


def runs_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each run of a bare text in its plainest form, and where it is."""
    for found in _RUN.finditer(text):
        yield unicodedata.normalize("NFKC", found[0]), *found.span()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.whys: dict[int, set[Why]] = {}
        self.targets: dict[int, str] = {}
        self.marks: set[int] = set()
        self.formulas = [found.span() for found in _FORMULA.finditer(text)]

    def allow(self, span: tuple[int, int], why: Why, target: str = "") -> None:
        for at in range(*span):
            self.whys.setdefault(at, set()).add(why)
            if target:
                self.targets[at] = target

    def read(self) -> None:
        for found in _FENCE.finditer(self.text):
            self.allow(found.span("info" if found["info"] is not None else "waves"), "language")
        for lead in _LEADS.finditer(self.text):
            for found in _ORDINAL.finditer(self.text, *lead.span()):
                self.allow(found.span(), "ordinal")
        for found in _BOX.finditer(self.text):
            self.allow(found.span(1), "box")
        for found in _REFERENCE.finditer(self.text):
            self.allow(found.span(), "reference")
            self.marks.update(range(*found.span()))
        self._links()
        for start, end in self.formulas:
            for found in _COMMAND.finditer(self.text, start, end):
                self.allow(found.span(), "command")

    def _links(self) -> None:
        for found in _TARGET.finditer(self.text):
            form = "bare" if found["angled"] is None else "angled"
            label = self._opening(found.start())
            is_shown = letters(label) == letters(found[form])
            self.allow(found.span(form), "address", "" if is_shown else found[form])
            if found["title"]:
                self.allow(found.span("title"), "title")
            self.marks.update(range(*found.span()))
        defined = {found["name"].casefold() for found in _DEFINED.finditer(self.text)}
        for found in _NAMED.finditer(self.text):
            if found["name"].casefold() not in defined:
                continue
            self.allow(found.span("name"), "label")
            self.marks.update(range(*found.span()))
            self._opening(found.start())
        for found in _DEFINED.finditer(self.text):
            target = found["angled"] or found["bare"] or ""
            self.allow(found.span("name"), "label")
            self.allow((found.end("name"), found.end()), "address", target)
            if found["title"]:
                self.allow(found.span("title"), "title")
        for found in _ANGLED.finditer(self.text):
            self.marks.update((found.start(), found.end() - 1))
        for found in _NOTE.finditer(self.text):
            self.allow(found.span("name"), "label")
            self.marks.update(range(*found.span()))

    def _opening(self, end: int) -> str:
        """Return a link's label, and note the bracket it begins with, and the sign of an image."""
        depth, at = 1, end - 1
        while at >= 0 and end - at < 500:
            depth += {"]": 1, "[": -1}.get(self.text[at], 0)
            if not depth:
                self.marks.update((at, at - 1) if self.text[at - 1 : at] == "!" else (at,))
                self.marks.add(end)
                return self.text[at + 1 : end]
            at -= 1
        return ""


def read(text: str) -> Source:
    """Return the runs of a text, and why each may be missing."""
    text = bare(text.replace("\r\n", "\n"))
    reader = _Reader(text)
    reader.read()
    runs = []
    for run, start, end in runs_of(text):
        whys = frozenset(reader.whys.get(start, ()))
        others: tuple[str, ...] = ()
        if "reference" in whys:
            amp = text.rfind("&", 0, start)
            others = words_in([unescape(text[amp : text.find(";", amp) + 1])])
        elif "command" in whys:
            others = words_in([_letter(run)])
        runs.append(Run(run, start, end, whys, reader.targets.get(start, ""), others))
    return Source(text, runs, reader.marks, reader.formulas)


def in_formula(source: Source, place: int) -> bool:
    """Return whether a place is inside a formula."""
    return any(start <= place < end for start, end in source.formulas)


def joins(source: Source, left: Run, right: Run) -> bool:
    """Return whether two runs may be shown as one: only marks that are drawn stand between."""
    gap = source.text[left.end : right.start]
    if in_formula(source, left.end) and in_formula(source, right.start - 1):
        return True
    for marks in _MARKS.finditer(source.text, left.end, right.start):
        if marks.start() not in source.marks and not _is_drawn(source.text, *marks.span()):
            return False
    return bool(gap)


def _is_drawn(text: str, start: int, end: int) -> bool:
    before, after, marks = text[start - 1], text[end], text[start:end]
    is_wide = not (before.isascii() and before.isalnum() and after.isascii() and after.isalnum())
    if marks[0] == "*":
        if is_wide:
            return True
        word = text[max(text.rfind(" ", 0, start), text.rfind("\n", 0, start)) + 1 : start]
        return len(marks) > 1 and (
            (before.islower() and after.isupper()) or "*" * len(marks) in word
        )
    if marks[0] == "_":
        return not (before.isalnum() and after.isalnum())
    if marks[0] == "~":
        return len(marks) == 2
    if marks[0] == "|":
        return len(marks) == 2 and is_wide
    return marks[0] == "`"


def words_in(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the runs of some texts, one after the other."""
    return tuple(run for text in texts for run, _start, _end in runs_of(bare(text)))


def _letter(command: str) -> str:
    """Return the Greek letter that a command of TeX is the name of, or nothing."""
    size = "SMALL" if command.islower() else "CAPITAL"
    name = command.upper().replace("LAMBDA", "LAMDA")
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name}")
    except KeyError:
        return ""
