"""`make quick`: what a change can have broken, as far as 60 seconds reach.

`changes` asks Git what changed, `selection` orders the files of tests by their distance from it,
`jobs` runs commands side by side until the time is used up, and `stopwatch` is a plugin of pytest
that ends a run in time. `__main__` puts them together.
"""
