"""Every parser that meets bytes from outside, fed with what nobody would send."""
