"""The gateway's sentences for a page, in the language of its reader.

language  writes a sentence in the language of the request, English where there is none
chinese   the sentences in Chinese; its keys are the sentences in English
"""
