"""The checks; each module looks at one thing and returns results, without changing anything."""
