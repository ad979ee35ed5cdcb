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
_REFUSES: Final = re.compile(
    r"support|not (allowed|permitted|enabled|available|implemented)|disabled|unrecogni[sz]ed"
    r"|unknown|unexpected|extra|requires -",
    re.IGNORECASE,
)
_WORDINGS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        CALL_IDS: re.compile(r"call.?id.{0,120}length (of )?9", re.IGNORECASE | re.DOTALL),
        FILLER: re.compile(r"role\W+user\W+after role\W+tool", re.IGNORECASE),
        SINGLE: re.compile(r"single tool.?calls? at once", re.IGNORECASE),
        SYSTEM: re.compile(
            r"system (role|message|prompt)s?( is| are)? not supported", re.IGNORECASE
        ),
        ROLES: re.compile(r"roles? must alternate|no first user message", re.IGNORECASE),
    }
)


def suspect(body: Mapping[str, Any], error: ModelError, known: Collection[str]) -> str:
    """Return what a refused request could be repeated without, or an empty string."""
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
        if (found := re.search(rf"\b{re.escape(name)}\b", text))
    ]
    if named:
        return min(named)[1]
    if TOOLS in body and _BLAMES_TOOLS.search(text) and _REFUSES.search(text):
        return TOOLS
    return IMAGES if IMAGES not in known and has_images(body["messages"]) else ""


def is_lasting(name: str, error: ModelError) -> bool:
    """Return whether an error means more than this one request."""
    # That a server cannot read one picture says nothing about other pictures.
    return name != IMAGES or _BLAMES_IMAGES.search(str(error)) is not None


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
