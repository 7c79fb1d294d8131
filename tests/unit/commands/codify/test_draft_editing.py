"""Editing a draft in the user's editor: problems become comments, and no text is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.codify.workflow_file import (
    Choice,
    edit_draft,
    place_draft,
    problems_of,
    with_problems,
    without_problems,
)
from crucible.documents.workflow.workflow import Diagnostic, Place, Severity
from crucible.vault.notes.vault import Vault

GOOD = "---\ntype: workflow\n---\n\n# It\n\n## One\n\na → b\n"
BAD = "---\ntype: workflow\n---\n\n# It\n\n## One\n\nIf it fails → proceed to Nowhere\n"
Editor = Callable[[Path], str]


class Desk:
    """Edits with these functions in turn, and makes these choices."""

    def __init__(self, editors: Sequence[Editor], choices: Sequence[Choice]) -> None:
        self.editors, self.choices = list(editors), list(choices)
        self.seen: list[str] = []
        self.shown: list[str] = []
        self.asked: list[tuple[int, bool]] = []

    def edit(self, path: Path) -> str:
        self.seen.append(path.read_text("utf-8"))
        return self.editors.pop(0)(path)

    def tell(self, line: str) -> None:
        self.shown.append(line)

    def choose(self, problems: Sequence[Diagnostic], *, sure: bool) -> Choice:
        self.asked.append((len(problems), sure))
        return self.choices.pop(0)


def writes(text: str) -> Editor:
    def editor(path: Path) -> str:
        path.write_text(text, encoding="utf-8")
        return ""

    return editor


def leaves(_: Path) -> str:
    return ""


def fails(_: Path) -> str:
    return "vi: ended with exit code 1"


def unlinks(path: Path) -> str:
    path.unlink()
    return ""


def test_an_unedited_workflow_is_saved_unchanged(vault: Vault) -> None:
    desk = Desk([leaves], [Choice.SAVE])
    assert edit_draft(place_draft(vault, "it", GOOD), GOOD, desk) == GOOD
    assert (desk.seen, desk.shown, desk.asked) == ([GOOD], [], [(0, False)])


def test_problems_are_comments_with_the_lines_of_the_editor(vault: Vault) -> None:
    desk = Desk([writes(BAD), writes(GOOD)], [Choice.EDIT, Choice.SAVE])
    assert edit_draft(place_draft(vault, "it", GOOD), GOOD, desk) == GOOD
    first, *_ = desk.seen[1].split("\n")
    line = int(first.split()[1].partition(":")[0])
    assert first.startswith("%% ")
    assert first.endswith(" %%")
    assert "Nowhere" in first
    assert desk.seen[1].split("\n")[line - 1] == "If it fails → proceed to Nowhere"
    assert desk.shown[0].startswith("9:")


def test_comments_are_removed_when_nothing_was_fixed(vault: Vault) -> None:
    path = place_draft(vault, "it", BAD)
    desk = Desk([leaves, leaves], [Choice.EDIT, Choice.SAVE, Choice.SAVE])
    assert edit_draft(path, BAD, desk) == BAD
    assert desk.seen[0].startswith("%% ")
    assert path.read_text("utf-8") == BAD


def test_saving_errors_needs_a_second_yes(vault: Vault) -> None:
    desk = Desk([leaves, writes(GOOD)], [Choice.SAVE, Choice.EDIT, Choice.SAVE])
    assert edit_draft(place_draft(vault, "it", BAD), BAD, desk) == GOOD
    assert [sure for _, sure in desk.asked] == [False, True, False]


def test_quitting_saves_nothing_and_keeps_the_draft(vault: Vault) -> None:
    path = place_draft(vault, "it", GOOD)
    assert edit_draft(path, GOOD, Desk([writes(BAD)], [Choice.QUIT])) is None
    assert path.read_text("utf-8") == BAD


@pytest.mark.parametrize("editor", [writes(""), writes(" \n"), writes("%% 1:1: error: x %%\n"), unlinks])
def test_an_emptied_file_loses_nothing(vault: Vault, editor: Editor) -> None:
    path = place_draft(vault, "it", GOOD)
    desk = Desk([editor], [Choice.QUIT])
    assert edit_draft(path, GOOD, desk) is None
    assert path.read_text("utf-8") == GOOD
    assert "was restored" in desk.shown[-1]


def test_a_failing_editor_is_reported_and_its_text_is_kept(vault: Vault) -> None:
    def writes_and_fails(path: Path) -> str:
        path.write_text(BAD, encoding="utf-8")
        return "vi: was killed by SIGKILL"

    path = place_draft(vault, "it", GOOD)
    desk = Desk([fails, writes_and_fails], [Choice.EDIT, Choice.QUIT])
    assert edit_draft(path, GOOD, desk) is None
    assert desk.shown[:2] == ["vi: ended with exit code 1", "vi: was killed by SIGKILL"]
    assert path.read_text("utf-8") == BAD


def test_invalid_utf_8_is_preserved(vault: Vault) -> None:
    def editor(path: Path) -> str:
        path.write_bytes(b"# It\n\n## One\n\n\xff\xfe\n")
        return ""

    path = place_draft(vault, "it", GOOD)
    saved = edit_draft(path, GOOD, Desk([editor], [Choice.SAVE]))
    assert saved is not None
    assert saved.encode("utf-8", "surrogateescape") == b"# It\n\n## One\n\n\xff\xfe\n"


def test_an_older_draft_is_not_overwritten(vault: Vault) -> None:
    first, second = place_draft(vault, "it", "one"), place_draft(vault, "it", "two")
    assert (first.name, second.name) == ("it.md", "it-2.md")
    assert first.read_text("utf-8") == "one"
    assert first.parent == vault.root / ".crucible" / "cache" / "drafts"


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(st.tuples(st.integers(0, 99), st.text(st.characters(exclude_categories=["Cs"])))),
)
def test_a_comment_with_any_message_is_removed_completely(text: str, messages: list[tuple[int, str]]) -> None:
    problems = [Diagnostic("x", Severity.ERROR, Place(line, 1), message) for line, message in messages]
    body = "# It\n" + text
    shown = with_problems(body, problems)
    assert without_problems(shown) == body
    assert shown.count("%%") == body.count("%%") + 2 * min(len(problems), 50)


def test_the_users_own_comment_stays() -> None:
    text = "%% mine %%\n# It\n"
    assert without_problems(text) == text


def test_a_tidy_workflow_has_no_problems() -> None:
    assert problems_of(GOOD) == ()
    assert problems_of(BAD)[0].code == "missing-step"


ROWS = "execution[1]{phase,status,session}:\n  One,success,s\n"
RENAMED = f"""\
---
type: workflow
---

# It

## One

a → b

```session-toon
{ROWS}```

If it fails → proceed to Two

## Two

c → d

```session-toon
{ROWS.replace("One", "Two")}```
"""


def test_renaming_a_heading_renames_its_row_and_its_targets(vault: Vault) -> None:
    path = place_draft(vault, "it", RENAMED)
    text = RENAMED.replace("## One", "## Run the tests").replace("## Two", "## Mend it")
    saved = edit_draft(path, RENAMED, Desk([writes(text)], [Choice.SAVE]))
    assert saved is not None
    for old, new in (("  One,", "  RunTheTests,"), ("  Two,", "  MendIt,"), ("to Two", "to Mend it")):
        text = text.replace(old, new)
    assert saved == text
    assert not [one for one in problems_of(saved) if one.code == "marker-without-step"]


def test_the_row_of_a_removed_step_stays(vault: Vault) -> None:
    path = place_draft(vault, "it", GOOD + f"\n```session-toon\n{ROWS}```\n")
    text = GOOD + f"\n## More\n\n```session-toon\n{ROWS}```\n"
    assert edit_draft(path, GOOD, Desk([writes(text)], [Choice.SAVE])) == text
