"""The history of a session as values, and a function that shortens the paths in its text.

All text is in single lines, so that a user can edit or delete an item by its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line

LONGEST = 1000
"""Maximum characters of a line; the full text is in the session's note."""
MOST_CAPTURES = 5
"""Maximum number of captures shown in a history: approved ones first, then suggested, then skipped ones."""
WHY = "Why: "
"""The prefix of the sub-point with an item's reason."""
_LONGEST_VALUE = 400
_READ = 8 * LONGEST
"""Maximum characters of a text to search for paths and secrets."""

HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        "request": "Request",
        "done": "What We Did",
        "decisions": "Decisions Made",
        "corrections": "Corrections",
        "failures": "What Failed",
        "questions": "Open Questions",
        "further": "Next Session",
    }
)
"""The sections of an entry, in order, and their level-2 headings."""


class HistoryLine(NamedTuple):
    """An item in a section: its text, its reason ("" if unknown), its sub-points, and the id of its origin.

    `finding` is a finding's id, or for example `task-3`; "" for a line that a user wrote.  It is not shown in the note.
    """

    text: str
    why: str = ""
    points: tuple[str, ...] = ()
    finding: str = ""


class Capture(NamedTuple):
    """A proposed knowledge item: type, id ("" if not stored), summary, and the finding that it was made from."""

    type: str
    id: str = ""
    summary: str = ""
    finding: str = ""


class Captures(NamedTuple):
    """Proposals by the user's answer; `suggested` ones have no answer yet."""

    suggested: tuple[Capture, ...] = ()
    approved: tuple[Capture, ...] = ()
    skipped: tuple[Capture, ...] = ()

    def joined(self, later: Captures) -> Captures:
        """Merge with later captures, without duplicates.  Approvals win; answered captures are no longer suggested."""
        approved = {_known(one): one for one in (*self.approved, *later.approved)}
        skipped = {_known(one): one for one in (*self.skipped, *later.skipped) if _known(one) not in approved}
        answered = approved.keys() | skipped.keys()
        open_ = {_known(one): one for one in (*self.suggested, *later.suggested) if _known(one) not in answered}
        return Captures(*(tuple(group.values()) for group in (open_, approved, skipped)))


def _known(one: Capture) -> tuple[str, str]:
    """Return the key of a capture: its type, and its summary without case and spacing, or else its id."""
    return one.type, " ".join(one.summary.casefold().split()) or one.id


NO_CAPTURES = Captures()


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """The history of one session.

    Times are in UTC, in whole seconds.  `agent` is `name@version`.  Tasks begin with their ids in the session.  Files
    are relative to the project.  `author` is the model that wrote the note, in notes of older versions.  The sections
    are those in `HEADINGS`.
    """

    session_id: str
    title: str = ""
    project: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    duration_minutes: int | None = None
    agent: str = ""
    skills: tuple[str, ...] = ()
    tasks_completed: tuple[str, ...] = ()
    tasks_started: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    captures: Captures = NO_CAPTURES
    tokens: int | None = None
    author: str = ""
    request: tuple[HistoryLine, ...] = ()
    done: tuple[HistoryLine, ...] = ()
    decisions: tuple[HistoryLine, ...] = ()
    corrections: tuple[HistoryLine, ...] = ()
    failures: tuple[HistoryLine, ...] = ()
    questions: tuple[HistoryLine, ...] = ()
    further: tuple[HistoryLine, ...] = ()


TEXTS = ("session_id", "title", "project", "agent", "author")
LISTS = ("skills", "tasks_completed", "tasks_started", "files_modified")
_TASKS = ("tasks_completed", "tasks_started")
PROPERTIES = tuple(one.name for one in fields(HistoryEntry) if one.name not in HEADINGS)
"""The fields of an entry that are not sections, in the order of the note's properties."""


def lines_of(entry: HistoryEntry, part: str) -> tuple[HistoryLine, ...]:
    """Return the lines of the section `part`, a key of `HEADINGS`."""
    lines: tuple[HistoryLine, ...] = getattr(entry, part)
    return lines


def with_lines(
    entry: HistoryEntry, change: Callable[[str, tuple[HistoryLine, ...]], Iterable[HistoryLine]]
) -> HistoryEntry:
    """Replace the lines of each section with `change(section, lines)`."""
    parts: dict[str, Any] = {part: tuple(change(part, lines_of(entry, part))) for part in HEADINGS}
    return replace(entry, **parts)


_BOLD = late_pattern(r"\*\*([^*]+)\*\*( \([^()*]*\))?")


def tidy_line(line: HistoryLine) -> HistoryLine:
    """Return the line without Markdown emphasis, cut to the limits; its text is "" if nothing is left."""
    text = _cut(line.text, LONGEST)
    while bold := _BOLD.fullmatch(text):
        text = _cut(bold[1] + (bold[2] or ""), LONGEST)
    points = [point for one in line.points if (point := _cut(one, LONGEST))]
    whys = [line.why, *(one.removeprefix(WHY) for one in points if one.startswith(WHY))]
    kept = tuple(one for one in points if not one.startswith(WHY))
    return HistoryLine(text, _cut(" ".join(filter(None, whys)), LONGEST), kept, line.finding)


def tidy_entry(entry: HistoryEntry) -> HistoryEntry:
    """Return the entry with text in single lines of limited length, without empty or duplicate items."""
    short: dict[str, Any] = {name: _value(getattr(entry, name)) for name in TEXTS}
    if short["title"] == short["session_id"]:
        short["title"] = ""
    short |= {name: tuple(dict.fromkeys(filter(None, map(_value, getattr(entry, name))))) for name in LISTS}
    return with_lines(
        replace(
            entry,
            started=entry.started and entry.started.replace(microsecond=0),
            ended=entry.ended and entry.ended.replace(microsecond=0),
            captures=Captures(*(_captures(group) for group in entry.captures)),
            **short,
        ),
        lambda _, lines: _lines(lines),
    )


