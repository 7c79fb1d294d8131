"""Prices of models with their dates.  The data and its licence come from genai-prices (MIT); `make prices` renews them.

prices = load_prices(user_prices="/home/u/.config/crucible/prices.toml")
prices.cost("claude-opus-4-8", "2026-11-21", {"input": 1200, "output": 504})    # micro-dollars, None: unpriced
"""
