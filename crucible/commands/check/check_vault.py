"""Check session notes and report their problems, such as broken links and duplicate ids. Changes nothing.

Codes reported: `unreadable-note`, `unreadable-folder`, `broken-link`, `ambiguous-link`, `id-not-file-name`,
`duplicate-id`, `duplicate-source`, `subagent-without-parent`, `parent-without-subagent`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from crucible.core.batches import Run, work_in_batches
from crucible.core.errors import CrucibleError
from crucible.core.named_tuples import NamedTuple
from crucible.core.pickled_values import ValueTypes
from crucible.core.processes import Workers
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter
from crucible.documents.markdown.source import Problem, Span
from crucible.documents.markdown.wikilinks import Link, find_links, find_property_links
from crucible.documents.session.session import Session, Subagent
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Note, Vault

_IMAGES = ("avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp")
_MEDIA = ("3gp", "flac", "m4a", "mp3", "ogg", "wav", "mkv", "mov", "mp4", "ogv", "webm")
_ATTACHMENTS = {*_IMAGES, *_MEDIA, "pdf", "base", "canvas", "css", "csv", "txt"}
"""Suffixes of files that Obsidian embeds. They are not notes, so the link table does not include them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem and the note that contains it."""

    path: Path
    problem: Problem


def link_table(vault: Vault) -> LinkTable:
    """Return a table of every note in the vault, by path relative to the root."""
    return LinkTable(map(vault.relative, vault.note_paths()))


def check_sessions(vault: Vault, paths: Sequence[Path] = (), workers: Workers | None = None) -> list[Finding]:
    """Return the problems in these notes, or in all session notes, sorted by path and line.

    All session notes are read in any case, since a duplicate id or a missing parent can only be found in other notes.
    They are read in this process, or by `workers`.
    """
    findings: list[Finding] = []

    def folder_unreadable(error: CrucibleError) -> None:
        findings.append(Finding(vault.sessions, Problem("unreadable-folder", 1, str(error))))

    every = dict.fromkeys([*vault.session_paths(folder_unreadable), *paths])
    links = link_table(vault)
    relations: dict[str, _Relations] = {}
    for checked in _checked(vault, [*every], paths, workers):
        if checked.relations:
            relations[checked.at] = checked.relations
        problems = [*checked.problems, *_link_problems(checked, links)]
        findings += [Finding(vault.root / checked.at, problem) for problem in problems]
    references = _References.of(relations, links)
    for at, one in relations.items():
        problems = [*_id_problems(at, one, references), *_parent_problems(at, one, references)]
        findings += [Finding(vault.root / at, problem) for problem in problems]
    requested = {f for f in findings if not paths or f.path in paths}
    place = {path: at for at, path in enumerate(sorted({f.path for f in requested}))}  # comparing paths is slow
    return sorted(requested, key=lambda f: (place[f.path], f.problem.line, f.problem.code, f.problem.message))


@dataclass(frozen=True, slots=True)
class _Relations:
    """The parts of a note that other notes refer to. Kept for all notes, although notes are read one at a time."""

    name: str
    id: str
    parent: str | None
    children: tuple[str, ...]
    sources: tuple[str, ...]
    id_line: int
    sources_line: int
    parent_line: int

    @classmethod
    def of(cls, note: Note, properties: Frontmatter) -> _Relations:
        session = note.session
        return cls(
            note.name,
            session.id,
            session.parent,
            tuple(dict.fromkeys(_subagent_targets(session))),
            tuple(dict.fromkeys(session.sources)),
            _key_line(note, properties, "session_id"),
            _key_line(note, properties, "sources"),
            _key_line(note, properties, "parent"),
        )


class _PlacedLink(NamedTuple):
    """A link in a note: its target, its line, and whether that may be a file that the link table does not have."""

    target: str
    line: int
    is_attachment: bool


class _Checked(NamedTuple):
    """What one note says about others, None if it cannot be read, its links, and its own problems.

    It depends on nothing but the note. `at` is the note's path in the vault.
    """

    at: str
    relations: _Relations | None
    links: tuple[_PlacedLink, ...]
    problems: tuple[Problem, ...]


_VALUES = ValueTypes(
    {__name__: {"_Checked", "_PlacedLink", "_Relations"}, "crucible.documents.markdown.source": {"Problem"}},
    expected=list[_Checked],
)


def _checked(vault: Vault, paths: Sequence[Path], only: Sequence[Path], workers: Workers | None) -> Iterator[_Checked]:
    """Yield what each note says; its links and problems if it is among `only` or that is empty."""
    if workers is None:
        yield from (_check_note(vault, path, own=not only or path in only) for path in paths)
        return
    run = Run(vault.root, "check", partial(_checker, vault.settings), _VALUES, workers)
    for some in work_in_batches(run, paths):
        yield from some


def _checker(settings: VaultSettings, root: Path) -> Callable[[Sequence[Path]], list[_Checked]]:
    vault = Vault(root, settings)
    return lambda paths: [_check_note(vault, path) for path in paths]


def _check_note(vault: Vault, path: Path, *, own: bool = True) -> _Checked:
    at = vault.relative(path)
    try:
        note = vault.read(path)
        relations = _Relations.of(note, find_frontmatter(note.source))
    except CrucibleError as error:
        return _Checked(at, None, (), (Problem("unreadable-note", 1, str(error)),))
    if not own:
        return _Checked(at, relations, (), ())
    return _Checked(at, relations, tuple(_links(note)), tuple(note.session.problems))


@dataclass(frozen=True, slots=True)
class _References:
    """How notes refer to each other, by paths relative to the vault's root.

    `by_id` and `by_source` map ids and sources to notes, `named_by` maps a note to those that list it as their
    subagent, and `parent` maps a note to its parent.
    """

    by_id: Mapping[str, Sequence[str]]
    by_source: Mapping[str, Sequence[str]]
    named_by: Mapping[str, Sequence[str]]
    parent: Mapping[str, str | None]

    @classmethod
    def of(cls, relations: Mapping[str, _Relations], links: LinkTable) -> _References:
        by_id: defaultdict[str, list[str]] = defaultdict(list)
        by_source: defaultdict[str, list[str]] = defaultdict(list)
        named_by: defaultdict[str, list[str]] = defaultdict(list)
        parent: dict[str, str | None] = {}
        for at, one in relations.items():
            for name in {one.id, one.name}:
                by_id[name].append(at)
            for source in one.sources:
                by_source[source].append(at)
            for child in {links.resolve(t, at).path for t in one.children} - {None}:
                named_by[child or ""].append(at)
            parent[at] = links.resolve(one.parent, at).path if one.parent else None
        return cls(by_id, by_source, named_by, parent)


def _subagent_targets(session: Session) -> Iterator[str]:
    yield from (ref.session for ref in session.subagents if ref.session)
    yield from (e.link for e in session.all_entries() if isinstance(e, Subagent) and e.link)


def _id_problems(at: str, one: _Relations, references: _References) -> Iterator[Problem]:
    if one.id != one.name:
        yield Problem(
            "id-not-file-name",
            one.id_line,
            f"session_id is {one.id!r}, but the file is named {one.name!r}",
        )
    for name in sorted({one.id, one.name}):
        others = [other for other in references.by_id[name] if other != at]
        if others:
            yield Problem("duplicate-id", one.id_line, f"{name!r} is also the id of {', '.join(others)}")
    for source in one.sources:
        others = [other for other in references.by_source[source] if other != at]
        if others:
            message = f"{source!r} is also a source of {', '.join(others)}"
            yield Problem("duplicate-source", one.sources_line, message)


def _links(note: Note) -> Iterator[_PlacedLink]:
    """Yield a note's links to other notes."""
    properties = find_frontmatter(note.source)
    span = properties.span if properties.present else Span(0, 0)
    # Parsing the syntax that hides links takes half the time of a check, and most session notes have no links.
    text = note.source.text
    linked = text.find("[[", span.end) >= 0 or text.find("](", span.end) >= 0
    body_links = find_links(note.source, span.end) if linked else []
    for link in [*find_property_links(note.source, span), *body_links]:
        # In notes of the first format, a link such as `[a](b)` is text from an agent.
        if link.target and (link.kind != "md" or format_of(properties.values) >= FORMAT):
            yield _PlacedLink(link.target, note.source.line_of(link.span.start) + 1, is_attachment(link))


