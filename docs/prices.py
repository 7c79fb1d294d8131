"""Write `crucible/core/prices/prices.json` from the data of the installed package genai-prices; `make prices` runs it.

    python docs/prices.py 2026-11-28     the day on which the prices were taken

Only prices of what notes count are kept: tokens of text by kind, and web searches.  A model whose price also depends
on something that no note counts (requests, reasoning apart, hours of audio) is skipped, so it is unpriced and never too
cheap.  Discounts for batches and surcharges for priority are not list prices.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import orjson
from genai_prices import types
from genai_prices.data import providers

FOLDER = Path(__file__).parents[1] / "crucible" / "core" / "prices"

KEYS = (
    "input_mtok",
    "output_mtok",
    "cache_write_mtok",
    "cache_write_1h_mtok",
    "cache_read_mtok",
    "web_searches_kcount",
)
"""The prices of a model, in the order of `crucible.core.prices.KINDS`."""

UNCOUNTED = {"requests_kcount", "input_text_messages_kcount", "output_reasoning_mtok"}
"""Units that every call of a model costs, and that no note counts."""

_MARKS = {"equals": "=", "starts_with": "^", "ends_with": "$", "contains": "*"}


def rule_of(clause: Any) -> Any:
    """Return a clause as text whose first character says what it compares, or as a list of such rules.

    One rule of a list must match, or all of them if the list begins with `&`.
    """
    if isinstance(clause, types.ClauseRegex):
        return f"/{clause.regex}"
    if isinstance(clause, types.ClauseOr):
        return [rule_of(each) for each in clause.or_]
    if isinstance(clause, types.ClauseAnd):
        return ["&", *(rule_of(each) for each in clause.and_)]
    ((name, text),) = vars(clause).items()
    return _MARKS[name] + text.lower()


def number(price: Decimal) -> float:
    """Return a price as a short JSON number."""
    value = float(round(price, 9))
    return int(value) if value.is_integer() else value


def price_of(value: Any) -> Any:
    """Return a price, or a list of the base price and the pairs `tokens, price` of prompts longer than that."""
    if isinstance(value, types.TieredPrices):
        return [number(value.base), *([tier.start, number(tier.price)] for tier in value.tiers)]
    return number(value)


def dated_prices(model: types.ModelInfo) -> Iterator[tuple[str, types.ModelPrice]]:
    """Yield each price with the day on which it began, "" for the first.

    A price of some hours of the day is the higher one, and replaces all others: notes count by day.
    """
    entries = model.prices if isinstance(model.prices, list) else [types.ConditionalPrice(prices=model.prices)]
    hourly = [each for each in entries if isinstance(each.constraint, types.TimeOfDateConstraint)]
    for entry in hourly[-1:] or entries:
        start = entry.constraint
        yield start.start_date.isoformat() if isinstance(start, types.StartDateConstraint) else "", entry.prices


def model_row(model: types.ModelInfo) -> list[Any]:
    """Return `[rule, from, prices, from, prices, …]`; only the rule of a model that notes cannot price."""
    row: list[Any] = [rule_of(model.match)]
    for start, prices in dated_prices(model):
        given = {key: value for key, value in vars(prices).items() if value is not None}
        if "input_mtok" not in given or UNCOUNTED & given.keys():
            return row[:1]
        listed = [price_of(given[key]) if key in given else None for key in KEYS]
        while listed[-1] is None:
            listed.pop()
        row += [start, listed]
    return row


def provider_row(provider: types.Provider) -> dict[str, Any]:
    """Return a provider with its models."""
    row: dict[str, Any] = {"id": provider.id}
    if provider.model_match:
        row["models_match"] = rule_of(provider.model_match)
    if provider.fallback_model_providers:
        row["fallback"] = provider.fallback_model_providers
    return row | {"models": [model_row(model) for model in provider.models]}


def main(day: str) -> None:
    """Write the data and the package's licence."""
    package = distribution("genai-prices")
    rows = [row for row in map(provider_row, providers) if any(len(model) > 1 for model in row["models"])]
    head = {"source": f"genai-prices {package.version}", "license": "MIT", "date": day}
    lines = b",\n".join(map(orjson.dumps, rows))
    text = orjson.dumps(head)[:-1] + b',"providers":[\n' + lines + b"\n]}\n"
    (FOLDER / "prices.json").write_bytes(text)
    licence = next(file for file in package.files or () if file.name == "LICENSE")
    (FOLDER / "LICENSE").write_text(licence.read_text(), encoding="utf-8")
    print(f"{FOLDER / 'prices.json'}: {len(text):,} bytes, {sum(len(row['models']) for row in rows):,} models")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else datetime.now(UTC).date().isoformat())
