"""Read frontmatter keys into typed values, and write typed values as frontmatter.

A value of the wrong type is reported as a problem and counts as absent; the note is not changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import Frontmatter
from crucible.documents.markdown.source import Lines, Problem, Source
from crucible.documents.markdown.wikilinks import escape_links, unescape_links
from crucible.documents.markdown.yaml_scalars import Value, read_list
from crucible.documents.session.bookkeeping import BOOKKEEPING, read_bookkeeping
from crucible.documents.session.property_values import (
    day_properties,
    id_in,
    link_to,
    linktext_of,
    project_value,
    title_properties,
)
from crucible.documents.session.session import AgentRef, Session, Status, SubagentRef

KEYS = (
    "type",
    "session_id",
    "title",
    "aliases",
    "date",
    "started_local",
    "started",
    "ended",
    "status",
    "archived",
    "project",
    "branch",
    "channel",
    "participants",
    "model",
    "tokens_used",
    "tokens_cached",
    "usage",
    "subagents",
    "subagent_logs",
    "parent",
    "continues",
    "continued_by",
    "resume_point",
    "pause_reason",
    "sources",
    "synced_to",
    "redactions",
    "redacted",
    "tags",
    "format",
    "recording",
)
"""All known keys of a session note, in the order of a new note."""

_WHOLE_LINK = late_pattern(r"\s*\[\[[^\[\]]+\]\]\s*")
_REQUIRED = ("session_id", "started", "status")


def parse_time(text: str) -> datetime | None:
    """Parse an ISO 8601 time as aware UTC; None if invalid.  A time without a zone is UTC."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # in UTC it may be before year 1
        return None


def format_time(time: datetime) -> str:
    """Format as `2026-11-21T20:26:47Z`: UTC, in seconds."""
    return time.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


class FieldReader:
    """Read typed values from frontmatter.  Each invalid value adds a problem to `problems`."""

    def __init__(self, source: Source, found: Frontmatter) -> None:
        self.source = source
        self.values = found.values
        self.spans = found.keys
        self.problems: list[Problem] = list(found.problems)

    def line_of(self, key: str) -> int:
        """The line of a key in the file, counted from 1."""
        span = self.spans.get(key)
        return self.source.line_of(span.start) + 1 if span else 1

    def complain(self, key: str, expected: str) -> None:
        """Report a value of the wrong type; `expected` describes the right one."""
        shown = repr(self.values[key])
        message = f"{key}: {shown[:60]} is not {expected}"
        self.problems.append(Problem("bad-field", self.line_of(key), message))

    def text(self, key: str) -> str | None:
        """A string; a number is converted to a string."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value or None
        if isinstance(value, (int, float)):
            return str(value)
        self.complain(key, "a text")
        return None

    def words(self, key: str) -> str | None:
        """An untrusted string, with links escaped."""
        found = self.text(key)
        return unescape_links(found) if found else found

    def count(self, key: str) -> int | None:
        """An integer that is not negative."""
        value = self.values.get(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
            return value
        self.complain(key, "a whole number")
        return None

    def time(self, key: str) -> datetime | None:
        """An aware time in UTC."""
        value = self.values.get(key)
        if value is None:
            return None
        found = parse_time(value) if isinstance(value, str) else None
        if found is None:
            self.complain(key, "a time like 2026-11-21T20:26:47Z")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; a single string is a list of one."""
        value = self.values.get(key)
        if value is None:
            return ()
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value)):
            self.complain(key, "a list of strings")
            return ()
        if key in ("tags", "aliases"):
            return tuple(read_list(value))  # Obsidian reads `a, b` as two items
        return tuple(str(item) for item in (value if isinstance(value, list) else [value]) if item is not None)

    def link(self, key: str) -> str | None:
        """The target of a wikilink.  A bare id is also valid."""
        value = self.text(key)
        if value is None:
            return None
        return id_in(value) or None

    def project(self) -> str | None:
        """The project's name, which may be a link to the project's note."""
        value = self.text("project")
        if value is None or not _WHOLE_LINK.fullmatch(value):
            return value and unescape_links(value)
        link = linktext_of(value)
        return link.alias or link.target.rpartition("/")[2] or None

    def status(self) -> Status | None:
        """The session's status."""
        value = self.values.get("status")
        if value is None:
            return None
        try:
            return Status(str(value))
        except ValueError:
            self.complain("status", "one of " + ", ".join(Status))
            return None

    def subagents(self) -> tuple[SubagentRef, ...]:
        """The items of `subagents` that name a session."""
        value = self.values.get("subagents")
        if value is None:
            return ()
        items = value if isinstance(value, list) else [value]
        refs = [_subagent(item) for item in items]
        if None in refs:
            self.complain("subagents", "a list of maps with a session")
        return tuple(ref for ref in refs if ref)


