"""Move everything from SQLite or files to PostgreSQL, or back, while no gateway runs.

tables         what is moved: the tables of the tapes and of the ledger, as SQLite has them
side           what a database has to do to be moved from, or to
sqlite_side    a database of SQLite, and tapes in files beside their ledger
postgres_side  a database of PostgreSQL
images         the images that people sent
handover       what processes that share a database expect of open work
comparison     counts and digests of both sides
move           begins, continues, ends and undoes a move
"""
