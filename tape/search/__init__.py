"""Search a tape for the newest or the best entries that match plain text.

tokenizer entry_terms query_text   cut texts and queries into terms, and compare them
scan index_search bm25 search      search without and with an index, rank hits, search one tape
index_file index_rows              the index of an SQLite store, in a file next to the database
indexer index_reader               write the index in a thread, and read it
embedder vectors semantic          turn texts into vectors, keep them, find the nearest
vector_file                        keep vectors in a file next to the database
sqlite_search                      search an SQLite store with all these modules
"""
