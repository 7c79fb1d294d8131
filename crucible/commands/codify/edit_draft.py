"""Edit a draft workflow: open an editor on a draft file, show its problems, and repeat until it is saved.

No text is lost if an editor fails or empties the file, or if saving is refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Protocol

from crucible.core import files
from crucible.core.errors import NoteExists, NoteUnreadable
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Source
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow import Diagnostic, key_of
from crucible.documents.workflow.workflow_check import check_workflow, has_errors
from crucible.documents.workflow.workflow_markup import phase_name
from crucible.documents.workflow.workflow_reader import read_workflow
from crucible.vault.notes.vault import Vault

_FOLDER = Path(".crucible", "cache", "drafts")
_MOST = 50
"""Most problems listed at the top of a draft."""


class Choice(Enum):
    """What to do with a draft after editing."""

    EDIT = auto()
    SAVE = auto()
    QUIT = auto()


class DraftEditor(Protocol):
    """The user and their editor."""

    def edit(self, path: Path) -> str:
        """Edit the file; return the editor's failure, or ""."""
        ...

    def tell(self, line: str) -> None:
        """Show a line, which may hold foreign text."""
        ...

    def choose(self, problems: Sequence[Diagnostic], *, sure: bool) -> Choice:
        """Ask what to do next; `sure` asks again before saving errors."""
        ...


def place_draft(vault: Vault, slug: str, text: str) -> Path:
    """Create a draft file; an older one keeps its name."""
    folder = files.make_folders(vault.root, vault.root / _FOLDER)
    for number in itertools.count(1):
        path = folder / (f"{slug}.md" if number == 1 else f"{slug}-{number}.md")
        try:
            files.create_exclusive(path, Source(text).to_bytes(), fsync=vault.settings.fsync)
        except NoteExists:
            continue
        return path
    raise AssertionError("never reached")


def revise(path: Path, text: str, editor: DraftEditor) -> str | None:
    """The text to save, or None to quit; the draft file has the last text either way."""
    choice, drafted = Choice.EDIT, text
    problems = problems_of(text)
    while choice is Choice.EDIT:
        text = _followed(_edited(path, text, problems, editor), drafted)
        problems = problems_of(text)
        for problem in problems:
            editor.tell(_line(problem, 0))
        choice = editor.choose(problems, sure=False)
        if choice is Choice.SAVE and has_errors(problems):
            choice = editor.choose(problems, sure=True)
    return text if choice is Choice.SAVE else None


def _followed(text: str, drafted: str) -> str:
    """Rename rows and targets of renamed steps: those whose name is gone, with their row below a new heading."""
    old = {step.key: step.name for step in read_workflow(Source(drafted), "").walk()}
    steps = list(read_workflow(Source(text), "").walk())
    keys = {step.key for step in steps}
    renamed: dict[str, str] = {}
    for step in steps:
        for key in {key_of(row.phase) for row in step.markers} & (old.keys() - keys):
            renamed[key] = step.name
    lines = text.split("\n")
    for at, line in enumerate(lines):
        row, way = _ROW.match(line), _WAY.match(line)
        if row and (name := renamed.get(key_of(row[2]))):
            lines[at] = f"{row[1]}{phase_name(name)}{line[row.end(2) :]}"
        elif way and (name := renamed.get(key_of(way[2]))):
            lines[at] = f"{way[1]}{name}"
    return "\n".join(lines)


_ROW = late_pattern(r"([ \t]{1,8})(\w{1,200})(?=,)")
_WAY = late_pattern(r"(.*(?:→|->)[ \t]*proceed to )(\S.*?)[ \t]*\Z")


def problems_of(text: str) -> tuple[Diagnostic, ...]:
    """The problems of a workflow, by place."""
    workflow = read_workflow(Source(text), "")
    return check_workflow(workflow, build_graph(workflow))


def _edited(path: Path, text: str, problems: Sequence[Diagnostic], editor: DraftEditor) -> str:
    """The edited text; the text before if the file is empty."""
    files.write_atomic(path, Source(with_problems(text, problems)).to_bytes(), fsync=False)
    if failed := editor.edit(path):
        editor.tell(failed)
    try:
        source = Source.from_bytes(files.read_bytes(path)[0])
    except NoteUnreadable as error:
        editor.tell(f"{error}; it is put back as it was before")
        source = Source("")
    found = without_problems(source.text)
    if found.strip():
        if found != source.text:
            files.write_atomic(path, Source(found).to_bytes(), fsync=False)
        return found
    editor.tell("the editor left nothing; the workflow is put back as it was before")
    files.write_atomic(path, Source(text).to_bytes(), fsync=False)
    return text


# --- comments --------------------------------------------------------------------------------------------------------

_TOLD = late_pattern(r"\A(?:%% \d+:\d+: [^\r\n]*%%[ \t]*(?:\r\n?|\n))+(?:[ \t]*(?:\r\n?|\n))?")
_NOT_IN_A_COMMENT = late_pattern(r"\s+|%(?=%)|[\x00-\x1f\x7f-\x9f]")


def with_problems(text: str, problems: Sequence[Diagnostic]) -> str:
    """Put a comment for each problem above the text: `%% line:col: message %%`, lines counted with the comments."""
    shown = problems[:_MOST]
    if not shown:
        return text
    lines = [f"%% {_line(one, len(shown) + 1)} %%" for one in shown]
    return "\n".join([*lines, "", text])


def without_problems(text: str) -> str:
    """The text without those comments."""
    return _TOLD.sub("", text, count=1)


def _line(one: Diagnostic, more: int) -> str:
    message = _NOT_IN_A_COMMENT.sub(lambda found: "% " if found[0] == "%" else " ", one.message)
    return f"{max(1, one.place.line) + more}:{max(1, one.place.column)}: {one.severity}: {message}"
