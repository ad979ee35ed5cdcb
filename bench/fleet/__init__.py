"""What several gateway processes over one PostgreSQL cost, measured by `bench.scale`."""
