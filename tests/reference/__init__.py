"""The generated parts of docs/reference: `make reference` writes them, a test compares them.

A page's own words stand around the generated part, which two comments enclose.
"""
