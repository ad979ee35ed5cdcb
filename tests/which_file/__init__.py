"""Changes made as the table "Which file to open" says, in a copy of the sources.

`changes` has one change for each of four rows, and `tree` makes them in a copy.
"""