def _subagent(item: Value) -> SubagentRef | None:
    if not isinstance(item, dict) or not isinstance(item.get("session"), str):
        return None
    tokens = item.get("tokens")

    def text(key: str) -> str | None:
        found = item.get(key)
        return None if found is None else str(found)

    return SubagentRef(str(item["session"]), text("agent"), text("model"), tokens if isinstance(tokens, int) else None)


def read_fields(reader: FieldReader, name: str, present: bool) -> dict[str, Any]:
    """The values of `Session` fields by name, for the note `name`.md."""
    values = reader.values
    if not present:
        reader.problems.append(Problem("no-frontmatter", 1, "no frontmatter, so not a session note yet"))
    elif values.get("type") != "session":
        reader.problems.append(Problem("not-a-session", reader.line_of("type"), "type is not `session`"))
    else:
        reader.problems.extend(
            Problem("missing-key", 1, f"{key} is missing") for key in _REQUIRED if values.get(key) is None
        )
    return {
        "id": reader.text("session_id") or name,
        "started": reader.time("started"),
        "status": reader.status(),
        "archived": reader.values.get("archived") is True,
        "ended": reader.time("ended"),
        "project": reader.project(),
        "branch": reader.words("branch"),
        "channel": reader.text("channel"),
        "participants": tuple(AgentRef.parse(item) for item in reader.texts("participants")),
        "model": reader.words("model"),
        "tokens_used": reader.count("tokens_used"),
        "tokens_cached": reader.count("tokens_cached"),
        "subagents": reader.subagents(),
        "parent": reader.link("parent"),
        "continues": reader.link("continues"),
        "continued_by": reader.link("continued_by"),
        "resume_point": reader.text("resume_point"),
        "pause_reason": reader.text("pause_reason"),
        "tags": reader.texts("tags"),
        # The title's copy is written with the title.
        "aliases": tuple(alias for alias in reader.texts("aliases") if alias != values.get("title")),
        "format": _format(reader),
        "properties": values,
        **_bookkeeping(reader),
    }


def _bookkeeping(reader: FieldReader) -> dict[str, Any]:
    recording = reader.values.get("recording")
    return {
        "sources": reader.texts("sources"),
        "synced_to": reader.texts("synced_to"),
        "redactions": reader.count("redactions"),
        "redacted": reader.texts("redacted"),
        "usage": tuple(map(unescape_links, reader.texts("usage"))),
        "recording": recording if isinstance(recording, int) and recording > 0 else 1,
    }


def add_bookkeeping(fields: dict[str, Any], source: Source, lines: Lines) -> list[Problem]:
    """Add the fields from the comment on these lines, and return its problems.  Older notes have them as properties."""
    inner, found = read_bookkeeping(source, lines)
    reader = FieldReader(inner, found)
    fields |= {key: value for key, value in _bookkeeping(reader).items() if key in found.values}
    ours = {key: value for key, value in found.values.items() if key in BOOKKEEPING}
    fields["properties"] = {**fields["properties"], **ours}
    known = len(found.problems)
    return [*found.problems, *(one._replace(line=one.line + lines.first) for one in reader.problems[known:])]


def _format(reader: FieldReader) -> int:
    if reader.values.get("format") not in (None, 1, FORMAT):
        reader.complain("format", f"a format that this version knows, 1 to {FORMAT}")
    return format_of(reader.values)


