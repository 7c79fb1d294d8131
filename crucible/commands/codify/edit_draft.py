"""A workflow on its reader's desk: a draft file, an editor, what is wrong with it, and once more until it is saved.

Owns the draft file, the comments that tell problems in it, and that no word is lost: not when an editor fails, empties the file
or is not there, not when saving is refused.  Which editor, and how a person is asked, is the door's.
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
"""Problems that are told at the top of a draft."""


class Choice(Enum):
    """What is to become of a draft after an editor."""

    EDIT = auto()
    SAVE = auto()
    QUIT = auto()


class DraftEditor(Protocol):
    """The person and the editor."""

    def edit(self, path: Path) -> str:
        """Have the file edited; what went wrong with the editor, or ""."""
        ...

    def tell(self, line: str) -> None:
        """Say a line, which may hold foreign text."""
        ...

    def choose(self, problems: Sequence[Diagnostic], *, sure: bool) -> Choice:
        """What next; with `sure` once more, for a workflow with errors that is to be saved."""
        ...


def place_draft(vault: Vault, slug: str, text: str) -> Path:
    """A new draft file; one that was left behind keeps its name."""
    folder = files.make_folders(vault.root, vault.root / _FOLDER)
    for number in itertools.count(1):
        path = folder / (f"{slug}.md" if number == 1 else f"{slug}-{number}.md")
        try:
            files.create_exclusive(path, Source(text).to_bytes(), fsync=vault.settings.fsync)
        except NoteExists:
            continue
        return path
    raise AssertionError("never reached")


def revise(path: Path, text: str, desk: DraftEditor) -> str | None:
    """The text as its reader wants it saved, or None to leave it; either way the draft file holds what there is of it."""
    choice, drafted = Choice.EDIT, text
    problems = problems_of(text)
    while choice is Choice.EDIT:
        text = _followed(_edited(path, text, problems, desk), drafted)
        problems = problems_of(text)
        for problem in problems:
            desk.tell(_line(problem, 0))
        choice = desk.choose(problems, sure=False)
        if choice is Choice.SAVE and has_errors(problems):
            choice = desk.choose(problems, sure=True)
    return text if choice is Choice.SAVE else None


def _followed(text: str, drafted: str) -> str:
    """The text with the rows and the ways of the draft under the new names of their steps.

    A step whose name is gone, and below whose new heading its row stands, was renamed.
    """
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
    """What is wrong with a workflow, by place."""
    workflow = read_workflow(Source(text), "")
    return check_workflow(workflow, build_graph(workflow))


def _edited(path: Path, text: str, problems: Sequence[Diagnostic], desk: DraftEditor) -> str:
    """What the file holds after the editor; as it was before when that is nothing."""
    files.write_atomic(path, Source(with_problems(text, problems)).to_bytes(), fsync=False)
    if failed := desk.edit(path):
        desk.tell(failed)
    try:
        source = Source.from_bytes(files.read_bytes(path)[0])
    except NoteUnreadable as error:
        desk.tell(f"{error}; it is put back as it was before")
        source = Source("")
    found = without_problems(source.text)
    if found.strip():
        if found != source.text:
            files.write_atomic(path, Source(found).to_bytes(), fsync=False)
        return found
    desk.tell("the editor left nothing; the workflow is put back as it was before")
    files.write_atomic(path, Source(text).to_bytes(), fsync=False)
    return text


# --- comments --------------------------------------------------------------------------------------------------------

_TOLD = late_pattern(r"\A(?:%% \d+:\d+: [^\r\n]*%%[ \t]*(?:\r\n?|\n))+(?:[ \t]*(?:\r\n?|\n))?")
_NOT_IN_A_COMMENT = late_pattern(r"\s+|%(?=%)|[\x00-\x1f\x7f-\x9f]")


def with_problems(text: str, problems: Sequence[Diagnostic]) -> str:
    """The text behind a comment for each problem, `%% line:col: message %%`; lines are those of the whole."""
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
