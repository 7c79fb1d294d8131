"""The kinds of tokens that are counted and priced.  A module of its own, since every query of the index loads it."""

TOKEN_KINDS = ("input", "output", "cache_write", "cache_write_1h", "cache_read")
"""Tokens by kind: uncached input, output, cache writes (kept for minutes and for an hour), cache reads; no overlap."""

KINDS = (*TOKEN_KINDS, "web_search")