def properties_of(session: Session) -> dict[str, Value]:
    """The frontmatter of a new note: each field with a value, in the order of `KEYS`, then unknown keys."""
    folder = session.home.folder
    values: dict[str, Value] = {
        "type": "session",
        "session_id": session.id,
        "title": None,
        "date": None,
        "started_local": None,
        "started": format_time(session.started) if session.started else None,
        "ended": format_time(session.ended) if session.ended else None,
        "status": session.status and str(session.status),
        "archived": session.archived or None,
        "participants": [str(agent) for agent in session.participants],
        "usage": [escape_links(line) for line in session.usage],
        "subagents": [subagent_value(ref) for ref in session.subagents],
        "subagent_logs": [link_to(ref.session, folder) for ref in session.subagents],
        "parent": session.parent and link_to(session.parent, folder),
        "continues": session.continues and link_to(session.continues, folder),
        "continued_by": session.continued_by and link_to(session.continued_by, folder),
        "project": session.project and project_value(session.project, session.home.project),
        "branch": session.branch and escape_links(session.branch),
        "model": session.model and escape_links(session.model),
        "format": session.format if session.format > 1 else None,
        "recording": session.recording if session.recording > 1 else None,
    }
    values |= title_properties(session.title)
    values["aliases"] = [*dict.fromkeys((*read_list(values.get("aliases")), *session.aliases))]
    if session.started:
        values |= day_properties(session.started, session.home.zone)
    for key in KEYS:
        if key not in values:
            found = getattr(session, key)
            values[key] = list(found) if isinstance(found, tuple) else found
    ordered: dict[str, Value] = {key: values[key] for key in KEYS if values[key] not in (None, [])}
    return {**ordered, **_unknown(session.properties)}


def subagent_value(ref: SubagentRef) -> dict[str, Value]:
    """An item of the frontmatter's `subagents`."""
    parts: dict[str, Value] = {
        "session": ref.session,
        "agent": ref.agent,
        "model": ref.model,
        "tokens": ref.tokens,
    }
    return {key: value for key, value in parts.items() if value is not None}


def _unknown(properties: Mapping[str, Value]) -> dict[str, Value]:
    return {key: value for key, value in properties.items() if key not in KEYS}


_E = TypeVar("_E", bound=StrEnum)


def property_of(value: Any) -> Value:
    """Convert a field's value to a property, with links in untrusted text escaped."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, tuple):
        return [property_of(one) for one in value]
    if isinstance(value, StrEnum):
        return value.value
    return escape_links(value) if isinstance(value, str) else value


class Properties(FieldReader):
    """Read properties as the fields of a dataclass; the default of each field determines its type."""

    def tell(self, code: str, message: str, line: int = 1) -> None:
        """Report a problem."""
        self.problems.append(Problem(code, line, message))

    def fields_of(self, kind: type, names: Iterable[str]) -> dict[str, Any]:
        """The properties that match fields of a dataclass, each converted to the type of the field's default."""
        defaults = {each.name: each.default for each in fields(kind)}
        return {name: self._like(name, defaults[name]) for name in names}

    def _like(self, key: str, default: Any) -> Any:
        match default:
            case StrEnum():
                return self.word(key, type(default)) or default
            case bool():
                found = self.flag(key)
                return default if found is None else found
            case int():
                return self.count(key) or default
            case tuple():
                return tuple(map(unescape_links, self.texts(key)))
            case None:
                return self.time(key)
            case _:
                return self.line(key)

    def word(self, key: str, words: type[_E]) -> _E | None:
        """A member of an enumeration, case-insensitive."""
        text = self.text(key)
        if text is None:
            return None
        try:
            return words(text.strip().lower())
        except ValueError:
            self.complain(key, f"one of {', '.join(words)}")
            return None

    def line(self, key: str) -> str:
        """A string, "" if absent."""
        return unescape_links(self.text(key) or "")

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        self.complain(key, "true or false")
        return None

    def share(self, key: str) -> float | None:
        """A number from 0 to 1."""
        value = self.values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        if value is not None:
            self.complain(key, "a number from 0 to 1")
        return None
