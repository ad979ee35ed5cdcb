"""Tests of how pages of the web are fetched."""
