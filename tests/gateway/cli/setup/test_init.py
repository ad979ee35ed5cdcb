"""`tapeway init` as a person and a script use it, against servers that refuse what is wrong."""

from __future__ import annotations

import stat
from pathlib import Path

from gateway.redaction.redactor import HIDDEN
from gateway.settings import load_settings
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.gateway.cli.setup.person import Person, at_terminal
from tests.kit.gateways import run_process

TOKEN = "123456:canary-token-of-a-bot"
KEY = "sk-canary-key-of-a-model"


def environ(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "TAPEWAY_SECRETS": str(home / "none"), "TERM": "dumb", **more}


def files(home: Path) -> dict[str, str]:
    folder = home / ".tapeway"
    return {path.name: path.read_text() for path in folder.glob("*")} if folder.exists() else {}


async def leave_out_the_rest(person: Person) -> None:
    for _platform in ("Discord", "Slack"):
        await person.sees("Enter leaves it out: ")
        await person.types("")
    await person.sees("all else [")
    await person.types("")


async def test_a_person_s_wrong_token_is_refused_and_the_right_one_is_saved(tmp_path: Path) -> None:
    async with FakeOpenAI(api_key=KEY) as server, FakeTelegram(token=TOKEN) as telegram:
        telegram.can_read_all_group_messages = False
        given = environ(
            tmp_path,
            OPENAI_API_KEY=KEY,
            OPENAI_BASE_URL=server.base_url,
            TAPEWAY_TELEGRAM__BASE_URL=telegram.base_url,
        )
        async with at_terminal(given, "init") as person:
            await person.sees("1  OpenAI, with the key in OPENAI_API_KEY")
            await person.sees("Which one [1]: ")
            await person.types("1")
            await person.sees("The model's name [gpt-5-mini]: ")
            await person.types("")
            await person.sees("ok  gpt-5-mini answered in")
            await person.sees("Telegram: token from @BotFather; Enter leaves it out: ")
            await person.types("123456:wrong")
            await person.sees("!!  ")
            await person.sees("Paste it again, or press Enter")
            await person.sees("Enter leaves it out: ")
            await person.types(TOKEN)  # not shown here either, see below
            await person.sees("Telegram knows this bot as @")
            await person.sees("privacy mode is on")
            await person.sees("Invite it: https://t.me/")
            await leave_out_the_rest(person)
            await person.sees("Write this?")
            assert files(tmp_path) == {}
            await person.types("")
            await person.sees("pairing code")
            await person.sees("Then add it to your chats: https://t.me/")
            assert await person.ends() == 0
        assert not telegram.polls
    assert TOKEN not in person.seen
    assert KEY not in person.seen
    written = files(tmp_path)
    assert 'model = "gpt-5-mini"' in written["tapeway.toml"]
    assert "canary" not in written["tapeway.toml"]
    assert f"TAPEWAY_TELEGRAM__TOKEN={TOKEN}\n" in written[".env"]
    for name in written:
        assert stat.S_IMODE((tmp_path / ".tapeway" / name).stat().st_mode) == 0o600
    settings = load_settings({"TAPEWAY_SECRETS": "none"}, tmp_path / ".tapeway")
    assert (settings.telegram.key(), settings.agent.key()) == (TOKEN, KEY)


async def test_ctrl_c_changes_nothing(tmp_path: Path) -> None:
    async with at_terminal(environ(tmp_path), "init") as person:
        await person.sees("Which one [")  # 1, where a model server runs on this machine
        await person.types("o")
        await person.sees("Telegram: ")
        await person.interrupts()
        await person.sees("nothing was changed")
        assert await person.ends() == 130
    assert files(tmp_path) == {}


