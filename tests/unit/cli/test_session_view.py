"""Drawing a session for a terminal."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich import markdown as rich_markdown
from rich.console import Console

from crucible.cli.session_view import View, draw
from crucible.core.files import Stamp
from crucible.documents.markdown.source import Source
from crucible.vault.notes.vault import Note
from tests.counting import steps_of

ENTRY = 'Some **bold** words.\n\n> [!user]\n> "Go on"\n\n**Tool calls:**\n- `Bash ls` → ok\n\n'


def note_of(phases: int) -> Note:
    text = "".join(f"## Part {number}\n\n{ENTRY}" for number in range(phases))
    return Note(Path("/v/s.md"), Source(f"# S\n\n{text}"), Stamp(0, 0, 0, 0))


def drawn(note: Note) -> list[str]:
    """The text of each part."""
    texts = []
    for part in draw(View(note)):
        console = Console(file=StringIO(), width=80, height=25)
        console.print(part, crop=False)
        texts.append(console.file.getvalue())  # type: ignore[attr-defined]
    return texts


def test_a_session_of_twice_the_length_takes_twice_the_work() -> None:
    drawn(note_of(1))
    short, long = (steps_of(lambda count=count: drawn(note_of(count))) for count in (10, 20))  # type: ignore[misc]
    assert long < 2.1 * short


def test_a_long_session_is_drawn_in_parts_by_one_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn(note_of(1))
    monkeypatch.delattr(rich_markdown, "MarkdownIt")
    parts = drawn(note_of(100))
    assert len(parts) > 3
    assert "".join(parts).count("Some bold words.") == 100
