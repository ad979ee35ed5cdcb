"""Write a chapter of a tape as Markdown or as one HTML page: what was said, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from string import Template
from typing import Final

from gateway.console.reads import PAGE, ConsoleReads
from gateway.console.said import said_text
from gateway.console.timeline.marks import ANSWER, SAID, chapter_of, kind_of, who_of
from gateway.errors import AdminError
from gateway.language.language import say, spoken
from tape.deletions import deleted
from tape.entry import ANCHOR, MESSAGE, Entry
from tape.lanes import holds_in
from tape.query import Query
from tape.search.search import as_edited

MAX_MESSAGES: Final = 2000
SINCE: Final = "{count} message since {moment}|{count} messages since {moment}"
FIRST_SINCE: Final = (
    "The first {count} message since {moment}|The first {count} messages since {moment}"
)
NO_CHAPTER: Final = "There is no such chapter on this tape."

_PAGE: Final = Template("""<!doctype html>
<html lang="$lang"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
body { max-width: 42rem; margin: 3rem auto; padding: 0 1.25rem; color: #1a1f1c; background: #fbfaf7;
  font: 1rem/1.6 Georgia, "Noto Serif", serif; }
header { border-inline-start: 6px solid #6b4937; padding-inline-start: 1rem; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; }
header p, time { color: #5b645e; font: .8125rem/1.5 system-ui, sans-serif; }
article { margin-block: 1.5rem; }
article b { font: 600 .9375rem/1.5 system-ui, sans-serif; }
article p { margin: .25rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.agent { padding-inline-start: 1rem; border-inline-start: 2px solid #6b4937; }
@media (prefers-color-scheme: dark) { body { color: #e5e9e3; background: #151816; } }
</style></head>
<body><header><h1>$title</h1><p>$span</p></header>
$messages
</body></html>
""")


@dataclass(frozen=True, slots=True)
class Line:
    """A message of a chapter; `who` is "" for the agent."""

    at: str
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class ChapterText:
    """The messages from an anchor to the next one that holds for the same lane, at most 2 000.

    Deleted and erased messages are not among them.
    """

    title: str
    at: str
    lines: tuple[Line, ...]
    whole: bool

    def markdown(self, agent: str) -> str:
        """Return it as Markdown, in which what people wrote is quoted."""
        parts = [f"# {_line(self.title)}\n\n{self._span()}\n"]
        for line in self.lines:
            quoted = "\n".join(f"> {text}".rstrip() for text in line.text.splitlines())
            parts.append(f"**{_line(line.who or agent)}**, {_moment(line.at)}\n\n{quoted}\n")
        return "\n".join(parts)

    def html(self, agent: str) -> str:
        """Return it as a page that needs nothing else and runs nothing."""
        articles = [
            f'<article class="{"person" if line.who else "agent"}"><b>{escape(line.who or agent)}'
            f"</b> <time>{_moment(line.at)}</time><p>{escape(line.text)}</p></article>"
            for line in self.lines
        ]
        return _PAGE.substitute(
            lang=spoken(),
            title=escape(self.title),
            span=escape(self._span()),
            messages="\n".join(articles),
        )

    def _span(self) -> str:
        sentence = SINCE if self.whole else FIRST_SINCE
        return say(sentence, count=len(self.lines), moment=_moment(self.at))


async def chapter_text(reads: ConsoleReads, name: str, anchor: int, chat: str) -> ChapterText:
    """Read the chapter that begins at an anchor; raises AdminError if there is none.

    `chat` is its title where the anchor has no name of its own.
    """
    tape = reads.tape(name)
    first = (await tape.entries([anchor])).get(anchor)
    if first is None or first.kind != ANCHOR:
        raise AdminError(NO_CHAPTER)
    lane = first.meta.get("lane") if isinstance(first.meta.get("lane"), str) else None
    end = await _end(reads, name, anchor, lane)
    lines: list[Line] = []
    after, more = anchor, True
    while more and len(lines) < MAX_MESSAGES:
        query = Query(name, after=after, before=end, kinds=(MESSAGE,), lane=lane, limit=PAGE)
        found = await reads.page(query)
        more = bool(found)
        after = found[-1].id if found else after
        shown = await as_edited(tape, name, found)
        gone = await deleted(tape, about=tuple(one.id for one in found)) if found else set()
        lines += _lines([one for one in shown if one.id not in gone])
    title = chapter_of(first)["text"] or chat
    return ChapterText(title, first.date, tuple(lines[:MAX_MESSAGES]), whole=not more)


async def _end(reads: ConsoleReads, name: str, anchor: int, lane: str | None) -> int | None:
    """Return the id of the anchor that ends a chapter, or None."""
    after = anchor
    while True:
        query = Query(
            name, after=after, kinds=(ANCHOR,), lane=lane, unlaned=lane is not None, limit=PAGE
        )
        found = await reads.page(query)
        own = found if lane is not None else [one for one in found if "lane" not in one.meta]
        ends = [one for one in own if holds_in(one, lane)]
        if ends or not found:
            return ends[0].id if ends else None
        after = found[-1].id


def _lines(entries: Sequence[Entry]) -> list[Line]:
    said = [entry for entry in entries if kind_of(entry) in (SAID, ANSWER)]
    return [Line(entry.date, who_of(entry), said_text(entry)) for entry in said]


def _moment(date: str) -> str:
    return f"{date[:10]} {date[11:16]} UTC"


def _line(text: str) -> str:
    """Return a text that begins no Markdown of its own."""
    return " ".join(text.split()).translate({ord(one): f"\\{one}" for one in "*_`[]<>\\#"})
