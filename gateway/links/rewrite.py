"""Rewrites a text of Markdown so that its links are those that may be shown.

Links are found where the parser finds them, in what people see of the text, and in the text as it
is written, since each platform reads it in its own way. What was rewritten is judged again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from typing import Final, NamedTuple

from agent.links import spans
from channels.markdown.render import to_text
from channels.markdown.tree import MarkdownEvent, parse
from gateway.links.address import folded
from gateway.links.judge import STOPS, LinkJudge, Verdict

CUT: Final = "\u2026"
"""What stands for what was cut."""

_ROUNDS: Final = 4
_COARSE: Final = 12  # times a link's length; each character may be written as a reference
_LINKS: Final = ("Link", "Image")
_BREAKS: Final = ("SoftBreak", "HardBreak", "Rule")
_LEAVES: Final = ("Text", "Code", "InlineMath", "DisplayMath")
_MARKS: Final = ("Strong", "Emphasis", "Strikethrough", *_LINKS)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_VANISHES: Final = re.compile(
    r"[*_~`|<>\[\]\\\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff]"
)
_TARGET: Final = re.compile(
    r"\](?:\(|:)(?=\s{0,9}(?:<([^<>\n]{0,800})>?|((?:(?!\][(:])\S){0,800})))"
)
_MORE: Final = re.compile(r"(?:[^\w\s<>\"`}]|_)*+(?=[^\W_])")
_MORE_IN_PROSE: Final = re.compile(r"(?:[^\w\s<]|_)*+(?=[^\W_])")
_MAX_BEFORE: Final = 300
_BREAKS_HOST: Final = re.compile(r"[^\w.~\u00c0-\U0010ffff-]|\s")
_BREAKS_USER: Final = re.compile(r"[/\[\]{}()'`<>\"\u00ab\u00bb\s]")
_WORDS: Final = re.compile(r"\S+")
_HINT: Final = re.compile(r"[.:@/\u3002\uff0e\uff61]\S|&|\][(:]")
_CLEAR: Final = re.compile(r"[:.@/]")

_Change = tuple[int, int, str]


def suspect(text: str, judge: LinkJudge) -> bool:
    """Return whether a text may show a link that has to be changed, however it is read."""
    if not _HINT.search(text):
        return False
    for one in dict.fromkeys((text, _flat(text))):
        if any(_replaced(one, lambda at: _runs_on(one, at, in_prose=True), judge)):  # noqa: B023
            return True
    if "](" not in text and "]:" not in text:
        return False
    targets = map(_target, _TARGET.finditer(text))
    return any(not judge.of(target, is_target=True).whole for target in targets)


def rewritten(text: str, judge: LinkJudge) -> str:
    """Return a text that shows no more of any link than may be shown."""
    for number in range(_ROUNDS):
        changed = _as_written(_as_parsed(text, judge, coarse=number > 0), judge)
        if changed == text:
            return text
        text = changed
    return _as_text(text, judge)


def _flat(text: str) -> str:
    """Return a text as who drops all marks sees it."""
    if not _VANISHES.search(text) and "&" not in text:
        return text
    return _VANISHES.sub("", unescape(_ESCAPED.sub(r"\1", text)))


def _target(found: re.Match[str]) -> str:
    if found[1] is not None:
        return unescape(_ESCAPED.sub(r"\1", found[1]))
    text, depth = found[2], 0
    for at, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            text = text[:at]
            break
    return unescape(_ESCAPED.sub(r"\1", text))


def _changed(text: str, changes: Sequence[_Change]) -> str:
    parts, last = list[str](), 0
    for start, end, new in sorted(changes, key=lambda change: change[:2]):
        if start >= last:  # what overlaps waits for the next round
            parts += (text[last:start], new)
            last = end
    return "".join([*parts, text[last:]])


def _as_parsed(text: str, judge: LinkJudge, *, coarse: bool) -> str:
    """Rewrite what the parser finds; if `coarse`, also where it knows a link's place roughly."""
    events = parse(text)
    changes = [change for run in _runs(events, text) for change in run.changes(judge, coarse)]
    for opened, inner_end in _links(events):
        changes += _of_link(text, opened, inner_end, judge)
    return _changed(text, changes)


