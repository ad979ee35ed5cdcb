"""Search: from plain text to the newest, or the best, entries that say it.

terms words wanted     how texts and questions are cut, and the reference that compares them
scan rank find         a search without an index, the order of hits, a tape's own `search`
index_file rows        the index of an SQLite store: a file beside the database, and its rows
indexer lookup         the thread that indexes behind a cursor, and what the index answers
embedder vectors       what turns texts into vectors, and the file that keeps them
meaning fusion         vectors in the background, and one order from words and meaning
beside                 what an SQLite store holds of all this
testing                the checks that every store must pass
"""
