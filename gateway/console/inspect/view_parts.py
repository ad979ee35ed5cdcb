"""What a model was shown in one call of a turn: the parts of its prompt, and what changed in it.

The prompt is rebuilt from the tape (`gateway.context.replay`). What was deleted or erased since
then is blank in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Final, Literal

from agent.anchoring import FRAMED
from agent.anchors import HINT
from gateway.context.replay import ReplayedPrompt, prompt_of_step
from gateway.errors import AdminError
from gateway.language.language import translated
from tape.context import Message
from tape.entry import ANCHOR, EVENT, TOOL_CALL, TOOL_RESULT, Entry, dump
from tape.handle import Tape
from tape.tokens import estimate_message, estimate_text
from tape.turn_events import LOOP_STEP, TURN_START, is_take, read_take

Json = dict[str, Any]
Origin = Literal["system", "anchor", "lane", "elsewhere", "evidence", "question"]

MAX_TEXT_CHARACTERS: Final = 20_000  # maximum characters of one part's text
NO_CALL: Final = "No model was asked in this turn, or nothing is recorded here about it."
MAX_PARTS: Final = 500  # maximum parts of one prompt; the oldest ones are left out


@dataclass(frozen=True, slots=True)
class ShownView:
    """The prompt of one model call.

    own     the entries of its turn, in order
    steps   of them, the facts of each of the turn's calls (`loop.step`); `at` is this one's place
    places  the entries that the prompt's messages show, by their ids
    before  the prompt of the call before it in the same lane, or None; `before_turn` is its turn
    """

    turn: str
    lane: str | None
    at: int
    own: Sequence[Entry]
    steps: Sequence[Entry]
    prompt: ReplayedPrompt
    places: Mapping[int, Entry]
    before: ReplayedPrompt | None = None
    before_turn: str = ""


async def read_view(tape: Tape, turn: str, at: int = -1) -> ShownView:
    """Return the prompt of a turn's call, by its place (-1 is the last); raises AdminError."""
    own = await tape.find(turn=turn)
    steps = [entry for entry in own if entry.name == LOOP_STEP]
    if not steps:
        raise AdminError(NO_CALL)
    place = at if 0 <= at < len(steps) else len(steps) - 1
    prompt = await prompt_of_step(tape, turn, own, steps[place], as_of_now=True)
    lane = next((entry.meta["lane"] for entry in own if "lane" in entry.meta), None)
    shown = await tape.entries(sorted({number for number in prompt.places if number}))
    view = ShownView(turn, lane, place, own, steps, prompt, shown)
    if place:
        before = await prompt_of_step(tape, turn, own, steps[place - 1], as_of_now=True)
        return replace(view, before=before, before_turn=turn)
    earlier = await _step_before(tape, steps[0], lane)
    before_turn = earlier.meta.get("turn") if earlier is not None else None
    if earlier is None or not isinstance(before_turn, str):
        return view
    others = await tape.find(turn=before_turn)
    before = await prompt_of_step(tape, before_turn, others, earlier, as_of_now=True)
    return replace(view, before=before, before_turn=before_turn)


async def _step_before(tape: Tape, step: Entry, lane: str | None) -> Entry | None:
    found = await tape.find(
        before=step.id, lane=lane, kinds=(EVENT,), name=LOOP_STEP, limit=1, newest=True
    )
    return found[0] if found else None


def view_json(view: ShownView, asked: Collection[int], tools: Sequence[Json] = ()) -> Json:
    """Return a view as JSON; `asked` are the ids of the entries that its turn answers.

    `tools` are the descriptions, as they are now, of the tools that the call offered.

    tools    what the call offered: `names`, `tokens`, and the descriptions as `text`
    parts    the messages in order: `origin`, `role`, `entry` (0 for the system prompt), `tokens`,
             `text` (shortened by `more` characters), `calls`, `images`, and whether the call before
             it had the `same` message at the same place
    tokens   the `total` of the prompt, which is the sum of its parts and tools: as the provider
             `reported` it, each by its estimated share, or else as `estimated`; by `origins`, and
             what the provider says were `cached` and the `output`
    before   the call before it in the lane: its `turn`, the difference in `tokens`, the length of
             the common `prefix` in messages and in `prefix_tokens`, whether that is all of it
             (`unchanged`), and how many of its messages are `gone`
    """
    prompt = view.prompt
    questions = {*asked, *(n for one in view.own if is_take(one) for n in _questions(one))}
    same = _common(prompt.messages, view.before.messages if view.before else ())
    places = prompt.places or [0] * len(prompt.messages)
    parts = [
        {**_part(message, place, view, questions), "same": number < same}
        for number, (message, place) in enumerate(zip(prompt.messages, places, strict=True))
    ]
    offered = _offered(view, sum(part["tokens"] for part in parts), tools)
    tokens = _share_out(view, [*([offered] if offered else []), *parts])
    return {
        "turn": view.turn,
        "lane": view.lane,
        "at": view.at,
        "steps": [_step(step) for step in view.steps],
        "exact": prompt.exact,
        "why": translated(prompt.why),
        "blanked": prompt.blanked,
        "left_out": max(0, len(parts) - MAX_PARTS),
        "parts": parts[-MAX_PARTS:],
        "tools": offered,
        "tokens": tokens,
        "before": _difference(view, same, parts, tokens),
    }


