"""The file of a backup: a ZIP archive with a manifest that has a checksum of every other member.

It is written under a temporary name next to its place, and renamed when it is whole and on disk.
Of a file that comes from elsewhere, only expected names, sizes and checksums are accepted.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from errno import EDQUOT, EINVAL, ENOSPC
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import BinaryIO, Final

from gateway.backup.manifest import BackupError, Manifest, is_member
from tape.private_file import open_private, sync_folder

MANIFEST: Final = "manifest.json"
MAX_MANIFEST: Final = 256 * 1024 * 1024
UNFINISHED: Final = ".tapeway-backup-"
"""How the folders begin in which backups are written; a backup that was killed leaves its own."""

CHUNK: Final = 1024 * 1024
LEVEL: Final = 5  # a compromise between time and size

_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError),
    *(NotImplementedError, RuntimeError),
)
_COMPRESSED: Final = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)

Progress = Callable[[str, int, int], None]
"""Called with what is being done, and how much of how many bytes is done."""


class ArchiveWriter:
    """Adds members to an archive that `new_archive` opened."""

    def __init__(self, archive: zipfile.ZipFile, folder: Path, progress: Progress) -> None:
        self._archive = archive
        self._progress = progress
        self.folder = folder  # for copies of databases; it is removed afterwards
        self.members: dict[str, tuple[int, str]] = {}

    def add(self, name: str, source: BinaryIO, size: int) -> None:
        """Add the next `size` bytes of a file."""
        digest, left = sha256(), size
        info = zipfile.ZipInfo(name)
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
        with self._archive.open(info, "w", force_zip64=True) as member:
            while left:
                piece = source.read(min(left, CHUNK))
                if not piece:
                    raise BackupError(f"{name} became shorter while it was copied: try again")
                digest.update(piece)
                member.write(piece)
                left -= len(piece)
                self._progress(f"packing {name}", size - left, size)
        self.members[name] = (size, digest.hexdigest())

    def finish(self, manifest: Manifest) -> Manifest:
        manifest = replace(manifest, members=self.members)
        self._archive.writestr(MANIFEST, manifest.dump())
        return manifest


@contextmanager
def new_archive(path: Path, progress: Progress) -> Iterator[ArchiveWriter]:
    """Write an archive that appears at `path` as a whole or not at all; raises BackupError."""
    if os.path.lexists(path):
        raise BackupError(f"{path} exists: name another file, or a folder")
    for left in path.parent.glob(f"{UNFINISHED}*"):
        with _try_lock(left) as is_free:  # else another backup writes there
            if is_free:
                shutil.rmtree(left, ignore_errors=True)
    try:
        folder = Path(mkdtemp(prefix=UNFINISHED, dir=path.parent))
    except OSError as cause:
        raise BackupError(
            f"nothing can be written in {path.parent} ({cause.strerror}): name another folder"
        ) from cause
    with _try_lock(folder):
        yield from _written(folder, path, progress)


def _written(folder: Path, path: Path, progress: Progress) -> Iterator[ArchiveWriter]:
    try:
        whole = folder / "archive"
        with os.fdopen(open_private(whole, os.O_RDWR | os.O_CREAT | os.O_EXCL), "wb") as file:
            with zipfile.ZipFile(file, "w", compresslevel=LEVEL) as archive:
                yield ArchiveWriter(archive, folder, progress)
            file.flush()
            os.fsync(file.fileno())
        whole.rename(path)
        sync_folder(path.parent)
    except OSError as cause:
        why = f"the backup failed, and nothing of it is left ({cause.strerror or cause})"
        is_full = cause.errno in (ENOSPC, EDQUOT)
        remedy = "free some space, or name another disk" if is_full else "check its permissions"
        raise BackupError(f"{why}: {remedy} ({cause.filename or path.parent})") from cause
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _try_lock(folder: Path) -> Iterator[bool]:
    """Lock a folder; the value is whether no other process holds the lock."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_free = True
    except OSError:
        is_free = False
    try:
        yield is_free
    finally:
        os.close(descriptor)


def verify(path: Path, progress: Progress) -> Manifest:
    """Read a whole archive, and return its manifest; raises BackupError unless it is intact."""
    with _opened(path) as archive:
        manifest = _manifest(archive, path)
        for name, (size, _digest) in manifest.members.items():
            for _piece in _pieces(archive, path, manifest, name):
                progress(f"verifying {name}", 0, size)
        return manifest


def extract(path: Path, manifest: Manifest, folder: Path, progress: Progress) -> None:
    """Write the members of a verified archive into a folder, and verify them once more."""
    with _opened(path) as archive:
        for name, (size, _digest) in manifest.members.items():
            target = folder / name
            target.parent.mkdir(mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(open_private(target, flags), "wb") as file:
                for piece in _pieces(archive, path, manifest, name):
                    file.write(piece)
                    progress(f"unpacking {name}", file.tell(), size)
                file.flush()
                os.fsync(file.fileno())


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        file = path.open("rb")
    except OSError as cause:
        raise BackupError(f"{path} cannot be read ({cause.strerror}): name a backup") from cause
    try:
        with file, zipfile.ZipFile(file) as archive:
            yield archive
    except _BROKEN as cause:
        raise _damaged(path, str(cause) or type(cause).__name__) from cause
    except OSError as cause:
        if cause.errno != EINVAL:
            raise
        raise _damaged(path, "it names a place that it does not have") from cause


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    infos = {info.filename: info for info in archive.infolist()}
    if len(infos) != len(archive.infolist()):
        raise _damaged(path, "two files in it have the same name")
    own = infos.pop(MANIFEST, None)
    if own is None or own.file_size > MAX_MANIFEST:
        raise _damaged(path, "it has no manifest")
    if any(info.compress_type not in _COMPRESSED for info in archive.infolist()):
        raise _damaged(path, "it is packed in a way that no backup is")
    try:
        manifest = Manifest.load(archive.read(own))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError) as cause:
        raise _damaged(path, f"its manifest cannot be read ({cause})") from cause
    if infos.keys() != manifest.members.keys():
        raise _damaged(path, "its files are not those of its manifest")
    for name, info in infos.items():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if not is_member(name) or kind not in (0, stat.S_IFREG):
            raise _damaged(path, f"it has a file {name!r}, which no backup has")
        if info.file_size != manifest.members[name][0]:
            raise _damaged(path, f"{name} has another size than its manifest says")
    return manifest


def _pieces(archive: zipfile.ZipFile, path: Path, manifest: Manifest, name: str) -> Iterator[bytes]:
    size, wanted = manifest.members[name]
    digest, seen = sha256(), 0
    with archive.open(name) as member:
        while piece := member.read(CHUNK):
            seen += len(piece)
            if seen > size:
                break
            digest.update(piece)
            yield piece
    if seen != size or digest.hexdigest() != wanted:
        raise _damaged(path, f"the checksum of {name} is wrong")


def _damaged(path: Path, why: str) -> BackupError:
    return BackupError(f"{path} is not an intact backup ({why}): use another one")
