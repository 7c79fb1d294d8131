"""Cases of one session made ready: without secrets, with their tokens and digests, each text and turn looked at once.

Owns what is remembered of a text and of a turn while the cases of a session, which tell the same turns again and again, are finished.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import NamedTuple

from crucible.cases.making import Measured, measure, measured
from crucible.cases.model import Body, Case, Turn
from crucible.cases.scrubbing import Scrubber
from crucible.cases.texts import mapped
from crucible.secrets.scanner import Redact

__all__ = ["Finisher"]


class _Known(NamedTuple):
    """A text or turn as it is told, with what was taken out of it, by rule."""

    value: str | Turn
    counts: Mapping[str, int]


class Finisher:
    """Finishes the cases of one session; calls are told apart by their ids, which are places in its timeline."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._scrubber = Scrubber(self._redacted, personal=False)
        self._seen: dict[str, tuple[str, Mapping[str, int]]] = {}
        self._known: dict[object, _Known] = {}
        self._sizes: dict[object, Measured] = {}

    def finish(self, case: Case) -> Case:
        """The case without what must not be told; its digest and tokens are of what is left."""
        taken: Counter[str] = Counter()
        self._scrubber.counts = taken
        head = self._scrubber.head(case)
        changed: dict[str, object] = {}
        for each in fields(case.body):
            value = getattr(case.body, each.name)
            if isinstance(value, tuple):
                changed[each.name] = tuple(self._clean(one, taken) for one in value)
            elif isinstance(value, str):
                changed[each.name] = self._clean(value, taken)
            elif value is not None and not isinstance(value, bool):
                changed[each.name] = mapped(value, self._scrubber.text, lambda call: call)
        body: Body = replace(case.body, **changed)  # type: ignore[arg-type]
        redactions = dict(Counter(case.redactions) + taken) if taken else case.redactions
        return measured(replace(head, body=body, redactions=redactions), self._size)

    def _clean(self, value: str | Turn, taken: Counter[str]) -> str | Turn:
        if not value:
            return value
        key = _key(value)
        known = self._known.get(key)
        if known is None:
            outer, self._scrubber.counts = self._scrubber.counts, Counter()
            clean = self._scrubber.text(value) if isinstance(value, str) else self._scrubber.turn(value)
            known = self._known[key] = _Known(clean, self._scrubber.counts)
            self._scrubber.counts = outer
        if known.counts:
            taken.update(known.counts)
        return known.value

    def _size(self, value: str | Turn) -> Measured:
        key = _key(value)
        found = self._sizes.get(key)
        if found is None:
            found = self._sizes[key] = measure(value)
        return found

    def _redacted(self, text: str) -> tuple[str, Mapping[str, int]]:
        found = self._seen.get(text)
        if found is None:
            found = self._seen[text] = self._redact(text)
        return found


def _key(value: str | Turn) -> object:
    if isinstance(value, str):
        return value
    return value.role, value.text, value.failed, value.answers, tuple(call.id for call in value.calls)
