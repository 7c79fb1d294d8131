"""An annotation as the values of its YAML file, and back.

Owns the names of the fields.  Reading is lenient: what is not of the right shape is passed over, since a human may have written it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from crucible.documents.markdown.containment import cut, normal, normal_line
from crucible.documents.markdown.yaml_scalars import Value, read_list, write_scalar
from crucible.memory.tasks.task import Annotation, Choice, ChoiceKind, Inherited, Recalled, Ref

__all__ = ["LONGEST", "annotation_of", "values_of"]

LONGEST = 2000
"""Code points of a description and of a query; a task's whole words stand where the task does."""


_LISTS = ("patterns", "failures", "decisions")
_INHERITED = ("from_task_id", "decision", "rationale", "finding")
_CHOICE = ("summary", "rationale", "finding", "kind", "propagate")
_KEYS = {"kind": "type"}
"""What a field is called in the file, where that is another word."""


def values_of(annotation: Annotation) -> dict[str, Value]:
    """All fields by name, in the order of the file."""
    recalled = annotation.recalled
    made = annotation.created_at
    return {
        "task_id": annotation.ref.id,
        "description": cut(normal_line(annotation.description), LONGEST),
        "created_at": made.isoformat() if made else None,
        "recall_context": {
            **{name: _lines(getattr(recalled, name)) for name in _LISTS},
            "query": cut(normal_line(recalled.query), LONGEST),
        },
        "inherited_context": [_written(one, _INHERITED) for one in annotation.inherited],
        "execution_context": {
            "decisions_made": [_written(one, _CHOICE) for one in annotation.choices],
            "discoveries": _lines(annotation.discoveries),
            "captured_to": _lines(annotation.captured_to),
        },
    }


def annotation_of(ref: Ref, values: Mapping[str, Value]) -> Annotation:
    """The annotation that the fields tell; the task is who was asked for, whatever the file says."""
    recall = _map(values.get("recall_context"))
    execution = _map(values.get("execution_context"))
    patterns, failures, decisions = (_ids(recall.get(name)) for name in _LISTS)
    return Annotation(
        ref,
        _text(values.get("description")),
        _time(values.get("created_at")),
        Recalled(patterns, failures, decisions, _text(recall.get("query"))),
        tuple(
            Inherited(*(_text(one.get(name)) for name in _INHERITED))
            for one in _maps(values.get("inherited_context"), "decision")
        ),
        tuple(_choice(one) for one in _maps(execution.get("decisions_made"), "summary")),
        _ids(execution.get("discoveries")),
        _ids(execution.get("captured_to")),
    )


def _lines(texts: Sequence[str]) -> list[Value]:
    return [line for text in texts if (line := normal_line(text))]


def _written(one: Inherited | Choice, names: Sequence[str]) -> Value:
    """Its fields by name; a rationale also where it is empty, as a place to write one."""
    told: dict[str, Value] = {}
    for name in names:
        value = getattr(one, name)
        if isinstance(value, str):
            value = normal(value) if name == "rationale" else normal_line(value)
        if value is not None and (value != "" or name != "finding"):
            told[_KEYS.get(name, name)] = value
    return told


def _choice(one: Mapping[str, Value]) -> Choice:
    kind = None
    with suppress(ValueError):  # a word of somebody's own
        kind = ChoiceKind(_text(one.get("type")))
    mark = one.get("propagate")
    summary, rationale, finding = (_text(one.get(key)) for key in ("summary", "rationale", "finding"))
    return Choice(summary, rationale, kind, mark if isinstance(mark, bool) else None, finding)


def _ids(value: Value) -> tuple[str, ...]:
    return tuple(filter(None, read_list([value] if isinstance(value, str) else value)))


def _map(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, dict) else {}


def _maps(value: Value, needed: str) -> list[Mapping[str, Value]]:
    """The maps of a list that have what makes them one of ours; a lone text stands for a map of it alone."""
    items = value if isinstance(value, list) else []
    found: list[Mapping[str, Value]] = [{needed: one} if isinstance(one, str) else _map(one) for one in items]
    return [one for one in found if _text(one.get(needed))]


def _text(value: Value) -> str:
    """A text; a number or a truth as it would be written, since `version: 1` is one to who wrote it."""
    if value is None or isinstance(value, (list, dict)):
        return ""
    return value if isinstance(value, str) else write_scalar(value)


def _time(value: Value) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(_text(value))
    return None
