"""Decide what an erasure leaves of each entry of a tape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gateway.context.images import WHOSE
from gateway.explain.quotes import repeats, word_runs
from tape.context import MESSAGE_EDIT, MESSAGE_MEDIA
from tape.entry import ANCHOR, EVENT, FORK_OPEN, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry, is_start
from tape.erasing import ERASE, erased_on, tombstone
from tape.excerpts import EXCERPTS, OMITTED, quote_in, split, without, without_quote
from tape.fork import DISCARDED, MERGED, MERGING
from tape.query import subject_of
from tape.turn_events import TAKES, TURN_END

_STRUCTURE: Final = {FORK_OPEN, MERGING, MERGED, DISCARDED, ERASE}
_OLD_QUOTE: Final = "[in reply to "
_END: Final = ("turn", "status")


@dataclass(frozen=True, slots=True)
class Doomed:
    """What an erasure takes from one tape.

    roots     the entries of the messages themselves
    messages  the platform's ids of these messages, and of the answers that go with them
    turns     the turns that answered them
    runs      runs of their words, by which quotations are recognized
    whole     whether everything older than `until` goes
    person    whose words go, by the id on the `channel`
    """

    roots: frozenset[int] = frozenset()
    messages: frozenset[str] = frozenset()
    turns: frozenset[str] = frozenset()
    runs: frozenset[tuple[str, ...]] = frozenset()
    whole: bool = False
    until: str = ""
    person: str = ""
    channel: str = ""
    _stripped: set[int] = field(default_factory=set)  # messages that lost a quote or an excerpt
    _forwards: set[int] = field(default_factory=set)  # messages that forward what is erased
    _passed_on: set[str] = field(default_factory=set)  # ids of messages that did, or had it in them

    def left_of(self, entry: Entry, day: str) -> Entry | None:
        """Return what is left of an entry, or None if it stays as it is."""
        if erased_on(entry) or entry.name in _STRUCTURE or is_start(entry):
            return None
        if is_elsewhere(entry, self.channel):
            return None
        if self._forwards_it(entry):
            self._forwards.add(entry.id)
            self._passed_on.add(str(entry.meta.get("message_id")))
        if self._takes(entry):
            return tombstone(entry, day)
        left = entry
        if self._is_answered(entry) and entry.name == TURN_END:
            data = entry.payload["data"]
            left = replace(entry, payload={"name": TURN_END, "data": _only(data, _END)})
        elif entry.kind == MESSAGE or entry.name == MESSAGE_EDIT:
            left = self._without_others(entry)
            if left != entry:
                self._stripped.add(entry.id)
                left = _without_omitted(left)
        elif entry.name == MESSAGE_MEDIA:
            left = self._without_images(entry)
        elif entry.kind == TOOL_RESULT:
            found = entry.payload["results"]
            results = ["" if repeats(one, self.runs) else one for one in found]
            left = replace(entry, payload={**entry.payload, "results": results})
        return None if left == entry else left

    def is_copy(self, text: str) -> bool:
        """Return whether a text that somebody passed on is of one of the messages.

        In a quote, it may stand behind a label that says whose it is.
        """
        behind_label = text.partition(": ")[2]
        return any(not self.runs.isdisjoint(word_runs([one])) for one in (text, behind_label))

    def is_mentioned(self, entry: Entry) -> bool:
        """Return whether an anchor or an answer to somebody else repeats words of the messages."""
        said = entry.kind == MESSAGE and entry.payload.get("role") == "assistant"
        if not (said or entry.kind == ANCHOR) or self._takes(entry) or erased_on(entry):
            return False
        long = {run for run in self.runs if len(run) > 1}
        return repeats(entry.payload, long)

    def _takes(self, entry: Entry) -> bool:
        meta = entry.meta
        if self.whole:
            return not self.until or entry.date < self.until
        about = (entry.id, subject_of(entry), meta.get("prompt_of"), meta.get("edit_of"))
        if any(number in self.roots or number in self._forwards for number in about):
            return True
        if self._is_answered(entry):
            return entry.name not in (*TAKES, TURN_END)
        if entry.kind == EVENT and self.person and _author(entry) == self.person:
            return True  # a refused message
        return entry.kind == TOOL_CALL and repeats(entry.payload, self.runs)

    def _without_others(self, entry: Entry) -> Entry:
        """Return a message, or its edit, without their words in it that somebody else passed on."""
        left = _unquoted(entry) if self._is_quoted(entry) else entry
        excerpts = left.meta.get(EXCERPTS)
        content = _content(left)
        if not isinstance(excerpts, list) or content is None:
            return left

        def drops(number: int, words: str) -> bool:
            one = excerpts[number] if number < len(excerpts) else None
            author = one.get("author") if isinstance(one, dict) else None
            return self.is_copy(words) or (bool(self.person) and author == self.person)

        content, numbers = without(content, drops)
        kept = [excerpts[number] for number in numbers if number < len(excerpts)]
        if len(kept) == len(excerpts):
            return left
        self._passed_on.add(str(entry.meta.get("message_id")))  # replies quote it with its excerpts
        return _with_content(left, content, {**left.meta, EXCERPTS: kept})

    def _without_images(self, entry: Entry) -> Entry:
        """Return the images that a model saw of a message without those that are erased."""
        data = entry.payload["data"]
        whose, images = data.get(WHOSE), data.get("images")
        if not (isinstance(whose, list) and isinstance(images, list)):
            return entry
        gone = subject_of(entry) in self._stripped
        both = zip(images, whose, strict=False)
        left = [(one, by) for one, by in both if not by or not (gone or by == self.person)]
        if len(left) == len(images):
            return entry
        own = {"images": [one for one, _by in left], WHOSE: [by for _one, by in left]}
        return replace(entry, payload={**entry.payload, "data": {**data, **own}})

    def _forwards_it(self, entry: Entry) -> bool:
        """Return whether a message forwards what is erased: on some platforms, it is only that.

        If nobody is known to have written it, its words decide.
        """
        if "forwarded" not in entry.meta:
            return False
        author = _origin(entry, "forwarded")
        if author and self.person:
            return author == self.person
        return self.is_copy(str(entry.meta.get("text") or ""))

    def _is_quoted(self, entry: Entry) -> bool:
        by_them = bool(self.person) and _origin(entry, "quote") == self.person
        answered = entry.meta.get("reply_to")
        if by_them or answered in self.messages or answered in self._passed_on:
            return True
        # It may be an answer of ours that repeats their words.
        return "quote" in entry.meta and self.is_copy(quote_in(_content(entry) or ""))

    def _is_answered(self, entry: Entry) -> bool:
        # A subagent's turn is named after the turn that asked it.
        return str(entry.meta.get("turn", "")).partition("/")[0] in self.turns


def is_elsewhere(entry: Entry, channel: str) -> bool:
    """Return whether an entry is of another channel, if one is given: there, ids are others'."""
    return bool(channel) and entry.meta.get("channel", channel) != channel


