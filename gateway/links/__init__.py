"""Links in answers: judged in a tainted view, and what of each may be shown.

address  reads a link             judge    decides what of a link stays
codes    the codes of a view      rewrite  rewrites a parsed text
hosts    the hosts of the list    stream   does so while the text still grows
"""
