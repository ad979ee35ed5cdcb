"""A room is played to a real gateway, message by message, and asked what belongs to what.

room      what is played: the messages of an annotated log, as a platform would bring them
exported  the same, of a file that `tapeway tape export` wrote
gateway   the gateway, on the room's own time, and the model behind it
play      hears and asks
prompts   what is sent for a room, and how much of it is cached
policies  what other ways of filling a prompt would show at the same calls
figures   means of what was seen
"""
