"""The first start: `init` asks or takes flags, and `first_question` is the one of `make run`.

init             the order of the steps
options          the flags; terminal: questions to a person, or the name of the missing flag
model_step       the model, from what providers finds; platform_step: the bots
changes          what will be written: shown as a difference, then written at once
"""
