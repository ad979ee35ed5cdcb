"""`tapeway tape`: list, print, search, export and import tapes."""
