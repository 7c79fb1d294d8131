"""`flight_recorder_log`: what an agent tells of its work, as an entry of its session's note.

Owns which of its words goes where.  What may be said, and that secrets come out first, is `record`'s, as for `cru log`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from crucible.core.errors import UsageError
from crucible.documents.markdown.quoting import quote_line
from crucible.integrations.mcp.current_session import Running
from crucible.integrations.mcp.replies import checked
from crucible.integrations.mcp.server_context import Caller

__all__ = ["Telling", "tell"]

_LONGEST, _MOST_KEYS, _LONGEST_KEY = 50_000, 30, 60


@dataclass(frozen=True, slots=True)
class Telling:
    """What is told: `type` is one of `tools.TYPES`; of `rationale` and `resolution` a type takes one or none; `metadata` is anything else."""

    type: str
    content: str
    rationale: str = ""
    resolution: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    session: str = ""


_TAKES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "decision": {"rationale": "rationale"},
        "error": {"resolution": "resolution"},
        "milestone": {},
        "observation": {"tag": "tag", "task_id": "task", "applies_to": "applies_to"},
        "prose": {},
        "checkpoint": {},
        "user": {"note": "note"},
        "approval_required": {},
        "decision_needed": {"options": "options"},
        "task_complete": {"task": "task"},
    }
)
"""The types, which are the recorder's methods, and which of a client's words each takes as which argument."""
_LISTS = ("applies_to", "options")


def _arguments(telling: Telling, takes: Mapping[str, str]) -> Iterator[tuple[str, str | list[str]]]:
    for key, name in takes.items():
        value = telling.metadata.get(key)
        words = [str(each) for each in (value if isinstance(value, list) else [value]) if _is_word(each)]
        if key in _LISTS:  # or one of its items alone
            yield name, words
        else:
            yield name, getattr(telling, key, "") or (str(value) if _is_word(value) else "")


def _is_word(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def tell(running: Running, telling: Telling, caller: Caller) -> str:
    """Write it, and say where it stands; raises `UsageError` for what cannot be said so."""
    kind = telling.type.strip().lower()
    if kind not in _TAKES:
        raise UsageError(f"type {telling.type[:40]!r}: unknown", "one of " + ", ".join(_TAKES))
    takes = _TAKES[kind]
    for name in ("rationale", "resolution"):
        text = checked(name, getattr(telling, name), _LONGEST)
        if text.strip() and name not in takes:
            owner = next(other for other, words in _TAKES.items() if name in words)
            raise UsageError(f"{kind}: takes no {name}", f"{name} goes with {owner}; put it into content")
    content = checked("content", telling.content, _LONGEST)
    if not content.strip():
        raise UsageError(f"{kind}: nothing was said", "content says what is to be written down")
    text = content + _rest(telling.metadata, takes)
    recorder = running.recorder(telling.session, caller)
    way: Callable[..., str] = getattr(recorder, kind)
    phase = way(text, **dict(_arguments(telling, takes)))
    where = f"{recorder.id}, {phase}" if phase else recorder.id
    warnings = [quote_line(warning, 300) for warning in recorder.warnings]
    return "\n".join([f"Logged {kind} in session {where}.", *warnings])


def _rest(metadata: Mapping[str, Any], takes: Mapping[str, str]) -> str:
    """What a type has no place for, as a list behind the text: nothing that was told is dropped."""
    rest = {
        name: value
        for name, value in metadata.items()
        if not (name in takes and _is_said(value)) and value not in (None, "", [], {})
    }
    if len(rest) > _MOST_KEYS:
        raise UsageError(f"metadata: {len(rest)} keys", f"at most {_MOST_KEYS} are taken")
    lines = [f"- {quote_line(name, _LONGEST_KEY)}: {_value(name, value)}" for name, value in rest.items()]
    return "\n\n" + "\n".join(lines) if lines else ""


def _is_said(value: object) -> bool:
    """Whether it is told where its type has a place for it."""
    return all(map(_is_word, value)) if isinstance(value, list) else _is_word(value)


def _value(name: str, value: object) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise UsageError(f"metadata: {name[:40]!r} is no JSON", "give texts, numbers and lists of them") from None
    return " ".join(checked(f"metadata {name[:40]!r}", text, 4000).split())
