"""Accessibility findings of pages.

findings      runs axe on a page and returns what it finds
axe.min.js    axe-core 4.14.1 of the npm registry, under the Mozilla Public License 2.0 (LICENSE);
              nothing that users get contains it
"""
