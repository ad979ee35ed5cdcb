"""Several gateway processes over one PostgreSQL, between platforms and a model of our own.

`chaos` ends and freezes them at random moments; `town` has the people, `members` the processes,
`troubles` what goes wrong, and `verdicts` what the platforms' logs say in the end.
"""