def _link_problems(checked: _Checked, links: LinkTable) -> Iterator[Problem]:
    for link in checked.links:
        found = links.resolve(link.target, checked.at)
        if found.ambiguous:
            message = f"[[{link.target}]] could be any of {', '.join(found.candidates)}"
            yield Problem("ambiguous-link", link.line, message)
        elif found.path is None and not link.is_attachment:
            yield Problem("broken-link", link.line, f"no note for [[{link.target}]]")


def is_attachment(link: Link) -> bool:
    """True if the link points to a picture or another file that is not a note."""
    return "." in link.target and PurePosixPath(link.target).suffix.lower()[1:] in _ATTACHMENTS


def _parent_problems(at: str, one: _Relations, references: _References) -> Iterator[Problem]:
    named_by, parent = references.named_by.get(at, ()), references.parent[at]
    if named_by and not one.parent:
        yield Problem(
            "subagent-without-parent", 1, f"{named_by[0]} lists this note as a subagent, but this note has no `parent`"
        )
    elif parent in references.parent and parent not in named_by:
        yield Problem(
            "parent-without-subagent",
            one.parent_line,
            f"its parent {parent} does not list it as a subagent",
        )


def _key_line(note: Note, properties: Frontmatter, key: str) -> int:
    """Return the line of a property, counted from 1; 1 if the note does not have the key."""
    span = properties.keys.get(key)
    if span:
        return note.source.line_of(span.start) + 1
    lines = range(*note.session.bookkeeping_lines)
    return next((at + 1 for at in lines if note.source.lines[at].startswith(f"{key}:")), 1)