async def test_a_script_gives_flags_and_runs_again_with_a_difference(tmp_path: Path) -> None:
    secret = tmp_path / "key"
    secret.write_text(f"{KEY}\n")
    async with FakeOpenAI(api_key=KEY) as server:
        flags = ("--model", "m", "--base-url", server.base_url, "--api-key", f"@{secret}")
        code, out, err = await run_process(environ(tmp_path), "init", *flags)
        assert (code, err) == (0, "")
        toml = tmp_path / ".tapeway" / "tapeway.toml"
        toml.write_text(toml.read_text().replace("[agent]", "# mine\n[agent]"))
        flags = ("--model", "other", *flags[2:])
        code, out, err = await run_process(environ(tmp_path), "init", *flags)
        assert (code, err) == (0, "")
        assert '- model = "m"' in out
        assert '+ model = "other"' in out
        assert "base_url = " not in out
        assert "# mine\n[agent]" in toml.read_text()
        code, out, _err = await run_process(environ(tmp_path), "init", *flags)
        assert "Nothing changes." in out
    assert files(tmp_path)[".env"].count(KEY) == 1


async def test_a_script_is_given_the_flag_that_is_missing(tmp_path: Path) -> None:
    code, _out, err = await run_process(environ(tmp_path), "init")
    assert code == 2
    assert err.startswith("tapeway: --model is missing")
    assert files(tmp_path) == {}


async def test_what_a_check_refuses_is_saved_on_request_only(tmp_path: Path) -> None:
    async with FakeOpenAI(api_key="another") as server:
        flags = ("--model", "m", "--base-url", server.base_url, "--api-key", KEY)
        code, out, err = await run_process(environ(tmp_path), "init", *flags)
        assert (code, files(tmp_path)) == (2, {})
        assert "refuses the API key" in out
        assert "--save-anyway" in err
        code, _out, _err = await run_process(environ(tmp_path), "init", *flags, "--save-anyway")
        assert code == 0
        assert KEY in files(tmp_path)[".env"]


async def test_openai_s_key_in_the_environment_goes_to_openai_s_server_only(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with FakeOpenAI(api_key=KEY) as its_own:
        given = environ(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=its_own.base_url)
        flags = ("--model", "m", "--base-url", model.base_url)
        assert (await run_process(given, "init", *flags))[0] == 0
        assert KEY not in str([dict(request.headers) for request in model.requests])
        settings = load_settings(environ(tmp_path), tmp_path / ".tapeway").agent
        assert (settings.base_url, settings.key()) == (model.base_url, "none")
        assert (await run_process(given, "init", "--provider", "openai"))[0] == 0
    settings = load_settings(environ(tmp_path), tmp_path / ".tapeway").agent
    assert (settings.base_url, settings.key()) == (its_own.base_url, KEY)


async def test_what_is_kept_for_the_present_server_is_sent_to_no_other_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    (tmp_path / ".tapeway").mkdir()
    toml = tmp_path / ".tapeway" / "tapeway.toml"
    async with FakeOpenAI() as other:
        before = f'[agent]\nmodel = "m"\nbase_url = "{model.base_url}"\n'
        toml.write_text(f'{before}[models.spare]\nheaders = {{ x-token = "abc" }}\n')
        flags = ("--model", "spare", "--api-key", "k", "--save-anyway")
        given = (environ(tmp_path), "init", *flags, "--base-url")
        code, _out, err = await run_process(*given, other.base_url)
        assert (code, other.requests, other.refused) == (2, [], [])
        assert err.startswith("tapeway: headers in [models.spare] is meant for the present server")
        assert other.base_url not in toml.read_text()
        code, _out, err = await run_process(*given, model.base_url)
        assert (code, err) == (0, "")


async def test_a_key_in_the_secrets_folder_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "TAPEWAY_AGENT__API_KEY").write_text(KEY)
    async with FakeOpenAI(api_key=KEY) as server:
        given = environ(tmp_path, OPENAI_BASE_URL=server.base_url)
        given["TAPEWAY_SECRETS"] = str(tmp_path / "secrets")
        assert (await run_process(given, "init", "--model", "m"))[0] == 0
    assert KEY not in str(files(tmp_path))


