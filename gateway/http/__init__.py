"""The gateway's HTTP server: health, the routes of its channels, the operator's API, and login."""
