"""What a message says: the words, files and foreign words that a platform's reader found in it.

Each platform has one reader, `read_content`, for new messages, edits, quotes, forwards, history and
redelivery alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from channels.message import Excerpt, InboundMessage, Media

MAX_BYTES: Final = 65_536
"""UTF-8 bytes of words that are kept of a message, its excerpts included."""

MAX_MEDIA: Final = 20
MAX_EXCERPTS: Final = 10

MAX_NAME: Final = 64  # maximum number of characters of a name in a label

UNREADABLE: Final = "a part that cannot be read"
_MALFORMED: Final = (
    *(AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError),
)


@dataclass(frozen=True, slots=True)
class Content:
    """What a message says.

    text        the sender's own words; a label with an address behind it is written as Markdown
    media       the sender's own attachments
    excerpts    what others wrote: forwards, shared messages, cards, mails, link previews
    mentions    the handles or ids that the sender's own words mention
    omitted     what was left out because of a limit, as noun phrases: "3 files"
    kind        the platform's name of a message without any of these: a service message, or a kind
                that the reader does not know
    incomplete  whether the channel can look up more of it after the delivery was acknowledged
    """

    text: str = ""
    media: tuple[Media, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    mentions: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    kind: str = ""
    incomplete: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it that a person could ask with."""
        return not (self.text.strip() or self.media or self.excerpts)

    def digest(self) -> str:
        """Return a short hash that changes with anything that the message says."""
        said = repr((self.text, self.media, self.excerpts, self.omitted))
        return sha256(said.encode("utf-8", "replace")).hexdigest()[:8]

    def limited(self) -> Content:
        """Return the content within the limits; `omitted` then names what was left out."""
        left = _Left(MAX_BYTES, MAX_MEDIA)
        text, media = left.words(self.text), left.files(self.media)
        excerpts = tuple(
            replace(one, text=left.words(one.text), media=left.files(one.media))
            for one in self.excerpts[:MAX_EXCERPTS]
        )
        omitted = (*self.omitted, *left.omitted(), *_counted(self.excerpts[MAX_EXCERPTS:]))
        # Each message passes here, and `replace` would take four times as long.
        return Content(text, media, excerpts, self.mentions, omitted, self.kind, self.incomplete)


def whole_text(content: Content) -> str:
    """Return all words of a content as one text, for a quote: those of others name their author."""
    others = (passed_on(one) for one in content.excerpts)
    return "\n".join(part for part in (content.text, *others) if part)


def passed_on(excerpt: Excerpt) -> str:
    """Return what somebody else wrote, behind whose it is; without words, only whose."""
    author = "you" if excerpt.ours else _called(excerpt.author)
    whose = f"{excerpt.label} of {author}" if author else excerpt.label
    return f"{whose}: {excerpt.text}" if excerpt.text else whose


def _called(name: str) -> str:
    """Return the name of an author, which neither ends the label nor passes for the agent."""
    flat = " ".join(name.replace(":", " ").split())[:MAX_NAME]
    return "somebody" if flat.casefold() == "you" else flat


def with_or_without(
    beside: Collection[str],
    read: Callable[[Mapping[str, Any]], InboundMessage | None],
    raw: Mapping[str, Any],
) -> InboundMessage | None:
    """Read a message, or, if that fails, what it says without the fields `beside` its words.

    A person's question must not be lost because of a malformed card or file. Raises the error if
    nothing is left without these fields.
    """
    try:
        return read(raw)
    except _MALFORMED:
        found = read({name: value for name, value in raw.items() if name not in beside})
        if found is None or found.kind not in ("message", "edit"):
            raise
        return replace(found, omitted=(*found.omitted, UNREADABLE))


@dataclass(slots=True)
class _Left:
    """What the limits still allow, and what did not fit."""

    bytes: int
    media: int
    cut: int = 0
    dropped: int = 0

    def words(self, text: str) -> str:
        coded = text.encode("utf-8", "replace")
        if len(coded) <= self.bytes:
            self.bytes -= len(coded)
            return text
        kept = coded[: self.bytes].decode("utf-8", "ignore")
        self.bytes = 0
        self.cut += len(text) - len(kept)
        return kept

    def files(self, media: Sequence[Media]) -> tuple[Media, ...]:
        kept = tuple(media[: self.media])
        self.media -= len(kept)
        self.dropped += len(media) - len(kept)
        return kept

    def omitted(self) -> Iterable[str]:
        if self.cut:
            yield f"the last {self.cut} characters"
        if self.dropped:
            yield f"{self.dropped} more files"


def _counted(excerpts: Sequence[Excerpt]) -> Iterable[str]:
    if excerpts:
        yield f"{len(excerpts)} more messages"
