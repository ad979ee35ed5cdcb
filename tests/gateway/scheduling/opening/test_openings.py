"""Chats that are opened by a command, and people who pair."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.tool import Role
from channels.message import Author
from gateway.access.roles import KNOWN_SECONDS
from gateway.cli.service.serve import access_lines
from gateway.explain.explainer import Explainer
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.ledger import ledger_schema
from tape.rollups import is_refusal
from tape.stores.sqlite import tape_schema
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.scheduling.opening.court import GROUP, Court, CourtChannel, court_of
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_of, names, tape_of
from tests.kit.mortal import LastingStore, Moment, MortalStore
from tests.kit.plain_channels import Brings


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_code_makes_an_owner_and_stands_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with court_of(tmp_path) as court:
        code = court.gateway.parts.pairing.new_code()
        await court.whisper(f"/start {code}", "1")
        assert "You are now my owner here." in court.to("1")[0].text
        await court.whisper("hello", "1")
        assert "hello" in court.to("1")[-1].text
        entries = await tape_of(court.gateway, "plain:dm-1").read()
        payloads = await court.gateway.services.store.select("ledger.open_inbox", {})
        row = await court.gateway.services.store.select("ledger.inbox_row", {"id": 1})
    assert code not in f"{entries}{payloads}{row}"
    assert not any(is_refusal(entry) for entry in entries)
    assert row[0]["status"] == "done"
    assert code.encode() not in bytes_of(tmp_path)
    seen = capsys.readouterr()
    assert code not in seen.out + seen.err


async def test_a_code_by_itself_is_void_and_its_refusal_says_so(court: Court) -> None:
    code = court.gateway.parts.pairing.new_code()
    await court.whisper(code, "1")
    entries = await tape_of(court.gateway, "plain:dm-1").read()
    (refused,) = (one.payload["data"] for one in entries if is_refusal(one))
    services = court.gateway.services
    report = await Explainer(services.store, services.redactor).explain("in-1")
    (access,) = (line.says for line in report.lines if line.about == "access")
    assert refused["code"] == "void"
    rule = (
        "refused: neither the chat nor the person was on the allowlist; a pairing code stood in it"
    )
    assert access.startswith(rule)
    assert code not in f"{entries}{report}"


async def test_a_code_in_a_group_is_refused_and_void(court: Court) -> None:
    code = court.gateway.parts.pairing.new_code()
    await court.say(f"/pair {code}", "1")
    await court.say(f"/pair {code}", "2")
    assert len(court.in_group()) == 1
    assert "void now" in court.in_group()[0]
    await court.whisper(f"/pair {code}", "1")
    assert "too old" in court.to("1")[0].text
    entries = await tape_of(court.gateway, "plain:-100").read()
    assert code not in str(entries)


async def test_an_owner_survives_a_restart_and_a_second_code_adds_another(tmp_path: Path) -> None:
    async with court_of(tmp_path) as court:
        await court.pair("1")
        await court.pair("2")
    async with court_of(tmp_path) as court:
        for person in ("1", "2"):
            await court.whisper(f"hello from {person}", person)
            assert f"hello from {person}" in court.to(person)[-1].text


async def test_a_killed_gateway_pairs_at_its_next_start(tmp_path: Path) -> None:
    channel = CourtChannel()
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        code = gateway.parts.pairing.new_code()
        text = f"pair {code}"
        said = replace(GROUP, text=text, chat_kind="private", chat_id="dm-1")
        said = replace(said, sender=Author("1", "Ann"))
        read = gateway.parts.pairing.read(said)
        await gateway.services.ledger.inbox.accept([read])  # and is killed before it takes it in
    async with court_of(tmp_path) as court:
        await court.gateway.idle()
        assert "You are now my owner here." in court.to("1")[0].text
        await court.whisper("hello", "1")
        assert "hello" in court.to("1")[-1].text


async def test_the_owner_opens_a_chat_where_it_stands_and_is_greeted(court: Court) -> None:
    await court.pair()
    await court.say(",open", "1")
    assert "I remember what is said here" in court.in_group()[0]
    await court.say("hello", "7")
    assert "hello" in court.in_group()[-1]
    assert court.channel.asked == ["7"]  # and nobody asked about the owner
    entries = await tape_of(court.gateway, "plain:-100").read()
    assert names(entries).count("access.opening") == 1


async def test_a_stranger_s_open_opens_nothing(court: Court) -> None:
    await court.pair()
    await court.say(",open", "7")
    await court.say(",open server", "7")
    await court.say("hello", "7")
    assert len(court.in_group()) == 1
    assert "not enabled" in court.in_group()[0]


async def test_in_a_closed_chat_a_stranger_reads_each_sentence_once_a_day(court: Court) -> None:
    await court.pair()
    for _ in range(3):
        for text in (",open", ",open server", ",open -100", ',open "'):
            await court.whisper(text, "7")
    texts = [post.text for post in court.to("7")]
    assert len(texts) == 2
    assert texts[0] == "Only my owner may open chats from here."
    assert texts[1].startswith("A quotation mark is not closed.")
    for _ in range(2):
        await court.say(",open everything", "7")
    assert len(court.in_group()) == 1
    openings = court.gateway.parts.requests.openings
    await openings.apply(AccessRule("plain", "7", "member"))
    for _ in range(2):  # their private chat is open: each command gets its answer
        await court.whisper(",open", "7")
    assert len(court.to("7")) == 4


async def test_who_administers_a_group_of_their_own_does_not_open_it(court: Court) -> None:
    await court.pair()
    court.channel.admins.add("7")
    await court.say(",open", "7")
    await court.say("hello", "7")
    (sentence,) = court.in_group()
    assert "not enabled" in sentence
    assert "I've asked my owner in private." in sentence
    assert court.channel.asked == []


async def test_an_administrator_opens_chats_of_a_server_that_the_owner_trusts(court: Court) -> None:
    await court.pair()
    await court.say(",open", "1", chat_id="-200")
    court.channel.admins.add("7")
    await court.say(",open", "8")
    await court.say(",open", "7")
    assert [text.split(" ")[0] for text in court.in_group()] == ["I'm", "Hello,"]
    court.channel.admins.clear()
    await court.say(",open", "7", chat_id="-300")  # asked afresh
    assert "not enabled" in court.in_group("-300")[0]


async def test_an_admin_whom_the_owner_named_opens_but_not_what_the_owner_closed(
    court: Court,
) -> None:
    await court.pair()
    openings = court.gateway.parts.requests.openings
    await openings.apply(AccessRule("plain", "9", "admin"))
    await court.say(",open", "9")
    assert "Hello" in court.in_group()[0]
    await openings.apply(AccessRule("plain", "-100", "none"))
    await court.say(",open", "9")
    await court.say(",open", "9")  # who has a role is answered each time
    assert ["closed this chat" in text for text in court.in_group()[1:]] == [True, True]
    await court.say("hello", "9")
    assert "not enabled" in court.in_group()[-1]


async def test_a_platform_s_administrator_is_an_admin_there_and_is_asked_about_for_minutes(
    tmp_path: Path,
) -> None:
    clock, channel = ManualClock(), CourtChannel()
    more = {"ACCESS__ALLOW": "plain:-100", "TAPE__URL": "memory:"}
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock, **more) as gateway:
        roles = gateway.parts.requests.openings.roles
        channel.admins.add("7")
        assert [await roles.of(GROUP) for _ in range(3)] == [Role.ADMIN] * 3
        channel.admins.clear()
        assert await roles.of(GROUP) is Role.ADMIN
        assert await roles.of(GROUP, fresh=True) is Role.MEMBER
        channel.admins.add("7")
        assert await roles.of(GROUP) is Role.MEMBER
        await clock.advance(KNOWN_SECONDS)
        assert await roles.of(GROUP) is Role.ADMIN
        channel.away = True
        assert await roles.of(GROUP, fresh=True) is Role.MEMBER
        private = replace(GROUP, chat_kind="private", owner=True)
        asked = len(channel.asked)
        assert await roles.of(private) is Role.OWNER
        other = replace(GROUP, sender=Author("-5", "News", acts_as="other"))
        assert await roles.of(other) is Role.STRANGER
        assert len(channel.asked) == asked


async def test_the_groups_of_an_upgrade_are_named_once_and_opened_at_once(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = CourtChannel()
    async with gateway_of(
        tmp_path, model, Brings(channel), ACCESS__ALLOW="plain:-100,plain:-200"
    ) as gateway:
        court = Court(gateway, channel)
        await court.say("asked by a listed person", "7")
        await court.say("asked by somebody else", "8", chat_id="-200")
    with closing(sqlite3.connect(tmp_path / "tapeway.db")) as old, old:
        old.execute("DELETE FROM access_request")
    async with court_of(tmp_path, ACCESS__ALLOW="plain:7") as court:
        openings = court.gateway.parts.requests.openings
        assert [one.chat_id for one in await openings.waiting()] == ["-100"]
        await court.say("still here?", "7")
        assert "not enabled" in court.in_group()[0]
        assert await openings.open_former("terminal") == 1
        await court.say("and now?", "7")
        assert "and now?" in court.in_group()[-1]
        assert await openings.waiting() == []


async def test_a_bot_that_manages_a_group_is_no_admin(tmp_path: Path) -> None:
    more: dict[str, Any] = {"ACCESS__ALLOW": "plain:-100", "ACCESS__BOTS": "answer"}
    async with court_of(tmp_path, **more) as court:
        court.channel.admins.add("7")
        await court.say(",reset", "7", sender=Author("7", "Bridge", is_bot=True))
        await court.say(",reset", "7")
        refused, done = court.in_group()
    assert refused.startswith("Only admins")
    assert done.startswith("I'm starting over")


async def test_an_owner_names_an_admin_and_nobody_else_does(court: Court) -> None:
    await court.pair()
    await court.whisper(",grant 9 admin", "1")
    assert court.to("1")[-1].text == "`9` is now an admin."
    await court.whisper(",grant 7 admin", "9")
    assert "now an admin" not in court.to("9")[-1].text
    await court.say(",open", "9")
    await court.say(",grant 7 admin", "1")  # not in a group
    await court.say(",grant 7 admin", "9")
    for line in (",grant 1 none", ",grant 7", ",grant 7 owner", ",grant -100 admin x"):
        await court.whisper(line, "1")
        assert "is now" not in court.to("1")[-1].text
    rules = {rule.id: rule.role for rule in court.gateway.parts.requests.openings.access.rules()}
    assert rules == {"1": "owner", "9": "admin", "-100": "member"}
    await court.whisper(",grant 9 none", "1")
    await court.whisper("hello", "9")
    assert "not enabled" in court.to("9")[-1].text


async def test_what_happened_to_an_opening_is_explained(court: Court) -> None:
    await court.pair()
    await court.say(",open server", "1", message_id="m-open")
    explainer = Explainer(court.gateway.services.store, court.gateway.services.redactor)
    says = {line.about: line.says for line in (await explainer.explain("m-open")).lines}
    assert says["access"].startswith("a command that a closed chat understands")
    assert says["outcome"] == "answered without the model, as a command"


@pytest.mark.parametrize("terminal", [True, False])
async def test_the_first_start_prints_a_code_on_a_terminal_and_nowhere_else(
    court: Court, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    lines = "\n".join(await access_lines(court.gateway))
    code = re.search(r"code is (\S+)\.", lines)
    assert (code is not None, "tapeway pair" in lines or "pair" in lines) == (terminal, True)
    if code is not None:
        assert f"plain: Send me: pair {code[1]}" in lines
        await court.whisper(f"pair {code[1]}", "1")
    else:
        await court.pair()
    assert await access_lines(court.gateway) == []


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_kill_between_the_command_and_its_reply_opens_and_greets_once(
    tmp_path: Path, moment: Moment
) -> None:
    lasting = LastingStore([tape_schema(), ledger_schema()], ManualClock().now)
    mortal = MortalStore(lasting)
    async with court_of(tmp_path, mortal) as court:
        await court.pair()

        def cut() -> None:
            court.channel.cut_off = True

        mortal.kill_at(moment, lambda held: "ledger.grant_access" in held, cut)
        said = replace(GROUP, text=",open", ext_id="opens", sender=Author("1", "Ann"))
        await court.accept(said)
        await mortal.killed.wait()
    async with court_of(tmp_path, MortalStore(lasting)) as court:
        await court.gateway.idle()
        await court.say("hello now")
        assert "I remember what is said here" in court.in_group()[0]
        assert "hello now" in court.in_group()[1]
        assert len(court.in_group()) == 2


async def test_of_two_who_send_one_code_at_once_one_is_the_owner(court: Court) -> None:
    text = f"pair {court.gateway.parts.pairing.new_code()}"
    said = replace(GROUP, text=text, chat_kind="private")
    both = [
        replace(said, chat_id=f"dm-{one}", ext_id=f"both-{one}", sender=Author(one, one))
        for one in ("1", "2")
    ]
    await court.channel.host.accept(both)
    await court.gateway.idle()
    owners = court.gateway.parts.requests.openings.access.owners("plain", "")
    assert [owner.id for owner in owners] == ["1"]
    assert "too old" in court.to("2")[0].text
