"""The work of checking a note grows with its length and no faster, whatever the note consists of."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from crucible.commands.check.check_vault import check_sessions
from crucible.documents.markdown.line_scan import HEADING, read_callout
from crucible.vault.notes.vault import Vault
from tests.counting import steps_of

HEAD = "---\ntype: session\nsession_id: big\nagents: [claude-code]\nstatus: completed\nformat: 2\n---\n# Big\n\n"
SHAPES = {
    "phases": "## Phase {at} @claude-code\n\n",
    "sub-phases": "### Step {at}\n\n",
    "prose": "The limiter number {at} counts.\n\n",
    "list items": "- item {at}\n",
    "calls": "**Tool calls:**\n- `Bash pytest tests/test_{at}.py` → ok: {at} passed\n\n",
    "links": "See [[note-{at}]] and [[other|{at}]], [here](there-{at}.md).\n",
    "decisions": "> [!decision] Use {at}?\n> Because of {at}.\n\n",
    "failures": "> [!error] pytest: {at}\n> Resolution: fixed {at}\n\n",
    "questions": "> [!decision_needed] Which of {at}?\n> The first or the second.\n\n",
    "subagents": "> [!subagent] explorer (inline)\n> Task: find {at}\n>\n> > **Tool calls:**\n> > - `Bash ls {at}` → ok\n\n",
    "nested quotes": "> > > > > > > > {at}\n",
    "tables": "| a | {at} |\n|---|---|\n",
    "fences": "```py\nx = {at}\n```\n\n",
    "open fences": "````````````py{at}`\n~~~~ {at}\n",
    "fences in items": "{at}. a\n   ```py\n   x = {at}\n   ```\n",
    "fences in one item": "   ```py\n   x = {at}\n   ```\n",
    "HTML": "<div>\n<!-- {at}\n\n",
    "comments": "%% {at} %% text\n",
    "open marks": "$$ %% {at} ` <!-- [[ ](\n\n",
    "second findings": "> [!findings]- Findings\n> - **outcome** All of {at} is done.\n\n",
    "one line": "word [[{at}]] `a` *b* ",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("above", ["## Phase\n\n", "- a\n"], ids=["in a phase", "below a list item"])
def test_checking_takes_about_twice_the_work_for_twice_the_note(vault: Vault, shape: str, above: str) -> None:
    few, many = (
        _work(vault, above + "".join(SHAPES[shape].format(at=at) for at in range(count))) for count in (60, 120)
    )
    assert many <= 2.2 * few


@pytest.mark.parametrize(
    ("first", "each"),
    [
        ("## Tasks\n\n", "- [ ] Do {at} ^task-{at}\n"),
        ("> [!findings]- Findings\n", "> - **outcome** All of {at} is done.\n>   Source: summary (0.8)\n"),
        ("---\ntype: session\ntags:\n", "  - tag{at}\n"),
    ],
    ids=["tasks", "findings", "properties"],
)
def test_checking_the_top_of_a_note_is_linear(vault: Vault, first: str, each: str) -> None:
    after = "---\n\n## Phase\n" if first.startswith("---") else "\n## Phase\n"
    before = "" if first.startswith("---") else HEAD
    few, many = (
        _work(vault, first + "".join(each.format(at=at) for at in range(count)) + after, before) for count in (60, 120)
    )
    assert many <= 2.2 * few


def _work(vault: Vault, body: str, head: str = HEAD) -> int:
    path = Path(vault.sessions, "big.md")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + body, encoding="utf-8")
    check_sessions(vault)  # compiles the patterns
    return steps_of(partial(check_sessions, vault))


@pytest.mark.parametrize("blank", [" ", "\t", " #"])
def test_a_heading_or_a_title_of_very_many_blanks_is_read(blank: str) -> None:
    # A pattern that takes quadratic time would need minutes.
    blanks = blank * 200_000
    heading = HEADING.match(f"## a{blanks}b ## ")
    callout = read_callout([f"> [!user] a{blanks}b "])
    assert (heading and heading[2]) == f"a{blanks}b"
    assert callout
    assert callout.title == f"a{blanks}b"
