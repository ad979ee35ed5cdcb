"""Several gateway processes over one PostgreSQL: `python -m tests.fleet`.

`town` has the people, `members` the processes, `troubles` what goes wrong, and `verdicts` what the
platforms' logs say in the end. `rolling` runs this version beside its predecessor.
"""
