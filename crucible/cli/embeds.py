"""What a shown note embeds, followed once.

Owns the walk from a note to the notes in its `![[…]]`.  How they look is in `terminal.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crucible.commands.check.check_vault import Finding, is_attachment
from crucible.core.errors import CrucibleError
from crucible.documents.markdown.source import Problem
from crucible.documents.markdown.wikilinks import Link, find_links
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Note, Vault

_DEEPEST = 8
"""Each level is drawn inside the last one; deeper ones would have no width left."""


@dataclass(frozen=True, slots=True)
class View:
    """A note and, by line counted from 0, what it embeds there: a view, or why there is none."""

    note: Note
    heading: str = ""
    embeds: Mapping[int, tuple[View | str, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class _Walk:
    vault: Vault
    links: LinkTable
    seen: set[Path] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)

    def view(self, note: Note, heading: str, above: tuple[Path, ...]) -> View:
        self.seen.add(note.path)
        self.findings += [Finding(note.path, p) for p in note.session.problems]
        here = (*above, note.path)
        embeds: dict[int, tuple[View | str, ...]] = {}
        for link in find_links(note.source):
            if link.embed and link.target and not is_attachment(link):
                line = note.source.line_of(link.span.start)
                embeds[line] = (*embeds.get(line, ()), self.follow(note, link, line, here))
        return View(note, heading, embeds)

    def follow(self, note: Note, link: Link, line: int, here: tuple[Path, ...]) -> View | str:
        name = self.links.resolve(link.target, self.vault.relative(note.path)).path
        if name is None:
            return self.report(note, line, "broken-embed", f"no note for ![[{link.target}]]")
        found = self.vault.root / name
        if found in here:
            return self.report(note, line, "embed-cycle", f"![[{link.target}]] leads back to what it is in")
        if found in self.seen:
            return f"{found.stem} is shown above"
        if len(here) > _DEEPEST:
            return self.report(
                note, line, "embed-too-deep", f"![[{link.target}]] lies more than {_DEEPEST} embeds deep"
            )
        try:
            return self.view(self.vault.read(found), link.subpath or "", here)
        except CrucibleError as error:
            return self.report(note, line, "unreadable-embed", str(error))

    def report(self, note: Note, line: int, code: str, message: str) -> str:
        self.findings.append(Finding(note.path, Problem(code, line + 1, message)))
        return message


def expand(vault: Vault, links: LinkTable, note: Note) -> tuple[View, list[Finding]]:
    """The note with everything it embeds, each note once, and every problem met on the way."""
    walk = _Walk(vault, links)
    return walk.view(note, "", ()), walk.findings
