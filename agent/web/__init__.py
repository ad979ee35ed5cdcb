"""Pages of the web: which may be fetched, how, and what text they have."""
