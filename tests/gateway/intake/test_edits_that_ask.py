"""Edits that ask: as new messages, and once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from channels.message import Author, InboundMessage, Media
from gateway.intake.editing.versions import ASKED, OTHERS, TOO_LATE
from tape.entry import Entry
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import gateway_of, names, settled
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel

ASIDE = replace(MESSAGE, addressed=False, why="said to the group", text="when do we meet?")
QUESTION = replace(MESSAGE, ext_id="-100/2", message_id="2", sender=Author("8", "Bob"), text="hi")
NOW_READS = "[The following message was edited and now reads:]"


def edit(text: str, of: InboundMessage = ASIDE, **more: Any) -> InboundMessage:
    """Return the edit, a minute later, with which a message asks the agent."""
    new = {"addressed": True, "why": "mention", "edited": "2026-01-01T00:01:00+00:00", **more}
    return replace(of, kind="edit", ext_id=f"{of.ext_id}/edit/{text}", text=text, **new)


def prompts(model: FakeOpenAI, number: int = -1) -> list[str]:
    """Return what people said, as the model was shown it in one request."""
    said = model.requests[number].body["messages"]
    return [str(one["content"]) for one in said if one["role"] == "user"]


def unasked(entries: list[Entry]) -> list[str]:
    data = [one.payload["data"] for one in entries if one.name == "message.edit"]
    return [one["unasked"] for one in data if "unasked" in one]


async def test_a4_an_edit_that_mentions_the_agent_asks_it(group: GroupChat) -> None:
    entries = await group.hear_each(ASIDE, edit("@bot when?"))
    assert len(group.model.requests) == 1
    assert prompts(group.model)[-1].endswith("] @bot when?")
    assert "when do we meet?" not in str(prompts(group.model))
    assert NOW_READS not in str(prompts(group.model))
    (post,) = group.posts
    assert post.reply_to == ASIDE.message_id
    assert names(entries).count("turn.start") == 1


async def test_a4_what_another_s_turn_took_as_chatter_is_shown_as_edited(group: GroupChat) -> None:
    question = replace(QUESTION, reply_to=ASIDE.message_id)
    await group.hear_each(ASIDE, question, edit("@bot when?"))
    assert len(group.posts) == 2
    shown = "\n".join(prompts(group.model))
    before, _sign, after = shown.partition(NOW_READS)
    assert "when do we meet?" in before
    assert after.splitlines()[1].endswith("] @bot when?")
    assert after.count("@bot when?") == 1


async def test_a4_an_edit_of_what_was_never_delivered_asks(group: GroupChat) -> None:
    await group.hear(edit("@bot when?"))
    assert "] @bot when?" in prompts(group.model)[-1]
    assert len(group.posts) == 1


@pytest.mark.parametrize(
    ("late", "by", "why"),
    [
        ("2026-01-01T00:05:00+00:00", ASIDE.sender, ""),
        ("2026-01-01T00:05:01+00:00", ASIDE.sender, TOO_LATE),
        ("2026-01-01T00:01:00+00:00", Author("9", "Eve"), OTHERS),
    ],
)
async def test_a4_only_the_author_asks_by_an_edit_and_for_five_minutes(
    group: GroupChat, late: str, by: Author, why: str
) -> None:
    entries = await group.hear_each(ASIDE, edit("@bot when?", edited=late, sender=by))
    assert len(group.posts) == (0 if why else 1)
    assert unasked(entries) == ([why] if why else [])


async def test_a4_what_was_answered_is_not_asked_again(group: GroupChat) -> None:
    entries = await group.hear_each(MESSAGE, edit("other words", MESSAGE))
    assert len(group.model.requests) == 1
    assert unasked(entries) == [ASKED]


async def test_a4_a_command_that_ran_does_not_run_again(group: GroupChat) -> None:
    help_ = replace(MESSAGE, text=",help", command=",help")
    await group.hear_each(help_, edit(",help all", help_, command=",help all"))
    assert len(group.posts) == 1


async def test_a4_an_edit_runs_a_command_once(group: GroupChat) -> None:
    wrong = replace(ASIDE, text="help")
    first = edit(",help", wrong, command=",help")
    await group.hear_each(wrong, first, first, edit(",tools", wrong, command=",tools"))
    assert len(group.posts) == 1
    assert group.model.requests == []


async def test_a4_two_edits_ask_once_and_the_second_is_what_the_turn_sees(group: GroupChat) -> None:
    gate = asyncio.Event()
    group.model.enqueue(Text(("one",), gate=gate))
    await group.hear(ASIDE)
    await group.accept(QUESTION)
    await group.model.wait_for_requests(1)
    await group.accept(edit("@bot wehn?"), edit("@bot when?"))
    await group.gateway.taken_in()
    gate.set()
    await group.settled()
    assert len(group.posts) == 2
    shown = str([prompts(group.model, number) for number in (0, 1)])
    assert "wehn" not in shown
    assert "@bot when?" in shown


async def test_a4_an_edit_after_an_edit_was_answered_is_told_at_the_next_turn(
    group: GroupChat,
) -> None:
    await group.hear_each(ASIDE, edit("@bot when?"), edit("@bot where?"))
    assert len(group.posts) == 1
    await group.hear(replace(MESSAGE, ext_id="-100/3", message_id="3", text="well?"))
    shown = "\n".join(prompts(group.model))
    assert shown.count(NOW_READS) == 1
    assert shown.count("@bot where?") == 1


async def test_a4_a_message_that_comes_after_its_edit_asks_nothing_more(group: GroupChat) -> None:
    late = replace(MESSAGE, text="@bot wehn?", backlog=True)
    entries = await group.hear_each(edit("@bot when?", late, backlog=False), late)
    assert len(group.posts) == 1
    assert "message.dropped" in names(entries)


async def test_a4_an_edit_may_come_first_at_once(group: GroupChat) -> None:
    now = datetime.now(UTC).isoformat()
    prompt = replace(MESSAGE, text="@bot wehn?", date=now)
    await group.hear_each(edit("@bot when?", prompt, edited=now), prompt)
    assert len(group.posts) == 1


async def test_a4_a_question_that_comes_after_its_edit_is_asked_if_the_edit_asked_nothing(
    group: GroupChat,
) -> None:
    aside = edit("never mind", MESSAGE, addressed=False, why="said to the group")
    await group.hear_each(aside, replace(MESSAGE, backlog=True))
    assert len(group.posts) == 1


async def test_a4_an_edit_follows_in_a_thread_that_the_agent_was_asked_in(group: GroupChat) -> None:
    thread: dict[str, Any] = {"thread_id": "7", "addressed": False, "why": "said to the group"}
    asked = replace(MESSAGE, thread_id="7")
    said = replace(QUESTION, sender=ASIDE.sender, **thread)
    await group.hear_each(asked, said, edit("and where?", said, follows=True, **thread))
    assert len(group.posts) == 2
    other = replace(said, ext_id="-100/3", message_id="3", thread_id="9")
    await group.hear_each(other, edit("and why?", other, **{**thread, "thread_id": "9"}))
    assert len(group.posts) == 2


async def test_a4_a_deletion_takes_the_question_of_an_edit_back(group: GroupChat) -> None:
    gate = asyncio.Event()
    group.model.enqueue(Text(("one",), gate=gate))
    await group.hear(ASIDE)
    await group.accept(QUESTION)
    await group.model.wait_for_requests(1)
    gone = replace(ASIDE, kind="delete", ext_id="-100/1/deleted", text="")
    await group.accept(edit("@bot when?"), gone, edit("@bot when, then?"))
    await group.gateway.taken_in()
    gate.set()
    await group.settled()
    assert len(group.posts) == 1
    await group.hear(replace(MESSAGE, ext_id="-100/3", message_id="3", text="well?"))
    assert "@bot when" not in str(prompts(group.model))


@pytest.mark.parametrize("bots", ["ignore", "answer"])
async def test_a4_the_edit_of_a_bot_is_judged_as_its_message(
    model: FakeOpenAI, tmp_path: Path, bots: str
) -> None:
    said = replace(ASIDE, sender=Author("9", "Robby", is_bot=True))
    async with open_group(tmp_path, model, ACCESS__BOTS=bots) as group:
        await group.hear_each(said, edit("@bot when?", said))
    assert len(group.posts) == (bots == "answer")


@pytest.mark.parametrize("known", [False, True])
async def test_a4_the_deferred_answer_of_another_bot_is_read_when_it_comes(
    group: GroupChat, *, known: bool
) -> None:
    robby = Author("9", "Robby", is_bot=True)
    announced = replace(ASIDE, sender=robby, kind="change", change="loading", text="")
    if known:
        await group.hear(announced)
    aside: dict[str, Any] = {
        "edited": "",
        "addressed": False,
        "why": "said by a bot",
        "kind": "edit",
    }
    await group.hear(replace(ASIDE, sender=robby, ext_id="-100/1/e", text="42", **aside))
    await group.hear(QUESTION)
    assert "Robby] 42" in "\n".join(prompts(group.model))


async def test_a4_an_edit_of_one_who_may_not_talk_here_is_refused_and_told_once_a_day(
    tmp_path: Path,
) -> None:
    async with open_group(tmp_path, ACCESS__MODE="paired") as group:
        entries = await group.hear(edit("@bot a secret"))
        assert "secret" not in str([entry.payload for entry in entries])
        assert "access.refused" in names(entries)
        await group.hear(edit("@bot another secret", replace(ASIDE, message_id="2", ext_id="2")))
    assert len(group.posts) == 1


async def test_a4_an_edit_that_asks_survives_a_restart_before_its_turn(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    more = {"ACCESS__MODE": "open"}
    async with open_group(tmp_path, model, BUFFER__DEBOUNCE="60", BUFFER__MAX_WAIT="60") as group:
        await group.accept(ASIDE, edit("@bot when?"))
        await group.gateway.taken_in()
    assert model.requests == []
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), **more) as gateway:
        await settled(gateway, "plain:-100")
        await channel.host.accept([edit("@bot when?")])
        await settled(gateway, "plain:-100")
    assert len(model.requests) == 1
    assert "] @bot when?" in prompts(model)[-1]
    assert [post.reply_to for post in channel.posts] == ["1"]


async def test_a4_an_edit_of_a_part_asks_with_the_whole_album(group: GroupChat) -> None:
    group.channel.traits = replace(group.channel.traits, join_wait=0.1)
    photo = Media("image", "photo", width=640, height=480)
    parts = [
        replace(ASIDE, ext_id=f"-100/{n}", message_id=f"{n}", text=text, joins="a", media=(photo,))
        for n, text in ((1, "one"), (2, "two"))
    ]
    await group.hear(*parts)
    await group.hear(edit("@bot which?", parts[1]))
    asked = prompts(group.model)[-1]
    assert "] one\n> @bot which?" in asked
    assert asked.count("[photo, 640x480]") == 2
    await group.hear(edit("@bot which one?", parts[0]))
    assert len(group.posts) == 1
