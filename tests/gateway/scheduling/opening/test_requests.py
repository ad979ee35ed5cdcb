"""What an owner is asked about closed chats, and what the answers do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import Author
from gateway.scheduling.opening.requests import MAX_A_DAY
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.sqlite import tape_schema
from tests.gateway.scheduling.opening.closed_chat import court
from tests.gateway.scheduling.opening.court import GROUP
from tests.kit.clock import ManualClock
from tests.kit.gateways import tape_of
from tests.kit.mortal import LastingStore, Moment, MortalStore

ADDED = replace(GROUP, kind="change", change="added", text="", addressed=False)


async def test_the_owner_is_asked_once_with_names_and_ids_and_the_chat_opens_hot(
    tmp_path: Path,
) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.pair(gateway)
        added = replace(ADDED, sender=Author("66", "[Eve](http://x) `@all`"))
        await channel.host.accept([added])
        await channel.say(gateway, "hello?")
        cards = [post for post in channel.to("1") if post.buttons]
        (card,) = cards
        assert card.text == (
            "`[Eve](http://x) '@all'` (`66`) added me to `Team` (`-100`), which is closed."
            " May I answer there?"
        )
        labels = [button.label for button in card.buttons]
        assert labels == ["This channel", "This whole server", "No"]
        (sentence,) = channel.in_group()
        assert sentence == (
            "I'm not enabled in this chat yet (`plain:-100`). I've asked my owner in private."
            " My owner can open it here with `,open`."
        )
        await channel.press(gateway, "This channel")
        edited = channel.to("1")[-1]
        assert (edited.text, edited.buttons) == ("I've opened `Team` (`-100`).", ())
        assert edited.edits is not None
        greeting = channel.in_group()[-1]
        assert "I remember what is said here; `,forget me`" in greeting
        await channel.say(gateway, "hello now")
        assert "hello now" in channel.in_group()[-1]
        await channel.say(gateway, "and here", chat_id="-200")
        assert "not enabled" in channel.in_group("-200")[0]


async def test_a_whole_server_is_opened_at_once_and_no_other(tmp_path: Path) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.pair(gateway)
        await channel.say(gateway, "hello?")
        await channel.press(gateway, "This whole server")
        await channel.say(gateway, "in another channel", chat_id="-200")
        assert "in another channel" in channel.in_group("-200")[0]
        await channel.say(gateway, "elsewhere", chat_id="-300", server_id="501")
        assert "not enabled" in channel.in_group("-300")[0]


async def test_a_no_is_final_and_the_chat_is_asked_for_no_more(tmp_path: Path) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.pair(gateway)
        await channel.say(gateway, "hello?")
        await channel.press(gateway, "No")
        await channel.say(gateway, "please?")
        await channel.host.accept([replace(ADDED, ext_id="again")])
        await gateway.idle()
        assert len([post for post in channel.to("1") if post.buttons]) == 1
        assert len(channel.in_group()) == 1


async def test_five_chats_a_day_are_asked_for_one_by_one_and_the_rest_is_a_list(
    tmp_path: Path,
) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.pair(gateway)
        for number in range(MAX_A_DAY + 4):
            await channel.say(gateway, "hi", chat_id=f"-{number}", chat_title=f"Group {number}")
        told = channel.to("1")[1:]
        assert [bool(post.buttons) for post in told] == [True] * MAX_A_DAY + [False]
        assert "`,open` lists them" in told[-1].text
        await channel.whisper(gateway, ",open", "1")
        assert f"- `Group {MAX_A_DAY}` (`-{MAX_A_DAY}`): `,open -{MAX_A_DAY}`" in (
            channel.to("1")[-1].text
        )
        await channel.whisper(gateway, f",open -{MAX_A_DAY}", "1")
        await channel.say(gateway, "open now?", chat_id=f"-{MAX_A_DAY}")
        assert "open now?" in channel.in_group(f"-{MAX_A_DAY}")[-1]


async def test_two_owners_share_one_question_and_the_first_answer_counts(tmp_path: Path) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.pair(gateway, "1")
        await channel.pair(gateway, "2")
        await channel.say(gateway, "hello?")
        presses = [channel.press_of("No", "2"), channel.press_of("This channel", "1")]
        await channel.host.accept(presses)
        await gateway.idle()
        assert channel.shown == [("2", ""), ("1", "This question was answered already.")]
        await channel.say(gateway, "and?")
        assert len(channel.in_group()) == 1


@pytest.mark.parametrize("person", ["7", "9"])
async def test_nobody_else_answers_the_owner_s_question(tmp_path: Path, person: str) -> None:
    async with court(tmp_path, ACCESS__ALLOW="plain:9") as (gateway, channel):
        await channel.pair(gateway)
        await channel.say(gateway, "hello?", person)
        press = replace(channel.press_of("This channel"), sender=Author(person, "Person 1"))
        await channel.host.accept([press])
        in_group = replace(channel.press_of("This channel"), chat_kind="group", chat_id="-100")
        await channel.host.accept([in_group])
        await gateway.idle()
        assert channel.shown == [
            (person, "This question is for somebody else."),
            ("1", "This question is for somebody else."),
        ]
        card = channel.press_of("This channel").press.split(":")[0]
        await channel.whisper(gateway, f",choose {card} chat", person)
        await channel.say(gateway, "and now?", person)
        assert len(channel.in_group()) == 1


async def test_an_owner_whom_the_terminal_named_is_found_by_the_platform(tmp_path: Path) -> None:
    async with court(tmp_path) as (gateway, channel):
        openings = gateway.parts.requests.openings
        for owner in ("1", "unreachable"):
            await openings.apply(AccessRule("plain", owner, "owner"))
        await channel.say(gateway, "hello?")
        await channel.until_written_to("1")
        await channel.press(gateway, "This channel")
        await channel.say(gateway, "hello now")
        assert "hello now" in channel.in_group()[-1]
        chats = {rule.id: rule.private_chat for rule in openings.access.owners("plain", "")}
        assert chats == {"1": "dm-1", "unreachable": ""}


async def test_without_an_owner_the_chat_hears_how_to_pair(tmp_path: Path) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.say(gateway, "hello?")
        assert "`tapeway pair`" in channel.in_group()[0]
        assert "TAPEWAY_" not in channel.in_group()[0]


async def test_a_stranger_in_private_hears_the_id_that_lets_them_in(tmp_path: Path) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.pair(gateway)
        await channel.whisper(gateway, "hello?", "7")
        assert [post.text for post in channel.to("7")] == [
            "I'm not enabled for you yet. My owner can let you in: your id is `plain:7`."
        ]
        assert len(channel.to("1")) == 1


async def test_what_was_asked_is_on_no_tape_of_the_owner(tmp_path: Path) -> None:
    async with court(tmp_path) as (gateway, channel):
        await channel.pair(gateway)
        await channel.say(gateway, "hello?")
        entries = await tape_of(gateway, "plain:dm-1").read()
    assert "Team" not in str([entry.payload for entry in entries])


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("transaction", ["ledger.answer_card", "ledger.request_access"])
async def test_a_kill_between_loses_no_question_and_no_answer(
    tmp_path: Path, moment: Moment, transaction: str
) -> None:
    lasting = LastingStore([tape_schema(), ledger_schema()], ManualClock().now)
    mortal = MortalStore(lasting)
    async with court(tmp_path, mortal) as (gateway, channel):
        await channel.pair(gateway)

        def cut() -> None:
            channel.cut_off = True

        if transaction == "ledger.answer_card":
            await channel.say(gateway, "hello?")
            press = channel.press_of("This channel")
        else:
            press = replace(GROUP, ext_id="asked", text="hello?")
        mortal.kill_at(moment, lambda held: transaction in held, cut)
        await channel.host.accept([press])
        await mortal.killed.wait()
    async with court(tmp_path, MortalStore(lasting)) as (gateway, channel):
        await gateway.idle()
        if transaction == "ledger.request_access":
            await channel.say(gateway, "hello again?")
            await channel.press(gateway, "This channel")
        await channel.say(gateway, "hello now")
        assert "hello now" in channel.in_group()[-1]
        greetings = [text for text in channel.in_group() if "I remember" in text]
        assert len(greetings) == 1
        cards = [post for post in channel.to("1") if post.buttons]
        assert len(cards) == (1 if transaction == "ledger.request_access" else 0)
