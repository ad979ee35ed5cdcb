"""How the linker's numbers are learned: from annotated logs, by the code that links.

vary      rooms that a log could have been: quieter, slower, without mentions, with replies
bot_bank  what people ask, add and answer in logs
bot_rooms rooms with the agent in them, made of a log and of such words
play      a log is linked, line by line, and the rows of each stage are gathered with what is true
boost     trees from rows (the only module that needs the extra `train`)
limit     the chance from which on a message begins a conversation, chosen on other logs
training  the order of it: each stage learns from what the ones before it really say
partition the field's own figures of lanes: 1-VI, one-to-one, exact match
score     the figures of a linker on logs
"""
