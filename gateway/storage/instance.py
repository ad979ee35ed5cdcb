"""Make the files of a home folder private at the start."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gateway.settings import Settings
from tape.private_file import narrow

OWN_FILES: Final = (
    *("gateway.*", "ballast", "tapeway.db*", "ledger.db*", "chat-history", "http-token*"),
    *("import-*.jsonl", "model-probe.json"),
)


def narrow_files(settings: Settings) -> None:
    """Make the gateway's files private that an earlier version, or a copy, left open to others."""
    home, database = settings.home_path, _database(settings)
    folders: list[tuple[Path, tuple[str, ...]]] = [(home, OWN_FILES), (home / "media", ("*",))]
    if database is not None and database.is_dir():
        folders.append((database, ("*.jsonl*", "index.db*", "lock")))
    elif database is not None:
        folders.append((database.parent, (f"{database.name}*",)))
    for folder, names in folders:
        for name in names:
            for path in folder.glob(name):
                narrow(path)


def _database(settings: Settings) -> Path | None:
    """Return the path of the database or the folder of tapes, if the tapes have one."""
    _scheme, found, path = settings.tape_url.partition("://")
    return Path(path.partition("?")[0]) if found else None
