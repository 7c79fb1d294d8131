"""A subagent's discoveries are shown to other tasks, not to its own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.memory.tasks.task_pickup import LONGEST, MOST_DISCOVERIES, TAG, discoveries_for
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_reader import EventRecord, read_records

NOW = datetime(2026, 1, 25, 10, 30, tzinfo=UTC)


def record(seq: int, text: str, **values: object) -> EventRecord:
    return EventRecord(seq, "observation", values={"content": text, "tag": TAG, **values})


def test_a_discovery_that_was_logged_is_shown_to_the_other_tasks(tmp_path: Path) -> None:
    told = {
        "content": "429 with\nRetry-After",
        "task_id": "4",
        "tag": TAG,
        "applies_to": ["payment", "refund"],
    }
    append_entry(tmp_path, "s", "observation", told, now=NOW)
    append_entry(tmp_path, "s", "observation", {"content": "plain"}, now=NOW)
    (found,) = discoveries_for(read_records(tmp_path, "s"), "5")
    assert found[:4] == ("429 with Retry-After", "4", ("payment", "refund"), NOW)
    assert not discoveries_for(read_records(tmp_path, "s"), "4")
    assert discoveries_for(read_records(tmp_path, "s")) == (found,)


@pytest.mark.parametrize("values", [{"tag": [TAG]}, {"tag": None, "tags": ["x", TAG]}])
def test_the_tag_may_stand_in_a_list(values: dict[str, object]) -> None:
    assert discoveries_for([record(1, "x", **values)])


def test_another_tag_is_no_discovery() -> None:
    assert not discoveries_for([record(1, "x", tag="parallel-discovery-not")])


def test_the_newest_are_shown_each_once_and_short() -> None:
    found = discoveries_for([record(n, f"{n % 30} " + "x" * 600) for n in range(60)])
    assert len(found) == MOST_DISCOVERIES
    assert found[-1].text.startswith("29 ")
    assert all(len(one.text) == LONGEST for one in found)


@given(
    st.dictionaries(
        st.sampled_from(["content", "tag", "tags", "task_id", "applies_to"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.just(TAG) | st.text(max_size=4),
            lambda one: st.lists(one, max_size=3) | st.dictionaries(st.text(max_size=2), one, max_size=2),
        ),
    )
)
def test_any_record_is_a_discovery_of_one_line_or_none(values: dict[str, object]) -> None:
    for one in discoveries_for([EventRecord(1, "observation", values=values)]):
        assert one.text
        assert "\n" not in one.text
