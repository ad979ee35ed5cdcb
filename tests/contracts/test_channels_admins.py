"""B8: a platform's own administrator is an admin in that chat, and nobody is one by a name."""

from __future__ import annotations

from pathlib import Path

from tests.contracts.cards import paired
from tests.kit.play import playing
from tests.kit.promised import promises


@promises("B8", "admins")
async def test_b8_a_platform_s_administrator_resets_a_group_and_a_namesake_does_not(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="open") as play:
        group, bob, ann = play.stage.group(), play.person("Bob"), play.person("Ann")
        namesake = play.person("Administrator")
        for person in (bob, namesake):
            said = await play.ask_command(group, person, "reset")
            assert "Only admins" in play.answer(said).text
        play.stage.appoint(group, ann)
        assert "starting over" in play.answer(await play.ask_command(group, ann, "reset")).text
        refused = await play.ask_command(group, bob, "reset")
        assert "Only admins" in play.answer(refused).text
        anchors = [one["name"] for one in await play.events(group, "handoff")]
        assert anchors.count("session/reset") == 1


@promises("B8", "admins")
async def test_b8_an_administrator_opens_what_the_owner_trusts_and_no_group_of_their_own(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired") as play:
        owner, chat = await paired(play, "Olga")
        ours, theirs, ann = play.stage.group(), play.stage.group(), play.person("Ann")
        play.stage.appoint(theirs, ann)
        await play.ask(theirs, ann, ",open", mention=False)
        assert "not enabled" in play.texts(theirs)[-1]
        await play.ask(ours, owner, ",open", mention=False)
        await play.ask(theirs, play.person("Bob"), ",open", mention=False)
        assert len(play.texts(theirs)) == 1
        await play.ask(theirs, ann, ",open", mention=False)
        # Telegram's groups belong to no server: anybody can make one and administer it.
        trusted = channel != "telegram"
        assert ("remember" in play.texts(theirs)[-1]) == trusted
        await play.ask(theirs, ann, "hello?")
        assert len(play.model.requests) == int(trusted)
        questions = [text for text in play.texts(chat) if "asked me something in" in text]
        assert len(questions) == 1
