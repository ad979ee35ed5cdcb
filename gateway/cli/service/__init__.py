"""`tapeway gateway` and `tapeway health`: run the gateway, and ask whether it is ready."""
