"""The command line.

main more start  typer, plugins' commands, and what surrounds every command
serve chat health hooks the commands
"""