def _links(events: Sequence[MarkdownEvent]) -> Iterator[tuple[MarkdownEvent, int]]:
    """Yield each link and image, with where its label ends."""
    stack: list[tuple[MarkdownEvent, int]] = []
    for event in events:
        if event.phase == "close" and event.name in _LINKS and stack:
            yield stack.pop()
        if stack:
            stack[-1] = stack[-1][0], max(stack[-1][1], event.end)
        if event.phase == "open" and event.name in _LINKS:
            begin = event.start + (2 if event.name == "Image" else 1)
            stack.append((event, begin))


def _of_link(text: str, link: MarkdownEvent, label_end: int, judge: LinkJudge) -> Iterator[_Change]:
    """Yield the changes of a link that is not whole; its label is a text as any other."""
    target, begin = str(link.data["dest_url"]), link.start + (2 if link.name == "Image" else 1)
    if link.data["link_type"] in ("Autolink", "Email"):
        return  # its label is its address
    verdict = judge.of(target, is_target=True)
    if verdict.cut and verdict.kind != "relative":
        judge.note_cut(target, verdict)
    if verdict.whole and text.startswith("](", label_end):
        return
    label = text[begin:label_end]
    if verdict.shown and not label.strip():
        yield link.start, link.end, _bare(verdict)
    elif verdict.shown:
        target = f"]({verdict.shown})"
        if not text.startswith(target, label_end) or link.end != label_end + len(target):
            yield label_end, link.end, target
        beside = f" ({verdict.host}"
        if not (_says_host(label, verdict) or text.startswith(beside, link.end)):
            yield link.end, link.end, f"{beside}{' ' + CUT if verdict.cut else ''})"
    elif verdict.kind == "relative":
        yield label_end, label_end + 1, "] "
    else:
        yield link.start, begin, ""
        yield label_end, link.end, f" ({verdict.host}{CUT})"


def _says_host(label: str, verdict: Verdict) -> bool:
    """Return whether a label says nothing but where the link leads, and nothing was cut."""
    shown = verdict.shown
    return not verdict.cut and label in (verdict.host, shown, shown.partition("://")[2])


def _replaced(
    text: str, runs_on: Callable[[int], bool], judge: LinkJudge, *, noted: bool = False
) -> Iterator[_Change]:
    """Yield the changes of the links in a text that people see, or copy.

    `runs_on` says whether some platform takes more for a link than ends at a position.
    """
    for start, end in spans(text):
        link = text[start:end]
        verdict = judge.of(link)
        apart = " " if _has_begun(text, start, link) else ""
        stop = STOPS.search(link) if verdict.cut else None
        if stop and not judge.of(link[: stop.start()]).cut:
            yield start, end, f"{apart}{link[: stop.start()]} {link[stop.start() :]}"
        elif verdict.cut:
            if noted:
                judge.note_cut(link, verdict)
            yield start, end, f"{apart}{_bare(verdict)}"
        elif "/" in link and runs_on(end):
            yield start, end, f"{apart}{link} "
        elif apart:
            yield start, end, f"{apart}{link}"


def _has_begun(text: str, start: int, link: str) -> bool:
    """Return whether Telegram may see a digit before a link as a part of it.

    Its hosts and users have signs that no other platform takes for a part of an address.
    """
    if "://" in link:
        return False
    breaks = _BREAKS_USER if "@" in link else _BREAKS_HOST
    for at in range(start - 1, max(0, start - _MAX_BEFORE) - 1, -1):
        if text[at] == "@":
            breaks = _BREAKS_USER
        elif breaks.match(text, at):
            return False
        elif text[at].isdigit():
            return True
    return False


def _runs_on(text: str, end: int, *, in_prose: bool) -> bool:
    return (_MORE_IN_PROSE if in_prose else _MORE).match(text, end) is not None


def _bare(verdict: Verdict) -> str:
    """Return what stands for a link without a label that had to be cut."""
    if verdict.shown:
        return f"{verdict.shown} {CUT}"
    return f"{verdict.host}{CUT}" if verdict.kind == "other" else CUT


