"""How many tokens a prompt has, as far as that is known before it is sent.

The estimate of `tape.tokens` is corrected by what the provider tells afterwards: a ratio a model,
an exponentially weighted mean, in memory, learnt anew from each `loop.step`. It decides only what
is done next (an overflow, a suggestion), never what a view shows that is already on the tape.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal

import anyio.to_thread

from tape.entry import dump
from tape.handle import Tape
from tape.tokens import PER_IMAGE, PER_MESSAGE, estimate, estimate_text
from tape.turn_events import LOOP_STEP

Messages = Sequence[Mapping[str, Any]]
Kind = Literal["estimate", "exact"]

PACKAGE: Final = "tiktoken"

WEIGHT: Final = 0.3
"""How much the newest call counts."""

LEAST: Final = 0.5
MOST: Final = 2.0
SMALLEST: Final = 200
"""A prompt of fewer estimated tokens teaches nothing: what a provider adds outweighs it."""

LOOK_BACK: Final = 500
"""Among so many of a tape's newest entries steps are looked for."""

MOST_COUNTED: Final = 20_000
INLINE_CHARACTERS: Final = 20_000
"""So much text is counted on the event loop; more in a thread."""


class Meter:
    """Counts prompts for the models of one gateway."""

    def __init__(self, kind: Kind = "estimate") -> None:
        self._kind = kind
        self._ratios: dict[str, float] = {}
        self._answering: dict[str, str] = {}
        self._exact: dict[str, ExactCounter | None] = {}

    async def count(self, model: str, messages: Messages) -> int:
        """Return how many tokens messages have for a model."""
        if self._kind == "exact":
            exact = await self._counter(model)
            if exact is not None:
                return await exact.count(messages)
        return round(estimate(messages) * self.ratio(model))

    def ratio(self, model: str) -> float:
        """Return by how much a model's prompts are longer than estimated."""
        return self._ratios.get(self._answering.get(model, model), 1.0)

    def as_estimate(self, model: str, tokens: int) -> int:
        """Return the estimated tokens that so many tokens of a model are."""
        return int(tokens / self.ratio(model))

    def learn(self, model: str, step: Mapping[str, Any]) -> None:
        """Take what a step tells: its estimate, and the provider's usage."""
        told, estimated = _told(step), step.get("estimate")
        if not told or not isinstance(estimated, int) or estimated < SMALLEST:
            return
        answering = str(step.get("model") or model)
        self._answering[model] = answering
        sample = min(MOST, max(LEAST, told / estimated))
        before = self._ratios.get(answering, 1.0)
        self._ratios[answering] = before + WEIGHT * (sample - before)

    async def recall(self, model: str, tape: Tape) -> None:
        """Learn from a tape's newest steps, where nothing is known of a model yet."""
        if model in self._answering:
            return
        self._answering[model] = model
        newest = await tape.size()
        steps = await tape.find(after=max(0, newest - LOOK_BACK), kinds=("event",), name=LOOP_STEP)
        for entry in steps:
            self.learn(model, entry.payload["data"])

    async def _counter(self, model: str) -> ExactCounter | None:
        if model not in self._exact:
            # The first use of a vocabulary may fetch it.
            self._exact[model] = await anyio.to_thread.run_sync(exact_counter, model)
        return self._exact[model]


def estimate_request(messages: Messages, tools: Sequence[Mapping[str, Any]]) -> int | None:
    """Estimate what a provider will count; None where images make that a guess."""
    if any(isinstance(message.get("content"), list) for message in messages):
        return None
    return estimate(messages) + (estimate_text(dump(list(tools))) if tools else 0)


def _told(step: Mapping[str, Any]) -> int:
    told = (step.get("usage") or {}).get("prompt_tokens")
    return told if isinstance(told, int) and not isinstance(told, bool) else 0


class ExactCounter:
    """Counts with a model's own vocabulary; each text once."""

    def __init__(self, encode: Callable[[str], Sequence[int]]) -> None:
        self._encode = encode
        self._known: OrderedDict[bytes, int] = OrderedDict()

    async def count(self, messages: Messages) -> int:
        """Return the tokens of messages."""
        texts = [text for message in messages for text in _texts(message)]
        new = [text for text in texts if _mark(text) not in self._known]
        if sum(map(len, new)) > INLINE_CHARACTERS:
            counts = await anyio.to_thread.run_sync(self._lengths, new)
        else:
            counts = self._lengths(new)
        fresh = {_mark(text): length for text, length in zip(new, counts, strict=True)}
        known = {
            mark: self._known[mark] for mark in map(_mark, texts) if mark in self._known
        } | fresh
        self._keep(fresh)
        total = sum(known[_mark(text)] for text in texts)
        return total + sum(PER_MESSAGE + PER_IMAGE * _images(message) for message in messages)

    def _lengths(self, texts: Iterable[str]) -> list[int]:
        return [len(self._encode(text)) for text in texts]

    def _keep(self, fresh: Mapping[bytes, int]) -> None:
        self._known.update(fresh)
        while len(self._known) > MOST_COUNTED:
            self._known.popitem(last=False)


def can_count_exactly() -> bool:
    """Tell whether the package that holds the vocabularies is there."""
    return find_spec(PACKAGE) is not None


def exact_counter(model: str) -> ExactCounter | None:
    """Return a counter for a model; None where the package or the vocabulary is missing."""
    try:
        package: Any = import_module(PACKAGE)
    except ImportError:
        return None
    for name in dict.fromkeys((model, model.rpartition("/")[2])):
        try:
            return ExactCounter(package.encoding_for_model(name).encode_ordinary)
        except KeyError:
            continue
        except Exception:  # a vocabulary that cannot be fetched: its package raises many things
            return None
    return None


def _texts(message: Mapping[str, Any]) -> list[str]:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    found = [str(part["text"]) for part in parts if isinstance(part, Mapping) and part.get("text")]
    if message.get("tool_calls"):
        found.append(dump(message["tool_calls"]))
    return found


def _images(message: Mapping[str, Any]) -> int:
    content = message.get("content")
    if not isinstance(content, list):
        return 0
    return sum(part.get("type") == "image_url" for part in content)


def _mark(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
