"""The gateway: connects channels, tapes and the agent, and keeps them running.

cli http admin        how people reach it
app                   builds the parts, starts and stops them
supervision           keeps channels connected
intake                accepted messages -> entries on their tapes
scheduling            which question runs when
turn                  one answer; context: what the model sees for it
delivery              outbox -> platform
pipeline hooks        the steps of a turn, and the plugins that take part
storage               the ledger: nothing is lost, nothing happens twice
explain               what happened to a message, and why
"""
