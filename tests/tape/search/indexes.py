"""What the tests of the index write, and what they ask of it past the store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import apsw

from tape.database.connection import Database
from tape.entry import NewEntry, message
from tape.query import Query
from tape.search.index_file import IndexFile
from tape.search.index_reader import Lookup
from tape.search.query_text import SearchQuery
from tape.search.scan import Scanned
from tape.stores.sqlite import tape_schema

T: Final = "chat"


def said(text: str) -> NewEntry:
    """Return a message of a person."""
    return message("user", text)


def index_path(path: Path) -> Path:
    """Return the file of the index beside a database."""
    return IndexFile(path).path


def places(path: Path, word: str) -> list[int]:
    """Return the places that the index has for a word, asked by a connection of our own."""
    connection = apsw.Connection(str(index_path(path)), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = connection.execute(
            "SELECT rowid FROM talk WHERE talk MATCH ? ORDER BY rowid", (word,)
        )
        return [row[0] for row in rows]
    finally:
        connection.close()


def ask(path: Path, text: str, limit: int = 20, most: int = 1000) -> Scanned:
    """Ask the index alone of all that is on a tape."""
    database = Database.open(path, [tape_schema()])
    lookup = Lookup(database, IndexFile(path), most)
    try:
        return lookup.search(Query(T, limit=limit), SearchQuery.read(text))
    finally:
        lookup.close()
