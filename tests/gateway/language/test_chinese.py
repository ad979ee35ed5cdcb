"""The sentences in Chinese are those of the code, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Final

import pytest

from channels.checkup import Trouble
from channels.connection_troubles import ConnectionTroubles
from gateway.console.timeline import chapter
from gateway.doctor.checks.model import TROUBLES as MODEL_TROUBLES
from gateway.explain import conversation, message_report, turn_report
from gateway.language.chinese import FINISHED, SAID
from gateway.language.language import speaking, translated
from gateway.settings.load import paths
from tests.gateway.language.sources import (
    ANY,
    REFUSING,
    calls,
    constants,
    imported,
    speakers,
    texts,
)

HAN: Final = re.compile(r"[\u4e00-\u9fff]")
NAMED: Final = re.compile(r"\{(\w+)\}")
TABLES: Final = (
    conversation.WHY_NEW,
    conversation.WHY_THERE,
    message_report.BY,
    message_report.OUTCOMES,
    turn_report.THUMBS,
)
"""The tables from which `say` is given sentences."""

COMPOSED: Final = (
    "neither the chat nor the person is| on the allowlist",
    "the chat is not| on the allowlist",
    "a pairing code: |paired",
    "a pairing code: |wrong",
    "a pairing code: |not in private",
    "a pairing code: |too many tries",
    "stop|, by {person}",
    "{left} new |connection is| left for the next {hours} h",
    "{left} new |connections are| left for the next {hours} h",
    "{server} |refuses the API key|: set TAPEWAY_AGENT__API_KEY to a valid one",
    "{server} |requires an API key|: set TAPEWAY_AGENT__API_KEY to a valid one",
    (
        "{server} has no model {model}: set TAPEWAY_AGENT__MODEL|, for example"
        " TAPEWAY_AGENT__MODEL={example}"
    ),
    (
        "{model} on {server} |refuses {what}, so requests go without it for a day|"
        " (since {moment} UTC)"
    ),
    (
        "{model} on {server} |begins its answers inside reasoning, so text is held back until the"
        ' closing tag; set `reasoning = "open"` to have that from the first answer|'
        " (since {moment} UTC)"
    ),
    "cannot |drop| {row}: its status is {status}",
    (
        "I'd like to run `{tool}` now. But I've read something by other people or from elsewhere (a"
        " message, a page, a file or a tool's result), so |you| must allow it within {minutes}"
        " minutes."
    ),
    (
        "I'd like to run `{tool}` now. But I've read something by other people or from elsewhere (a"
        " message, a page, a file or a tool's result), so |an admin| must allow it within {minutes}"
        " minutes."
    ),
    (
        "I suggest setting the checkpoint {name} here. Of what came before, I would then see| only"
        " this:"
    ),
    (
        "I suggest setting the checkpoint {name} here. Of what came before, I would then see|"
        " nothing."
    ),
    "Sorry, I couldn't answer: |{why}. (Ref {error_id})",
    "{who} is now |a| {role}",
    "{who} is now |an| {role}",
)
"""The sentences that the code puts together from several texts, with their joints."""

REFUSALS: Final = (
    "gateway/console",
    "gateway/access/console_links",
    "gateway/admin/access_admin",
    "gateway/admin/erase_admin",
    "gateway/context/reactions",
    "gateway/context/titles",
    "gateway/http/json_route",
    "gateway/http/logins",
    "gateway/scheduling/stopper",
    "gateway/setup/page_setup",
    "gateway/setup/settings_desk",
    "channels/room",
    "channels/web",
)
"""What refuses something to a page."""


def troubles() -> Iterator[tuple[str, Trouble]]:
    """Yield the troubles that channels have, with the module that says so."""
    for path, module, name in imported(".troubles", "channels"):
        found = getattr(import_module(module), name)
        if isinstance(found, ConnectionTroubles):
            for one in (found.unreachable, found.proxy, found.tls, found.limited):
                yield path, one
        elif isinstance(found, Trouble) and "/troubles" not in path:
            yield path, found


def corpus() -> str:
    """Return all texts of the code, and those of the troubles, which are put together."""
    known = {one for _path, trouble in troubles() for one in (trouble.cause, trouble.remedy)}
    known |= {trouble.sentence() for _path, trouble in troubles()}
    known |= {trouble.remedy for trouble in MODEL_TROUBLES.values()}
    return "\n".join(known | texts())


def test_what_is_said_is_there_in_chinese() -> None:
    said = {text for _path, text in calls(["say"], speakers()) if ANY not in text}
    said |= {text for table in TABLES for text in table.values()}
    said |= {chapter.SINCE, chapter.FIRST_SINCE}
    assert sorted(said - SAID.keys()) == []


def test_no_sentence_is_there_that_the_code_does_not_have() -> None:
    known = corpus()
    assert sorted(SAID.keys() - constants()) == []
    joints = {one.replace("|", ""): one for one in COMPOSED}
    assert joints.keys() <= FINISHED.keys()
    found = {one: re.split(r"\||\{\w+\}", joints.get(one, one)) for one in FINISHED}
    gone = [one for one in found if not all(part.strip() in known for part in found[one])]
    assert gone == []


@pytest.mark.parametrize("sentences", [SAID, FINISHED], ids=["said", "finished"])
def test_a_sentence_has_the_same_values_in_each_language(sentences: dict[str, str]) -> None:
    values = {
        one: (set(NAMED.findall(one)), set(NAMED.findall(sentences[one]))) for one in sentences
    }
    assert {one: found for one, found in values.items() if found[0] != found[1]} == {}


def test_each_is_written_once_and_in_chinese() -> None:
    assert SAID.keys() & FINISHED.keys() <= {"confirmed"}
    plain = [one for one, said in {**SAID, **FINISHED}.items() if not HAN.search(said)]
    assert [one for one in plain if NAMED.sub("", one).strip(' ":;,()`-') != ""] == []


@pytest.mark.parametrize("under", REFUSALS)
def test_what_a_page_is_refused_is_there_in_chinese(under: str) -> None:
    said = {text.replace(ANY, "7").rstrip("\n") for _path, text in calls(REFUSING, (under,))}
    assert said
    with speaking("zh"):
        assert sorted(one for one in said if " " in one and translated(one) == one) == []


def test_what_channels_say_of_their_troubles_is_there_in_chinese() -> None:
    found = list(troubles())
    assert len(found) > 40
    with speaking("zh"):
        for path, one in found:
            said = [one.cause, one.remedy] + ([] if "checkup" in path else [one.sentence()])
            assert [text for text in said if translated(text) == text] == [], path


def test_what_a_setting_means_is_there_in_chinese() -> None:
    helps = {field.description for _path, _section, field in paths()}
    with speaking("zh"):
        assert sorted(one for one in helps if one and translated(one) == one) == []


def test_what_a_model_lacks_has_its_remedy_in_chinese() -> None:
    with speaking("zh"):
        for trouble in MODEL_TROUBLES.values():
            assert translated(trouble.remedy) != trouble.remedy
