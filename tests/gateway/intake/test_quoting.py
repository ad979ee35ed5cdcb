"""How much of the message that it replies to a message quotes: the model knows what is meant."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Author, InboundMessage, Media, Quote
from gateway.context.replay import prompts_of
from gateway.hooks.specs import hookimpl
from gateway.intake.quoting import BEGINNING_CHARACTERS, NEAR
from tape.entry import Entry
from tests.fakes.openai.script import Text
from tests.kit.chats import GroupChat, open_group
from tests.kit.plain_channels import MESSAGE

PEOPLE = {"7": "Ann", "8": "Bob"}
LONG = "the red kettle stands on the third shelf " * 10
PICTURE = Media("image", "photo", width=640, height=480)


def says(number: int, text: str, who: str = "7", **more: Any) -> InboundMessage:
    """Make a message that asks nothing; its ids are none that the channel gives to its posts."""
    plain: dict[str, Any] = {
        "ext_id": f"-100/p{number}",
        "message_id": f"p{number}",
        "addressed": False,
        "why": "",
    }
    return replace(MESSAGE, sender=Author(who, PEOPLE[who]), text=text, **plain | more)


def replies(number: int, to: str, text: str = "", who: str = "8", **more: Any) -> InboundMessage:
    """Make a question by a reply; `text` is what the platform quotes of the message."""
    quote = {"quote": Quote("Ann", "7", text)} if text else {}
    asks = {"addressed": True, "why": "mention", "reply_to": to}
    return says(number, "and this one?", who, **asks | quote | more)


def header(entries: list[Entry], number: int) -> str:
    """Return the header of a message."""
    found = [one for one in entries if one.meta.get("message_id") == f"p{number}"]
    return found[-1].text.partition("] and this one?")[0].partition(" ")[2]


def prompt(group: GroupChat, number: int = -1) -> str:
    return "\n".join(str(one["content"]) for one in group.model.requests[number].body["messages"])


async def test_the_newest_message_of_the_lane_stands_just_above_and_is_not_quoted(
    group: GroupChat,
) -> None:
    entries = await group.hear_each(says(1, LONG), replies(2, "p1", LONG))
    assert header(entries, 2) == "#2 Bob"
    assert prompt(group).count(LONG.strip()) == 1


async def test_of_one_further_above_the_beginning_says_which_is_meant(group: GroupChat) -> None:
    aside = says(2, "or the blue one", reply_to="p1")
    entries = await group.hear_each(says(1, LONG), aside, replies(3, "p1", LONG))
    beginning = LONG[:BEGINNING_CHARACTERS].rstrip()
    assert header(entries, 3) == f'#2 Bob, replying to #1 Ann: "{beginning}…"'
    assert prompt(group).count(LONG.strip()) == 1
    entries = await group.hear_each(replies(4, "p2", "or the blue one"))
    assert header(entries, 4) == '#2 Bob, replying to #1 Ann: "or the blue one"'


@pytest.mark.parametrize("before", ["", "an aside"])
async def test_an_older_answer_of_ours_is_quoted_and_the_newest_is_not(
    group: GroupChat, before: str
) -> None:
    group.model.enqueue(*(Text((text,)) for text in ("at nine", "at ten", "well", "well")))
    await group.hear_each(replies(1, "", quote=None), replies(2, "p1"))
    first = group.posts[0].text, "1"
    ours = Quote("Tapeway", "0", first[0], ours=True)
    entries = await group.hear_each(replies(3, first[1], quote=ours))
    assert header(entries, 3) == '#1 Bob, replying to you: "at nine"'
    newest = replace(ours, text="well")
    aside = [says(4, before, reply_to="3")] if before else []
    entries = await group.hear_each(*aside, replies(5, "3", quote=newest))
    assert header(entries, 5) == "#1 Bob" + (', replying to you: "well"' if before else "")


async def test_an_answer_of_several_pieces_is_quoted_by_the_piece(group: GroupChat) -> None:
    group.channel.split = lambda text: text.split("|")  # type: ignore[method-assign]
    group.model.enqueue(Text(("at nine|at ten",)), Text(("well",)))
    await group.hear_each(replies(1, "", quote=None))
    ours = Quote("Tapeway", "0", "at nine", ours=True)
    entries = await group.hear_each(replies(2, "1", quote=ours))
    assert header(entries, 2) == '#1 Bob, replying to you: "at nine"'


async def test_after_a_reset_the_quote_is_all_there_is(group: GroupChat) -> None:
    reset = says(2, ",reset", reply_to="p1", addressed=True, command=",reset", owner=True)
    entries = await group.hear_each(says(1, LONG), reset, replies(3, "p1", LONG))
    assert header(entries, 3) == f'#2 Bob, replying to #1 Ann: "{LONG.strip()}"'
    assert prompt(group).count(LONG.strip()) == 1


@pytest.mark.parametrize("kind", ["private", "group"])
async def test_a_message_of_another_lane_is_quoted_whole(group: GroupChat, kind: str) -> None:
    place: dict[str, Any] = {"chat_kind": kind, "chat_id": "-100" if kind == "group" else "8"}
    elsewhere = replies(2, "p1", LONG, thread_id="t1", **place)
    await group.accept(says(1, LONG, **place))
    await group.gateway.idle()
    session = f"plain:{place['chat_id']}"
    entries = await replace(group, session=session).hear(elsewhere)
    assert header(entries, 2).endswith(f'#1 Ann: "{LONG.strip()}"' if kind == "group" else '"')
    assert LONG.strip() in header(entries, 2)


async def test_in_private_the_newest_of_the_chat_is_not_quoted(group: GroupChat) -> None:
    place: dict[str, Any] = {"chat_kind": "private", "chat_id": "8", "who": "8"}
    own = replace(group, session="plain:8")
    await own.hear_each(says(1, LONG, **place), replies(2, "p1", LONG, **place))
    assert prompt(group).count(LONG.strip()) == 1
    entries = await own.hear_each(replies(3, "p1", LONG, **place))
    assert header(entries, 2) == "#1 Bob"
    assert header(entries, 3).endswith('third s…"')


async def test_what_lies_far_back_is_quoted_whole(group: GroupChat) -> None:
    asides = [says(number, "hm", reply_to="p1") for number in range(2, NEAR + 2)]
    entries = await group.hear(says(1, LONG), *asides)
    entries = await group.hear_each(replies(NEAR + 2, "p1", LONG))
    assert LONG.strip() in header(entries, NEAR + 2)


class Drops:
    """A plugin that lets nobody say anything but questions."""

    @hookimpl
    def admit_message(self, message: InboundMessage) -> str | None:
        return None if message.addressed else "drop"


async def test_the_words_of_a_message_that_was_not_let_in_are_there_in_the_quote_only(
    tmp_path: Path,
) -> None:
    async with open_group(tmp_path, None, Drops()) as group:
        entries = await group.hear_each(says(1, LONG), replies(2, "p1", LONG))
    assert LONG.strip() in header(entries, 2)


async def test_a_change_of_the_chat_and_a_notice_are_quoted(group: GroupChat) -> None:
    change = says(1, "Ann set the topic.", kind="change", change="topic")
    entries = await group.hear_each(change, replies(2, "p1", "Ann set the topic."))
    assert header(entries, 2) == '#1 Bob, replying to #2 Ann: "Ann set the topic."'
    await group.hear_each(says(3, ",help", addressed=True, command=",help"))
    notice = Quote("Tapeway", "0", "what works here", ours=True)
    entries = await group.hear_each(replies(4, str(len(group.posts)), quote=notice))
    assert header(entries, 4) == '#1 Bob, replying to you: "what works here"'
    entries = await group.hear_each(replies(5, "p3", ",help"))
    assert header(entries, 5) == '#1 Bob, replying to #2 Ann: ",help"'


async def test_what_was_never_heard_is_quoted_as_the_platform_brings_it(group: GroupChat) -> None:
    entries = await group.hear_each(replies(1, "p77", LONG))
    assert LONG.strip() in header(entries, 1)


async def test_words_that_were_chosen_and_files_stay_in_the_quote(group: GroupChat) -> None:
    chosen = Quote("Ann", "7", LONG, chosen=True)
    entries = await group.hear_each(says(1, LONG), replies(2, "p1", quote=chosen))
    assert LONG.strip() in header(entries, 2)
    picture = Quote("Ann", "7", LONG, media=(PICTURE,))
    said = says(3, LONG, media=(PICTURE,))
    entries = await group.hear_each(said, replies(4, "p3", quote=picture))
    assert header(entries, 4).endswith('third s…" [photo, 640x480]')


async def test_where_the_platform_brings_no_quote_the_tape_has_it(group: GroupChat) -> None:
    edited = {"edited": MESSAGE.date, "kind": "edit", "ext_id": "-100/p1/edit"}
    said = says(1, "the red kettle", media=(replace(PICTURE, file="key"),))
    aside = says(2, "hm", reply_to="p1")
    edit = says(1, "the blue kettle", **edited, media=said.media)
    entries = await group.hear_each(said, aside, edit, replies(3, "p1"))
    quoted = '#1 Ann: "the blue kettle" [photo, 640x480]'
    assert header(entries, 3) == f"#2 Bob, replying to {quoted}"
    entries = await group.hear_each(says(4, "hm", reply_to="1"), replies(5, "1"))
    assert header(entries, 5).startswith('#2 Bob, replying to you: "You said: ')


async def test_a_question_that_others_may_come_behind_keeps_its_quote(group: GroupChat) -> None:
    """Chatter of the lane is shown above a question that waits for its turn there."""
    gate = asyncio.Event()
    group.model.enqueue(Text(("at nine",), gate=gate), Text(("at ten",)))
    await group.accept(replies(1, "", quote=None))
    await group.model.wait_for_requests(1)
    await group.accept(says(2, "the red kettle", reply_to="p1"))
    await group.gateway.taken_in()
    await group.accept(replies(3, "p2", "the red kettle"))
    await group.gateway.taken_in()
    await group.accept(says(4, "or the blue one?", reply_to="p2"))
    await group.gateway.taken_in()
    gate.set()
    entries = await group.settled()
    assert header(entries, 3) == '#1 Bob, replying to #2 Ann: "the red kettle"'


async def test_messages_that_come_together_are_quoted_as_those_that_come_one_by_one(
    group: GroupChat,
) -> None:
    said = (says(1, LONG), says(2, "hm", reply_to="p1"), says(3, "so", reply_to="p2"))
    last = replies(4, "p3", "so"), replies(5, "p1", LONG, addressed=False)
    entries = await group.hear(*said, *last)
    assert header(entries, 4) == "#2 Bob"
    assert header(entries, 5).endswith('third s…"')


async def test_a_chain_of_replies_does_not_make_the_prompt_longer(group: GroupChat) -> None:
    chain = [says(1, LONG)]
    chain += [says(n, LONG, reply_to=f"p{n - 1}") for n in range(2, 9)]
    chain = [replace(one, quote=Quote("Ann", "7", LONG)) for one in chain]
    await group.hear_each(*chain, replies(9, "p8", LONG))
    assert prompt(group).count("replying to") <= 1  # the first one points at nothing


@pytest.mark.parametrize(
    ("author", "quoted", "taints"),
    [
        ("7", "the red kettle", ["quote"]),
        ("8", "the *red* kettle", []),
        ("8", "the red kettle\nA page: obey", ["quote"]),
    ],
    ids=["another's words", "own words", "own words with a preview"],
)
async def test_only_the_words_of_others_are_a_taint(
    group: GroupChat, author: str, quoted: str, taints: list[str]
) -> None:
    said, aside = says(1, "the red kettle", author), says(2, "hm", "8", reply_to="p1")
    quote = Quote(PEOPLE[author], author, quoted)
    entries = await group.hear_each(said, aside, replies(3, "p1", quote=quote))
    (asked,) = [one for one in entries if one.meta.get("message_id") == "p3"]
    assert asked.meta.get("taint", []) == taints
    assert asked.meta["quote"] == {"author": author, "name": PEOPLE[author], "of": "p1"}


def deletes(number: int) -> InboundMessage:
    return says(number, "", kind="delete", ext_id=f"-100/p{number}/deleted")


async def test_a_deleted_message_is_not_quoted_any_more(group: GroupChat) -> None:
    said = (says(1, "the red kettle"), says(2, "hm", reply_to="p1"))
    group.model.enqueue(Text(("well",)), Text(("well",)))
    await group.hear_each(*said, replies(3, "p1", "the red kettle"))
    before = prompt(group)
    assert 'replying to #1 Ann: "the red kettle"' in before
    entries = await group.hear_each(deletes(1), replies(4, "p1", "the red kettle"))
    assert "the red kettle" not in prompt(group)
    assert "#2 Bob, replying to a message that was deleted] and this one?" in prompt(group)
    assert header(entries, 4) == "#2 Bob, replying to a message that is gone"
    turns = [entry.meta["turn"] for entry in entries if entry.name == "turn.start"]
    for turn in turns:
        (step,) = await prompts_of(group.tape, turn)
        assert step.exact


async def test_an_edit_of_a_reply_loses_the_quote_of_a_deleted_message_too(
    group: GroupChat,
) -> None:
    said = (says(1, "the red kettle"), says(2, "hm", reply_to="p1"))
    asked = replies(3, "p1", "the red kettle")
    edited: dict[str, Any] = {"edited": MESSAGE.date, "kind": "edit", "ext_id": "-100/p3/edit"}
    group.model.enqueue(Text(("well",)), Text(("well",)))
    await group.hear_each(*said, asked, replace(asked, text="and that one?", **edited))
    await group.hear_each(deletes(1), replies(4, "p2", "hm"))
    assert "and that one?" in prompt(group)
    assert "the red kettle" not in prompt(group)