def _author(entry: Entry) -> object:
    data = entry.payload.get("data")
    return data.get("author") if isinstance(data, dict) else None


def _only(data: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: data[name] for name in names if name in data}


def _unquoted(entry: Entry) -> Entry:
    """Return a message without what it quotes, in the form of any version's frame."""
    content = _content(entry)
    if content is None:
        return entry
    lines = [line for line in content.split("\n") if not line.startswith(_OLD_QUOTE)]
    meta = {name: value for name, value in entry.meta.items() if name != "quote"}
    return _with_content(entry, without_quote("\n".join(lines)), meta)


def _without_omitted(entry: Entry) -> Entry:
    """Return a message without what it says was left out: that may name a file of theirs."""
    content = _content(entry)
    if content is None or not entry.meta.get(OMITTED):
        return entry
    meta = {name: value for name, value in entry.meta.items() if name != OMITTED}
    return _with_content(entry, replace(split(content), left_out=()).content, meta)


def _content(entry: Entry) -> str | None:
    """Return the framed text of a message or of an edit; imported ones may have none."""
    holder = entry.payload.get("data") if entry.name == MESSAGE_EDIT else entry.payload
    content = holder.get("content") if isinstance(holder, dict) else None
    return content if isinstance(content, str) else None


def _with_content(entry: Entry, content: str, meta: dict[str, Any]) -> Entry:
    if entry.name == MESSAGE_EDIT:
        payload = {**entry.payload, "data": {**entry.payload["data"], "content": content}}
    else:
        payload = {**entry.payload, "content": content}
    return replace(entry, payload=payload, meta=meta)


def _origin(entry: Entry, name: str) -> object:
    found = entry.meta.get(name)
    return found.get("author") if isinstance(found, dict) else None
