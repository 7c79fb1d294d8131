"""Resolve links as Obsidian does, and plan the edits that a rename requires in other notes.

Paths are strings relative to the vault, with `/`.  Links resolve only to given paths, so they never lead out of the
vault.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from crucible.core.errors import NoteExists, OutsideVault
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Edit, Source, Span
from crucible.documents.markdown.wikilinks import Link, encode_target, find_links, find_property_links, parse_linktext


@dataclass(frozen=True, slots=True)
class Resolution:
    """The file to which a link points.

    If several files match, `ambiguous` is set and `path` is the shortest candidate.
    """

    path: str | None
    candidates: tuple[str, ...] = ()
    ambiguous: bool = False


NOTHING = Resolution(None)
_UNSETTLED = re.compile(r"(?:^|/)\.{0,2}(?:/|\Z)")
_HISTORY = "history/"
"""Folder of history notes, which have the same names as their sessions."""
_OUTSIDE = re.compile(r"[/\\]|[A-Za-z]:")


class LinkTable:
    """The files to which links can resolve.

    Tried in order: the exact path from the vault's root, the path from the note's folder, the end of a path.  If
    several paths have that end, the link is ambiguous.  Obsidian does not document an order, so the shortest path is
    used, then the first by name.  A session's history has the same name as the session and is used only if no other
    file matches.  Titles and aliases are never targets.  A target may omit `.md`, but no other extension.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._exact: dict[str, tuple[str, ...]] = {}
        self._named: dict[str, list[str]] = {}
        self._ends: dict[str, dict[str, tuple[str, ...]]] = {}
        for path in paths:
            key = _key(path)
            self._exact[key] = (*self._exact.get(key, ()), path)
            self._named.setdefault(key.rpartition("/")[2], []).append(path)

    def resolve(self, target: str, source: str | None = None) -> Resolution:
        """Resolve `target` in the note at the path `source`.  The target may be a link's target or its full text."""
        found = self._find(target, source or "")
        if found.path is None and "#" in target:
            found = self._find(target.partition("#")[0].rstrip(" \t"), source or "")
        return found

    def twins(self, path: str) -> tuple[str, ...]:
        """Return the known paths that are the same as this one except for case and Unicode form."""
        return self._exact.get(_key(path), ())

    def _find(self, target: str, source: str) -> Resolution:
        if not target:
            return self._exactly(source) or NOTHING
        folder = posixpath.dirname(source)
        relative = target.startswith(("./", "../"))
        path = "" if _OUTSIDE.match(target) else _normalised(posixpath.join(folder, target) if relative else target)
        if not path:
            return NOTHING
        places = [path] if relative or not folder else [path, f"{folder}/{path}"]
        found = (self._exactly(name) for place in places for name in _file_names(place))
        return next(filter(None, found), None) or (NOTHING if relative else self._by_end(path))

    def _exactly(self, path: str) -> Resolution | None:
        """Resolve a full path.  If files differ only in case, prefer the exact spelling."""
        twins = self.twins(path)
        if len(twins) > 1 and path not in twins:
            return Resolution(min(twins, key=_shortness), tuple(sorted(twins, key=_shortness)), ambiguous=True)
        return Resolution(path if len(twins) > 1 else twins[0], twins) if twins else None

    def _by_end(self, path: str) -> Resolution:
        for end in map(_key, _file_names(path)):
            name = end.rpartition("/")[2]
            named = self._named.get(name, ())
            if len(named) == 1:
                paths = tuple(named) if f"/{_key(named[0])}".endswith(f"/{end}") else ()
            else:
                paths = self._ends_of(name).get(end, ())
            if paths:
                return Resolution(paths[0], paths, len(paths) > 1)
        return NOTHING

    def _ends_of(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return the paths with this file name, grouped by each of their endings.

        Built on first use, since many files may share a name such as `README`.
        """
        if name not in self._ends:
            ends: dict[str, list[str]] = {}
            for path in sorted(self._named.get(name, ()), key=_shortness):
                for end in _path_ends(_key(path)):
                    ends.setdefault(end, []).append(path)
            self._ends[name] = {end: _without_history(paths) for end, paths in ends.items()}
        return self._ends[name]


def _without_history(paths: list[str]) -> tuple[str, ...]:
    return tuple(path for path in paths if not path.startswith(_HISTORY)) or tuple(paths)


def _key(path: str) -> str:
    """Return a path's comparison key.  Links ignore case, Unicode form and the kind of space."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFC", path.replace("\u00a0", " ").replace("\u202f", " ").lower())


def _shortness(path: str) -> tuple[int, str]:
    return len(path), path


def _path_ends(path: str) -> Iterator[str]:
    yield path
    slash = path.find("/")
    while slash >= 0:
        yield path[slash + 1 :]
        slash = path.find("/", slash + 1)


def _file_names(path: str) -> tuple[str, str]:
    """Return the file names that a path can mean.  A dot may start an extension or be part of a note's name."""
    return (path, f"{path}.md") if "." in path.rpartition("/")[2] else (f"{path}.md", path)


def _normalised(path: str) -> str:
    """Normalise `.` and `..`; return "" if the path leaves the vault or names a folder."""
    if not _UNSETTLED.search(path):
        return path
    settled = posixpath.normpath(path)
    return "" if settled in ("", ".", "..") or settled.startswith(("../", "/")) or path.endswith("/") else settled


@dataclass(frozen=True, slots=True)
class UnclearLink:
    """A link that a rename leaves unchanged: it may point to another note, or no other spelling is safe."""

    path: str
    line: int
    link: Link
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenamePlan:
    """The edits for a rename, by each note's old path.  Notes without edits are not listed."""

    edits: dict[str, list[Edit]]
    ambiguous: list[UnclearLink]


def plan_rename(sources: Mapping[str, Source], old: str, new: str, others: Iterable[str] = ()) -> RenamePlan:
    """Plan the edits that keep every link's meaning and style.  Ambiguous links are left unchanged.

    `sources` has the vault's notes by path, `others` the paths of its other files.  A link to another note is also
    edited if the rename would change its meaning: it would resolve to `new`, or it is a relative link in the moved
    note.  Raises `NoteExists` if `new` is taken, and `OutsideVault` if it is not a path in the vault.
    """
    if not new or _normalised(new) != new or _OUTSIDE.match(new):
        raise OutsideVault(f"{new!r} is not a path in the vault")
    paths = [*sources, *others]
    before, after = LinkTable(paths), LinkTable([new if path == old else path for path in paths])
    if any(path != old for path in before.twins(new)):
        raise NoteExists(f"{before.twins(new)[0]} already exists", "choose another name")
    plan = RenamePlan({}, [])
    mover = _Mover(before, after, old, new, plan)
    for path, source in sources.items():
        if "[[" in source.text or "](" in source.text:
            mover.follow_links(path, source)
    return plan


@dataclass(frozen=True, slots=True)
class _Mover:
    """The link tables before and after a rename, and the plan so far."""

    before: LinkTable
    after: LinkTable
    old: str
    new: str
    plan: RenamePlan

    def follow_links(self, path: str, source: Source) -> None:
        top = find_frontmatter(source).span
        properties = find_property_links(source, top)
        for link in [*properties, *find_links(source, top.end)]:
            meant = self.before.resolve(link.target, path) if link.target else NOTHING
            if meant.ambiguous:
                if self.old in meant.candidates:
                    self.report_unclear(path, source, link, meant.candidates)
            elif meant.path is not None:
                self.rewrite_link(path, source, link, meant.path)

    def rewrite_link(self, path: str, source: Source, link: Link, meant: str) -> None:
        """Rewrite a link if its note was renamed, or if it would otherwise resolve to another file."""
        goal = self.new if meant == self.old else meant
        home = self.new if path == self.old else path
        written = source.slice(link.target_span)
        if meant != self.old and self.resolves_to(link.target, home, goal):
            return
        raw = written if link.kind == "wiki" else link.target + (".md" if written.lower().endswith(".md") else "")
        for target in _spellings(raw, meant, goal, home):
            text = encode_target(target, written) if link.kind == "md" else target
            if self.resolves_to(target, home, goal) and _fits(text, target, source, link):
                if text != written:
                    self.plan.edits.setdefault(path, []).append(_target_edit(source, link, text, (meant, goal)))
                return
        self.report_unclear(path, source, link, (goal,))

    def resolves_to(self, target: str, home: str, goal: str) -> bool:
        found = self.after.resolve(target, home)
        return found.path == goal and not found.ambiguous

    def report_unclear(self, path: str, source: Source, link: Link, candidates: tuple[str, ...]) -> None:
        line = source.line_of(link.span.start) + 1
        self.plan.ambiguous.append(UnclearLink(path, line, link, candidates))


def _target_edit(source: Source, link: Link, text: str, paths: tuple[str, str]) -> Edit:
    """Replace a link's target, and an alias that repeats the note's old name, as in the links that Crucible writes."""
    old, new = (path.rpartition("/")[2].removesuffix(".md") for path in paths)
    bar = source.text.find("|", link.target_span.end, link.span.end)
    if link.kind != "wiki" or link.alias != old or bar < 0:
        return Edit(link.target_span, text)
    between = source.slice(Span(link.target_span.end, bar + 1))
    return Edit(Span(link.target_span.start, link.span.end - 2), f"{text}{between}{new}")


def render_target(raw: str, to: str) -> str:
    """Return `to` in the style of `raw`: with or without `.md`, and as a name or a path from the vault's root."""
    target = to if "/" in raw else to.rpartition("/")[2]
    return target if raw.lower().endswith(".md") or not to.lower().endswith(".md") else target[:-3]


def _spellings(raw: str, meant: str, goal: str, home: str) -> Iterator[str]:
    """Yield link targets for `goal`, the one closest to the author's style first."""
    if raw.startswith(("./", "../")):
        yield render_target(raw, f"{raw.rpartition('/')[0]}/{goal.rpartition('/')[2]}")
        relative = posixpath.relpath(goal, posixpath.dirname(home) or ".")
        yield render_target(raw, relative if relative.startswith("../") else f"./{relative}")
    elif 0 < raw.count("/") < meant.count("/"):
        yield render_target(raw, "/".join(goal.split("/")[-1 - raw.count("/") :]))
    else:
        yield render_target(raw, goal)
    whole_path = "x/x.md" if raw.lower().endswith(".md") else "x/x"
    yield render_target(whole_path, goal)
    yield goal


def _fits(text: str, target: str, source: Source, link: Link) -> bool:
    """Return whether the new text, in the link's surroundings, parses as the target."""
    if link.kind == "md":
        return True
    before = source.text[link.span.start - 1 : link.span.start]
    quoted = (before == "'" and "'" in text) or (before == '"' and re.search(r'["\\]', text))
    plain = not re.search(r"[\r\n]|\[\[|\]\]|^\[|[\[\]\\]$|%%", text)
    return plain and not quoted and parse_linktext(text).target in (target, target[:-3])
