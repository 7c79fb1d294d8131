"""The fixes of notes from older versions: escapes, names of histories, links without a folder, properties; and files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

from crucible.commands.learn.case_notes import STAMP, STAMP_BESIDES, is_case, without_origin
from crucible.core import files
from crucible.core.errors import CrucibleError, EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.knowledge.item_notes import read_item
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter
from crucible.documents.markdown.source import NOWHERE, Edit, Source, apply_edits
from crucible.documents.markdown.wikilinks import Link, find_links, find_property_links
from crucible.documents.session.property_upgrade import migrate, upgrade_properties
from crucible.documents.session.session import NoteHome, Subagent
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.task_edits import convert_tasks, is_task_list, set_boxes
from crucible.integrations.doctor.fixes import NOTHING, Fix, FixContext, NoteFix
from crucible.memory.history.history_folder import HISTORY, SUFFIX
from crucible.memory.history.history_notes import is_history, marks_comment_edits, read_entry
from crucible.vault.notes.init_vault import missing_obsidian_files, obsidian_text
from crucible.vault.notes.links import plan_rename
from crucible.vault.notes.note_folder import is_stamped, replacement, stamped
from crucible.vault.notes.note_homes import project_target
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import CASES, KNOWLEDGE, WORKFLOWS, note_name

_NO_TARGET = late_pattern(r"[\[\]|#^\\\x00-\x1f]|%%")
_Reader = Callable[[Source], object]


def _folder(context: FixContext, note: Note) -> str:
    """The part of the vault that a note is in: `sessions`, `history` …, or "" for a note of the user's own."""
    if note.path.is_relative_to(context.vault.sessions):
        return "sessions"
    top = context.vault.relative(note.path).partition("/")[0]
    return top if top in (HISTORY, KNOWLEDGE, CASES, WORKFLOWS) else ""


# --- format ----------------------------------------------------------------------------------------------------------

_READERS: Mapping[str, _Reader] = {
    "sessions": lambda source: read_session(source, ""),
    HISTORY: lambda source: read_entry(source).entry,
    KNOWLEDGE: lambda source: read_item(source, "").item,
}


def _find_format(context: FixContext, note: Note) -> NoteFix:
    read = _READERS.get(_folder(context, note))
    found = find_frontmatter(note.source) if read else None
    is_ours = found and found.present and not found.problems and "type" in found.values
    if read is None or found is None or not is_ours or format_of(found.values) >= FORMAT:
        return NOTHING
    edits = migrate(note.source)
    new = apply_edits(note.source, edits)
    if edits and "<%" not in new.text and read(new) == read(note.source):
        return NoteFix(edits)
    what = "the conversion would change its meaning or leave `<%` in it"
    return NoteFix(reason=f"{what}; escape it by hand, then add `format: {FORMAT}`")


# --- names of histories ----------------------------------------------------------------------------------------------


def _find_history_name(context: FixContext, note: Note) -> NoteFix:
    if _folder(context, note) != HISTORY or note.path.parent != context.vault.root / HISTORY:
        return NOTHING
    values = find_frontmatter(note.source).values
    if not is_history(values):
        return NOTHING
    edits = marks_comment_edits(note.source)
    if values.get("session_id") != note.name or note.name.endswith(SUFFIX):
        return NoteFix(edits)
    target = f"{HISTORY}/{note.name}{SUFFIX}.md"
    if context.links.twins(target):
        return NoteFix(reason=f"{target} already exists")
    return NoteFix(edits, target)


# --- links -----------------------------------------------------------------------------------------------------------

_OURS = {
    "sessions": frozenset({"subagent_logs", "parent", "continues", "continued_by"}),
    KNOWLEDGE: frozenset({"session", "phase", "also_from", "merged"}),
    CASES: frozenset({"session"}),
    WORKFLOWS: frozenset({"sessions"}),
    HISTORY: frozenset[str](),
}
"""The properties with links that we write, by folder."""


def _find_links(context: FixContext, note: Note) -> NoteFix:
    folder = _folder(context, note)
    source = note.source
    if not folder or all(map(partial(_is_whole, context), _TARGET.findall(source.text))):
        return NOTHING
    found = find_frontmatter(source)
    if not found.present or found.problems:
        return NOTHING
    at = context.vault.relative(note.path)
    edits = [edit for link in _our_links(note, folder, found) if (edit := _link_edit(context, link, at))]
    if not edits:
        return NOTHING
    if folder == CASES and is_case(found) and is_stamped(source, STAMP, STAMP_BESIDES, without_origin, found):
        text = stamped(apply_edits(source, edits).text, STAMP, STAMP_BESIDES, without_origin)
        return NoteFix(replacement(source, text))
    return NoteFix(edits)


_TARGET = late_pattern(r"\[\[([^\[\]|#\r\n]*)")


def _is_whole(context: FixContext, target: str) -> bool:
    """Return whether a link's target is the path of a note; checked before the note is parsed, which takes longer."""
    return "/" in target and bool(context.links.twins(f"{target}.md"))


def _our_links(note: Note, folder: str, found: Frontmatter) -> Iterator[Link]:
    """Yield the links that Crucible wrote; links in a user's text are theirs."""
    source = note.source
    spans = [found.keys[key] for key in _OURS[folder] if key in found.keys]
    for link in find_property_links(source, found.span):
        if any(span.start <= link.span.start < span.end for span in spans):
            yield link
    if folder == "sessions" and "[!subagent]" in source.text.lower():
        yield from _callout_links(note, found)
    elif folder in (CASES, HISTORY):
        for link in find_links(source, found.span.end):
            line = source.line_of(link.span.start)
            if source.lines[line].startswith("From [["):
                yield link
                return


