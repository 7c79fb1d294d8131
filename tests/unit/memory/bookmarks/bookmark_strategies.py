"""Bookmarks of every kind, for property tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from crucible.memory.bookmarks.bookmark import Bookmark, StopReason
from crucible.vault.logs.jsonl_store import is_inner_path

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_hex = st.text("0123456789abcdef", min_size=40, max_size=40)
_ids = st.text("abc123-", min_size=1, max_size=8).filter(lambda text: text[0] != "-")
_paths = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(is_inner_path)
_digests = st.one_of(st.just(""), st.just("?"), _hex, _hex.map("~{}".format))

bookmarks = st.builds(
    Bookmark,
    id=_ids,
    session=_ids,
    at=st.timedeltas(timedelta(0), timedelta(days=5000)).map(datetime(2026, 1, 1, tzinfo=UTC).__add__),
    why=st.sampled_from(StopReason),
    phase=_texts,
    phase_name=_texts,
    task=_texts,
    task_name=_texts,
    task_number=st.integers(0, 9),
    task_count=st.integers(0, 9),
    note=_texts,
    blockers=st.lists(_texts, max_size=3).map(tuple),
    project=_texts,
    branch=_texts.filter(lambda text: not text.startswith("-")),
    head=st.one_of(st.just(""), _hex, _hex.map(lambda text: (text + text)[:64])),
    files=st.dictionaries(_paths, _digests, max_size=4),
    more_files=st.integers(0, 9),
)
