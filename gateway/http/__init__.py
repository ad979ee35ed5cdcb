"""The gateway's HTTP server: health, login, the channels' routes, and the operator's API."""