def _questions(take: Entry) -> Sequence[int]:
    """Return the entries that a turn took to answer them; the others are what was said before."""
    read = read_take(take)
    if take.name == TURN_START:
        return read.takes[-1:]
    return read.takes if read.steered else ()


def _part(message: Message, place: int, view: ShownView, questions: AbstractSet[int]) -> Json:
    content = message.get("content")
    pieces = content if isinstance(content, list) else []
    text = content if isinstance(content, str) else _text(pieces)
    calls = [
        {name: str((call.get("function") or {}).get(name, "")) for name in ("name", "arguments")}
        for call in message.get("tool_calls") or ()
    ]
    return {
        "origin": origin_of(message, view.places.get(place), view.lane, questions),
        "role": message.get("role", ""),
        "name": message.get("name", ""),
        "entry": place,
        "tokens": estimate_message(message),
        "text": text[:MAX_TEXT_CHARACTERS],
        "more": max(0, len(text) - MAX_TEXT_CHARACTERS),
        "calls": calls,
        "images": sum(piece.get("type") == "image_url" for piece in pieces),
    }


def _text(pieces: Sequence[Any]) -> str:
    return "\n".join(str(piece["text"]) for piece in pieces if piece.get("type") == "text")


def origin_of(
    message: Message, entry: Entry | None, lane: str | None, questions: AbstractSet[int]
) -> Origin:
    """Return where a message of a prompt comes from."""
    if message.get("role") == "system" or (entry is not None and HINT in entry.meta):
        return "system"
    if entry is None:
        return "evidence" if message.get("role") == "tool" else "lane"
    if entry.kind == ANCHOR or FRAMED in entry.meta:
        return "anchor"
    if entry.kind in (TOOL_CALL, TOOL_RESULT):
        return "evidence"
    if {entry.id, entry.meta.get("prompt_of")} & questions:
        return "question"
    return "lane" if entry.meta.get("lane") == lane else "elsewhere"


def _step(step: Entry) -> Json:
    data = step.payload["data"]
    names = ("step", "status", "elapsed_ms", "model", "finish_reason", "tools")
    return {"entry": step.id, "date": step.date, **{name: data.get(name) for name in names}}


def _offered(view: ShownView, messages: int, tools: Sequence[Json]) -> Json | None:
    """Return the descriptions of the tools that a call offered, or None if it offered none.

    Their tokens are what the recorded estimate has beside the `messages`; a prompt in which
    something is blank now, or one with images, says nothing about them.
    """
    data = view.steps[view.at].payload["data"]
    names, whole = [str(name) for name in data.get("tools") or ()], data.get("estimate")
    if not names:
        return None
    tokens = estimate_text(dump(list(tools)))
    if isinstance(whole, int) and whole > messages and not view.prompt.blanked:
        tokens = whole - messages
    text = "\n".join(dump(tool) for tool in tools)
    return {
        "origin": "tools",
        "names": names,
        "tokens": tokens,
        "text": text[:MAX_TEXT_CHARACTERS],
        "more": max(0, len(text) - MAX_TEXT_CHARACTERS),
    }


def _share_out(view: ShownView, parts: Sequence[Json]) -> Json:
    """Give each part its share of the tokens that the provider reported, and return the tokens."""
    usage = view.steps[view.at].payload["data"].get("usage") or {}
    reported, estimates = usage.get("prompt_tokens"), [part["tokens"] for part in parts]
    total = reported if isinstance(reported, int) and reported > 0 else sum(estimates)
    origins: dict[str, int] = {}
    for part, share in zip(parts, shares(total, estimates), strict=True):
        part["tokens"] = share
        origins[part["origin"]] = origins.get(part["origin"], 0) + share
    return {
        "total": total,
        "estimated": sum(estimates),
        "origins": origins,
        "reported": reported,
        "cached": usage.get("cached_tokens"),
        "output": usage.get("completion_tokens"),
    }


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Return whole shares of a total, in proportion to the weights, whose sum is the total."""
    whole = sum(weights)
    ends = [0, *(round(total * one / whole) for one in accumulate(weights) if whole)]
    return [end - begin for begin, end in pairwise(ends)] if whole else [0] * len(weights)


def _difference(view: ShownView, same: int, parts: Sequence[Json], tokens: Json) -> Json | None:
    before = view.before
    if before is None:
        return None
    gone = sum(map(estimate_message, before.messages[same:]))
    counted = round(gone * tokens["total"] / max(1, tokens["estimated"]))
    return {
        "turn": view.before_turn,
        "tokens": sum(part["tokens"] for part in parts[same:]) - counted,
        "prefix": same,
        "prefix_tokens": sum(part["tokens"] for part in parts[:same]),
        "unchanged": same == len(before.messages),
        "gone": len(before.messages) - same,
    }


def _common(messages: Sequence[Message], before: Sequence[Message]) -> int:
    """Return how many messages two prompts begin with that are the same, byte for byte."""
    same = 0
    for one, other in zip(messages, before, strict=False):
        if dump(one) != dump(other):
            break
        same += 1
    return same
