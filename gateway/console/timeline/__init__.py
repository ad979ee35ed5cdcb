"""What the timeline, the replay and the exports of a tape show.

marks     entries as the timeline draws them
changes   what was changed of entries that a page shows
overview  the whole tape in a few hundred bins, its chapters and lanes
past      a room as it was at a time
sparks    what was said in the last day, by hours
chapter   the messages from one anchor to the next, as Markdown or HTML
"""
