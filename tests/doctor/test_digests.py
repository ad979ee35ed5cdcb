"""What processes of one database compare, and the sentences about it."""

from __future__ import annotations

from json import dumps
from pathlib import Path

from gateway.doctor.digests import differences, digests_of
from gateway.hooks.runtime import HookRuntime
from gateway.redaction.known_secrets import secrets_of
from gateway.redaction.redactor import Redactor
from tests.kit.gateways import make_settings

SECRET = "sk-not-for-others-0123456789"


def published(
    home: Path, *, salt: str = "salt", token: str = "", **settings: str
) -> dict[str, str]:
    """Return the digests of a process with a home of its own."""
    found = make_settings(home, None, **settings)
    hooks = HookRuntime()
    hooks.register(object(), "weather")
    return digests_of(found, hooks, Redactor(secrets_of(found)), salt=salt, token=token)()


def test_processes_that_differ_only_in_their_machine_publish_the_same(tmp_path: Path) -> None:
    one = published(tmp_path / "a", HTTP__PORT="9001", AGENT__API_KEY=SECRET, LOG__LEVEL="error")
    other = published(tmp_path / "b", HTTP__PORT="9002", AGENT__API_KEY=SECRET)
    assert one == other
    assert differences({"a": one, "b": other}) == []
    assert SECRET not in str(one)


def test_secrets_and_what_leads_to_the_page_are_compared(tmp_path: Path) -> None:
    models = '{"plum": {"api_key": "%s", "base_url": "http://127.0.0.1:1/v1"}}'
    page = "https://tapeway.example.org/"
    one = published(tmp_path / "a", token="x1", AGENT__API_KEY=SECRET, MODELS=models % "k1")
    other = published(
        tmp_path / "b", token="x2", AGENT__API_KEY=SECRET[::-1], MODELS=models % "k2",
        HTTP__PUBLIC_URL=page,
    )  # fmt: skip
    assert differences({"A": one, "B": other}) == [
        "B has another TAPEWAY_MODELS",
        "B has another TAPEWAY_AGENT__API_KEY",
        "B has another TAPEWAY_HTTP__TOKEN",
        "B sets TAPEWAY_HTTP__PUBLIC_URL, which others leave at its default",
    ]


def test_a_digest_of_a_secret_says_nothing_without_the_salt_of_its_database(tmp_path: Path) -> None:
    one, other = (
        published(tmp_path, salt=salt, token="x1", AGENT__API_KEY=SECRET) for salt in "ab"
    )
    differs = {key for key in one if one[key] != other[key]}
    assert differs >= {"setting TAPEWAY_HTTP__TOKEN", "setting TAPEWAY_AGENT__API_KEY"}


def test_what_holds_no_secret_has_one_digest_however_many_names_it_has(tmp_path: Path) -> None:
    days = dumps({f"plain:{number}": 30 + number for number in range(20)})
    models = dumps({"plum": {"base_url": "http://127.0.0.1:1/v1", "temperature": 0.5}})
    one, other = (
        published(tmp_path, salt=salt, TAPE__KEEP_DAYS=days, MODELS=models) for salt in "ab"
    )
    for name in ("setting TAPEWAY_TAPE__KEEP_DAYS", "setting TAPEWAY_MODELS"):
        assert one[name] == other[name]


def test_each_difference_is_a_sentence_about_the_process_that_stands_alone(tmp_path: Path) -> None:
    usual = published(tmp_path / "a", AGENT__TEMPERATURE="0.1", TURN__OVERLAP="steer")
    (tmp_path / "c" / "workspace").mkdir(parents=True)
    (tmp_path / "c" / "workspace" / "AGENTS.md").write_text("You are a pirate.")
    odd = published(tmp_path / "c", AGENT__TEMPERATURE="0.9", CONTEXT__MODE="lane")
    odd |= {"version": "9.9.9", "plugin weather": "2", "plugin chess": "1"}
    assert differences({"A": usual, "B": usual, "C": odd}) == [
        "C has another AGENTS.md",
        f"C runs version 9.9.9 of Tapeway instead of {usual['version']}",
        "C has version 2 of the plugin weather instead of ?",
        "C leaves TAPEWAY_TURN__OVERLAP at its default, unlike others",
        "C has another TAPEWAY_AGENT__TEMPERATURE",
        "C sets TAPEWAY_CONTEXT__MODE, which others leave at its default",
        "C has the plugin chess, which others lack",
    ]
    del odd["plugin weather"]
    assert "C lacks the plugin weather" in differences({"A": usual, "B": usual, "C": odd})


def test_a_process_that_has_published_nothing_yet_differs_in_nothing(tmp_path: Path) -> None:
    assert differences({"A": published(tmp_path), "B": {}}) == []
