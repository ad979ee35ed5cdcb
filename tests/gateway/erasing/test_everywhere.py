"""`,forget me` reaches every topic, and what others passed on of a person, in either store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from channels.message import Excerpt, InboundMessage, Media, Quote
from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import ANN, BOB, MARKS, SECRET, answers_of, erased, holding, said
from tests.kit.chats import open_group
from tests.kit.gateways import tape_of
from tests.kit.images import MediaChannel, image
from tests.kit.kept_databases import kept_database
from tests.kit.waiting import Patience

PICTURE = Media("image", "photo", file="file-of-ann")
HERS = Excerpt("forwarded message", SECRET, ANN.name, ANN.id, media=(PICTURE,))
QUOTE = Quote(ANN.name, ANN.id, SECRET, media=(PICTURE,))
LEFT_OUT = ('the text of "zyzzogeton.txt"',)
TABLES = (
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
)


def in_topic(number: int, topic: str, text: str) -> InboundMessage:
    private = replace(said(number, text), chat_id=ANN.id, chat_kind="private")
    return replace(private, thread_id=topic, ext_id=f"{ANN.id}/{number}")


def rows_holding(url: str, *marks: str) -> Iterator[tuple[str, str]]:
    """Yield each table of a database that holds one of the texts in any form, with the text."""
    with psycopg.connect(url) as server:
        for (table,) in server.execute(TABLES).fetchall():
            rows = server.execute(SQL("SELECT t::text FROM {} AS t").format(Identifier(table)))
            words = str(rows.fetchall()).lower()
            yield from ((table, mark) for mark in marks if mark.lower() in words)


@pytest.mark.parametrize(
    "on_server",
    [
        pytest.param(False, id="sqlite"),
        pytest.param(True, id="postgresql", marks=pytest.mark.postgresql),
    ],
)
async def test_a_person_is_forgotten_in_every_topic_and_in_what_others_passed_on(
    model: FakeOpenAI, tmp_path: Path, *, on_server: bool
) -> None:
    model.enqueue(*[Text(("I see.",)) for _ in range(9)])
    channel = MediaChannel({"file-of-ann": lambda: image(size=(2, 2))})
    marks = (*MARKS, ANN.name, "file-of-ann")
    with ExitStack() as stack:
        url = stack.enter_context(kept_database()) if on_server else ""
        more = {"TAPE__URL": url} if url else {}
        async with open_group(tmp_path, model, channel=channel, **more) as group:
            await say(group.gateway, channel, in_topic(1, "40", SECRET), in_topic(2, "41", SECRET))
            shared = replace(said(3, "look", BOB), excerpts=(HERS,), omitted=LEFT_OUT)
            reply = replace(said(4, "so?", BOB), quote=QUOTE, omitted=LEFT_OUT, media=())
            await say(group.gateway, channel, shared, reply, in_topic(5, "41", ",forget me"))
            held = rows_holding(url, *marks) if url else holding(tmp_path, *marks)
            name = f"{sha256(image(size=(2, 2))).hexdigest()}.png"
            assert await group.gateway.services.files.get(name)
            assert {mark for _where, mark in held} >= {"zyzzogeton", ANN.name, "file-of-ann"}
            yes, _no = answers_of(channel)
            await say(group.gateway, channel, in_topic(6, "41", yes))
            await erased(group.gateway, 1)
            left = [one.text for one in await group.tape.find(author=BOB.id)]
            assert len(left) == 2
            assert left[0].endswith("] look")
            assert left[1].endswith("] so?")
            own = tape_of(group.gateway, f"plain:{ANN.id}")
            assert await own.find(author=ANN.id) == []
            assert await group.gateway.services.files.get(name) is None
        assert list(rows_holding(url, *marks) if url else ()) == []
    assert holding(tmp_path, *marks) == []


async def say(gateway: Gateway, channel: MediaChannel, *messages: InboundMessage) -> None:
    """Say one thing after another, and wait for the answer to each."""
    patience = Patience("what was said is answered")
    for one in messages:
        before = len(channel.posts)
        await channel.host.accept([one])
        while len(channel.posts) == before:
            await patience.pause()
        await gateway.idle()
