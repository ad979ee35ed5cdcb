"""The home folder: one gateway at a time."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import threading
from pathlib import Path

import pytest

from gateway.app import running_gateway
from gateway.doctor.checks.disk import check_disk
from gateway.doctor.subject import find_subject
from gateway.doctor.troubles import HOME_WITHOUT_LOCKS
from gateway.errors import GatewayError, HomeInUse
from gateway.home import LOCK, Running, announce, find_running, is_locked, locked, withdraw
from tests.kit.gateways import make_settings


def test_a_second_gateway_is_refused_with_the_process_id_of_the_first(tmp_path: Path) -> None:
    with locked(tmp_path):
        with pytest.raises(HomeInUse) as caught, locked(tmp_path):
            pass
        assert caught.value.pid == os.getpid()
        assert str(os.getpid()) in str(caught.value)
        assert "TAPEWAY_HOME" in str(caught.value)
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO])
async def test_a_home_without_working_locks_is_refused_with_its_name(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: object, _how: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fail)
    with pytest.raises(GatewayError) as caught, locked(tmp_path):
        pass
    for part in (str(tmp_path), "locks", os.strerror(number), "TAPEWAY_HOME"):
        assert part in str(caught.value)
    [found] = await check_disk(find_subject({"TAPEWAY_HOME": str(tmp_path)}, deep=False))
    assert found.trouble == HOME_WITHOUT_LOCKS
    assert str(tmp_path) in found.says


def test_the_token_is_for_its_owner_alone_and_gone_after_the_end(tmp_path: Path) -> None:
    running = Running(os.getpid(), "http://127.0.0.1:1/", "token")
    with locked(tmp_path):
        announce(tmp_path, running)
        assert stat.S_IMODE((tmp_path / "gateway.json").stat().st_mode) == 0o600
        assert find_running(tmp_path) == running
        withdraw(tmp_path)
        assert find_running(tmp_path) is None


def test_what_a_killed_gateway_left_is_not_taken_for_a_running_one(tmp_path: Path) -> None:
    with locked(tmp_path):
        announce(tmp_path, Running(1, "http://127.0.0.1:1/", "token"))
    assert find_running(tmp_path) is None


def test_a_home_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GatewayError, match="TAPEWAY_HOME"), locked(tmp_path / "file" / "home"):
        pass


def test_looking_whether_one_runs_keeps_none_from_starting(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        before = (tmp_path / LOCK).read_bytes()
        assert is_locked(tmp_path)
        assert (tmp_path / LOCK).read_bytes() == before
    with (tmp_path / LOCK).open("rb") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        threading.Timer(0.05, lambda: fcntl.flock(looking, fcntl.LOCK_UN)).start()
        with locked(tmp_path):
            pass


async def test_what_one_killed_in_a_container_left_is_gone_before_the_next_has_its_number(
    tmp_path: Path,
) -> None:
    with locked(tmp_path):
        announce(tmp_path, Running(os.getpid(), "http://127.0.0.1:1/", "token"))
    async with running_gateway(make_settings(tmp_path), only=[], http=False):
        assert find_running(tmp_path) is None
