"""Count the tokens of a prompt before it is sent.

The estimate of `tape.tokens` is multiplied by a ratio for each model, kept in memory: the
exponentially weighted mean of reported usage / estimate in `loop.step` events. The count only
decides about overflows and suggestions, and never changes what a view shows.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal

import anyio.to_thread

from agent.model import ModelReply, ModelRequest
from agent.spent import ESTIMATED
from tape.entry import dump
from tape.handle import Tape
from tape.tokens import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, estimate, estimate_text
from tape.turn_events import LOOP_STEP

Messages = Sequence[Mapping[str, Any]]
Kind = Literal["estimate", "exact"]

PACKAGE: Final = "tiktoken"

NEWEST_SHARE: Final = 0.3  # weight of the newest call in the mean
MIN_RATIO: Final = 0.5
MAX_RATIO: Final = 2.0
MIN_SAMPLE_TOKENS: Final = 200
"""Minimum estimated tokens of a prompt to learn from; in small ones, provider overhead distorts."""

MAX_RECALLED_ENTRIES: Final = 500  # maximum newest entries of a tape in which to look for steps
MAX_CACHED_COUNTS: Final = 20_000
MAX_INLINE_CHARACTERS: Final = 20_000
"""Texts of at most this many characters are counted on the event loop, longer ones in a thread."""


class Meter:
    """Counts prompt tokens for one gateway's models."""

    def __init__(self, kind: Kind = "estimate") -> None:
        self._kind = kind
        self._ratios: dict[str, float] = {}
        self._answering: dict[str, str] = {}
        self._exact: dict[str, ExactCounter | None] = {}

    async def count(self, model: str, messages: Messages) -> int:
        if self._kind == "exact" and (exact := await self._counter(model)):
            return await exact.count(messages)
        return round(estimate(messages) * self.ratio(model))

    def ratio(self, model: str) -> float:
        """Return how many tokens a model counts per estimated token."""
        return self._ratios.get(self._answering.get(model, model), 1.0)

    def as_estimate(self, model: str, tokens: int) -> int:
        """Convert a model's token count to the scale of our estimates."""
        return int(tokens / self.ratio(model))

    def learn(self, model: str, step: Mapping[str, Any]) -> None:
        """Adjust the ratio, by comparing a step's estimate with the usage that the provider
        reported."""
        used, estimated = _prompt_tokens(step), step.get("estimate")
        if not used or not isinstance(estimated, int) or estimated < MIN_SAMPLE_TOKENS:
            return
        answering = str(step.get("model") or model)
        self._answering[model] = answering
        sample = min(MAX_RATIO, max(MIN_RATIO, used / estimated))
        before = self._ratios.get(answering, 1.0)
        self._ratios[answering] = before + NEWEST_SHARE * (sample - before)

    async def recall(self, model: str, tape: Tape) -> None:
        """Learn from a tape's newest steps, unless the model's ratio is known."""
        if model in self._answering:
            return
        self._answering[model] = model
        after = max(0, await tape.size() - MAX_RECALLED_ENTRIES)
        for entry in await tape.find(after=after, kinds=("event",), name=LOOP_STEP):
            self.learn(model, entry.payload["data"])

    async def _counter(self, model: str) -> ExactCounter | None:
        if model not in self._exact:
            # The first use of a vocabulary may download the vocabulary.
            self._exact[model] = await anyio.to_thread.run_sync(exact_counter, model)
        return self._exact[model]


def estimate_request(messages: Messages, tools: Sequence[Mapping[str, Any]]) -> int | None:
    """Estimate the provider's token count, or None if images make an estimate too uncertain."""
    if any(isinstance(message.get("content"), list) for message in messages):
        return None
    return estimate(messages) + (estimate_text(dump(list(tools))) if tools else 0)


def facts_of(request: ModelRequest, reply: ModelReply | None) -> dict[str, Any]:
    """Return the model and the tokens of a call: those that the server reports, or an estimate."""
    if reply is None:
        return {}
    facts: dict[str, Any] = {"model": reply.model, "usage": dict(reply.usage)}
    if reply.requested not in ("", reply.model):
        facts["requested"] = reply.requested
    if reply.usage.get("prompt_tokens"):
        estimated = estimate_request(request.messages, request.tools)
        if estimated is not None:
            facts["estimate"] = estimated
        return facts
    calls = [wanted.as_openai() for wanted in reply.calls]
    written = {"role": "assistant", "content": reply.text, "tool_calls": calls}
    prompt, output = estimate(request.messages), estimate([written])
    facts[ESTIMATED] = {"prompt_tokens": prompt, "completion_tokens": output}
    return facts


def _prompt_tokens(step: Mapping[str, Any]) -> int:
    used = (step.get("usage") or {}).get("prompt_tokens")
    return used if isinstance(used, int) and not isinstance(used, bool) else 0


class ExactCounter:
    """Counts tokens with a model's own vocabulary, and remembers the count of each text."""

    def __init__(self, encode: Callable[[str], Sequence[int]]) -> None:
        self._encode = encode
        self._known: OrderedDict[bytes, int] = OrderedDict()

    async def count(self, messages: Messages) -> int:
        texts = [text for message in messages for text in _texts(message)]
        new = [text for text in texts if _mark(text) not in self._known]
        if sum(map(len, new)) > MAX_INLINE_CHARACTERS:
            counts = await anyio.to_thread.run_sync(self._lengths, new)
        else:
            counts = self._lengths(new)
        fresh = {_mark(text): length for text, length in zip(new, counts, strict=True)}
        known = {
            mark: self._known[mark] for mark in map(_mark, texts) if mark in self._known
        } | fresh
        self._known.update(fresh)
        while len(self._known) > MAX_CACHED_COUNTS:
            self._known.popitem(last=False)
        total = sum(known[_mark(text)] for text in texts)
        return total + sum(
            TOKENS_PER_MESSAGE + TOKENS_PER_IMAGE * _images(message) for message in messages
        )

    def _lengths(self, texts: Iterable[str]) -> list[int]:
        return [len(self._encode(text)) for text in texts]


def can_count_exactly() -> bool:
    """Return whether the package with the vocabularies is installed."""
    return find_spec(PACKAGE) is not None


def exact_counter(model: str) -> ExactCounter | None:
    """Return a counter for a model, or None if the package or the vocabulary is missing."""
    try:
        package: Any = import_module(PACKAGE)
    except ImportError:
        return None
    for name in dict.fromkeys((model, model.rpartition("/")[2])):
        try:
            return ExactCounter(package.encoding_for_model(name).encode_ordinary)
        except KeyError:
            continue
        except Exception:  # the package raises many different errors when a download fails
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
