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
from tests.gateway.scheduling.opening.court import GROUP, Court, court_of
from tests.kit.clock import ManualClock
from tests.kit.gateways import tape_of
from tests.kit.mortal import LastingStore, Moment, MortalStore

ADDED = replace(GROUP, kind="change", change="added", text="", addressed=False)


async def test_the_owner_is_asked_once_with_names_and_ids_and_the_chat_opens_hot(
    court: Court,
) -> None:
    await court.pair()
    added = replace(ADDED, sender=Author("66", "[Eve](http://x) `@all`"))
    await court.accept(added)
    await court.say("hello?")
    cards = [post for post in court.to("1") if post.buttons]
    (card,) = cards
    assert card.text == (
        "`[Eve](http://x) '@all'` (`66`) added me to `Team` (`-100`), which is closed."
        " May I answer there?"
    )
    labels = [button.label for button in card.buttons]
    assert labels == ["This channel", "This whole server", "No"]
    (sentence,) = court.in_group()
    assert sentence == (
        "I'm not enabled in this chat yet (`plain:-100`). I've asked my owner in private."
        " My owner can open it here with `,open`."
    )
    await court.press("This channel")
    edited = court.to("1")[-1]
    assert (edited.text, edited.buttons) == ("I've opened `Team` (`-100`).", ())
    assert edited.edits is not None
    services = court.gateway.services
    nameless = services.tapes.session_tape("").name
    assert nameless not in [info.name for info in await services.store.tapes()]
    greeting = court.in_group()[-1]
    assert "I remember what is said here; `,forget me`" in greeting
    await court.say("hello now")
    assert "hello now" in court.in_group()[-1]
    await court.say("and here", chat_id="-200")
    assert "not enabled" in court.in_group("-200")[0]


async def test_a_whole_server_is_opened_at_once_and_no_other(court: Court) -> None:
    await court.pair()
    await court.say("hello?")
    await court.press("This whole server")
    await court.say("in another channel", chat_id="-200")
    assert "in another channel" in court.in_group("-200")[0]
    await court.say("elsewhere", chat_id="-300", server_id="501")
    assert "not enabled" in court.in_group("-300")[0]


async def test_a_no_is_final_and_the_chat_is_asked_for_no_more(court: Court) -> None:
    await court.pair()
    await court.say("hello?")
    await court.press("No")
    await court.say("please?")
    await court.accept(replace(ADDED, ext_id="again"))
    await court.gateway.idle()
    assert len([post for post in court.to("1") if post.buttons]) == 1
    assert len(court.in_group()) == 1


async def test_five_chats_a_day_are_asked_for_one_by_one_and_the_rest_is_a_list(
    court: Court,
) -> None:
    await court.pair()
    for number in range(MAX_A_DAY + 4):
        await court.say("hi", chat_id=f"-{number}", chat_title=f"Group {number}")
    told = court.to("1")[1:]
    assert [bool(post.buttons) for post in told] == [True] * MAX_A_DAY + [False]
    assert "`,open` lists them" in told[-1].text
    await court.whisper(",open", "1")
    assert f"- `Group {MAX_A_DAY}` (`-{MAX_A_DAY}`): `,open -{MAX_A_DAY}`" in (
        court.to("1")[-1].text
    )
    await court.whisper(f",open -{MAX_A_DAY}", "1")
    await court.say("open now?", chat_id=f"-{MAX_A_DAY}")
    assert "open now?" in court.in_group(f"-{MAX_A_DAY}")[-1]


async def test_two_owners_share_one_question_and_the_first_answer_counts(court: Court) -> None:
    await court.pair("1")
    await court.pair("2")
    await court.say("hello?")
    presses = [court.press_of("No", "2"), court.press_of("This channel", "1")]
    await court.accept(*presses)
    await court.gateway.idle()
    assert court.channel.shown == [("2", ""), ("1", "This question was answered already.")]
    await court.say("and?")
    assert len(court.in_group()) == 1


@pytest.mark.parametrize("person", ["7", "9"])
async def test_nobody_else_answers_the_owner_s_question(tmp_path: Path, person: str) -> None:
    async with court_of(tmp_path, ACCESS__ALLOW="plain:9") as court:
        await court.pair()
        await court.say("hello?", person)
        press = replace(court.press_of("This channel"), sender=Author(person, "Person 1"))
        await court.accept(press)
        in_group = replace(court.press_of("This channel"), chat_kind="group", chat_id="-100")
        await court.accept(in_group)
        await court.gateway.idle()
        assert court.channel.shown == [
            (person, "This question is for somebody else."),
            ("1", "This question is for somebody else."),
        ]
        card = court.press_of("This channel").press.split(":")[0]
        await court.whisper(f",choose {card} chat", person)
        await court.say("and now?", person)
        assert len(court.in_group()) == 1


async def test_an_owner_whom_the_terminal_named_is_found_by_the_platform(court: Court) -> None:
    openings = court.gateway.parts.requests.openings
    for owner in ("1", "unreachable"):
        await openings.apply(AccessRule("plain", owner, "owner"))
    await court.say("hello?")
    await court.until_written_to("1")
    await court.press("This channel")
    await court.say("hello now")
    assert "hello now" in court.in_group()[-1]
    chats = {rule.id: rule.private_chat for rule in openings.access.owners("plain", "")}
    assert chats == {"1": "dm-1", "unreachable": ""}


async def test_without_an_owner_the_chat_hears_how_to_pair(court: Court) -> None:
    await court.say("hello?")
    assert "`tapeway pair`" in court.in_group()[0]
    assert "TAPEWAY_" not in court.in_group()[0]


async def test_a_stranger_in_private_hears_the_id_that_lets_them_in(court: Court) -> None:
    await court.pair()
    await court.whisper("hello?", "7")
    assert [post.text for post in court.to("7")] == [
        "I'm not enabled for you yet. My owner can let you in: your id is `plain:7`."
    ]
    assert len(court.to("1")) == 1


async def test_what_was_asked_is_on_no_tape_of_the_owner(court: Court) -> None:
    await court.pair()
    await court.say("hello?")
    entries = await tape_of(court.gateway, "plain:dm-1").read()
    assert "Team" not in str([entry.payload for entry in entries])


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("transaction", ["ledger.answer_card", "ledger.request_access"])
async def test_a_kill_between_loses_no_question_and_no_answer(
    tmp_path: Path, moment: Moment, transaction: str
) -> None:
    lasting = LastingStore([tape_schema(), ledger_schema()], ManualClock().now)
    mortal = MortalStore(lasting)
    async with court_of(tmp_path, mortal) as court:
        await court.pair()

        def cut() -> None:
            court.channel.cut_off = True

        if transaction == "ledger.answer_card":
            await court.say("hello?")
            press = court.press_of("This channel")
        else:
            press = replace(GROUP, ext_id="asked", text="hello?")
        mortal.kill_at(moment, lambda held: transaction in held, cut)
        await court.accept(press)
        await mortal.killed.wait()
    async with court_of(tmp_path, MortalStore(lasting)) as court:
        await court.gateway.idle()
        if transaction == "ledger.request_access":
            await court.say("hello again?")
            await court.press("This channel")
        await court.say("hello now")
        assert "hello now" in court.in_group()[-1]
        greetings = [text for text in court.in_group() if "I remember" in text]
        assert len(greetings) == 1
        cards = [post for post in court.to("1") if post.buttons]
        assert len(cards) == (1 if transaction == "ledger.request_access" else 0)
