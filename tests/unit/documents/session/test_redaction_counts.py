"""The property `redacted`, written, read and added to."""

from __future__ import annotations

import pytest

from crucible.documents.session.import_properties import add_redactions, parse_redactions, redaction_lines


def test_what_was_written_is_read_again() -> None:
    counts = {"jwt": 2, "github": 1}
    assert redaction_lines(counts) == ("github: 1", "jwt: 2")
    assert parse_redactions(redaction_lines(counts)) == counts


def test_more_is_added_rule_by_rule_and_a_rule_that_counts_nothing_goes() -> None:
    assert add_redactions(["jwt: 2", "npm: 1"], {"jwt": 1, "aws": 4, "npm": -1}) == ["aws: 4", "jwt: 3"]


@pytest.mark.parametrize("line", ["mine", "jwt:", ": 3", "jwt: two", "jwt: -1", "jwt: " + "9" * 5000])
def test_what_a_human_wrote_there_and_counts_nothing_stays(line: str) -> None:
    assert add_redactions([line], {"jwt": 1}) == [line, "jwt: 1"]
