"""The agent's slice of the settings."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agent.model_settings import ModelSettings
from agent.settings import AgentSettings


def refusal(**values: object) -> str:
    with pytest.raises(ValidationError) as caught:
        AgentSettings.model_validate(values)
    return str(caught.value)


def test_without_settings_nothing_leaves_the_machine() -> None:
    assert AgentSettings().models() == ("offline",)
    assert AgentSettings().key() == ""


def test_fallbacks_come_after_the_model_in_their_order() -> None:
    settings = AgentSettings(model="big", fallback_models=" small ,, tiny,")
    assert settings.models() == ("big", "small", "tiny")


def test_the_key_is_hidden_where_settings_are_shown() -> None:
    settings = AgentSettings.model_validate({"api_key": " sk-canary\n"})
    assert settings.key() == "sk-canary"
    assert "canary" not in f"{settings!r} {settings} {settings.model_dump()}"


@pytest.mark.parametrize("key", ["sk can ary", "sk-can\nary", "sk-canäry", "sk-can\x00ary"])
def test_a_key_that_fits_no_header_is_refused_and_not_shown(key: str) -> None:
    notice = refusal(api_key=key)
    assert "only ASCII letters, digits and signs" in notice
    assert "sk" not in notice


@pytest.mark.parametrize(
    "values",
    [
        {"steps": 0},
        {"steps": 201},
        {"retries": -1},
        {"tool_timeout": 0},
        {"read_timeout": 0},
        {"connect_timeout": -1},
        {"name": ""},
        {"modell": "a"},
    ],
    ids=str,
)
def test_a_value_out_of_bounds_or_unknown_is_refused_by_its_name(values: dict[str, object]) -> None:
    assert next(iter(values)) in refusal(**values)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        AgentSettings().model = "another"  # type: ignore[misc]


@pytest.mark.parametrize("name", sorted(AgentSettings.model_fields))
def test_every_setting_has_its_help_and_an_example_that_it_takes(name: str) -> None:
    setting = AgentSettings.model_fields[name]
    assert setting.description
    assert setting.examples
    AgentSettings.model_validate({name: setting.examples[0]})


def test_the_agent_is_called_by_its_name_and_by_further_ones() -> None:
    assert AgentSettings.model_validate({}).names_in_chats() == ("Tapeway",)
    given = AgentSettings.model_validate({"name": "Robin", "more_names": " Rob, ,Robbie "})
    assert given.names_in_chats() == ("Robin", "Rob", "Robbie")


@pytest.mark.parametrize("address", ["127.0.0.1:11434/v1", "localhost", "ftp://host"])
def test_an_address_without_a_scheme_is_refused(address: str) -> None:
    assert "begins with http:// or https://" in refusal(base_url=address)


@pytest.mark.parametrize("end", ["", "/", "/chat/completions"])
def test_the_end_of_an_address_does_not_matter(end: str) -> None:
    given = AgentSettings.model_validate({"base_url": f" http://host/v1{end}"})
    assert given.base_url == "http://host/v1"


def model(name: str, section: dict[str, object], **agent: object) -> ModelSettings:
    given = AgentSettings.model_validate({"model": "big", **agent})
    return given.model_settings(name, {name: ModelSettings.model_validate(section)})


def test_a_fallback_model_shares_the_first_one_s_server_but_not_its_manner() -> None:
    first = {"base_url": "http://a", "api_key": "ka", "retries": 5, "temperature": 0.5}
    small = model("small", {"max_output": 9}, **first)
    assert (small.base_url, small.key(), small.retries) == ("http://a", "ka", 5)
    assert (small.temperature, small.max_output) == (None, 9)


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ({"base_url": "http://b"}, "none"),
        ({"base_url": "http://b", "api_key": "kb"}, "kb"),
        ({"base_url": "http://a"}, "ka"),
        ({"api_key": "kb"}, "kb"),
    ],
)
def test_no_server_gets_another_server_s_key(section: dict[str, object], key: str) -> None:
    assert model("small", section, base_url="http://a", api_key="ka").key() == key


def test_the_agent_s_server_does_not_get_the_key_of_its_model_s_section() -> None:
    first = model("big", {"base_url": "http://b", "api_key": "kb"}, base_url="http://a")
    assert (first.base_url, first.key()) == ("http://a", "")


@pytest.mark.parametrize(
    ("given", "budget"),
    [
        ({}, 9000),
        ({"context_window": 8000}, 6000),
        ({"context_window": 8000, "max_output": 500}, 7500),
    ],
)
def test_a_prompt_leaves_room_for_the_answer_in_the_window(
    given: dict[str, object], budget: int
) -> None:
    assert ModelSettings.model_validate(given).prompt_budget(9000) == budget
