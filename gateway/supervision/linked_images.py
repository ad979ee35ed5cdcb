"""The images to which answers link: fetched when somebody asks for one, and kept for a while.

Their bytes decide what they are. What was refused is not asked for again at once.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from agent.web.urls import NotReached, PageRefused
from channels.errors import MediaRefused
from gateway.clock import Clock
from gateway.context.images import MIMES, image_suffix

KEPT_SECONDS: Final = 600.0
REFUSED_SECONDS: Final = 30.0
MAX_KEPT_BYTES: Final = 16_000_000
MAX_KEPT: Final = 256  # maximum images that are kept, those that were refused included
MAX_AT_ONCE: Final = 4
"""Maximum images that are fetched at once, each for another person."""

NOT_REACHED: Final = "it can't be fetched"
"""Says no more, since guests ask: a private network's names are not theirs to find out."""


@dataclass(frozen=True, slots=True)
class FetchedImage:
    """An image as its server sent it, and its type; `refused` says why there is none."""

    data: bytes
    mime: str
    refused: str = ""
    until: float = 0.0


class LinkedImages:
    """Fetches images from public addresses; the newest stay in memory."""

    def __init__(self, clock: Clock, most_pixels: int) -> None:
        self._clock = clock
        self._most_pixels = most_pixels
        self._kept: OrderedDict[str, FetchedImage] = OrderedDict()
        self._bytes = 0
        self._running: set[str] = set()

    async def get(self, url: str, person: str) -> tuple[bytes, str]:
        """Return an image's bytes and media type to a person; raises MediaRefused."""
        found = self._kept.get(url)
        if found is None or found.until <= self._clock.monotonic():
            if person in self._running:
                raise MediaRefused("another one is being fetched for you just now: try again")
            if len(self._running) >= MAX_AT_ONCE:
                raise MediaRefused("several others are being fetched just now: try again")
            self._running.add(person)
            try:
                found = await self._fetch(url)
            finally:
                self._running.discard(person)
            self._keep(url, found)
        if found.refused:
            raise MediaRefused(found.refused)
        return found.data, found.mime

    async def _fetch(self, url: str) -> FetchedImage:
        try:
            data = await import_module("agent.web.fetcher").fetch_image(url)
            mime = MIMES[await image_suffix(data, self._most_pixels)]
        except (PageRefused, MediaRefused) as refused:
            why = NOT_REACHED if isinstance(refused, NotReached) else str(refused)
            return FetchedImage(b"", "", why, self._clock.monotonic() + REFUSED_SECONDS)
        return FetchedImage(data, mime, until=self._clock.monotonic() + KEPT_SECONDS)

    def _keep(self, url: str, image: FetchedImage) -> None:
        old = self._kept.pop(url, None)
        self._bytes += len(image.data) - (len(old.data) if old is not None else 0)
        self._kept[url] = image
        while self._bytes > MAX_KEPT_BYTES or len(self._kept) > MAX_KEPT:
            _url, oldest = self._kept.popitem(last=False)
            self._bytes -= len(oldest.data)
