"""D1 and D8: killed at any moment, everything is answered once; on every channel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from agent.tool import NoArguments, Role, Tool, ToolContext
from channels.testing import PersonMessage, skip_reason
from gateway.delivery.sender import RESENT
from gateway.hooks.specs import hookimpl
from tests.contracts.texts import SENTENCES, WHOLE
from tests.fakes.openai.script import Call, Request, Text, ToolCalls
from tests.kit.mortal import Moment
from tests.kit.play import Play, opened
from tests.kit.promised import Share, class_of, is_on_a_server, promises

Case = tuple[str, int]
"""A transaction by its name, and which of that name it is."""

ALIKE: Final[Sequence[Case]] = (
    ("tool_call", 1),
    ("tool.done", 1),
    ("tool_result", 1),
    ("turn.end", 1),
    ("send.receipt", 1),
    ("turn.end", 2),
    ("send.receipt", 2),
)
"""The transactions of two questions and a tool that every channel has, and which time of each."""

LONG: Final = "\n\n".join(f"Paragraph {n}: " + "word " * 150 for n in range(24)).strip()


@dataclass
class Counts:
    """A plugin with a tool that has an effect."""

    runs: list[str] = field(default_factory=list)

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        async def order(_arguments: NoArguments, _context: ToolContext) -> str:
            self.runs.append("ordered")
            return f"order number {len(self.runs)}"

        return [
            Tool(
                "shop.order", "Order something.", NoArguments, order, role=Role.STRANGER, first=True
            )
        ]


ORDER: Final = ToolCalls((Call("a", "shop_order", "{}"),))


def whole(_request: Request) -> Text:
    return Text((WHOLE,))


async def asked_and_killed(play: Play, moment: Moment, name: str) -> PersonMessage:
    """Ask, and kill the gateway before or after the first transaction with something."""
    play.kill_at(moment, lambda held: name in held)
    said = await play.stage.say(play.chat(), play.person(), "what is it?")
    await play.killed()
    return said


def answers_to(play: Play, said: PersonMessage) -> list[str]:
    return [a.text for a in play.stage.answers(said.chat) if a.reply_to == said.id]


@promises("D1")
@pytest.mark.parametrize(
    ("moment", "name"),
    [
        ("after", "ledger.accept"),
        ("before", "ledger.taken_in"),
        ("after", "ledger.taken_in"),
        ("after", "turn.start"),
        ("after", "tool.done"),
        ("before", "turn.end"),
        ("after", "turn.end"),
    ],
)
async def test_d1_killed_before_its_answer_goes_out_it_is_answered_once(
    channel: str, tmp_path: Path, moment: Moment, name: str
) -> None:
    shop = Counts()
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        house.model.enqueue(ORDER)
        async with house.playing(tmp_path, shop) as play:
            said = await asked_and_killed(play, moment, name)
            assert answers_to(play, said) == []
        async with house.playing(tmp_path, shop) as play:
            await play.settle()
            assert answers_to(play, said) == [WHOLE]
            assert len(await play.events(said.chat, "turn.start")) == 1
            (end,) = await play.events(said.chat, "turn.end")
            assert end["status"] == "done"
    assert len(shop.runs) == 1


@promises("D1")
async def test_d1_killed_when_partial_text_is_out_it_becomes_the_answer(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        house.model.enqueue(Text(SENTENCES, gate=asyncio.Event()))
        async with house.playing(tmp_path) as play:
            said = await play.stage.say(play.chat(), play.person(), "what is it?")
            await play.run(play.stage.until(lambda: answers_to(play, said) != []))
            (draft,) = play.stage.answers(said.chat)
            await play.clock.advance(0)
            play.kill()
        async with house.playing(tmp_path) as play:
            await play.settle()
            assert play.texts(said.chat) == [WHOLE]
            assert play.answer(said).id == draft.id


@promises("D1", "private")
async def test_d1_killed_while_a_private_answer_is_written_it_is_answered_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        house.model.enqueue(Text(SENTENCES, gate=asyncio.Event()))
        async with house.playing(tmp_path) as play:
            alice = play.person()
            chat = play.stage.private(alice)
            said = await play.stage.say(chat, alice, "what is it?")
            await play.run(play.model.wait_for_requests(1))
            await play.clock.advance(3)
            play.kill()
        async with house.playing(tmp_path) as play:
            await play.settle()
            assert play.texts(chat) == [WHOLE]
            assert len(play.model.requests) == 2
            assert len(await play.events(said.chat, "turn.end")) == 1


@promises("D1")
async def test_d1_killed_when_the_answer_has_taken_its_draft_s_place_it_stands_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        house.model.enqueue(Text(SENTENCES, delay=1.0, sleep=house.clock.sleep))
        async with house.playing(tmp_path) as play:
            said = await asked_and_killed(play, "before", "send.receipt")
        async with house.playing(tmp_path) as play:
            await play.settle()
            assert play.texts(said.chat) == [WHOLE]
            assert len(await play.events(said.chat, "send.receipt")) == 1


@promises("D1")
async def test_d1_killed_between_two_pieces_of_a_long_answer_the_rest_follows(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        house.model.enqueue(Text((LONG,)))
        async with house.playing(tmp_path) as play:
            said = await asked_and_killed(play, "after", "send.receipt")
        async with house.playing(tmp_path) as play:
            await play.settle()
            assert "".join("".join(play.texts(said.chat)).split()) == "".join(LONG.split())
            receipts = await play.events(said.chat, "send.receipt")
            assert len(receipts) == len(play.texts(said.chat))


@promises("D1", "remote")
@pytest.mark.parametrize("sent", [True, False])
async def test_d1_a_send_of_which_nobody_knows_is_made_again_once_and_marked(
    channel: str, tmp_path: Path, sent: bool
) -> None:
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        async with house.playing(tmp_path) as play:
            moment: Moment = "before" if sent else "after"
            said = await asked_and_killed(
                play, moment, "send.receipt" if sent else "ledger.sending"
            )
        expected = [WHOLE] if finds(play) else [WHOLE] * sent + [RESENT + WHOLE]
        for _ in range(2):
            async with house.playing(tmp_path) as play:
                await play.settle()
                assert answers_to(play, said) == expected


@promises("D1", "remote")
async def test_d1_two_kills_in_the_same_window_are_at_most_a_copy_each(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        async with house.playing(tmp_path) as play:
            said = await asked_and_killed(play, "before", "send.receipt")
        async with house.playing(tmp_path) as play:
            play.kill_at("before", lambda held: "send.receipt" in held)
            await play.killed()
        async with house.playing(tmp_path) as play:
            await play.settle()
            copies = [] if finds(play) else [RESENT + WHOLE] * 2
            assert answers_to(play, said) == [WHOLE, *copies]
            assert len(await play.events(said.chat, "send.receipt")) == 1


@promises("D1", "remote")
@pytest.mark.parametrize("sent", [True, False])
async def test_d1_a_send_of_which_nobody_knows_is_held_where_that_is_wanted(
    channel: str, tmp_path: Path, sent: bool
) -> None:
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        hold = {"DELIVERY__AMBIGUOUS": "hold"}
        async with house.playing(tmp_path, **hold) as play:
            moment: Moment = "before" if sent else "after"
            said = await asked_and_killed(
                play, moment, "send.receipt" if sent else "ledger.sending"
            )
        for _ in range(2):
            async with house.playing(tmp_path, **hold) as play:
                await play.settle()
                held = [] if finds(play) else ["ambiguous"]
                assert answers_to(play, said) == ([WHOLE] if finds(play) else [WHOLE] * sent)
                assert len(await play.events(said.chat, "send.ambiguous")) == len(held)


@promises("D1", shared=True)
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_d1_killed_at_each_transaction_in_turn_everything_is_answered_once(
    channel: str, tmp_path: Path, moment: Moment, share: Share
) -> None:
    """Two questions, a tool, and a kill at some transactions, one after the other."""
    await sweep(channel, tmp_path, moment, share)


@promises("D1", "private", shared=True)
async def test_d1_killed_at_each_transaction_of_a_private_chat_it_is_answered_once(
    channel: str, tmp_path: Path, share: Share
) -> None:
    await sweep(channel, tmp_path, "after", share, private=True)


@promises("D1", "remote", shared=True)
async def test_d1_killed_at_each_transaction_where_that_is_wanted_nothing_is_there_twice(
    channel: str, tmp_path: Path, share: Share
) -> None:
    await sweep(channel, tmp_path, "after", share, policy="hold")


async def sweep(
    channel: str,
    tmp_path: Path,
    moment: Moment,
    share: Share,
    *,
    private: bool = False,
    policy: str = "resend",
) -> None:
    """Play it with a kill at one transaction, then at a later one.

    What is `ALIKE` happens on every channel, and each has a share of it. Of the rest, each channel
    plays everything in memory, and a share on a server, which is slower. What is done there in the
    background has no fixed order, and its transactions are shared.
    """
    more = {"DELIVERY__AMBIGUOUS": policy}
    names = await played(channel, tmp_path / "all", moment, None, private=private, **more)
    cases = [(name, names[: at + 1].count(name)) for at, name in enumerate(names)]
    assert set(cases) >= set(ALIKE)
    for number, case in enumerate(cases, start=1):
        if case in ALIKE:
            wanted = share.has(ALIKE.index(case))
        else:
            wanted = not is_on_a_server() or share.has(number)
        if wanted:
            struck = await played(
                channel, tmp_path / str(number), moment, case, private=private, **more
            )
            assert is_on_a_server() or struck == names[:number]


async def played(
    channel: str, home: Path, moment: Moment, case: Case | None, *, private: bool, **more: str
) -> list[str]:
    """Play it once, killed at one transaction; return the names of those until then.

    A transaction is named for the last of the things in it, in the order of the alphabet.
    """
    # A platform need not report private chats that it never reported; and whoever comes into a
    # room is noted in the background, where transactions are shared.
    known = private or (is_on_a_server() and skip_reason(["remote"], class_of(channel)) is not None)
    names: list[str] = []

    def strike(held: frozenset[str]) -> bool:
        names.append(max(held))
        return (names[-1], names.count(names[-1])) == case

    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        house.model.enqueue(*([Text((WHOLE,))] if known else []), ORDER)
        async with house.playing(home, Counts(), **more) as play:
            alice = play.person()
            chat = play.stage.private(alice) if private else play.chat()
            if known:
                await play.ask(chat, alice, "before")
            play.kill_at(moment, strike)
            said = [await play.stage.say(chat, alice, word) for word in ("one", "two")]
            dies = await killed_or_settled(play)
            assert dies == (case is not None) or (is_on_a_server() and case not in ALIKE)
            struck = play.store.struck
        if case:
            async with house.playing(home, Counts(), **more) as play:
                await play.settle()
                held = {event["idem"] for event in await play.events(chat, "send.ambiguous")}
                assert len(held) <= (more["DELIVERY__AMBIGUOUS"] == "hold")
                for one in said:
                    check_once(play, one, struck, may_be_held=bool(held))
    return names


async def killed_or_settled(play: Play) -> bool:
    """Have everything answered, unless the gateway is killed before."""
    settled = asyncio.ensure_future(play.settle())
    killed = asyncio.ensure_future(play.store.killed.wait())
    await asyncio.wait([settled, killed], return_when=asyncio.FIRST_COMPLETED)
    for task in (settled, killed):
        task.cancel()
    await asyncio.gather(settled, killed, return_exceptions=True)
    return play.store.dead


def finds(play: Play) -> bool:
    """Return whether a second send is known to be one, or the first can be found."""
    return play.has("lookup") or play.has("idempotent_send")


def check_once(
    play: Play, said: PersonMessage, held: frozenset[str], *, may_be_held: bool = False
) -> None:
    """Check that a question has one whole answer, or the declared exception."""
    answers = answers_to(play, said)
    unknown = bool(held & {"ledger.sending", "ledger.sent"}) and not finds(play)
    if may_be_held and unknown and not answers:
        return
    marked = [text for text in answers if text.startswith(RESENT)]
    if marked and unknown:
        assert marked == [RESENT + WHOLE]
        answers = [text for text in answers if text not in marked] or [WHOLE]
    assert answers == [WHOLE], f"killed at {sorted(held)}"


@promises("D8")
async def test_d8_a_tool_whose_end_was_not_recorded_is_not_run_again_and_the_model_is_told(
    channel: str, tmp_path: Path
) -> None:
    shop = Counts()
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        house.model.enqueue(ORDER)
        async with house.playing(tmp_path, shop) as play:
            said = await asked_and_killed(play, "before", "tool.done")
        async with house.playing(tmp_path, shop) as play:
            await play.settle()
            assert answers_to(play, said) == [WHOLE]
            assert "outcome of this call is unknown" in str(play.model.requests[-1].body)
    assert len(shop.runs) == 1


@promises("D8")
async def test_d8_a_tool_that_ran_is_not_run_again_its_result_is_used(
    channel: str, tmp_path: Path
) -> None:
    shop = Counts()
    async with opened(channel, lasts=True) as house:
        house.model.default = whole
        house.model.enqueue(ORDER)
        async with house.playing(tmp_path, shop) as play:
            said = await asked_and_killed(play, "after", "tool.done")
        async with house.playing(tmp_path, shop) as play:
            await play.settle()
            assert answers_to(play, said) == [WHOLE]
            assert "order number 1" in str(play.model.requests[-1].body)
    assert len(shop.runs) == 1
