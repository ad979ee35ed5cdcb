"""Back up a home into one file while its gateway runs, and restore the file elsewhere.

manifest   what a backup says of itself, and its settings without secrets
archive    the file: written under another name, and verified before anything is read from it
backup     copies databases, tapes and images into an archive
restore    unpacks an archive into an empty home, where nothing is answered or sent by itself
"""
