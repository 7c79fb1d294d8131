"""JSON objects in a model's answer."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.launch.ask import objects_in
from tests.cases import for_each


@for_each(
    ("answer", "found"),
    [
        ('{"a": 1}', [{"a": 1}]),
        ('So {this}: {"a": {"b": 2}} and {"c": 3}.', [{"a": {"b": 2}}, {"c": 3}]),
        ('{"a": 1}\n```json\n{"b": 2}\n```\n', [{"b": 2}, {"a": 1}, {"b": 2}]),
        ('["a", {"b": 2}]', [{"b": 2}]),
        ("", []),
        ("{", []),
        ('{"a": NaNa}', []),
        ("{" * 200_000, []),
        ('{"a": ' + "[" * 200_000, []),
        ('{"a": ' + "9" * 10_000 + "}", []),
        ("x" * 200_000 + '{"a": 1}', []),
    ],
)
def test_objects_are_found_in_their_order_and_those_in_fences_first(
    answer: str, found: list[dict[str, object]]
) -> None:
    assert list(objects_in(answer)) == found


@given(st.dictionaries(st.text(), st.none() | st.integers() | st.text()), st.text(alphabet='ab `\n[]"'))
def test_an_object_is_found_after_any_text(row: dict[str, object], talk: str) -> None:
    assert row in list(objects_in(talk + json.dumps(row)))
