"""The first start: `init` asks or takes flags, and `first_question` is the one of `make run`.

init             the order of the steps
options          the flags; terminal: questions to a person, or the name of the missing flag
model_step       the model; platform_step: the bots

What they choose from, and what writes it, is in `gateway.setup`.
"""
