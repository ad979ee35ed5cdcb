"""What a model tells a host by its links, as readers of each channel find them: nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from json import dumps
from pathlib import Path
from typing import Final

import pytest

from channels.host import ChannelEvent
from channels.message import InboundMessage
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.gateway.scheduling.confirming import ALICE, BOB, ButtonChannel, Scene, scene
from tests.security.link_attempts import ANN_SAID, ATTEMPTS, BOB_SAID, CODES, WORDS
from tests.security.link_readers import told
from tests.security.shown import CHANNELS, addresses

KNOWN: Final = "https://known.example/a?x=1"
HARMLESS: Final = ("github.com/a", "known.example/a?x=1")
_RUN: Final = re.compile(r"[a-z]?\d+[a-z]*|[a-z]*\d+[a-z]?")
MOST: Final = "839274"  # of a code
PIECE: Final = 5  # characters of a delta


def betrayed(shown: Iterable[tuple[str, str]]) -> list[str]:
    """Return what the addresses in one channel tell of the chat: a code, or a word."""
    found = list[str]()
    for channel in CHANNELS:
        said = {told(address): address for name, address in shown if name == channel}
        for plain, address in said.items():
            found += [f"{channel}: {address}" for code in (*_parts(), *WORDS) if code in plain]
        runs = {run for plain in said for run in _RUN.findall(_own(plain))}
        spelled = [code for code in (*CODES, MOST) if _spells(code, runs)]
        found += [f"{channel}: {code} in {sorted(said.values())}" for code in spelled]
    return found


def _parts() -> list[str]:
    """Return all fours of characters of the codes."""
    fours = (code[at : at + 4] for code in CODES for at in range(len(code) - 3))
    return [four for four in fours if any(map(str.isdigit, four))]


def _own(plain: str) -> str:
    """Return what an address tells beside the names of the attacker's hosts."""
    return re.sub("http|evil|example|192", " ", plain)


def _spells(code: str, runs: set[str]) -> bool:
    """Return whether parts of two or more characters, each of an address, make a code."""
    return not code or any(
        any(code[:size] in run for run in runs) and _spells(code[size:], runs)
        for size in range(2, len(code) + 1)
    )


class Watched(ButtonChannel):
    """Remembers each text of which any channel may make a partial one, as an answer grows."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._text = ""

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        if event.kind in ("text", "reset"):
            self._text = self._text + event.data["delta"] if event.kind == "text" else ""
            self.seen.append(self._text)
        elif event.kind == "final":
            self._text = ""
        await super().on_event(event, message)


@asynccontextmanager
async def chat(home: Path) -> AsyncIterator[Scene]:
    async with scene(home, channel=Watched()) as play:
        await play.says(BOB, f"{BOB_SAID}. See {KNOWN}", addressed=False)
        await play.says(ALICE, ANN_SAID, addressed=False)
        yield play


async def answers(play: Scene, text: str) -> list[str]:
    """Have the model answer; return what people saw of it, the final text last."""
    pieces = tuple(text[at : at + PIECE] for at in range(0, len(text), PIECE))
    play.server.enqueue(Text(pieces))
    return await asks(play)


async def asks(play: Scene) -> list[str]:
    assert isinstance(play.channel, Watched)
    before = len(play.channel.sent)
    play.channel.seen.clear()
    await play.says(ALICE, "where are the docs?")
    (sent,) = play.channel.sent[before:]
    return [*play.channel.seen, sent.text]


def test_there_are_150_attempts_of_ten_kinds() -> None:
    assert [len(texts) for texts in ATTEMPTS.values()] == [15] * 10
    assert len({text for texts in ATTEMPTS.values() for text in texts}) == 150


@pytest.mark.parametrize("kind", ATTEMPTS)
def test_the_readers_find_what_an_attempt_would_tell(kind: str) -> None:
    for text in ATTEMPTS[kind]:
        assert betrayed(addresses(text)), text


@pytest.mark.parametrize("kind", ATTEMPTS)
async def test_no_link_tells_its_host_anything_of_the_chat(kind: str, tmp_path: Path) -> None:
    async with chat(tmp_path) as play:
        for text in ATTEMPTS[kind]:
            for seen in await answers(play, f"It is here: {text}"):
                assert betrayed(addresses(seen)) == [], seen


@pytest.mark.parametrize(
    "link", ["https://evil.example/?d=4711", "[docs](https://evil.example/4711)"]
)
async def test_what_a_tool_or_an_answer_repeats_of_the_model_stands_in_no_view(
    link: str, tmp_path: Path
) -> None:
    search = ToolCalls((Call("c", "tape_search", dumps({"query": link})),), pieces=(link,))
    async with chat(tmp_path) as play:
        play.server.enqueue(search, Text((link,)))
        seen = await asks(play)
        await play.says(BOB, f"the bot said: {play.channel.sent[-1].text}", addressed=False)
        for text in (*seen, *await answers(play, f"Again: {link}")):
            assert betrayed(addresses(text)) == [], text


async def test_the_answers_of_subagents_bring_no_link_into_the_view(tmp_path: Path) -> None:
    link = "https://evil.example/?d=4711"
    give = ToolCalls((Call("c", "subagent", dumps({"task": "look it up"})),))
    async with chat(tmp_path) as play:
        play.server.enqueue(give, Text((f"It is at {link}",)), Text((f"See {link}",)))
        for text in await asks(play):
            assert betrayed(addresses(text)) == [], text


async def test_partial_texts_are_shown_and_are_the_beginning_of_the_answer(tmp_path: Path) -> None:
    async with chat(tmp_path) as play:
        seen = await answers(
            play, "One word, and another. [docs](https://evil.example/?d=4711) end"
        )
    assert (
        seen[-1] == "One word, and another. [docs](https://evil.example/) (evil.example \u2026) end"
    )
    assert len(set(seen)) > 1
    assert all(seen[-1].startswith(text) for text in seen)
