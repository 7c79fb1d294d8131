"""The prices against genai-prices' own calculation, for every model, price, date and kind in its data."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from genai_prices import Usage
from genai_prices import types as genai
from genai_prices.data_snapshot import get_snapshot
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import VaultError
from crucible.core.prices import KINDS
from crucible.core.prices.price_list import PriceList, load_prices

PRICES = load_prices()
SNAPSHOT = get_snapshot()
UNCOUNTED = {"requests_kcount", "input_text_messages_kcount", "output_reasoning_mtok"}


def _conditions(model: genai.ModelInfo) -> list[genai.ConditionalPrice]:
    return model.prices if isinstance(model.prices, list) else [genai.ConditionalPrice(prices=model.prices)]


def _moments(model: genai.ModelInfo) -> Iterator[datetime]:
    """A time under each price of a model: the day on which it begins, the day before, and today.

    Where the price depends on the hour, an hour of the highest.
    """
    hours = [one.constraint for one in _conditions(model) if isinstance(one.constraint, genai.TimeOfDateConstraint)]
    hour = hours[-1].start_time.hour + 1 if hours else 12
    for one in _conditions(model):
        if isinstance(one.constraint, genai.StartDateConstraint):
            at = datetime.combine(one.constraint.start_date, datetime.min.time(), UTC) + timedelta(hours=hour)
            yield from (at - timedelta(days=1), at)
    yield datetime(2026, 11, 28, hour, tzinfo=UTC)


def _is_counted(model: genai.ModelInfo) -> bool:
    given = [{key for key, value in vars(one.prices).items() if value is not None} for one in _conditions(model)]
    return all("input_mtok" in keys and not UNCOUNTED & keys for keys in given)


@cache
def _models() -> list[tuple[genai.Provider, genai.ModelInfo]]:
    return [
        (provider, model)
        for provider in SNAPSHOT.providers
        for model in provider.models
        if provider.find_model(model.id, all_providers=SNAPSHOT.providers) is model
    ]


def _theirs(provider: genai.Provider, model: genai.ModelInfo, counts: dict[str, int], at: datetime) -> Decimal:
    writes = counts["cache_write"] + counts["cache_write_1h"]
    usage = Usage(
        input_tokens=counts["input"] + writes + counts["cache_read"],
        output_tokens=counts["output"],
        cache_write_tokens=writes,
        cache_write_1h_tokens=counts["cache_write_1h"],
        cache_read_tokens=counts["cache_read"],
        web_searches=counts["web_search"],
    )
    return model.calc_price(usage, provider, genai_request_timestamp=at).total_price


def _over(prices: PriceList, name: str, counts: dict[str, int]) -> int:
    prompt = sum(counts[kind] for kind in ("input", "cache_write", "cache_write_1h", "cache_read"))
    return max((step for step in prices.steps(name) if prompt > step), default=0)


def _check(provider: genai.Provider, model: genai.ModelInfo, counts: dict[str, int]) -> None:
    name = f"{provider.id}/{model.id}"
    for at in _moments(model):
        ours = PRICES.cost(name, at.date().isoformat(), counts, _over(PRICES, name, counts))
        if _is_counted(model):
            # A few of their prices carry the dust of a float, such as 0.08333333333333334.
            assert ours == round(round(_theirs(provider, model, counts, at), 12) * 1_000_000), (name, at, counts)
        else:
            assert ours is None, name


def test_most_models_are_found_by_their_own_id() -> None:
    assert len(_models()) > 2000


def test_every_model_costs_what_genai_prices_says_on_every_date_and_for_every_length() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for provider, model in _models():
            steps = PRICES.steps(f"{provider.id}/{model.id}") if _is_counted(model) else ()
            for prompt in (5_000, *(step // 5 * 5 + 5 for step in steps)):
                part = prompt // 5
                _check(provider, model, dict(zip(KINDS, (part, 777, part, part, 2 * part, 3), strict=True)))


@given(
    st.deferred(lambda: st.sampled_from(_models())),
    st.fixed_dictionaries({kind: st.integers(0, 10**7) for kind in KINDS}),
)
def test_any_counts_cost_what_genai_prices_says(
    found: tuple[genai.Provider, genai.ModelInfo], counts: dict[str, int]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _check(*found, counts)


def test_a_model_is_found_without_its_provider_as_genai_prices_does() -> None:
    for _, model in _models():
        try:
            _, found = SNAPSHOT.find_provider_model(model.id, None, None, None)
        except LookupError:
            continue
        if "/" not in model.id and _is_counted(found):
            expected = found.get_prices(datetime(2026, 11, 28, 9, tzinfo=UTC)).input_mtok
            base = expected.base if isinstance(expected, genai.TieredPrices) else expected
            ours = PRICES.cost(model.id, "2026-11-28", {"input": 1_000_000})
            assert ours == round((base or 0) * 1_000_000), model.id


def test_an_unknown_model_is_unpriced() -> None:
    assert PRICES.cost("my-own-model", "2026-11-21", {"input": 5}) is None
    assert PRICES.cost("", "2026-11-21", {"input": 5}) is None


def test_ids_of_clients_are_priced() -> None:
    ids = (
        "claude-opus-4-8",
        "claude-opus-4-5-20251101",
        "claude-sonnet-4@20250514",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic/claude-sonnet-4.5",
        "openrouter/anthropic/claude-sonnet-4.5",
        "gpt-5.2-codex",
        "gpt-5.2-20251211",
        "gemini-2.5-pro",
    )
    assert [name for name in ids if PRICES.cost(name, "2026-11-21", {"input": 1_000_000}) is None] == []


def test_sums_are_rounded_once_half_to_even() -> None:
    # 0.25 and 0.75 micro-dollars a token.
    assert [PRICES.cost("claude-3-haiku-20240307", "", {"input": n}) for n in (1, 2, 6, 10)] == [0, 0, 2, 2]


# --- the user's own prices -------------------------------------------------------------------------------------------


def _own(folder: Path, text: str) -> PriceList:
    path = folder / "prices.toml"
    path.write_text(text)
    return load_prices(str(path))


def test_the_users_price_wins_from_its_day_on(tmp_path: Path) -> None:
    prices = _own(
        tmp_path,
        """
        [[price]]
        model = "claude-opus-4-8"
        from = 2026-11-20
        input = 1
        output = 2.5

        [[price]]
        model = "claude-opus-4-8"
        input = 3

        [[price]]
        model = "our-*"
        input = 0.5
        """,
    )
    counts = {"input": 1_000_000, "output": 1_000_000, "cache_read": 1_000_000}
    assert prices.cost("claude-opus-4-8", "2026-11-21", counts) == 1_000_000 + 2_500_000 + 1_000_000
    assert prices.cost("claude-opus-4-8", "2026-11-19", counts) == 6_000_000
    assert prices.cost("Our-Model", "2026-11-19", {"input": 10}) == 5
    assert prices.cost("claude-sonnet-4-5", "", {"input": 10}) == PRICES.cost("claude-sonnet-4-5", "", {"input": 10})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[price]]\ninput = 1", "needs a `model`"),
        ('[[price]]\nmodel = "m"', "`input` is missing"),
        ('[[price]]\nmodel = "m"\ninput = "1"', "`input` is not a price"),
        ('[[price]]\nmodel = "m"\ninput = 1\noutptu = 2', "`outptu` is not a price"),
        ('[[price]]\nmodel = "m"\ninput = 1\nfrom = "May"', "must be a date"),
        ('model = "m"', "expected tables"),
        ("[[price]", "not valid TOML"),
    ],
)
def test_a_wrong_price_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(VaultError, match=message):
        _own(tmp_path, text)
