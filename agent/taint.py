"""Taint: whose text a view holds besides the asking person's, and which links stand in it.

Text of others may order the model about. So a turn whose view holds such text is tainted, what it
writes is tainted too (`meta.taint`, with `meta.asked_by`), and every later view with that in it:

    person  text of another person, or of nobody who is known
    quote   text that the asking person forwarded or quoted, or that came in their message
    file    an attachment, whoever sent it
    page    a page of the web, or a card of one in a message
    tool    the result of a tool that brings text from elsewhere
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from agent.links import links_in, spans
from tape.context import REWIND
from tape.entry import ANCHOR, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry, content_text, dump

TAINT: Final = "taint"
ASKED_BY: Final = "asked_by"
PERSON: Final = "person"
QUOTE: Final = "quote"
FILE: Final = "file"
PAGE: Final = "page"

_OWN_ANCHORS: Final = ("session/", "context:", "auto_handoff/")  # the gateway's: no model's words
_OWN_STATE: Final = frozenset({"by", "reason", "rests_on"})
_OLD_QUOTES: Final = ("\n[in reply to ", "\n[forwarded from ")


def marks(asker: str, taint: Iterable[str]) -> dict[str, Any]:
    """Return the `meta` of what is written in a turn."""
    found = {ASKED_BY: asker, TAINT: sorted(taint)}
    return {name: value for name, value in found.items() if value}


@dataclass(slots=True)
class Sources:
    """What the views of one turn have held so far.

    asker  who asks, as `channel:id`
    taint  the kinds of text that are not the asking person's
    said   the asking person's own words in this turn
    """

    asker: str = ""
    taint: set[str] = field(default_factory=set)
    said: str = ""
    _links: set[str] = field(default_factory=set)
    _texts: dict[str, None] = field(default_factory=dict)  # of views of other runs of the loop
    _unread: dict[int, Entry] = field(default_factory=dict)  # few answers have links to look up
    _read: set[int] = field(default_factory=set)

    @property
    def age(self) -> tuple[object, ...]:
        """What differs once there is more to know."""
        return len(self._unread), len(self._texts), self.said

    def look(self, entries: Iterable[Entry]) -> None:
        """Take account of the entries of a view; without a person who asks, nothing is foreign."""
        if not self.asker:
            return
        authors: dict[int, str] = {}
        for entry in entries:
            author = author_of(entry) or authors.get(entry.meta.get("edit_of", 0), "")
            authors[entry.id] = author
            if entry.id in self._unread:
                continue
            self.taint.update(taint_of(entry, author, self.asker))
            self._unread[entry.id] = entry

    def add(self, kind: str) -> None:
        """Take account of the result of a tool that taints."""
        if self.asker and kind:
            self.taint.add(kind)

    def inherit(self, other: Sources) -> None:
        """Take over what another run of the loop has seen."""
        self.taint |= other.taint
        self._links |= other.links()
        self._texts |= dict.fromkeys(other.texts())

    def texts(self) -> Iterator[str]:
        """Yield the texts of the views so far, without the model's calls and their echoes."""
        yield from self._texts
        written = self._written()
        for entry in self._unread.values():
            if entry.kind == TOOL_RESULT:
                yield _without_links(_given_text(entry), written)
            elif entry.kind == MESSAGE:
                yield content_text(entry.payload.get("content"))
            elif entry.kind != TOOL_CALL:
                yield entry.text

    def links(self) -> set[str]:
        """Return the links in the views so far, except those that only the model wrote."""
        unread = [entry for number, entry in self._unread.items() if number not in self._read]
        written = self._written() if unread else ""
        for entry in unread:
            given = links_in(_given_text(entry))
            self._links.update(link for link in given if _bare(link) not in written)
        self._read.update(self._unread)
        return self._links

    def _written(self) -> str:
        """Return what the model wrote to its tools, which may only repeat it."""
        calls = [e.payload.get("calls") for e in self._unread.values() if e.kind == TOOL_CALL]
        return dump(calls) if calls else ""

    def marks(self) -> dict[str, Any]:
        return marks(self.asker, self.taint)


def author_of(entry: Entry) -> str:
    """Return the author of a person's message as `channel:id`, or ""."""
    author = entry.meta.get("author")
    return f"{entry.meta.get('channel', '')}:{author}" if author else ""


def taint_of(entry: Entry, author: str, asker: str) -> set[str]:
    """Return how an entry taints the views of a person who asks."""
    meta = entry.meta
    found = {str(one) for one in meta.get(TAINT) or ()}
    if meta.get("media"):
        found.add(FILE)
    if entry.kind == ANCHOR:
        if not _is_own_anchor(entry) and asker not in (author, meta.get(ASKED_BY)):
            found.add(PERSON)
    elif entry.kind == MESSAGE:
        if author:
            foreign = author != asker
            if TAINT not in meta and any(mark in entry.text for mark in _OLD_QUOTES):
                found.add(QUOTE)
        else:
            foreign = meta.get(ASKED_BY, asker) != asker or not _is_ours(entry)
        if foreign:
            found.add(PERSON)
    return found


def _is_own_anchor(entry: Entry) -> bool:
    """Return whether an anchor has no words but the gateway's."""
    state = entry.payload.get("state") or {}
    if entry.name == REWIND:  # it repeats an older anchor's state, whoever gave it
        return isinstance(state, Mapping) and _OWN_STATE.issuperset(state)
    return str(entry.name).startswith(_OWN_ANCHORS) or not state


def _is_ours(entry: Entry) -> bool:
    """Return whether the gateway or a turn of it wrote a message."""
    return bool({"turn", "hint", "prompt_of"} & entry.meta.keys())


def _without_links(text: str, written: str) -> str:
    """Return a result without the links that the model wrote."""
    parts, last = list[str](), 0
    for start, end in spans(text) if written else ():
        if _bare(text[start:end]) in written:
            parts += (text[last:start], " ")
            last = end
    return "".join([*parts, text[last:]])


def _given_text(entry: Entry) -> str:
    """Return the text of an entry that the model did not write."""
    if entry.kind == TOOL_RESULT:
        return " ".join(
            one if isinstance(one, str) else dump(one) for one in entry.payload["results"]
        )
    if entry.kind == ANCHOR and TAINT not in entry.meta:
        return entry.text
    if entry.kind == MESSAGE and entry.payload.get("role") != "assistant":
        return content_text(entry.payload.get("content"))
    return ""


def _bare(link: str) -> str:
    return link.partition("://")[2] or link
