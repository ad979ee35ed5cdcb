"""`tapeway explain`: `command` asks the gateway, `offline` reads the database, `way` draws."""
