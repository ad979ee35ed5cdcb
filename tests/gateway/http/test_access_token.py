"""The page's token: set, or made once in a file that is its owner's alone."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx2
import pytest

from gateway.app import Gateway
from gateway.errors import GatewayError, SettingsError
from gateway.http.access_token import show_token, token_of
from gateway.settings import Settings
from tests.kit.gateways import gateway_process, make_environ, make_settings, run_tapeway

FILE = "http-token"


def settings_of(home: Path, **more: str) -> Settings:
    return make_settings(home, None, **{"HTTP__TOKEN_FILE": FILE, **more})


def test_the_first_start_makes_a_long_token_for_its_owner_alone(tmp_path: Path) -> None:
    token = token_of(settings_of(tmp_path))
    file = tmp_path / "http-token"
    assert len(token) >= 40
    assert file.read_text() == f"{token}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["http-token"]


def test_later_starts_use_the_token_that_is_there(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    assert token_of(settings) == token_of(settings)


def test_processes_that_start_at_once_with_one_file_have_one_token(tmp_path: Path) -> None:
    settings, ready = settings_of(tmp_path), Barrier(8)

    def start(_number: int) -> str:
        ready.wait()
        return token_of(settings)

    with ThreadPoolExecutor(8) as threads:
        tokens = set(threads.map(start, range(8)))
    assert tokens == {(tmp_path / FILE).read_text().strip()}
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP])
def test_a_token_is_made_on_a_file_system_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def link(_new: Path, _path: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    token = token_of(settings_of(tmp_path))
    assert (tmp_path / FILE).read_text() == f"{token}\n"
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert token_of(settings_of(tmp_path)) == token


def test_of_processes_that_start_without_hard_links_the_faster_one_makes_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(_new: Path, path: Path) -> None:
        path.touch(0o600)
        path.write_text("another\n")
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", link)
    assert token_of(settings_of(tmp_path)) == "another"
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_no_two_homes_get_the_same_token(tmp_path: Path) -> None:
    tokens = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        tokens.add(token_of(settings_of(tmp_path / name)))
    assert len(tokens) == 2


def test_a_token_that_is_set_goes_before_the_file_and_none_is_made(tmp_path: Path) -> None:
    assert token_of(settings_of(tmp_path, HTTP__TOKEN="chosen")) == "chosen"
    assert list(tmp_path.iterdir()) == []


def test_without_either_there_is_no_token(tmp_path: Path) -> None:
    assert token_of(make_settings(tmp_path)) == ""


def test_a_file_of_one_s_own_outside_the_home_is_used(tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.touch(0o600)
    file.write_text("  my-own-token\n")
    settings = make_settings(tmp_path / "home", HTTP__TOKEN_FILE=str(file))
    assert token_of(settings) == "my-own-token"


def _link(path: Path) -> None:
    (path.parent / "elsewhere").write_text("planted")
    (path.parent / "elsewhere").chmod(0o600)
    path.symlink_to("elsewhere")


def _dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def _write(text: str, mode: int = 0o600) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text)
        path.chmod(mode)

    return write


@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        (_link, "symbolic link"),
        (_dangling, "symbolic link"),
        (_write("canary", 0o644), "opened by other users"),
        (_write("canary", 0o640), "opened by other users"),
        (_write(""), "is empty"),
        (_write(" \n"), "is empty"),
        (_write("canary word"), "one word"),
        (_write("canary\nline"), "one word"),
        (_write("canaryé"), "one word"),
        (Path.mkdir, "is not a file"),
        (os.mkfifo, "is not a file"),
    ],
)
def test_a_file_that_cannot_be_trusted_is_refused_with_what_to_do(
    tmp_path: Path, prepare: Callable[[Path], None], told: str
) -> None:
    prepare(tmp_path / "http-token")
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(SettingsError, match=told) as caught:
        token_of(settings_of(tmp_path))
    assert "TAPEWAY_HTTP__TOKEN_FILE" in str(caught.value)
    assert "remove it" in str(caught.value)
    assert "canary" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="create its folder"):
        token_of(make_settings(tmp_path, HTTP__TOKEN_FILE="no/such/folder"))


def test_a_half_written_file_of_a_killed_start_is_not_in_the_way(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.write_text("kept")
    (tmp_path / ".http-token.new").symlink_to(planted)
    token = token_of(settings_of(tmp_path))
    assert (tmp_path / "http-token").read_text() == f"{token}\n"
    assert planted.read_text() == "kept"


def test_the_command_prints_the_token_that_is_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert show_token(make_settings(tmp_path, HTTP__TOKEN="chosen")) == 0
    assert capsys.readouterr().out == "chosen\n"


@pytest.mark.parametrize(("file", "told"), [("", "needs no token"), (FILE, "when it starts")])
def test_the_command_makes_no_token_and_says_why_there_is_none(
    tmp_path: Path, file: str, told: str
) -> None:
    with pytest.raises(GatewayError, match=told):
        show_token(settings_of(tmp_path, HTTP__TOKEN_FILE=file))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.settings(HTTP__HOST="0.0.0.0", HTTP__TOKEN_FILE=FILE)
async def test_an_address_that_others_reach_is_opened_with_the_made_token(
    tmp_path: Path, gateway: Gateway
) -> None:
    token = (tmp_path / "http-token").read_text().strip()
    async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False, timeout=60) as web:
        assert (await web.get("/")).headers["location"] == "/login?room="
        assert "tapeway token" in (await web.get("/login")).text
        right = await web.post("/login", data={"token": token})
        assert right.headers["location"] == "/"
        assert (await web.get("/")).status_code == 200


async def test_h2_the_made_token_is_told_by_the_command_and_stands_in_no_log(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    environ = make_environ(
        home, None, HTTP__HOST="0.0.0.0", LOG__LEVEL="debug", HTTP__TOKEN_FILE=FILE
    )
    async with gateway_process(environ, home) as running:
        await running.url()
        code, out, err = await run_tapeway(environ, "token")
    token = (home / "http-token").read_text()
    log = (tmp_path / "gateway.log").read_text()
    assert (code, out, err) == (0, token, "")
    assert token.strip() not in log
    assert str(home / "http-token") in log
    assert "tapeway token" in log
