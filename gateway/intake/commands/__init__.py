"""Commands in what people write.

known_commands  decides whether what has the form of a command is one that its author may mean
command_line    reads a command's line
"""
