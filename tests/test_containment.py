"""Hostile text is inert in whole notes, in every place that can hold foreign text.

The marks of the table in `openings` are searched in the tokens of markdown-it, as a reader of the notes would show them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from crucible.commands.learn.case import Case, CaseType
from crucible.commands.learn.case_notes import render_case
from crucible.commands.learn.puzzle_files import render_puzzle_file
from crucible.documents.knowledge.item_notes import render_item
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.wikilinks import find_links
from crucible.documents.session.markup import render_session
from crucible.documents.workflow.workflow import Workflow
from crucible.documents.workflow.workflow_markup import render_workflow
from crucible.memory.history.history_notes import render_history
from tests.cases import fewer
from tests.openings import OPENINGS
from tests.unit.commands.learn.sample_cases import any_case
from tests.unit.documents.session.session_strategies import sessions
from tests.unit.documents.workflow.workflow_strategies import workflows
from tests.unit.memory.history.test_history_notes import ENTRIES
from tests.unit.memory.knowledge.sample_items import any_item

OURS = {"wikilink, embed", "image", "comment", "callout", "field, line", "field, brackets"}
"""Openings that our own lines contain as well; `tests.unit.documents.markdown.test_containment` looks for them in contained texts."""
WEB = re.compile(r"(?i:https?)://[\w/.:%&=?~+,;@-]*#?")
FEW = fewer(2)


_TASKS = re.compile(r"^### Tasks\n\n((?:- .*\n)+)", re.MULTILINE)
_OUR_MARKS = re.compile(r"^- (?:\[[ x]\] )?|(?: |^)\^task-[A-Za-z0-9-]+$", re.MULTILINE)


def _bare_tasks(found: re.Match[str]) -> str:
    """A task list without the checkboxes and ids, which are ours."""
    return _OUR_MARKS.sub("", found[1].replace("\n", "\n\n"))


def acting(note: str) -> list[str]:
    """Everything in a note that the app or a plugin would act on, except our own lines."""
    body = _TASKS.sub(_bare_tasks, note[find_frontmatter(Source(note)).span.end :])
    found = [f"in the file: {match[0]}" for match in re.finditer("<%", note)]
    heading = False
    lines = dict(enumerate(body.split("\n")))
    for token in MarkdownIt("commonmark", {"html": True}).parse(body):
        heading = token.type == "heading_open" or (heading and token.type == "inline")
        found += _acting(token, heading=heading)
        if token.type in {"fence", "code_block"}:
            for number in range(*token.map or ()):
                lines.pop(number, None)
    for line in lines.values():
        found += _live("line", line)
    return found + [f"link {link}" for link in find_links(Source(note)) if link.kind == "md"]


def _acting(token: Token, *, heading: bool) -> Iterator[str]:
    if token.type in {"fence", "code_block"}:
        yield from _live("code", token.content)
        return
    for child in token.children or ():
        if child.type == "code_inline":
            yield from _live("code", child.content)
            yield from _live("span", child.content)
    text = re.sub(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)", "\0", token.content) if token.type == "inline" else ""
    yield from _live("prose", WEB.sub("https://w", text), besides=frozenset({"tag"} if heading else ()))


def _live(where: str, text: str, besides: frozenset[str] = frozenset()) -> Iterator[str]:
    for opening in OPENINGS:
        if opening.where == where and opening.name not in OURS | besides:
            seek = re.match if where in {"code", "span"} else re.search
            if found := seek(opening.pattern, text.strip(), re.MULTILINE):
                yield f"{opening.name}: {found[0]!r} in {text!r}"


@FEW
@given(sessions().map(render_session))
def test_nothing_in_a_session_acts(note: str) -> None:
    assert acting(note) == []


@FEW
@given(st.one_of(ENTRIES.map(render_history), any_item().map(render_item)))
def test_nothing_in_a_history_or_an_item_of_knowledge_acts(note: str) -> None:
    assert acting(note) == []


@FEW
@given(any_case())
def test_nothing_in_a_case_or_a_puzzle_acts(case: Case) -> None:
    assert acting(render_case(case, case.place.phase_name or "x")) == []
    if case.type is CaseType.PUZZLE:
        assert acting(render_puzzle_file(case)) == []


@FEW
@given(workflows())
def test_no_templater_command_is_in_a_workflow(workflow: Workflow) -> None:
    assert "<%" not in render_workflow(workflow)


@pytest.mark.parametrize("text", ["<% x %>", "`= x`", "[a](b.md)", "#tag", "&lt;", "a ^id", "ftp://x"])
def test_the_search_finds_what_acts(text: str) -> None:
    assert acting(f"---\ntype: session\n---\n\nA {text}\n")
