"""Sample items, and strategies for any item."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from crucible.documents.knowledge.items import (
    Category,
    FailureCause,
    Item,
    ItemScope,
    ItemSource,
    ItemStatus,
    ItemType,
    Origin,
    Verification,
)
from samples.hostile_texts import hostile_line, hostile_text

NOW = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)


def item_of(title: str, text: str = "", **more: Any) -> Item:
    """A decision of the project shop."""
    made = Item(ItemType.DECISION, title, text, project="shop", created=NOW, updated=NOW)
    return replace(made, **more)


def failure_item() -> Item:
    """One in which every part says something."""
    return Item(
        type=ItemType.FAILURE,
        title="Retries without jitter come back all at once",
        text="Every client waited the same time, so the server fell over again.\n\n- seen twice in May\n- `retry.py` alone is to blame",
        tags=("retry", "http/client"),
        scope=ItemScope.DOMAIN,
        project="shop",
        domain="networking",
        source=ItemSource(
            Origin.SESSION, "2026-05-04-1000-retry", "phase-2", "Make retries polite @claude-code@2.1 #dev"
        ),
        confidence=0.9,
        failure=FailureCause(
            Category.KNOWLEDGE_GAP,
            "The wait was a constant.",
            "Knowing that waits want *jitter*.",
            "```python\nwait * random.uniform(0.5, 1.5)\n```",
        ),
        verification=Verification(True, "python -m pytest tests/test_retry.py", "ann", NOW),
        use_count=7,
        useful_count=5,
        last_used=NOW - timedelta(days=3),
        created=NOW - timedelta(days=40),
        updated=NOW,
        also_from=("2026-05-09-1200-again",),
        merged=("wait-longer",),
        failed_checks=("2026-11-02T08:00:00Z by bob: it is 50 ms",),
    )


def unchanged(text: str) -> tuple[str, dict[str, int]]:
    """Redacts nothing."""
    return text, {}


def _times() -> st.SearchStrategy[datetime]:
    zones = st.sampled_from([None, UTC, timezone(timedelta(hours=5, minutes=30))])
    return st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=zones)  # type: ignore[arg-type]  # with and without one  # noqa: DTZ001


def any_item() -> st.SearchStrategy[Item]:
    """An item of hostile texts."""
    line, text, count = hostile_line(), hostile_text() | st.just(""), st.integers(0, 2**53)
    session = st.sampled_from(["", "2026-05-04-1000-retry", "a", "-x.y_z"])
    phase = st.sampled_from(["", "phase-2", "phase-2.1", "summary"])
    time = st.none() | _times()
    verification = st.builds(Verification, st.booleans(), text, line, time)
    return st.builds(
        Item,
        type=st.sampled_from(ItemType),
        title=line | text,
        text=text,
        tags=st.lists(line, max_size=3).map(tuple),
        scope=st.sampled_from(ItemScope),
        project=line | st.just(""),
        domain=line | st.just(""),
        source=st.builds(ItemSource, st.sampled_from(Origin), session, phase, line),
        confidence=st.none() | st.floats(0, 1) | st.integers(0, 1),
        failure=st.builds(FailureCause, st.none() | st.sampled_from(Category), text, text, text),
        verification=verification,
        use_count=count,
        useful_count=count,
        last_used=time,
        created=time,
        updated=time,
        status=st.sampled_from(ItemStatus),
        retired=time,
        retired_because=line | st.just(""),
        merged=st.lists(st.sampled_from(["a", "wait-longer"]), max_size=2).map(tuple),
        also_from=st.lists(st.sampled_from(["a", "b", "2026-05-04-1000-retry"]), max_size=3).map(tuple),
        failed_checks=st.lists(line, max_size=3).map(tuple),
    )
