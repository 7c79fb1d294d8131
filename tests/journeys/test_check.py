from __future__ import annotations

import os
import re
import tracemalloc

import pytest

from crucible.commands.check.check_vault import check_sessions
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import CLOCK, LIMITER, note, write
from tests.running import Cru


def _codes(output: str) -> list[tuple[str, int, str]]:
    found = [re.fullmatch(r"(\S+):(\d+): ([a-z0-9-]+): .+", line) for line in output.splitlines()]
    assert all(found), output
    return [(m[1], int(m[2]), m[3]) for m in found if m]


def test_tidy_notes_have_no_problems(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK)
    result = cru("session", "check")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert result.stderr == "no problems\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a", note("a", "see [[ghost]]\n"), [(10, "broken-link")]),
        ("a", note("a", "see [x](ghost.md)\n", format="2"), [(11, "broken-link")]),
        ("a", note("a", "see [x](ghost.md)\n"), []),
        ("a", note("a", "see [[twin]]\n"), [(10, "ambiguous-link")]),
        ("a", note("a", "see [[one/twin]] ![[x.png]] `[[code]]` [[a#here]]\n"), []),
        ("a", note("a", continues='"[[ghost]]"'), [(6, "broken-link")]),
        ("a", note("b"), [(3, "id-not-file-name")]),
        ("a", note("same"), [(3, "duplicate-id"), (3, "id-not-file-name")]),
        ("a", note("a", parent='"[[same]]"'), [(6, "parent-without-subagent")]),
        ("a", note("a", status="odd"), [(5, "bad-field")]),
        ("a", "just text\n", [(1, "no-frontmatter")]),
    ],
    ids=[
        "broken",
        "address",
        "old-address",
        "ambiguous",
        "fine",
        "property",
        "id",
        "duplicate",
        "parent",
        "status",
        "bare",
    ],
)
def test_a_problem_is_named_with_its_line_and_code(
    vault: Vault, cru: Cru, name: str, text: str, expected: list[tuple[int, str]]
) -> None:
    write(vault, "same", note("same"))
    for folder in ("one", "two"):
        (vault.root / folder).mkdir()
        (vault.root / folder / "twin.md").write_text("# Twin\n")
    write(vault, name, text)
    result = cru("session", "check", name)
    assert _codes(result.stdout) == [(f"sessions/{name}.md", line, code) for line, code in expected]
    assert result.exit_code == (3 if expected else 0)


def test_a_subagent_that_names_no_parent_is_a_problem_of_its_own_note(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", re.sub(r"parent: .*\n", "", CLOCK))
    result = cru("session", "check")
    assert _codes(result.stdout) == [("sessions/2026-11-21-clock.md", 1, "subagent-without-parent")]


def test_one_file_name_in_two_folders_is_a_duplicate_in_both(vault: Vault, cru: Cru) -> None:
    write(vault, "one/a", note("a"))
    write(vault, "two/a", note("a"))
    found = _codes(cru("session", "check").stdout)
    assert found == [("sessions/one/a.md", 3, "duplicate-id"), ("sessions/two/a.md", 3, "duplicate-id")]


def test_a_source_at_the_end_of_a_note_is_reported_with_its_line(vault: Vault, cru: Cru) -> None:
    for name in ("a", "b"):
        write(vault, name, note(name) + "\n<!-- crucible\nsources:\n  - x:1\n-->\n")
    found = _codes(cru("session", "check").stdout)
    line = (vault.sessions / "a.md").read_text().split("\n").index("sources:") + 1
    assert found == [(f"sessions/{name}.md", line, "duplicate-source") for name in ("a", "b")]


def test_two_notes_of_one_transcript_are_a_problem_of_both(vault: Vault, cru: Cru) -> None:
    for name, sources in (("a", "[x:1, x:2]"), ("b", "[x:2, x:2]"), ("c", "[x:3, x:3]")):
        write(vault, name, note(name, sources=sources))
    found = _codes(cru("session", "check").stdout)
    assert found == [("sessions/a.md", 6, "duplicate-source"), ("sessions/b.md", 6, "duplicate-source")]


def test_a_note_that_cannot_be_read_is_a_finding_and_the_rest_goes_on(vault: Vault, cru: Cru) -> None:
    (vault.root / "sessions" / "gone.md").symlink_to(vault.root / "nowhere.md")
    write(vault, "zed", note("other"))
    result = cru("session", "check")
    assert _codes(result.stdout) == [
        ("sessions/gone.md", 1, "unreadable-note"),
        ("sessions/zed.md", 3, "id-not-file-name"),
    ]
    assert result.exit_code == 3


def test_only_the_sessions_that_were_asked_for_are_checked(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("x"))
    write(vault, "b", note("y"))
    assert [path for path, _, _ in _codes(cru("session", "check", "b").stdout)] == ["sessions/b.md"]


def test_a_session_that_is_not_there_is_an_error_not_a_finding(vault: Vault, cru: Cru) -> None:
    assert cru("session", "check", "ghost").exit_code == 1


def test_checking_changes_nothing(vault: Vault, cru: Cru) -> None:
    path = write(vault, "a", b"\xef\xbb\xbf---\r\nstatus: odd\r\n---\r\n[[x]]")
    before = path.read_bytes()
    cru("session", "check")
    assert path.read_bytes() == before


def test_neither_a_note_nor_a_file_name_forges_a_line(vault: Vault, cru: Cru) -> None:
    tasks = '[{"id": "1\\nfake.md:1: no-title: x", "content": "a", "depends_on": ["2\\nfake.md:2: y: z"]}]'
    forged = '"x\\nfake.md:1: broken-link: y\\u2028z"'
    write(vault, "a", note("a", f"```tasks\n{tasks}\n```\n", participants=forged, status=forged))
    if os.name != "nt":
        write(vault, "b\nfake.md:1: broken-link: y", note("b"))
    shown = cru("session", "check").stdout
    assert shown
    assert all(line.startswith("sessions/") for line in shown.splitlines())
    assert all(line.startswith("sessions/") for line in cru("session", "show", "a").stderr.splitlines())


def test_what_lies_in_a_hidden_folder_is_no_session(vault: Vault, cru: Cru) -> None:
    for folder in (".obsidian", ".crucible", "sessions/.trash"):
        (vault.root / folder).mkdir(exist_ok=True)
        path = vault.root / folder / "x.md"
        path.write_text(note("x"))
        for args in (["show", f"{folder}/x.md"], ["check", f"{folder}/x.md"], ["rename", str(path), "new"]):
            result = cru("session", *args)
            assert (result.exit_code, result.stdout) == (2, ""), args
            assert result.stderr.startswith(f"error: {args[1]}: ")
            assert "not a session\n" in result.stderr
        assert path.exists()


def test_checking_holds_one_note_at_a_time(vault: Vault) -> None:
    body = "## A phase\n\nSome prose.\n\n" * 500

    def peak() -> int:
        tracemalloc.start()
        try:
            assert check_sessions(vault) == []
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    write(vault, "n0", note("n0", body))
    check_sessions(vault)  # what is imported or cached once is no note's
    alone = peak()
    for n in range(1, 20):
        write(vault, f"n{n}", note(f"n{n}", body))
    assert peak() < alone + 2_000_000
