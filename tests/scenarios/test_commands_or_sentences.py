"""A slash or a comma begins a command of the agent, of another bot, or a sentence of a person."""

from __future__ import annotations

import pytest

from tests.fakes.openai.script import Text
from tests.kit.play import Play


async def test_a_comma_in_a_group_that_begins_no_command_gets_no_reply(platform: Play) -> None:
    ann, ben = platform.person("Ann"), platform.person("Ben")
    group = platform.chat(ann)
    for text in (",oder nicht?", ",P", ",however, it rains"):
        await platform.stage.say(group, ben, text, mention=False)
        await platform.settle()
    assert (platform.texts(group), platform.model.requests) == ([], [])
    assert not any("command" in entry.meta for entry in await platform.tape(group))
    await platform.ask(group, ben, ",help", mention=False)
    assert platform.texts(group)[-1].startswith("I answer these commands")


async def test_the_prefix_of_another_bot_is_left_to_it(platform: Play) -> None:
    ann = platform.person("Ann")
    group = platform.chat(ann)
    for text in (",play despacito", ",mute @Ben 10m", ",8ball"):
        await platform.stage.say(group, ann, text, mention=False)
        await platform.settle()
    assert (platform.texts(group), platform.model.requests) == ([], [])
    said = [entry.meta["text"] for entry in await platform.tape(group) if "inbox" in entry.meta]
    assert [text.partition(" ")[0] for text in said] == [",play", ",mute", ",8ball"]


@pytest.mark.parametrize("text", ["/s of course", "/usr is read-only now", "/me waves, and you?"])
async def test_a_slash_in_prose_reaches_the_model_as_it_was_written(
    platform: Play, text: str
) -> None:
    ann = platform.person("Ann")
    group = platform.chat(ann)
    platform.model.enqueue(Text(("I see.",)))
    asked = await platform.ask(group, ann, text)
    assert platform.answer(asked).text == "I see."
    (request,) = platform.model.requests
    assert text in str(request.body["messages"][-1])


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u3000", "  "])
async def test_a_hard_space_parts_words_as_any_other(platform: Play, space: str) -> None:
    ann = platform.person("Ann")
    group = platform.chat(ann)
    await platform.ask(group, ann, f",tape.search{space}query=plum{space}limit=3")
    assert platform.texts(group) == ["I found nothing about “plum” in this chat."]
    assert platform.model.requests == []


async def test_a_command_may_follow_a_mention(platform: Play) -> None:
    ann = platform.person("Ann")
    group = platform.chat(ann)
    await platform.ask(group, ann, "/tape.info")
    assert platform.texts(group)[0].startswith("The tape of this chat has")
    assert platform.model.requests == []


@pytest.mark.parametrize("kinds", ["message,anchor", '["message"]', '["message", "anchor"]', "[]"])
async def test_a_list_may_be_written_as_one(platform: Play, kinds: str) -> None:
    ann = platform.person("Ann")
    group = platform.chat(ann)
    await platform.ask(group, ann, f",tape.search plum kinds={kinds}")
    assert platform.texts(group) == ["I found nothing about “plum” in this chat."]


async def test_help_writes_commands_as_they_are_typed_there(platform: Play) -> None:
    ann = platform.person("Ann")
    group = platform.chat(ann)
    await platform.ask(group, ann, ",help")
    await platform.ask(group, ann, ",help all")
    usual, whole = (text.replace("`", "") for text in platform.texts(group))
    form = "/tapeway stop" if platform.channel == "slack" else "/stop"
    assert f" {form}: " in usual
    assert f"({form} all: " in usual
    assert "tape.search query=..." in whole
    (erasing,) = [line for line in usual.splitlines() if "erase" in line]
    asked = "/tapeway forget me" if platform.channel == "slack" else "/forget me"
    asked = "/forget" if platform.channel == "discord" else asked
    assert erasing.endswith(f" {asked}: erase what you wrote, after I've asked once more")
    assert erasing.count("forget") == 1
