"""The properties that only imports write: `usage`, `redacted`, and `synced_to` with the order of `sources`.

`usage` and `redacted` contain counts as lines of text:

    2026-11-21 claude-opus-4-8: input 12, output 340, cache_write 5800, cache_write_1h 1200, cache_read 90211
    2026-11-21 gemini-2.5-pro over 200000: input 210400, output 77
    jwt: 2

The kinds of tokens do not overlap, so the cost can be computed later; zero counts are omitted.  `over` is a length that
the prompts exceeded, if the model's price changes there.  `synced_to` has, for
each transcript in `sources`, the last row that is in the note.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.prices import KINDS

if TYPE_CHECKING:  # reading a note needs no events, and loading them is slow
    from crucible.clients.events import Event

_UNKNOWN_DAY, _UNKNOWN_MODEL = "?", "unknown"
_PART = rf"(?:{'|'.join(KINDS)}) \d{{1,15}}"
_LINE = late_pattern(rf"(\d{{4}}-\d\d-\d\d|\?) (.+?)(?: over (\d{{1,9}}))?: ({_PART}(?:, {_PART})*)")


class TokenUsage(NamedTuple):
    """Tokens by kind of one model on one day (`2026-11-21`, the user's); day or model is "" if unknown.

    `over` is the length that each prompt exceeded, 0 for any.  Counts may be negative in a difference.
    """

    day: str
    model: str
    tokens: Mapping[str, int]
    over: int = 0


def usage_lines(spent: Iterable[TokenUsage]) -> tuple[str, ...]:
    """One line per day, model and length, sorted."""
    return tuple(
        f"{day or _UNKNOWN_DAY} {model or _UNKNOWN_MODEL}{f' over {over}' if over else ''}: {counts}"
        for (day, model, over), tokens in sorted(_totals(spent).items())
        if (counts := ", ".join(f"{kind} {tokens[kind]}" for kind in KINDS if tokens[kind] > 0))
    )


def total_usage(spent: Iterable[TokenUsage]) -> list[TokenUsage]:
    """Add up the tokens by day, model and length."""
    return [TokenUsage(day, model, tokens, over) for (day, model, over), tokens in _totals(spent).items()]


def parse_usage(lines: Iterable[str]) -> list[TokenUsage]:
    """Parse usage lines; lines that do not match are skipped."""
    found = (_LINE.fullmatch(line) for line in lines)
    return [
        TokenUsage(_known(each[1], _UNKNOWN_DAY), _known(each[2], _UNKNOWN_MODEL), _parts(each[4]), int(each[3] or 0))
        for each in found
        if each
    ]


def add_usage(lines: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Add the difference between `after` and `before` to `lines`.  Lines that cannot be parsed are kept at the top."""
    others = [line for line in lines if not parse_usage((line,))]
    less = (each._replace(tokens={kind: -count for kind, count in each.tokens.items()}) for each in parse_usage(before))
    return [*others, *usage_lines([*parse_usage(lines), *parse_usage(after), *less])]


def _known(text: str, unknown: str) -> str:
    return "" if text == unknown else text


def _parts(text: str) -> dict[str, int]:
    pairs = (part.split(" ") for part in text.split(", "))
    return {kind: int(count) for kind, count in pairs}


def _totals(spent: Iterable[TokenUsage]) -> dict[tuple[str, str, int], dict[str, int]]:
    totals: defaultdict[tuple[str, str, int], dict[str, int]] = defaultdict(lambda: dict.fromkeys(KINDS, 0))
    for day, model, tokens, over in spent:
        for kind, count in tokens.items():
            totals[day, model, over][kind] += count
    return totals


_REDACTED = late_pattern(r"\s*\d{1,15}\s*")


def redaction_lines(counts: Mapping[str, int]) -> tuple[str, ...]:
    """One line per rule that removed something, sorted by rule."""
    return tuple(f"{rule}: {count}" for rule, count in sorted(counts.items()) if count > 0)


def parse_redactions(lines: Iterable[str]) -> dict[str, int]:
    """Parse the counts by rule; lines without a count are skipped."""
    pairs = (line.rpartition(":") for line in lines)
    # Python refuses to parse thousands of digits.
    return {rule: int(count) for rule, _, count in pairs if rule and _REDACTED.fullmatch(count)}


def add_redactions(lines: Sequence[str], more: Mapping[str, int]) -> list[str]:
    """Add `more`, which may be negative, to the counts.

    Lines without a count, written by a user, are kept at the top.
    """
    there = parse_redactions(lines)
    others = [line for line in lines if not parse_redactions((line,))]
    totals = {rule: there.get(rule, 0) + more.get(rule, 0) for rule in {**there, **more}}
    return [*others, *redaction_lines(totals)]


PARENT_ROW = "+"
"""In `synced_to`, separates a transcript's last row from a row of the parent transcript, such as a report."""

_LENGTH = 8


def _short_mark(event: Event) -> str:
    """The first 8 characters of a row's id, or of a hash of the event if the row has no id."""
    if event.at.row:
        return event.at.row[:_LENGTH]
    return hashlib.blake2b(repr(event).encode("utf-8", "replace"), digest_size=_LENGTH // 2).hexdigest()


def rows_by_source(sources: Sequence[str], synced_to: Sequence[str]) -> dict[str, str]:
    """Match each source with its last imported row: `client:row`, or `client:` if nothing has been imported.

    The lists have the same order.  If their lengths differ (a user removed an item, or a source has no row), each row
    goes to the next source of the same client.
    """
    if len(sources) == len(synced_to):
        return dict(zip(sources, synced_to, strict=True))
    found: dict[str, str] = {}
    rows = list(synced_to)
    for source in sources:
        client = source.partition(":")[0]
        if rows and rows[0].partition(":")[0] == client:
            found[source] = rows.pop(0)
    return found


def synced_rows(sources: Sequence[str], rows: Mapping[str, str]) -> list[str]:
    """The value of `synced_to`: a row for each source, without the trailing sources that have no row."""
    found = [rows.get(source, f"{source.partition(':')[0]}:") for source in sources]
    while found and sources[len(found) - 1] not in rows:
        found.pop()
    return found


class SyncPoint:
    """Find the last row that a note contains while events pass in order.

    `synced` is the mark of that row.  If `known_until` is set, the row is gone, and events after this time are new.
    """

    __slots__ = ("_known_until", "_line", "_lines", "_synced")

    def __init__(
        self, synced: str = "", known_until: datetime | None = None, lines: dict[str, int] | None = None
    ) -> None:
        self._synced = synced.rpartition(PARENT_ROW)[2]
        self._known_until = known_until
        self._line = 0
        self._lines: dict[str, int] = {} if lines is None else lines

    @property
    def lines(self) -> dict[str, int]:
        """The first line with each short mark."""
        return self._lines

    @property
    def found(self) -> bool:
        """True if the row has been found."""
        return self._line > 0

    def is_behind(self, event: Event) -> bool:
        """True if an event is after the last row that the note contains."""
        at = event.at
        if at.row:
            self._lines.setdefault(at.row[:_LENGTH], at.line)
        if self._known_until is not None:
            return at.time is not None and at.time > self._known_until
        if not self._line or at.line < self._line:
            return False
        # A damaged line may contain two rows.
        return at.line > self._line or (at.row != "" and not self._is_synced(event))

    def pass_by(self, event: Event) -> None:
        """Check if a processed event is the row that the note contains last."""
        if self._synced and not self._line and self._is_synced(event):
            self._line = event.at.line

    def mark(self, event: Event, own: str | None = None) -> str:
        """The mark of an event's row: 8 characters, or the entire id if an earlier row begins with the same 8.

        `own` is the transcript's mark so far if the event is from the parent transcript; the new row is appended to it.
        """
        short = _short_mark(event)
        alone = not event.at.row or self._lines.get(short, event.at.line) == event.at.line
        before = "" if own is None else f"{own.partition(PARENT_ROW)[0]}{PARENT_ROW}"
        return f"{before}{short if alone else event.at.row}"

    def _is_synced(self, event: Event) -> bool:
        return self._synced in (_short_mark(event), event.at.row)