def shortened_entry(entry: HistoryEntry, shorten: Callable[[str], str]) -> HistoryEntry:
    """Apply `shorten`, which removes paths or secrets, to all text in the entry."""

    def short(text: str) -> str:
        return shorten(text[:_READ]) if text else ""

    shown = with_lines(
        entry,
        lambda _, lines: (
            HistoryLine(short(one.text), short(one.why), tuple(map(short, one.points)), one.finding) for one in lines
        ),
    )
    values: dict[str, Any] = {name: tuple(map(short, getattr(entry, name))) for name in _TASKS}
    captures = shortened_captures(entry.captures, shorten)
    return tidy_entry(replace(shown, title=shorten(entry.title), captures=captures, **values))


def shortened_captures(captures: Captures, shorten: Callable[[str], str]) -> Captures:
    """Apply `shorten` to the summaries of the captures."""
    groups = (tuple(one._replace(summary=shorten(one.summary)) for one in group) for group in captures)
    return Captures(*groups)


def _cut(text: str, limit: int) -> str:
    return normal_line(cut(normal_line(text), limit))


def _value(text: str) -> str:
    return _cut(text, _LONGEST_VALUE)


def _captures(captures: Iterable[Capture]) -> tuple[Capture, ...]:
    found = (Capture(_value(one.type), _value(one.id), _value(one.summary), one.finding) for one in captures)
    return tuple(one for one in found if one.type)


def _lines(lines: Iterable[HistoryLine]) -> tuple[HistoryLine, ...]:
    found: dict[tuple[str, str, tuple[str, ...]], HistoryLine] = {}
    for line in map(tidy_line, lines):
        if line.text:
            found.setdefault(line[:3], line)
    return tuple(found.values())


Shorten = Callable[[str], str]

_TOPS = "home|Users|root|tmp|var|private|opt|etc|usr|mnt|media|srv|proc|run|Volumes|Library|Applications|workspaces?|nix|builds|github|snap"
"""Top-level folders of file systems, which do not begin the path of an API."""
_END = r"\s\"'`<>|*?,;()\[\]{}"
_OPTION = r"""(?<=[\s"'`(]-[A-Z])|(?<=\A-[A-Z])"""
"""After an option such as `-I`, which is not separated from its path by a blank."""
_PATH = late_pattern(
    rf"""(?:(?<![\w.~/\\:%@-])|(?<=:)(?=/(?:home|Users|root)/)|{_OPTION})(?:file://)?(?P<path>
      (?:[A-Za-z]:[\\/]|\\\\[\w.-]+[\\/])(?:[^{_END}:]*)    # a drive's, a server's
    | ~[\w.-]+/[^{_END}:]*
    | /(?:{_TOPS})(?=[/{_END}:.]|$)[^{_END}:]*
    | /(?:[^{_END}:/]+/)+[^{_END}:/]*\.[A-Za-z]\w{{0,7}}(?![\w/:{{])
    )""",
    re.VERBOSE,
)
_VERB = late_pattern(r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|curl|URL|url|endpoint|route|https?)[ :`\"']*\Z")
_HOME = late_pattern(r"(?:[A-Za-z]:)?/(?:home|Users)/[^/]+(?:/|\Z)|/root(?:/|\Z)|~[^/]+(?:/|\Z)")
_KEPT = 2
"""Number of final components kept from a path outside the project."""


def shortener(roots: Sequence[str] = (), home: str = "") -> Shorten:
    """Return a function that shortens the paths in a text.  `roots` are the project's folders, most important first."""
    known = [root.replace("\\", "/").rstrip("/") for root in (*roots, home)]
    tops = [root for root in dict.fromkeys(known) if root]
    inside = _inside(tops) if tops else None
    owner = known[-1] if known[-1] not in known[:-1] else ""

    def from_root(found: re.Match[str]) -> str:
        """Remove the root from the path of a file inside it; the root itself is replaced with its name."""
        root = found["root"].replace("\\", "/")
        if found["rest"]:
            return ""
        return "the home folder" if root == owner else root.rpartition("/")[2]

    def shorten(text: str) -> str:
        if "/" not in text and "\\" not in text:
            return text
        if inside:
            text = inside.sub(from_root, text)
        return _PATH.sub(lambda found: _short(found, text), text)

    return shorten


def _inside(tops: Sequence[str]) -> re.Pattern[str]:
    """Return the pattern for roots before inner paths.  Windows roots may have either slash."""
    names = "|".join(re.escape(top).replace("/", r"[\\/]") for top in sorted(tops, key=len, reverse=True))
    return re.compile(
        rf"(?:(?<![\w.~/\\-])|{_OPTION})(?:file://)?(?P<root>{names})(?:(?P<rest>[\\/])(?=[^\s/\\`'\"])|[\\/]?(?![\w-]|\.\w|[\\/]))"
    )


def _short(found: re.Match[str], text: str) -> str:
    whole, start = found["path"], found.start()
    goes_on = text[max(0, start - 1) : start] in ("}", ")") or _VERB.search(text, max(0, start - 12), start)
    if goes_on and not _HOME.match(whole):
        return found[0]
    path = whole.rstrip(".:!")
    dots = whole[len(path) :]
    path = path.replace("\\", "/").rstrip("/")
    inner = _HOME.sub("", path, count=1) if (home := _HOME.match(f"{path}/")) else path
    if home and not inner.strip("/"):
        return f"the home folder{dots}"
    parts = [part for part in inner.split("/") if part and not part.endswith(":")]
    return ("/".join(parts[-_KEPT:]) or "the root") + dots
