"""`flight_recorder_log`: what an agent tells of its work, as an entry of its session's note.

Owns which of its words goes where.  What may be said, and that secrets come out first, is `record`'s, as for `cru log`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from crucible.errors import UsageError
from crucible.mcp.place import Caller
from crucible.mcp.replying import checked
from crucible.mcp.running import Running
from crucible.note.fencing import quote_line
from crucible.record import Recorder

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


_Way: TypeAlias = "Callable[[Recorder, str, Telling], str]"


def _said(telling: Telling, key: str) -> str:
    value = telling.metadata.get(key)
    return str(value) if _is_word(value) else ""


def _words(telling: Telling, key: str) -> list[str]:
    """A list, or one of its items alone."""
    value = telling.metadata.get(key)
    items = value if isinstance(value, list) else [value]
    return [str(each) for each in items if _is_word(each)]


def _is_word(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _observed(recorder: Recorder, text: str, told: Telling) -> str:
    tag, task = _said(told, "tag"), _said(told, "task_id")
    return recorder.observation(text, tag=tag, task=task, applies_to=_words(told, "applies_to"))


_WAYS: Mapping[str, tuple[frozenset[str], _Way]] = MappingProxyType(
    {
        "decision": (
            frozenset({"rationale"}),
            lambda recorder, text, told: recorder.decision(text, rationale=told.rationale or None),
        ),
        "error": (
            frozenset({"resolution"}),
            lambda recorder, text, told: recorder.error(text, resolution=told.resolution or None),
        ),
        "milestone": (frozenset(), lambda recorder, text, _: recorder.milestone(text)),
        "observation": (frozenset({"tag", "task_id", "applies_to"}), _observed),
        "prose": (frozenset(), lambda recorder, text, _: recorder.prose(text)),
        "checkpoint": (frozenset(), lambda recorder, text, _: recorder.checkpoint(text)),
        "user": (
            frozenset({"note"}),
            lambda recorder, text, told: recorder.user(text, note=_said(told, "note") or None),
        ),
        "approval_required": (frozenset(), lambda recorder, text, _: recorder.approval_required(text)),
        "decision_needed": (
            frozenset({"options"}),
            lambda recorder, text, told: recorder.decision_needed(text, options=_words(told, "options")),
        ),
        "task_complete": (
            frozenset({"task"}),
            lambda recorder, text, told: recorder.task_complete(text, task=_said(told, "task")),
        ),
    }
)


def tell(running: Running, telling: Telling, caller: Caller) -> str:
    """Write it, and say where it stands; raises `UsageError` for what cannot be said so."""
    kind = telling.type.strip().lower()
    if kind not in _WAYS:
        raise UsageError(f"type {telling.type[:40]!r}: unknown", "one of " + ", ".join(_WAYS))
    takes, way = _WAYS[kind]
    for name in ("rationale", "resolution"):
        text = checked(name, getattr(telling, name), _LONGEST)
        if text.strip() and name not in takes:
            owner = next(other for other, (words, _) in _WAYS.items() if name in words)
            raise UsageError(f"{kind}: takes no {name}", f"{name} goes with {owner}; put it into content")
    content = checked("content", telling.content, _LONGEST)
    if not content.strip():
        raise UsageError(f"{kind}: nothing was said", "content says what is to be written down")
    text = content + _rest(telling.metadata, takes)
    recorder = running.recorder(telling.session, caller)
    phase = way(recorder, text, telling)
    where = f"{recorder.id}, {phase}" if phase else recorder.id
    warnings = [quote_line(warning, 300) for warning in recorder.warnings]
    return "\n".join([f"Logged {kind} in session {where}.", *warnings])


def _rest(metadata: Mapping[str, Any], takes: frozenset[str]) -> str:
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
        raise UsageError(
            f"metadata: {name[:40]!r} is no JSON", "give texts, numbers and lists of them"
        ) from None
    return " ".join(checked(f"metadata {name[:40]!r}", text, 4000).split())
