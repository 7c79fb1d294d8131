"""What was written is read back the same, for every input; and nothing in it becomes structure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.wikilinks import find_links
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Entry, Mode, Phase, Prose, Session, Subagent, ToolCalls
from crucible.documents.session.session_reader import read_session
from tests.unit.documents.session.session_strategies import phases, sessions

ACTING = frozenset({"tasks", "session-toon", "dataview", "dataviewjs", "query", "base", "mermaid"})


@given(sessions())
def test_a_session_written_and_read_back_is_the_same_session(session: Session) -> None:
    source = Source(render_session(session))
    read = read_session(source, session.id)
    assert read == session
    assert read.problems == ()


@given(phases())
def test_a_phase_with_hostile_text_in_every_field_is_read_back_alone(phase: Phase) -> None:
    session = Session(id="s", title="T", phases=(phase, Phase("After")))
    read = read_session(Source(render_session(session)), "s")
    assert read.phases == session.phases


# --- an independent look: what does markdown-it find in the note? ----------------------------------------------------


def every_token(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from every_token(token.children or ())


def callouts_in(entries: Iterable[Entry]) -> int:
    """Callouts that the note should show, nested ones included."""
    count = 0
    for entry in entries:
        if not isinstance(entry, (Prose, ToolCalls)):
            count += 1
        if isinstance(entry, Subagent):
            count += callouts_in(entry.entries)
    return count


def callout_heads(tokens: list[Token]) -> int:
    """Quotes whose first words are `[!`: what Obsidian shows as a callout."""
    places = (at for at, token in enumerate(tokens) if token.type == "blockquote_open")
    return sum(tokens[at + 1].type == "paragraph_open" and tokens[at + 2].content.startswith("[!") for at in places)


def links_in(entries: Iterable[Entry]) -> list[tuple[str, bool]]:
    """Links that the note should hold: those of its linked subagents."""
    found: list[tuple[str, bool]] = []
    for entry in entries:
        if isinstance(entry, Subagent):
            if entry.link:
                found.append((f"sessions/{entry.link}".removesuffix(".md"), entry.mode is Mode.EMBED))
            found += links_in(entry.entries)
    return found


@given(sessions())
def test_markdown_it_finds_our_structure_in_a_note_and_nothing_else(session: Session) -> None:
    source = Source(render_session(session))
    body = "\n".join(source.lines[find_frontmatter(source).lines.end :])
    tokens = list(every_token(MarkdownIt("commonmark", {"maxNesting": 100}).parse(body)))
    found = Counter(token.type for token in tokens)
    everything = [*session.preamble, *session.all_entries()]
    sections = len(list(session.all_phases())) + (session.summary is not None)
    json_tasks = bool(session.tasks) and session.home.json_tasks
    task_list = bool(session.tasks) and not session.home.json_tasks
    assert found["heading_open"] == 1 + sections + task_list
    assert found["hr"] == max(len(session.phases) - 1, 0) + bool(session.phases and session.summary is not None)
    assert found["html_inline"] == 0
    comments = [token.content.strip() for token in tokens if token.type == "html_block"]
    ours = [text for text in comments if text != "<!-- -->"]
    assert len(ours) == any((session.sources, session.usage))
    assert all(text.startswith("<!-- crucible\n") and text.endswith("\n-->") for text in ours)
    assert all(len(re.findall("[<>]", text)) == len("<>") for text in ours)
    assert callout_heads(tokens) == callouts_in(everything) + bool(session.findings)
    acting = [token for token in tokens if token.type == "fence" and token.info.partition(" ")[0].lower() in ACTING]
    assert [token.info for token in acting] == ["tasks"] * json_tasks


@given(sessions())
def test_only_our_own_links_are_links(session: Session) -> None:
    source = Source(render_session(session))
    expected = links_in([*session.preamble, *session.all_entries()])
    found = [(link.target, link.embed) for link in find_links(source)]
    assert Counter(found) == Counter((target, embed) for target, embed in expected)
