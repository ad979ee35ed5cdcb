"""The gateway's own HTTP server: health, the routes of its channels, and who gets in.

server  sockets and uvicorn      app  routes      auth  hosts, tokens, cookies
token   the token: set, or made
"""
