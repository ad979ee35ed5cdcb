"""E2: any Markdown of any length arrives whole; on every channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from channels.base import Channel
from channels.registry import make_channel
from channels.testing import Chat, PersonMessage, Stage
from gateway.settings import Settings
from tests.fakes.openai.script import Request, Text
from tests.kit.examples import examples
from tests.kit.play import Play, playing
from tests.kit.promised import promises
from tests.kit.stages.registry import STAGES

FAMILY: Final = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
STEMS: Final = ("word", "\u5b57\u8bcd", "\u00e9t\u00e9", "\U0001f600", FAMILY, "e\u0301x", "x" * 40)
LENGTH: Final = 40_000


class Block(NamedTuple):
    """A block of Markdown, what is read of it, and the links in it."""

    markdown: str
    words: list[str]
    links: list[str] = []  # noqa: RUF012 - never written to


def words_of(stem: str, first: int, count: int) -> list[str]:
    """Return words of which none is another's part."""
    return [f"{stem}{first + number}." for number in range(count)]


def paragraph(words: list[str]) -> Block:
    return Block(" ".join(words), words)


def solid(words: list[str]) -> Block:
    """A paragraph without a blank, as in Chinese."""
    return Block("".join(words), words)


def fence(words: list[str]) -> Block:
    lines = [" ".join(words[at : at + 5]) for at in range(0, len(words), 5)]
    return Block("```python\n" + "\n".join(lines) + "\n```", words)


def quote(words: list[str]) -> Block:
    return Block("\n".join(f"> **{word}** said" for word in words), words)


def items(words: list[str]) -> Block:
    return Block("\n".join(f"{n}. *{word}*\n   - below" for n, word in enumerate(words, 1)), words)


def table(words: list[str]) -> Block:
    rows = "\n".join(f"| {word} | `cell` |" for word in words)
    return Block(f"| name | value |\n|---|---|\n{rows}", words)


def linked(words: list[str]) -> Block:
    links = [f"[{word}](https://example.org/{n}/a_b)" for n, word in enumerate(words)]
    return Block(" and ".join(links), words, links)


KINDS: Final = (paragraph, solid, fence, quote, items, table, linked)


@st.composite
def texts(draw: st.DrawFn) -> list[Block]:
    """Draw a text of some blocks, short and long."""
    blocks = []
    for number in range(draw(st.integers(1, 6))):
        count = draw(st.sampled_from((1, 3, 40, 200)))
        words = words_of(draw(st.sampled_from(STEMS)), number * 1000, count)
        blocks.append(draw(st.sampled_from(KINDS))(words))
    return blocks


def together(blocks: list[Block]) -> str:
    return "\n\n".join(block.markdown for block in blocks)


@cache
def made(channel: str) -> tuple[Channel, Stage]:
    """Make a channel and a stage, neither of them started."""

    async def make() -> tuple[Channel, Stage]:
        own = getattr(Settings.model_construct(), channel)
        return make_channel(channel, own), STAGES[channel]()

    return asyncio.run(make())


@promises("E2")
@examples(60, suppress_health_check=list(HealthCheck))
@given(blocks=texts())
def test_e2_the_pieces_of_any_text_fit_and_are_the_text(channel: str, blocks: list[Block]) -> None:
    made_channel, stage = made(channel)
    pieces = made_channel.split(together(blocks))
    assert pieces == made_channel.split(together(blocks))
    check_pieces(stage, pieces, blocks)


def check_pieces(stage: Stage, pieces: list[str], blocks: list[Block]) -> None:
    """Check that every word is read, in order, and that neither links nor fences are cut."""
    read = "".join("".join(stage.shows(piece).split()) for piece in pieces)
    at = 0
    for word in (word for block in blocks for word in block.words):
        found = read.find(word, at)
        assert found >= 0, f"{word} is lost"
        at = found + len(word)
    for link in (link for block in blocks for link in block.links):
        assert any(link in piece for piece in pieces), f"{link} is cut"
    for piece in pieces:
        fences = [line for line in piece.splitlines() if line.lstrip("> ").startswith("```")]
        assert len(fences) % 2 == 0


def long_text(name: str, kinds: Sequence[Callable[[list[str]], Block]] = KINDS) -> list[Block]:
    """Return a text of forty thousand characters, all of it different."""
    blocks: list[Block] = []
    while sum(len(block.markdown) for block in blocks) < LENGTH:
        number = len(blocks)
        words = words_of(f"{name}{STEMS[number % len(STEMS)]}", number * 1000, 60)
        blocks.append(kinds[number % len(kinds)](words))
    return blocks


def spoken(play: Play, text: str) -> Text:
    """Return an answer of two hundred pieces in half a minute."""
    step = len(text) // 200
    pieces = tuple(text[at : at + step] for at in range(0, len(text), step))
    return Text(pieces, delay=0.15, sleep=play.clock.sleep)


def check_answer(play: Play, said: PersonMessage, chat: Chat, blocks: list[Block]) -> None:
    """Check that one answer arrived whole: in its pieces, in order, and nothing else of it."""
    source = together(blocks)
    pieces = play.gateway.channels[play.channel].split(source)
    check_pieces(play.stage, pieces, blocks)
    shown = [play.stage.shows(piece) for piece in pieces]
    own = blocks[0].words[0].partition("word")[0]
    texts = [text for text in play.texts(chat) if own in text]
    assert [text.strip() for text in texts] == [text.strip() for text in shown]
    assert play.answer(said).text == texts[0]


@promises("E2")
async def test_e2_a_long_answer_arrives_whole_while_others_talk(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        blocks = long_text("uno")
        play.model.enqueue(spoken(play, together(blocks)))
        asked = await play.stage.say(chat, alice, "tell me all")
        await play.taken()
        if play.has("groups"):
            for _time in range(5):
                await play.clock.advance(5)
                await play.stage.say(chat, play.person("Bob"), "meanwhile", mention=False)
                await play.taken()
        await play.settle()
        check_answer(play, asked, chat, blocks)


@promises("E2", "remote", "groups")
async def test_e2_three_long_answers_at_once_arrive_whole_within_the_platform_s_limits(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, limits=True) as play:
        # Where others' text is in view, the model's new links arrive as plain text.
        kinds = [kind for kind in KINDS if kind not in (linked, solid)]
        named = {name: long_text(name, kinds) for name in ("uno", "dos", "tres")}

        def answer(request: Request) -> Text:
            return spoken(play, together(named[request.last_user_text.split()[-1]]))

        play.model.default = answer
        group = play.stage.group()
        said: dict[str, PersonMessage] = {}
        for name in named:
            chat = group if name != "tres" else play.chat()
            said[name] = await play.stage.say(chat, play.person(f"Person-{name}"), f"for {name}")
        await play.settle()
        for name, blocks in named.items():
            check_answer(play, said[name], said[name].chat, blocks)
        assert play.stage.too_many() == 0