async def test_what_would_have_no_effect_is_saved_on_request_only(tmp_path: Path) -> None:
    home = tmp_path / "home"
    given = environ(tmp_path, TAPEWAY_AGENT__MODEL="fixed", TAPEWAY_HOME=str(home))
    code, out, err = await run_process(given, "init", "--model", "offline")
    assert (code, home.exists()) == (2, False)
    assert "TAPEWAY_AGENT__MODEL is set otherwise in the environment" in out
    assert "--save-anyway" in err
    flags = ("--model", "offline", "--save-anyway")
    code, _out, err = await run_process(given, "init", *flags, "--home", str(tmp_path / "other"))
    assert (code, home.exists()) == (2, False)
    assert err.startswith(f"tapeway: --home: TAPEWAY_HOME names {home} already")
    code, _out, _err = await run_process(given, "init", *flags, "--home", str(home))
    assert (code, (home / "tapeway.toml").exists()) == (0, True)


async def test_a_second_run_keeps_what_is_there_with_enter_alone(tmp_path: Path) -> None:
    code, _out, _err = await run_process(environ(tmp_path), "init", "--model", "offline")
    async with FakeTelegram(token=TOKEN) as telegram:
        given = environ(tmp_path, TAPEWAY_TELEGRAM__BASE_URL=telegram.base_url)
        code, out, _err = await run_process(given, "init", "--telegram-token", TOKEN)
        assert code == 0
        assert "offline stays as it is." in out
        assert f"+ TAPEWAY_TELEGRAM__TOKEN={HIDDEN}" in out
    before = files(tmp_path)
    async with at_terminal(environ(tmp_path), "init") as person:
        await person.sees("Which one [")  # 1, where a model server runs on this machine
        await person.types("o")
        await person.sees("Telegram: token from @BotFather; Enter keeps the one that is set: ")
        await person.types("")
        await leave_out_the_rest(person)
        await person.sees("Nothing changes.")
        assert await person.ends() == 0
    assert files(tmp_path) == before


async def test_a_named_file_is_written_and_a_remembered_one_only_where_it_counts(
    tmp_path: Path,
) -> None:
    named = tmp_path / "bot" / ".env"
    named.parent.mkdir()
    named.write_text("TAPEWAY_AGENT__MODEL=old\n")
    flags = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--save-anyway", "--yes")
    code, _out, err = await run_process(
        environ(tmp_path), "--env-file", str(named), "init", "--model", "offline", "--yes"
    )
    assert (code, err, files(tmp_path)) == (0, "", {})
    assert named.read_text() == "TAPEWAY_AGENT__MODEL=offline\n"
    (tmp_path / ".tapeway").mkdir(mode=0o700)
    (tmp_path / ".tapeway" / "env-file").write_text(str(named))
    code, out, err = await run_process(environ(tmp_path), "init", *flags)
    assert (code, err) == (0, "")
    assert named.read_text() == "TAPEWAY_AGENT__MODEL=m\n"
    assert str(named) in out
    written = files(tmp_path)["tapeway.toml"]
    assert 'base_url = "http://127.0.0.1:9/v1"' in written
    assert "model = " not in written


async def test_a_misspelt_variable_stops_the_start_with_one_sentence(tmp_path: Path) -> None:
    code, out, err = await run_process(environ(tmp_path, TAPEWAY_ACESS__MODE="open"), "gateway")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "did you mean TAPEWAY_ACCESS__MODE?" in err
    assert files(tmp_path) == {}


async def test_what_would_stop_every_start_is_never_saved(tmp_path: Path) -> None:
    for flags in (
        ("--model", "m", "--base-url", "127.0.0.1:1/v1"),
        ("--model", "offline", "--slack-bot-token", "xapp-1"),
    ):
        code, _out, err = await run_process(environ(tmp_path), "init", *flags, "--save-anyway")
        assert code == 2
        assert err.endswith("; nothing was written\n")
        assert flags[2] in err
    assert files(tmp_path) == {}
