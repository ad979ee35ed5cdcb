"""The file of a backup: whole or absent, and nothing but what its manifest lists."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.backup.archive import UNFINISHED, extract, new_archive, verify
from gateway.backup.manifest import BackupError, Manifest
from gateway.backup.restore import restore
from tests.gateway.backup.sources import quiet

CONTENT = b"words that are long enough to be compressed " * 50


def write(path: Path, members: dict[str, bytes]) -> Manifest:
    with new_archive(path, quiet) as archive:
        for name, content in members.items():
            archive.add(name, io.BytesIO(content), len(content))
        return archive.finish(Manifest("2026-01-01T00:00:00+00:00", "host", "/home", "/home/work"))


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    path = tmp_path / "own.zip"
    write(path, {"tapeway.db": CONTENT, "media/a1.png": b"image"})
    return path


def rewrite(path: Path, change: Callable[[zipfile.ZipFile, zipfile.ZipFile], None]) -> Path:
    """Make another archive of one."""
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        change(old, new)
    return changed


def test_what_was_written_is_verified_and_comes_out(backup: Path, tmp_path: Path) -> None:
    manifest = verify(backup, quiet)
    extract(backup, manifest, tmp_path, quiet)
    assert (tmp_path / "tapeway.db").read_bytes() == CONTENT
    assert (tmp_path / "media" / "a1.png").read_bytes() == b"image"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "tapeway.db").stat().st_mode) == 0o600
    assert backup.stat().st_size < len(CONTENT)


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with (
        pytest.raises(BackupError, match="nothing of it is left"),
        new_archive(tmp_path / "own.zip", quiet),
    ):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_backup_left_is_removed_unless_it_still_runs(tmp_path: Path) -> None:
    left = tmp_path / f"{UNFINISHED}killed"
    left.mkdir()
    (left / "copy.db").write_bytes(b"everything that was said")
    with new_archive(tmp_path / "own.zip", quiet) as archive:
        assert not left.exists()
        write(tmp_path / "other.zip", {})
        archive.finish(Manifest("", "", "", ""))
    assert {one.name for one in tmp_path.iterdir()} == {"own.zip", "other.zip"}


def test_another_file_is_never_overwritten(backup: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(BackupError, match="exists"):
        write(backup, {"tapeway.db": b""})
    assert backup.read_bytes() == before


@pytest.mark.parametrize("place", [0.2, 0.5, 0.95])
def test_a_file_that_was_cut_off_is_refused(backup: Path, place: float) -> None:
    whole = backup.read_bytes()
    backup.write_bytes(whole[: int(len(whole) * place)])
    with pytest.raises(BackupError, match="not an intact backup"):
        verify(backup, quiet)


def test_every_changed_byte_of_the_content_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "own.zip"
    write(path, {"tapeway.db": os.urandom(300)})
    whole = path.read_bytes()
    start = whole.index(b"tapeway.db") + len(b"tapeway.db") + 30  # behind the headers
    for place in range(start, start + 250, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(BackupError, match="not an intact backup"):
            verify(path, quiet)


def test_any_flipped_bit_is_refused_in_a_sentence_or_changes_nothing(backup: Path) -> None:
    whole, intact = backup.read_bytes(), verify(backup, quiet)
    for place in range(len(whole)):
        bit = 1 << place % 8
        backup.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
        with contextlib.suppress(BackupError):
            assert verify(backup, quiet) == intact


def test_what_is_no_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(BackupError, match=r"cannot be read .*: name a backup"):
            verify(path, quiet)


def _copy(old: zipfile.ZipFile, new: zipfile.ZipFile, **other: bytes) -> None:
    for info in old.infolist():
        new.writestr(info, other.get(info.filename.partition(".")[0], old.read(info)))


def _outside(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    manifest = old.read("manifest.json").replace(b"media/a1.png", b"media/../../x")
    _copy(old, new, manifest=manifest)
    new.writestr("media/../../x", b"image")


def _renamed(name: str) -> Callable[[zipfile.ZipFile, zipfile.ZipFile], None]:
    def change(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
        for info in old.infolist():
            content = old.read(info).replace(b"media/a1.png", name.encode())
            new.writestr(name if info.filename == "media/a1.png" else info.filename, content)

    return change


def _link(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    for info in old.infolist():
        content = old.read(info)
        if info.filename == "media/a1.png":
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
        new.writestr(info, content)


def _more(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    _copy(old, new)
    new.writestr("media/more.png", b"more")


def _larger(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    _copy(old, new, tapeway=CONTENT * 1000)


def _other(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    _copy(old, new, tapeway=CONTENT.replace(b"words", b"sword"))


def _slow(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    new.compression = zipfile.ZIP_LZMA
    for info in old.infolist():
        new.writestr(info.filename, old.read(info))


def _no_manifest(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    new.writestr("tapeway.db", old.read("tapeway.db"))


def _not_json(old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
    _copy(old, new, manifest=b"[1, 2")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_outside, "not those of its manifest"),
        (_renamed("media/../../x"), "which no backup has"),
        (_renamed("/etc/passwd"), "which no backup has"),
        (_renamed("media/.."), "which no backup has"),
        (_renamed("gateway.json"), "which no backup has"),
        (_link, "which no backup has"),
        (_more, "not those of its manifest"),
        (_larger, "another size"),
        (_other, "the checksum of tapeway.db is wrong"),
        (_no_manifest, "no manifest"),
        (_slow, "packed in a way"),
        (_not_json, "its manifest cannot be read"),
    ],
)
def test_what_no_backup_has_is_refused_before_anything_is_written(
    backup: Path, change: Callable[[zipfile.ZipFile, zipfile.ZipFile], None], says: str
) -> None:
    with pytest.raises(BackupError, match=says):
        verify(rewrite(backup, change), quiet)


def test_a_newer_version_s_backup_names_the_version_that_can_read_it(tmp_path: Path) -> None:
    newer = Manifest("", "", "", "", tapeway="9.8.7", schemas={"ledger": 99})
    with pytest.raises(BackupError, match=r"made by Tapeway 9\.8\.7 .*install that version"):
        newer.require_readable()
    with pytest.raises(BackupError, match="install that version"):
        Manifest.load(newer.dump().replace(b'"format": 1', b'"format": 2'))


def test_a_backup_without_a_database_or_with_other_texts_is_refused(backup: Path) -> None:
    with pytest.raises(BackupError, match="not one database"):
        verify(backup, quiet).require_readable()
    whole = Manifest("2026-01-01", "host", "/home", "/work").dump()
    for odd in (whole.replace(b'"host"', b"7", 2), whole.replace(b"/home", b"\\u0000")):
        with pytest.raises((ValueError, TypeError, KeyError)):
            Manifest.load(odd)


@pytest.mark.parametrize(
    "members",
    [
        {"tapeway.db": b"garbage " * 900, "tapeway.toml": b""},
        {"ledger.db": b"", "tapeway.toml": b"tape = 3", "tapes/a.jsonl": b""},
        {"ledger.db": b"", "tapeway.toml": b"\xff", "tapes/a.jsonl": b""},
    ],
)
def test_content_that_no_gateway_could_use_is_not_restored(
    tmp_path: Path, members: dict[str, bytes]
) -> None:
    write(tmp_path / "own.zip", members)
    with pytest.raises(BackupError, match=r"cannot be used .* nothing was changed"):
        restore(tmp_path / "own.zip", tmp_path / "new", quiet)
    assert [one.name for one in (tmp_path / "new").iterdir()] == ["gateway.lock"]
