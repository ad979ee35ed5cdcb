"""The known troubles of a database, its migrations and its search index."""

from __future__ import annotations

from typing import Final

from channels.checkup import Trouble

DATABASE_NEWER: Final = Trouble(
    "database.newer",
    "The gateway does not start: the database was written by a newer version.",
    "A newer Tapeway has changed the tables, which older versions do not understand.",
    "Install that version again, or restore the backup from before the upgrade.",
)
DATABASE_OLDER: Final = Trouble(
    "database.older",
    "Some commands ask for a start of the gateway first.",
    "The database was written by an older version.",
    "Make a backup, then start the gateway: it migrates the database once.",
)
MIGRATION_MISNUMBERED: Final = Trouble(
    "database.misnumbered",
    "The gateway does not start: a migration's number is not its position.",
    "A file was added to, removed from or renamed in a folder of Tapeway's own SQL.",
    "If you develop Tapeway, rename the file as the line above says. If not, reinstall Tapeway."
    " The database has not been changed.",
)
DATABASE_DAMAGED: Final = Trouble(
    "database.damaged",
    "The gateway does not start, or chats cannot be read: the database is damaged.",
    "A crash of the machine, a failing disk, or a copy that was made while it was written.",
    "Stop the gateway and keep a copy of the file. Restore a backup, or move the file away to"
    " begin with an empty one.",
)
DATABASE_FOREIGN: Final = Trouble(
    "database.foreign",
    "The gateway does not start: the file is the database of another program.",
    "TAPEWAY_TAPE__URL names a file that Tapeway has not made.",
    "Name another file in TAPEWAY_TAPE__URL.",
)
DATABASE_MOVED: Final = Trouble(
    "database.moved",
    "The gateway does not start: the chats of this database are in another one.",
    "`tapeway migrate --to` moved them, or was cut off while it did.",
    "Name the other database in TAPEWAY_TAPE__URL. If the move was cut off, run the command again."
    " To go on here, run `tapeway migrate --undo`.",
)
DATABASE_UNREADABLE: Final = Trouble(
    "database.unreadable",
    "The gateway does not start: the database cannot be opened.",
    "It is a folder or a link, belongs to another user, or is on a read-only file system.",
    "Make it and its folder writable for the user who runs the gateway, or name another file in"
    " TAPEWAY_TAPE__URL.",
)
DATABASE_LOCKED: Final = Trouble(
    "database.locked",
    "Messages are refused, or the gateway does not start: the database is locked.",
    "Another program has held it for five seconds, such as SQLite's shell or a copying program.",
    "Wait for that program or end it. `tapeway backup` copies the database without locking it.",
)
DATABASE_IN_MEMORY: Final = Trouble(
    "database.in_memory",
    "All chats are lost when the gateway stops.",
    "TAPEWAY_TAPE__URL keeps the tapes in memory.",
    "Remove TAPEWAY_TAPE__URL to keep them in the home folder.",
)
DATABASE_URL: Final = Trouble(
    "database.url",
    "The gateway does not start: it does not know this kind of tape store.",
    "TAPEWAY_TAPE__URL has a scheme that no built-in store has, or cannot be read.",
    "Write it like sqlite:///srv/tapeway/tapeway.db or postgresql://tapeway@localhost/tapeway, or"
    " remove it.",
)
DATABASE_SHARED: Final = Trouble(
    "database.shared",
    "The gateway does not start: a gateway with another home uses its database.",
    "Two instances name the same file in TAPEWAY_TAPE__URL.",
    "Stop the other one, or give each instance a file of its own.",
)
INDEX_BROKEN: Final = Trouble(
    "search.broken",
    "Searches are slow or find nothing.",
    "The file of the search index is damaged or belongs to another database.",
    "Run `tapeway tape reindex`. No message is lost: the index is built from the tapes.",
)
INDEX_BEHIND: Final = Trouble(
    "search.behind",
    "Searches miss some messages.",
    "The search index has not yet reached all entries of the tapes.",
    "Wait: the running gateway indexes them by itself.",
)

DATABASE_TROUBLES: Final = (
    *(DATABASE_NEWER, DATABASE_OLDER, MIGRATION_MISNUMBERED, DATABASE_DAMAGED, DATABASE_FOREIGN),
    *(DATABASE_MOVED, DATABASE_UNREADABLE, DATABASE_LOCKED, DATABASE_IN_MEMORY, DATABASE_URL),
    *(DATABASE_SHARED, INDEX_BROKEN, INDEX_BEHIND),
)
