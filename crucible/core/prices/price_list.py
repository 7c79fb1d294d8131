"""What a model's tokens cost by list price: find the model, then the price of a day, then the sum.

Amounts are integers of micro-dollars (millionths of a US dollar).  A price is a number of US dollars per million tokens
(per thousand for web searches), or such a number with others for longer prompts.  No price is ever guessed: a model
that no rule matches costs None.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.prices import KINDS
from crucible.core.settings.toml_values import Table, WrongValueError, file_text

_USED_FOR = {"cache_write": "input", "cache_write_1h": "cache_write", "cache_read": "input"}
"""The kind whose price applies if a model has none for this one."""

DEFAULT_STEPS = (32_000, 100_000, 128_000, 200_000, 256_000, 272_000, 512_000)
"""Prompt lengths at which some model's price changes; for models without a price."""

_NANO = 1_000_000_000
_PER_DOLLAR = 1_000_000
_SEARCHES = 1000

Rule: TypeAlias = "str | list[Any]"
"""A text whose first character says what it compares, or a list of rules: one must match, or all if `&` comes first."""

Price: TypeAlias = "float | list[Any] | None"
"""Dollars, or a list of dollars and pairs `[tokens, dollars]` for prompts longer than that."""


class DatedPrices(NamedTuple):
    """Prices in the order of `KINDS` from a day on, such as `2026-09-01`; "" for always."""

    start: str
    prices: Sequence[Price]


