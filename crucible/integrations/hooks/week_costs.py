"""What a vault's sessions cost today and this week, from its stored index only; cached for the next status line."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path

from crucible.core.errors import CrucibleError, VaultError
from crucible.core.files import inside, make_folders, write_atomic
from crucible.core.prices.price_list import load_prices
from crucible.core.settings.settings import load_user_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.core.text import dollars
from crucible.vault.index.cost_report import span_of
from crucible.vault.index.costs import total_cost, usage_in
from crucible.vault.index.index import stored_view

_MOST_NAMED = 2
"""Maximum unpriced models to name."""


def keep_week_line(root: str, state: str, cache: str) -> str:
    """Return the line of a vault, and keep it in the file `cache` until midnight, for the same `state`."""
    home = os.path.expanduser("~")
    user = load_user_settings(user_settings_path(os.environ, home), home)
    now = datetime.now(user.zone)
    line = week_line(root, user.prices, now.date())
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
    with suppress(OSError, CrucibleError):  # the line is printed anyway
        path = inside(Path(root), Path(root, cache))
        make_folders(Path(root), path.parent)
        write_atomic(path, f"{int(midnight.timestamp())}\n{state}\n{line}".encode())
    return line


def week_line(root: str, own_prices: str, today: date) -> str:
    """Return the costs of today and of the week, and the models without a price; or that the prices are broken."""
    view = stored_view(root)
    try:
        prices = load_prices(own_prices)
    except VaultError:
        return "prices.toml has an error: cru doctor"
    first = date.fromisoformat(span_of("week", today).first)
    days = [(first + timedelta(days=at)).isoformat() for at in range((today - first).days + 1)]
    week = list(usage_in(view, prices, days))
    now, total = total_cost(one for one in week if one.day == today.isoformat()), total_cost(week)
    parts = [f"{dollars(now.micros or 0)} today", f"{dollars(total.micros or 0)} this week"]
    if names := sorted(name[:40] for name in total.unpriced):
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        parts.append(f"unpriced: {', '.join(names[:_MOST_NAMED])}{more}")
    return " | ".join(parts)
