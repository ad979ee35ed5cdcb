"""From a session to its tape."""

from __future__ import annotations

from pathlib import Path

from tape.entry import message
from tape.service import TapeService, tape_name
from tape.stores.memory import MemoryStore


def test_the_name_of_a_tape_is_known_to_the_last_digit() -> None:
    workspace = Path("/srv/tapeway/workspace")
    assert tape_name(workspace, "telegram:-100123") == "d7cc4d3652b45458__3011f7f7c29099fa"
    assert tape_name(workspace, "web:小屋") == "d7cc4d3652b45458__4e8f695b3ca7a9ee"


def test_a_name_is_that_of_the_resolved_workspace(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    expected = tape_name(tmp_path / "real", "s")
    assert tape_name(tmp_path / "link", "s") == expected
    assert tape_name(tmp_path / "real" / ".." / "real", "s") == expected


def test_the_same_session_in_another_workspace_is_another_tape(tmp_path: Path) -> None:
    one, two = tape_name(tmp_path / "a", "s"), tape_name(tmp_path / "b", "s")
    assert one != two
    assert one.split("__")[1] == two.split("__")[1]


async def test_a_sessions_tape_is_found_again_by_another_service(tmp_path: Path) -> None:
    store = MemoryStore()
    await TapeService(store, tmp_path).session_tape("web:room").append(message("user", "a"))
    again = TapeService(store, tmp_path).session_tape("web:room")
    assert [entry.text for entry in await again.recent(1)] == ["a"]
    assert await TapeService(store, tmp_path / "other").session_tape("web:room").size() == 0


async def test_the_bootstrap_is_ensured_once(tmp_path: Path) -> None:
    service = TapeService(MemoryStore(), tmp_path)
    tape = service.session_tape("web:room")
    assert await tape.size() == 0
    for _ in range(3):
        await service.ensure_bootstrap_anchor(tape)
    first, record = await tape.read()
    assert first.payload == {"name": "session/start", "state": {"owner": "human"}}
    assert (record.kind, record.name) == ("event", "handoff")


async def test_a_service_finds_the_tape_of_a_name(tmp_path: Path) -> None:
    service = TapeService(MemoryStore(), tmp_path)
    tape = service.session_tape("web:room")
    await tape.handoff("phase:one", {"goal": "tea"})
    anchor = await service.tape(tape.name).anchor("phase:one")
    assert anchor.payload["state"] == {"goal": "tea"}
