"""The console: what the gateway heard, did and spent, for owners and admins, at `/console`.

parts     what the screens use of the gateway
visitor   a person who looks, and what they may see; a reader with a link
rights    finds the visitor or reader of each request, and the chat that it is about
chats     the chats of the ledger, as far as they are known without their tapes
reads     reads the store for the screens, so that no chat waits for them
said      what was said, without what was deleted or erased
timeline  what the timeline, the replay and the exports of a tape show
answers   the routes' answers: JSON, and refusals as sentences
entrance  the use of one-time links, and of read-only ones
pages     the page and its files
routes    the routes of all screens
"""
