"""What servers refuse, learned from a refusal whose repeat without it succeeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from agent.errors import ModelDown, ModelError, OutputLimit, RequestRejected, UnknownModel
from agent.image_parts import has_images
from agent.models.request_body import (
    CALL_IDS,
    ESSENTIAL,
    FILLER,
    IMAGES,
    ROLES,
    SINGLE,
    SYSTEM,
    TOOLS,
)

KEPT: Final = timedelta(days=1)
_BLAMES_TOOLS: Final = re.compile(
    r"\b(tools?|functions?)\b(?!.{0,40}(schema|parameters))", re.IGNORECASE | re.DOTALL
)
_BLAMES_IMAGES: Final = re.compile(
    r"vision|multi-?modal|image[_ ](input|url)s?\b.{0,60}\b(not|un)|(not|un)\w*\b.{0,60}\bimages?\b"
    r"|content.{0,40}\b(string|array|list|type)",
    re.IGNORECASE | re.DOTALL,
)
_BAD_CALL: Final = re.compile(
    r"\bpars(e|ing)\b|failed to call|tool_use_failed|validation failed", re.IGNORECASE
)
"""Words about a call that the model wrote, or about one that it had written, rather than tools."""

_ONE_PICTURE: Final = re.compile(
    r"unsupported image|image (has|is)|process|format|mime|dimension|string too long", re.IGNORECASE
)
_REFUSES: Final = re.compile(
    r"support|not (allowed|permitted|enabled|available|implemented)|disabled|unrecogni[sz]ed"
    r"|unknown|unexpected|extra|requires -",
    re.IGNORECASE,
)
_WORDINGS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        CALL_IDS: re.compile(
            r"call.?id.{0,120}length (of )?9|tool_calls?\W+\d+\W+id.{0,40}too long",
            re.IGNORECASE | re.DOTALL,
        ),
        FILLER: re.compile(r"role\W+user\W+after role\W+tool", re.IGNORECASE),
        SINGLE: re.compile(r"single tool.?calls? at once", re.IGNORECASE),
        SYSTEM: re.compile(
            r"system (role|message|prompt)s?( is| are)? not supported", re.IGNORECASE
        ),
        ROLES: re.compile(r"roles? must alternate|no first user message", re.IGNORECASE),
    }
)


def suspect(
    body: Mapping[str, Any],
    error: ModelError,
    known: Collection[str],
    given: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """Return what a refused request could be repeated without, or an empty string.

    `given` are the fields that the operator set. An object among them is never left out, because it
    may say what must not happen to the messages.
    """
    blaming = isinstance(error, (RequestRejected, UnknownModel, ModelDown))
    if not blaming or isinstance(error, OutputLimit):
        return ""
    text = str(error)
    for name, wording in _WORDINGS.items():
        if name not in known and wording.search(text):
            return name
    # A server that wants `max_tokens` in place of another field names the refused one first.
    named = [
        (found.start(), name)
        for name in body.keys() - ESSENTIAL
        if not isinstance(given.get(name), Mapping)
        and (found := re.search(_named(name, own=name in given), text))
    ]
    if named:
        return min(named)[1]
    blames_tools = _BLAMES_TOOLS.search(text) and _REFUSES.search(text)
    if TOOLS in body and blames_tools and not _BAD_CALL.search(text):
        return TOOLS
    blamed = _BLAMES_IMAGES.search(text) or not isinstance(error, ModelDown)
    return IMAGES if blamed and IMAGES not in known and has_images(body["messages"]) else ""


def is_lasting(name: str, error: ModelError) -> bool:
    """Return whether an error means more than this one request."""
    # That a server cannot read one picture says nothing about other pictures.
    text = str(error)
    if name != IMAGES:
        return True
    return _BLAMES_IMAGES.search(text) is not None and not _ONE_PICTURE.search(text)


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned about a model on a server; `sentence` says it without its subject."""

    server: str
    model: str
    what: str
    sentence: str
    since: datetime

    def __str__(self) -> str:
        server = self.server.rstrip("/")
        return f"{self.model} on {server} {self.sentence} (since {self.since:%H:%M} UTC)"


class Learned:
    """What was learned about servers and models; each lesson is kept for a day."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        self._lessons: dict[tuple[str, str, str], Lesson] = {}

    def learn(self, server: str, model: str, what: str, sentence: str = "") -> None:
        """Keep a lesson; without a sentence, it is that the server refuses something."""
        said = sentence or f"refuses {what}, so requests go without it for a day"
        self._lessons[server, model, what] = Lesson(server, model, what, said, self._now())

    def about(self, server: str, model: str) -> frozenset[str]:
        """Return what is known about a model on a server."""
        return frozenset(
            lesson.what
            for lesson in self.lessons()
            if (lesson.server, lesson.model) == (server, model)
        )

    def lessons(self) -> list[Lesson]:
        """Return all lessons that still hold, the oldest first."""
        known = {key: one for key, one in self._lessons.items() if self._now() < one.since + KEPT}
        self._lessons = known
        return list(known.values())


def _named(name: str, *, own: bool) -> str:
    # The name of a field that the operator set may be an everyday word, such as `provider`.
    word = rf"\b{re.escape(name)}\b"
    return rf"['\"`]{word}['\"`]" if own and name.isalpha() else word
