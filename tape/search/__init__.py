"""Search: from plain text to the newest, or the best, entries that say it.

terms words wanted     how texts and questions are cut, and the reference that compares them
scan rank find         a search without an index, the order of hits, a tape's own `search`
covered indexer        which part of each tape is indexed, and the thread that indexes the rest
index_file lookup      the index of an SQLite store: a file beside the database, and its questions
beside                 what an SQLite store holds of all this
testing                the checks that every store must pass
"""
