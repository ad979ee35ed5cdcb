"""Whether people see what the model wrote: an oracle that does not parse Markdown.

The runs of letters and digits of a text are compared, in order, with those that a reader of each
target sees: Telegram's text and entities, Chromium's text of the page, the screen of a terminal,
and what the readers of Discord and of Slack (tests/fakes) make of what is sent to them.

runs      the runs of a text, and which of them may be missing
compare   finds the first run that is not shown
texts     generates what models write, from a seed (it uses words)
installed sections of the descriptions of installed distributions, by others
targets   sends a text, and reads it as a person would (it uses page and terminal)
page      Chromium's text of the page
terminal  the screen of a terminal
growing   answers that are being written
shrink    makes a text that fails smaller
run       all of it, for minutes: python -m tests.shown.run
payloads  one answer on every target, as a table: python -m tests.shown.payloads
"""