class _Leaf(NamedTuple):
    """A part of a run: where it is in what is seen, and where in the source.

    exact    whether each character stands there as it is seen
    is_code  whether it is code, where quotes end an address
    """

    at: int
    start: int
    end: int
    exact: bool
    is_code: bool


class _Run(NamedTuple):
    """Text that is seen as one, from one or more places of the source."""

    seen: str
    leaves: Sequence[_Leaf]

    def changes(self, judge: LinkJudge, coarse: bool) -> Iterator[_Change]:
        def runs_on(end: int) -> bool:
            return _runs_on(self.seen, end, in_prose=not self._leaf(end - 1).is_code)

        for start, end, new in _replaced(self.seen, runs_on, judge, noted=True):
            first, last = self._place(start)[0], self._place(end - 1)[1]
            if coarse or last - first < _COARSE * (end - start):
                yield first, last, new

    def _place(self, at: int) -> tuple[int, int]:
        """Return where a character of what is seen begins and ends in the source."""
        leaf = self._leaf(at)
        if not leaf.exact:
            return leaf.start, leaf.end
        return leaf.start + at - leaf.at, leaf.start + at - leaf.at + 1

    def _leaf(self, at: int) -> _Leaf:
        return self.leaves[bisect_right(self.leaves, at, key=lambda one: one.at) - 1]


def _runs(events: Sequence[MarkdownEvent], text: str) -> Iterator[_Run]:
    seen, leaves, size, block = list[str](), list[_Leaf](), 0, ""
    for event in events:
        block = event.name if event.phase == "open" else block
        if event.phase != "leaf" and event.name in _MARKS:
            continue
        if event.phase != "leaf" or event.name in _BREAKS:
            if leaves:
                yield _Run("".join(seen), leaves)
            seen, leaves, size = [], [], 0
        elif event.name in _LEAVES:
            shown, is_code = str(event.data), "Code" in (event.name, block[:4])
            # In code, the end of a line is a blank.
            source = text[event.start : event.end]
            source = source.replace("\n", " ") if event.name == "Code" else source
            start = source.find(shown)
            if start >= 0:
                start += event.start
                leaves.append(_Leaf(size, start, start + len(shown), True, is_code))
            else:
                leaves.append(_Leaf(size, event.start, event.end, False, is_code))
            seen.append(shown)
            size += len(shown)
    if leaves:
        yield _Run("".join(seen), leaves)


def _as_written(text: str, judge: LinkJudge) -> str:
    """Rewrite what is a link to who reads no Markdown, or another one."""
    changes: list[_Change] = []

    def runs_on(end: int) -> bool:
        is_target = text.startswith((")", ">)", "]("), end)
        return not is_target and _runs_on(text, end, in_prose=False)

    for start, end, new in _replaced(text, runs_on, judge, noted=True):
        plain = _ESCAPED.sub(r"\1", text[start:end])
        if plain == text[start:end] or judge.of(plain).cut:
            changes.append((start, end, new))
    for found in _TARGET.finditer(text):
        verdict = judge.of(_target(found), is_target=True)
        if verdict.kind != "relative" and verdict.cut and found[0][1] == ":":
            changes.append((found.start(), found.start() + 1, "] "))
    return _WORDS.sub(lambda word: _as_marked(word[0], judge), _changed(text, changes))


def _as_marked(word: str, judge: LinkJudge) -> str:
    """Return a word, or what stands for it if it shows a link once all its marks are dropped."""
    if not _VANISHES.search(word) and "&" not in word:
        return word
    left = word
    for start, end in reversed(list(spans(word))):
        verdict = judge.of(word[start:end])
        if verdict.whole or (verdict.shown == word[start:end] and "://" in verdict.shown):
            left = f"{left[:start]} {left[end:]}"
    flat = _flat(left)
    return CUT if any(judge.of(flat[start:end]).cut for start, end in spans(flat)) else word


def _as_text(text: str, judge: LinkJudge) -> str:
    """Return a text, as a last resort, without Markdown and without what had to be cut."""
    shown = folded(to_text(text))
    for _ in range(_ROUNDS):
        changes = [(*at, CUT) for at in spans(shown) if judge.of(shown[slice(*at)]).cut]
        shown = _changed(shown, changes)
    return _CLEAR.sub(" ", shown) if suspect(shown, judge) else shown
