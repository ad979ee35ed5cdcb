"""Lines that begin with a comma."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.commands import Command, parse_command
from gateway.errors import CommandRefused
from tests.fakes.openai_server import FakeOpenAI
from tests.gateways import gateway_of, settled
from tests.visitor import visit


def test_a_line_is_a_name_words_and_pairs() -> None:
    line = ',tape.search the word query="two words" limit=5'
    assert parse_command(line) == Command(
        "tape.search", ("the", "word"), {"query": "two words", "limit": "5"}
    )


@pytest.mark.parametrize(("line", "told"), [(",", ",help"), (',x "open', "quotation mark")])
def test_a_line_that_cannot_be_read_is_told_why(line: str, told: str) -> None:
    with pytest.raises(CommandRefused, match=told):
        parse_command(line)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("line", "told"),
    [
        (",help", ",tape.search query=..."),
        (",tape.info", '"entries"'),
        (",tape.search query=deploy", '"hits"'),
        (",tape.search deploy", '"query": "deploy"'),
        (",tape.search", "query: Field required"),
        (",tape.search query=x limit=many", "limit: Input should be a valid integer"),
        (",tape.serch query=x", "Did you mean `,tape.search`?"),
        (",stop", "There is nothing to stop."),
        (",stop everything", "`,stop all`"),
        (",reset", "From here on I begin afresh."),
        (",tape.handoff name=task/done summary='it is done'", '"anchor": "task/done"'),
    ],
)
async def test_a_command_is_answered_without_the_model(
    tmp_path: Path, line: str, told: str
) -> None:
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        answer = await alice.answer(await alice.say(line))
        assert server.requests == []
        await settled(gateway)
    assert told in answer["text"]
    assert answer["role"] == "notice"
