"""Search: find the newest, or the best, entries for a plain text.

tokenizer entry_terms query_text   cut texts and queries into terms, and compare them
scan bm25 search                   search without an index, rank hits, a tape's own `search`
index_file index_rows              the index of an SQLite store, in a file next to the database
indexer index_reader               write the index in a thread, and read it
embedder vectors semantic          turn texts into vectors, keep them, find the nearest
sqlite_search                      the search of one SQLite store, from all these parts
"""
