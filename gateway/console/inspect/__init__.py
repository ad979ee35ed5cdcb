"""Why a message went its way, what a model was shown for it, and what another would have said.

why         the joints of a message's way
turns       the prompt of each model call, and running it again
view_parts  a prompt by the origin of its parts
rerun       asks a model again, on a fork
"""
