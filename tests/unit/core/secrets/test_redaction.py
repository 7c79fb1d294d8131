"""A caching scan gives the same results as the scan itself."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from crucible.core.secrets.redaction import caching_redact, redact_of
from crucible.core.settings.settings import SecretSettings

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@given(st.lists(st.sampled_from(["", "ok", f"key {KEY}", "password=hunter2hunter2", "é", "x" * 5000])))
def test_the_same_as_without(texts: list[str]) -> None:
    plain = redact_of(SecretSettings())
    kept = caching_redact(plain)
    assert [kept(text) for text in texts] == [plain(text) for text in texts]


def test_a_text_is_looked_at_once_unless_it_is_long() -> None:
    looked: list[str] = []

    def look(text: str) -> tuple[str, Mapping[str, int]]:
        looked.append(text)
        return text, {}

    kept = caching_redact(look)
    for text in ("a", "a", "b", "x" * 5000, "x" * 5000, "a"):
        kept(text)
    assert looked == ["a", "b", "x" * 5000, "x" * 5000]


def test_it_forgets_when_there_is_too_much() -> None:
    looked: list[str] = []

    def look(text: str) -> tuple[str, Mapping[str, int]]:
        looked.append(text)
        return text, {}

    kept = caching_redact(look)
    for number in range(20_000):
        kept(f"text {number}")
    kept("text 0")
    assert len(looked) == 20_001
