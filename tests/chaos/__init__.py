"""Random kills and faults against the real gateway: `python -m tests.chaos`.

`plan` says what happens in a schedule, `telegram`, `discord`, `slack` and `web` bring the people
and the platforms, `play` lets it happen and `record` keeps what was seen. `oracle` judges that by
the `order` in which questions were accepted and the `window` of the platform.
"""
