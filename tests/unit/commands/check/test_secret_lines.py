"""The lines at which secrets are reported."""

from __future__ import annotations

from crucible.commands.check.check_secrets import found_in_text
from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from tests.counting import CountedText

SCANNER = Scanner(SecretSettings(rules=(("ticket", r"TICKET-\d+(?:\nTICKET-\d+)?"),)))


def test_each_secret_has_the_line_where_it_begins_and_where_it_ends() -> None:
    text = "TICKET-1\n\ntext\nTICKET-2\nTICKET-3\n"
    assert [(one.line, last) for one, last in found_in_text(SCANNER, "a.md", text, 5)] == [(5, 5), (8, 9)]


def test_the_lines_of_a_session_go_on_behind_its_headings() -> None:
    text = "---\ntype: session\n---\n\n## One\n\nTICKET-1\n\n## TICKET-2\n"
    assert [one.line for one, _ in found_in_text(SCANNER, "a.md", text)] == [7, 9]


def test_twice_as_many_secrets_take_twice_the_work() -> None:
    def read(count: int) -> int:
        text = CountedText("".join(f"text\n\nTICKET-{at}\n\n" for at in range(count)))
        assert len(list(found_in_text(SCANNER, "a.md", text))) == count
        return text.read

    assert read(200) <= 2.3 * read(100)
