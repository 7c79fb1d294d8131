"""Every problem of session notes, as findings; changes nothing.

Owns what only several notes together show: broken and ambiguous links, ids that two notes share or that are not the
file's name, subagents and parents that do not name each other.  What one note shows by itself was found by
`session.reading`.

Codes made here: `unreadable-note`, `unreadable-folder`, `broken-link`, `ambiguous-link`, `id-not-file-name`,
`duplicate-id`, `duplicate-source`, `subagent-without-parent`, `parent-without-subagent`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from crucible.core.errors import CrucibleError
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter
from crucible.documents.markdown.source import Problem, Span
from crucible.documents.markdown.wikilinks import Link, find_links, find_property_links
from crucible.documents.session.session import Session, Subagent
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Note, Vault

_ATTACHMENTS = {
    *(
        "avif",
        "bmp",
        "gif",
        "jpeg",
        "jpg",
        "png",
        "svg",
        "webp",
        "pdf",
        "base",
        "canvas",
        "css",
        "csv",
        "txt",
    ),
    *("3gp", "flac", "m4a", "mp3", "ogg", "wav", "mkv", "mov", "mp4", "ogv", "webm"),
}
"""Files that Obsidian embeds and that are no notes; the table of links does not hold them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem and the note it is in."""

    path: Path
    problem: Problem


def link_table(vault: Vault) -> LinkTable:
    """Every note of the vault, by its path seen from the root."""
    return LinkTable(map(vault.relative, vault.note_paths()))


def check_sessions(vault: Vault, paths: Sequence[Path] = ()) -> list[Finding]:
    """Everything wrong with these notes, or with all session notes; by path, then by line.

    All session notes are read in any case: a shared id and a missing parent show in another note.
    """
    findings: list[Finding] = []

    def folder_unreadable(error: CrucibleError) -> None:
        findings.append(Finding(vault.sessions, Problem("unreadable-folder", 1, str(error))))

    every = dict.fromkeys([*vault.session_paths(folder_unreadable), *paths])
    links = link_table(vault)
    members: dict[str, _Member] = {}
    for at, note in _read_all(vault, every, findings):
        members[at] = _Member.of(note)
        if not paths or note.path in paths:
            findings += [Finding(note.path, problem) for problem in _own_problems(at, note, links)]
    kin = _Kin.of(members, links)
    for at, member in members.items():
        findings += [Finding(member.path, problem) for problem in _shared_problems(at, member, kin)]
    wanted = {f for f in findings if not paths or f.path in paths}
    return sorted(wanted, key=lambda f: (f.path, f.problem.line, f.problem.code, f.problem.message))


def _read_all(vault: Vault, paths: Iterable[Path], findings: list[Finding]) -> Iterator[tuple[str, Note]]:
    """Each readable note with its path as links see it."""
    for path in paths:
        try:
            yield vault.relative(path), vault.read(path)
        except CrucibleError as error:
            findings.append(Finding(path, Problem("unreadable-note", 1, str(error))))


@dataclass(frozen=True, slots=True)
class _Member:
    """What of a note concerns other notes; all of these are kept, the notes themselves one at a time."""

    path: Path
    name: str
    id: str
    parent: str | None
    children: tuple[str, ...]
    sources: tuple[str, ...]
    id_line: int
    sources_line: int
    parent_line: int

    @classmethod
    def of(cls, note: Note) -> _Member:
        session, properties = note.session, find_frontmatter(note.source)
        return cls(
            note.path,
            note.name,
            session.id,
            session.parent,
            tuple(dict.fromkeys(_subagent_targets(session))),
            tuple(dict.fromkeys(session.sources)),
            _key_line(note, properties, "session_id"),
            _key_line(note, properties, "sources"),
            _key_line(note, properties, "parent"),
        )


@dataclass(frozen=True, slots=True)
class _Kin:
    """Who names whom, by paths seen from the vault.

    Notes of an id, notes of a source, notes that name one as their subagent, parents.
    """

    by_id: Mapping[str, Sequence[str]]
    by_source: Mapping[str, Sequence[str]]
    named_by: Mapping[str, Sequence[str]]
    parent: Mapping[str, str | None]

    @classmethod
    def of(cls, members: Mapping[str, _Member], links: LinkTable) -> _Kin:
        by_id: defaultdict[str, list[str]] = defaultdict(list)
        by_source: defaultdict[str, list[str]] = defaultdict(list)
        named_by: defaultdict[str, list[str]] = defaultdict(list)
        parent: dict[str, str | None] = {}
        for at, member in members.items():
            for name in {member.id, member.name}:
                by_id[name].append(at)
            for source in member.sources:
                by_source[source].append(at)
            for child in {links.resolve(t, at).path for t in member.children} - {None}:
                named_by[child or ""].append(at)
            parent[at] = links.resolve(member.parent, at).path if member.parent else None
        return cls(by_id, by_source, named_by, parent)


def _subagent_targets(session: Session) -> Iterator[str]:
    yield from (ref.session for ref in session.subagents if ref.session)
    yield from (e.link for e in session.all_entries() if isinstance(e, Subagent) and e.link)


def _own_problems(at: str, note: Note, links: LinkTable) -> Iterator[Problem]:
    yield from note.session.problems
    yield from _link_problems(at, note, find_frontmatter(note.source), links)


def _shared_problems(at: str, member: _Member, kin: _Kin) -> Iterator[Problem]:
    yield from _id_problems(at, member, kin)
    yield from _kin_problems(at, member, kin)


def _id_problems(at: str, member: _Member, kin: _Kin) -> Iterator[Problem]:
    if member.id != member.name:
        yield Problem(
            "id-not-file-name",
            member.id_line,
            f"session_id is {member.id!r}, the file is called {member.name!r}",
        )
    for name in sorted({member.id, member.name}):
        others = [other for other in kin.by_id[name] if other != at]
        if others:
            yield Problem("duplicate-id", member.id_line, f"{name!r} is the id of {', '.join(others)} too")
    for source in member.sources:
        others = [other for other in kin.by_source[source] if other != at]
        if others:
            said = f"{source!r} is a source of {', '.join(others)} too"
            yield Problem("duplicate-source", member.sources_line, said)


def _link_problems(at: str, note: Note, properties: Frontmatter, links: LinkTable) -> Iterator[Problem]:
    span = properties.span if properties.present else Span(0, 0)
    # Looking for what hides links costs half of a check; most notes of work hold none.
    text = note.source.text
    linked = text.find("[[", span.end) >= 0 or text.find("](", span.end) >= 0
    body_links = find_links(note.source, span.end) if linked else []
    for link in [*find_property_links(note.source, span), *body_links]:
        # In a note of the first format a link such as `[a](b)` is an agent's own word.
        if not link.target or (link.kind == "md" and format_of(properties.values) < FORMAT):
            continue
        line = note.source.line_of(link.span.start) + 1
        found = links.resolve(link.target, at)
        if found.ambiguous:
            yield Problem("ambiguous-link", line, f"[[{link.target}]] could be any of {', '.join(found.candidates)}")
        elif found.path is None and not is_attachment(link):
            yield Problem("broken-link", line, f"no note for [[{link.target}]]")


def is_attachment(link: Link) -> bool:
    """It leads to a picture or another file that is no note."""
    return PurePosixPath(link.target).suffix.lower()[1:] in _ATTACHMENTS


def _kin_problems(at: str, member: _Member, kin: _Kin) -> Iterator[Problem]:
    named_by, above = kin.named_by.get(at, ()), kin.parent[at]
    if named_by and not member.parent:
        yield Problem("subagent-without-parent", 1, f"{named_by[0]} names this its subagent; it names no parent")
    elif above in kin.parent and above not in named_by:
        yield Problem(
            "parent-without-subagent",
            member.parent_line,
            f"its parent {above} does not name it as a subagent",
        )


def _key_line(note: Note, properties: Frontmatter, key: str) -> int:
    """The line of a frontmatter key, counted from 1; the first line when the note has no such key."""
    span = properties.keys.get(key)
    return note.source.line_of(span.start) + 1 if span else 1
