"""Cases of one session made ready: without secrets, with their tokens and digests, each text and turn looked at once.

Owns what is remembered of a text and of a turn while the cases of a session, which tell the same turns again and again, are finished.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from crucible.cases.making import Measured, Size, measure
from crucible.cases.model import Case, Turn
from crucible.cases.scrubbing import Scrubber
from crucible.cases.texts import names_of
from crucible.secrets.scanner import Redact

__all__ = ["Finisher"]


class _Ready:
    """A part of a body as it is told, with what was taken out of it, by rule; measured when that is asked for."""

    __slots__ = ("_measured", "counts", "given", "value")

    def __init__(self, given: object, value: object, counts: Mapping[str, int]) -> None:
        self.given = given
        """What it was; while this is remembered, no other call has its place in memory."""
        self.value = value
        self.counts = counts
        self._measured: Measured | None = None

    def measured(self) -> Measured:
        """Its tokens and digest."""
        if self._measured is None:
            self._measured = measure(self.value)
        return self._measured


class Finisher:
    """Finishes the cases of one session."""

    def __init__(self, redact: Redact) -> None:
        self._scrubber = Scrubber(redact, personal=False)
        self._turns: dict[int, tuple[Turn, _Ready]] = {}
        self._known: dict[object, _Ready] = {}

    def finish(self, case: Case) -> Case:
        """The case without what must not be told; its digest and tokens are of what is left."""
        self._scrubber.counts = taken = Counter[str]()
        changed = self._scrubber.head(case)
        body: dict[str, object] = {}
        size = Size(case.type)
        for name in names_of(type(case.body)):
            value = getattr(case.body, name)
            told = [self._ready(one) for one in (value if isinstance(value, tuple) else (value,))]
            for one in told:
                if one.counts:
                    taken.update(one.counts)
            size.add(name, map(_Ready.measured, told))
            body[name] = tuple([one.value for one in told]) if isinstance(value, tuple) else told[0].value
        if taken:
            changed["redactions"] = dict(Counter(case.redactions) + taken)
        told_body = type(case.body)(**body)  # type: ignore[arg-type]  # each part is of its kind
        changed |= {"body": told_body, "tokens": size.tokens, "digest": size.digest}
        return replace(case, **changed)  # type: ignore[arg-type]  # each part is of its kind

    def _ready(self, value: object) -> _Ready:
        if isinstance(value, Turn):
            known = self._turns.get(id(value))
            if known is None:
                known = self._turns[id(value)] = value, self._alike(_key(value), value)
            return known[1]
        return self._alike((type(value), value), value)

    def _alike(self, key: object, value: object) -> _Ready:
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._made(value)
        return found

    def _made(self, value: object) -> _Ready:
        if value is None or isinstance(value, bool) or value == "":
            return _Ready(value, value, {})
        outer, self._scrubber.counts = self._scrubber.counts, Counter()
        if isinstance(value, Turn):
            clean: object = self._scrubber.turn(value)
        elif type(value) is str:
            clean = self._scrubber.text(value)
        else:
            clean = self._scrubber.other(value)
        counts, self._scrubber.counts = self._scrubber.counts, outer
        return _Ready(value, clean, counts)


def _key(turn: Turn) -> object:
    """Turns of the same calls, not only of the same words, are the same; which calls those are, their places in memory tell."""
    return turn.role, turn.text, turn.failed, turn.answers, tuple(map(id, turn.calls))
