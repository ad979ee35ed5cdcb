"""The known troubles of a PostgreSQL server, as doctor and the documentation name them."""

from __future__ import annotations

from typing import Final

from channels.checkup import Trouble

SERVER_AWAY: Final = Trouble(
    "database.away",
    "The gateway does not start, or refuses messages: its PostgreSQL server does not answer.",
    "The server is stopped, its address, user or password in TAPEWAY_TAPE__URL is wrong, or its"
    " certificate is not the host's.",
    "Start the server, and try the same address with psql. A running gateway continues by itself.",
)
SERVER_UNFIT: Final = Trouble(
    "database.unfit",
    "The gateway does not start: the PostgreSQL server does not suit it.",
    "It is older than version 15, its database is not in UTF-8, or it may only be read.",
    "Use a newer primary server, and a database that is made with ENCODING 'UTF8' and has"
    " default_transaction_read_only off.",
)
SERVER_IMPATIENT: Final = Trouble(
    "database.impatient",
    "The gateway does not start after an upgrade, or now and then refuses messages.",
    "The server ends statements that take longer than its statement_timeout, as migrations may.",
    "Lift the limit: ALTER ROLE tapeway SET statement_timeout = 0.",
)
SERVER_UNSAFE: Final = Trouble(
    "database.unsafe",
    "Messages that were accepted can be lost when the PostgreSQL server stops.",
    "The server does not wait until its disk has what it confirms.",
    "Set fsync and synchronous_commit to on in postgresql.conf, and reload the server.",
)
SERVER_CROWDED: Final = Trouble(
    "database.crowded",
    "The gateway waits for connections to its PostgreSQL server.",
    "The server allows hardly more connections than are open.",
    "Raise max_connections in postgresql.conf, or lower TAPEWAY_TAPE__CONNECTIONS of each gateway:"
    " it needs one more than that.",
)
DEAF: Final = Trouble(
    "database.deaf",
    "With several processes, answers begin up to half a second later, and `,stop` acts late.",
    "TAPEWAY_SHARING__LISTEN_URL does not answer, names another database than TAPEWAY_TAPE__URL,"
    " or leads through a PgBouncer, which does not pass on what is listened to.",
    "Name the same database there by the server's own address, or remove the setting if"
    " TAPEWAY_TAPE__URL already does.",
)
PGVECTOR_UNUSED: Final = Trouble(
    "search.pgvector",
    "Searches by meaning take longer than they need to.",
    "The server has the extension pgvector, but the database does not use it, or the gateway's role"
    " may not use the schema that it is in.",
    "Run CREATE EXTENSION vector in the database as an administrator of the server. Without a"
    " restart, it compares the vectors that are made from then on.",
)
WORKERS_DIFFER: Final = Trouble(
    "workers.differ",
    "The same question is answered in different ways, depending on the process that takes it.",
    "The processes of the database have different versions, plugins, settings or AGENTS.md files.",
    "Give all of them the same, and start them again. During an upgrade, this ends by itself.",
)
LEASE_OVERDUE: Final = Trouble(
    "workers.overdue",
    "Some chats get no answer, or a bot hears nothing.",
    "The process that worked on them has ended without a goodbye, and no other has taken over.",
    "Start a process of that role. `tapeway workers` lists those that run, and what is left.",
)

SERVER_TROUBLES: Final = (
    *(SERVER_AWAY, SERVER_UNFIT, SERVER_UNSAFE, SERVER_CROWDED, SERVER_IMPATIENT),
    *(DEAF, PGVECTOR_UNUSED, WORKERS_DIFFER, LEASE_OVERDUE),
)