def _callout_links(note: Note, found: Frontmatter) -> Iterator[Link]:
    """Yield the first link of each subagent's callout that leads to the subagent."""
    callouts = [e for e in note.session.all_entries() if isinstance(e, Subagent) and e.link]
    links = find_links(note.source, found.span.end) if callouts else []
    for entry in callouts:
        name = (entry.link or "").removesuffix(".md").rpartition("/")[2]
        inside = (link for link in links if entry.lines.first <= note.source.line_of(link.span.start) < entry.lines.end)
        yield from islice((link for link in inside if link.target.rpartition("/")[2] == name), 1)


def _link_edit(context: FixContext, link: Link, at: str) -> Edit | None:
    """Return the edit that gives a link its folder; None if it has the right one, or if its note is not clear."""
    if link.kind != "wiki" or not link.target:
        return None
    found = context.links.resolve(link.target, at)
    if found.path is None and "/" in link.target:
        found = context.links.resolve(link.target.rpartition("/")[2], at)
    if found.path is None or found.ambiguous or not found.path.endswith(".md"):
        return None
    target = found.path.removesuffix(".md")
    name = posixpath.basename(target)
    if "/" not in target or _NO_TARGET.search(target):
        return None
    alias = link.alias or ("" if link.subpath else name)
    new = f"{'!' if link.embed else ''}[[{target}{f'#{link.subpath}' if link.subpath else ''}{f'|{alias}' if alias else ''}]]"
    return None if link.target == target else Edit(link.span, new)


# --- properties ------------------------------------------------------------------------------------------------------


def _find_properties(context: FixContext, note: Note) -> NoteFix:
    if _folder(context, note) != "sessions":
        return NOTHING
    project = find_frontmatter(note.source).values.get("project")
    home = NoteHome(zone=context.zone, project=_project(context, project) if isinstance(project, str) else "")
    upgrade = upgrade_properties(note.source, note.name, home)
    return NoteFix(upgrade.edits, reason=upgrade.reason)


def _project(context: FixContext, project: str) -> str:
    if project not in context.projects:
        context.projects[project] = project_target(context.vault, project)
    return context.projects[project]


# --- tasks -----------------------------------------------------------------------------------------------------------


def _find_tasks(context: FixContext, note: Note) -> NoteFix:
    if _folder(context, note) != "sessions" or note.session.tasks_lines is NOWHERE:
        return NOTHING
    source, session = note.source, note.session
    try:
        if (
            context.vault.settings.task_form == "list"
            and session.format >= FORMAT
            and not is_task_list(source, session)
        ):
            return NoteFix(convert_tasks(source, session))
        return NoteFix(set_boxes(source, session))
    except EditRefused as error:
        return NoteFix(reason=str(error))


# --- files for Obsidian ------------------------------------------------------------------------------------------------


def _obsidian_files(context: FixContext) -> dict[str, bytes]:
    vault = context.vault
    return {name: obsidian_text(name, vault.settings).encode() for name in missing_obsidian_files(vault.root)}


FIXES: tuple[Fix, ...] = (
    Fix(
        "format",
        "in an older format, in which plugins can act on agents' text",
        "every note has the current format",
        _find_format,
    ),
    Fix(
        "history-names",
        "named like the session, or with markers that GitHub shows",
        "every history has its own name",
        _find_history_name,
        move=lambda context, moves: move_notes(context.vault, moves),
    ),
    Fix(
        "links",
        "with links that have no folder or a wrong one",
        "every link that Crucible wrote has a folder",
        _find_links,
    ),
    Fix(
        "properties",
        "without the properties for Obsidian, or with bookkeeping among them",
        "every session has the current properties",
        _find_properties,
    ),
    Fix(
        "tasks",
        "with tasks as JSON, or with checkboxes for open tasks of an ended session",
        "every task list has the checkboxes that Obsidian shows",
        _find_tasks,
    ),
    Fix(
        "obsidian",
        "for Obsidian missing: tables, a start note or colors",
        "the files for Obsidian exist",
        files=_obsidian_files,
    ),
)
"""What can be fixed, in the order in which `--fix all` does it."""


def move_notes(vault: Vault, moves: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Move notes, given as old and new path in the vault; yield each old path with the reason if it was not moved.

    Links are changed before the note moves, so that an interrupted run can be repeated.
    """
    notes: dict[str, Source] = {}
    for path in vault.note_paths():
        try:
            notes[vault.relative(path)] = vault.read(path).source
        except CrucibleError:
            notes[vault.relative(path)] = Source("")  # it keeps its links
    for old, new in moves:
        try:
            _move(vault, notes, old, new)
        except CrucibleError as error:
            yield old, str(error)
        else:
            yield old, ""


def _move(vault: Vault, notes: dict[str, Source], old: str, new: str) -> None:
    name = note_name(old.rpartition("/")[2])
    near = {at: source for at, source in notes.items() if at == old or name in source.text}
    plan = plan_rename(near, old, new, [at for at in notes if at not in near])
    for at, edits in plan.edits.items():

        def planned(note: Note, at: str = at, edits: Sequence[Edit] = edits) -> Sequence[Edit]:
            if note.source == notes[at]:
                return edits
            return plan_rename({at: note.source}, old, new, [one for one in notes if one != at]).edits.get(at, ())

        notes[at] = vault.update(vault.root / at, planned).source
    paths = vault.root / old, vault.root / new
    with vault.locked(paths[0]), vault.locked(paths[1]):
        files.move_exclusive(*paths, fsync=vault.settings.fsync)
        vault.touched |= set(paths)
    notes[new] = notes.pop(old)