class PriceList:
    """The prices of all known models.  `date` is the day on which they were taken, `own` what the user added."""

    def __init__(self, data: Mapping[str, Any], own: Sequence[tuple[str, DatedPrices]] = ()) -> None:
        self.date = str(data["date"])
        self.source = str(data["source"])
        self._providers = {str(one["id"]): one for one in data["providers"]}
        self._own = own
        self._found: dict[str, tuple[DatedPrices, ...]] = {}

    def cost(self, model: str, day: str, counts: Mapping[str, int], over: int = 0) -> int | None:
        """Return the list price in micro-dollars; None if the model is unpriced.

        `day` is like `2026-11-21`, "" if unknown: then the newest price applies.  `over` is a length that the prompts
        exceeded, for models whose price depends on it.
        """
        prices = self.prices(model, day)
        if prices is None:
            return None
        total = 0
        for kind, count in counts.items():
            if count:
                per = _SEARCHES if kind == "web_search" else _PER_DOLLAR
                total += count * _nano_dollars(prices, kind, over) * (_PER_DOLLAR // per)
        return _rounded(total, _NANO)

    def prices(self, model: str, day: str = "") -> Sequence[Price] | None:
        """Return the prices of a model on a day; None if it is unpriced."""
        dated = self._dated(model)
        valid = [one for one in dated if not day or one.start <= day]
        # Before the first date, the first price is the best known.
        return (valid or dated[:1])[-1].prices if dated else None

    def steps(self, model: str) -> tuple[int, ...]:
        """Return the lengths of prompts at which the model's price changes, in order."""
        dated = self._dated(model)
        lists = [price for one in dated for price in one.prices if isinstance(price, list)]
        return tuple(sorted({start for price in lists for start, _ in price[1:]})) if dated else DEFAULT_STEPS

    def _dated(self, model: str) -> tuple[DatedPrices, ...]:
        if model not in self._found:
            lowered = model.lower()
            own = tuple(dated for name, dated in self._own if _fits_own(name, lowered))
            self._found[model] = own or _dated_prices(self._model(lowered))
        return self._found[model]

    def _model(self, model: str) -> Sequence[Any] | None:
        """Return the row of a model, whose name may begin with a provider: `openrouter/anthropic/claude-opus-4.8`."""
        provider, _, rest = model.partition("/")
        if rest and provider in self._providers and (row := self._row(self._providers[provider], rest)):
            return row
        makers = (one for one in self._providers.values() if "models_match" in one and fits(one["models_match"], model))
        places = [*list(makers)[:1], self._providers["aws"]]
        if rest:
            places.append(self._providers["openrouter"])
        return next((row for place in places if (row := self._row(place, model))), None)

    def _row(self, provider: Mapping[str, Any], model: str) -> Sequence[Any] | None:
        places = [provider, *(self._providers[name] for name in provider.get("fallback", ()))]
        for name in dict.fromkeys((model, _with_dashes(model))):
            for place in places:
                for row in place["models"]:
                    if fits(row[0], name):
                        return row  # type: ignore[no-any-return]  # parsed JSON
        return None


def _dated_prices(row: Sequence[Any] | None) -> tuple[DatedPrices, ...]:
    flat = row[1:] if row else ()
    return tuple(DatedPrices(start, prices) for start, prices in zip(flat[::2], flat[1::2], strict=True))


def fits(rule: Rule, model: str) -> bool:
    """True if a rule matches a model's name in lower case."""
    if isinstance(rule, list):
        return (
            all(fits(each, model) for each in rule[1:]) if rule[0] == "&" else any(fits(each, model) for each in rule)
        )
    mark, text = rule[0], rule[1:]
    if mark == "=":
        return model == text
    if mark == "^":
        return model.startswith(text)
    if mark == "$":
        return model.endswith(text)
    return text in model if mark == "*" else re.search(text, model) is not None


def _fits_own(pattern: str, model: str) -> bool:
    """Match a pattern of the user's file, in which `*` stands for any text."""
    parts = map(re.escape, pattern.lower().split("*"))
    return re.fullmatch(".*".join(parts), model) is not None


def _nano_dollars(prices: Sequence[Price], kind: str, over: int) -> int:
    """Return the price of a kind in billionths of a dollar; 0 if the model has none for it or for what it stands for."""
    at = KINDS.index(kind)
    price = prices[at] if at < len(prices) else None
    if price is None:
        return _nano_dollars(prices, _USED_FOR[kind], over) if kind in _USED_FOR else 0
    if isinstance(price, list):
        price = next((dollars for start, dollars in reversed(price[1:]) if over >= start), price[0])
    return round(price * _NANO)


def _rounded(number: int, divisor: int) -> int:
    """Divide and round half to even, as `round` does, but without floats."""
    whole, rest = divmod(number, divisor)
    return whole + (2 * rest > divisor or (2 * rest == divisor and whole % 2))


_COMPACT_DATE = late_pattern(r"(-)(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")


def _with_dashes(model: str) -> str:
    """Write a date at the end of a name with dashes, as in the rules: `-20251211` as `-2025-12-11`."""
    return _COMPACT_DATE.sub(r"\1\2-\3-\4", model)


def load_prices(own: str = "") -> PriceList:
    """Load the list, with the prices in the user's own file (see `own_prices`), which may not exist."""
    import orjson  # noqa: PLC0415  most commands need no prices

    with open(os.path.join(os.path.dirname(__file__), "prices.json"), "rb") as file:
        data = orjson.loads(file.read())
    return PriceList(data, own_prices(own) if own else ())


def own_prices(path: str) -> list[tuple[str, DatedPrices]]:
    """Read a user's `prices.toml`: tables `[[price]]` with `model`, `from` and the kinds; `VaultError` if one is wrong."""
    text = file_text(path)
    if text is None:
        return []
    table = Table(text, path)
    rows = table.pop("price") or []
    if not isinstance(rows, list) or table.rest():
        raise table.fault("price", "expected tables [[price]] and nothing else")
    found = [table.read("price", row, _own_price) for row in rows]
    return sorted(found, key=lambda one: one[1].start)


def _own_price(row: object) -> tuple[str, DatedPrices]:
    given = dict(row) if isinstance(row, dict) else {}
    model, start = given.pop("model", None), str(given.pop("from", ""))
    if not isinstance(model, str) or not model:
        raise WrongValueError('each [[price]] needs a `model`, such as "claude-opus-4-8" or "claude-*"')
    if start and not _DAY.fullmatch(start):
        raise WrongValueError(f"{model}: `from` must be a date such as 2026-11-21")
    wrong = [key for key, value in given.items() if key not in KINDS or not _is_price(value)]
    if wrong or "input" not in given:
        what = f"`{wrong[0]}` is not a price" if wrong else "`input` is missing"
        raise WrongValueError(f"{model}: {what}; prices are dollars per million tokens for {', '.join(KINDS)}")
    return model, DatedPrices(start, [given.get(kind) for kind in KINDS])


_DAY = late_pattern(r"\d{4}-\d\d-\d\d")
_HIGHEST = 1_000_000


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _HIGHEST
