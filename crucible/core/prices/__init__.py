"""Prices of models with their dates.  The data and its licence come from genai-prices (MIT); `make prices` renews them.

prices = load_prices(user_prices="/home/u/.config/crucible/prices.toml")
prices.cost("claude-opus-4-8", "2026-11-21", {"input": 1200, "output": 504})    # micro-dollars, None: unpriced
"""

TOKEN_KINDS = ("input", "output", "cache_write", "cache_write_1h", "cache_read")
"""Tokens by kind: uncached input, output, cache writes (kept for minutes and for an hour), cache reads; no overlap."""

KINDS = (*TOKEN_KINDS, "web_search")
