"""The cost of questions to agents: `.crucible/log/asked.jsonl`, one line per answer, without prompt and answer.

Lines are only appended.  Git ignores the folder, since costs are kept per machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from crucible.clients.client import Answer
from crucible.vault.logs.jsonl_store import InvalidRecord, append_line, read_lines, text_of, time_of

FILE = "asked.jsonl"
_FOLDER = "log"
_LONGEST = 200
"""Maximum code points in a name."""
_MOST = 1 << 50


@dataclass(frozen=True, slots=True)
class Spending:
    """Totals over answers.  `cost_usd` excludes the `unpriced` answers, for which no price was reported."""

    count: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def plus(self, other: Spending) -> Spending:
        """Return the sum of both."""
        return Spending(
            self.count + other.count,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cost_usd + other.cost_usd,
            self.unpriced + other.unpriced,
        )

    @classmethod
    def of(cls, answer: Answer) -> Spending:
        """Return the spending of one answer."""
        cost = answer.cost_usd
        return cls(1, answer.tokens_in or 0, answer.tokens_out or 0, cost or 0.0, int(cost is None))


def keep_answer(
    root: Path, answer: Answer, *, now: datetime, purpose: str, session: str = "", fsync: bool = True
) -> None:
    """Append a line.  `purpose` is the reason for the question, `session` a session id.  Raises like `append_line`."""
    record = {
        "time": now.astimezone(UTC).isoformat(timespec="microseconds"),
        "for": purpose,
        "session": _name(session),
        "model": _name(answer.model),
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "tokens_cached": answer.tokens_cached,
        "cost_usd": answer.cost_usd,
    }
    append_line(root, FILE, record, fsync=fsync, folder=_FOLDER)


def spent_since(root: Path, since: datetime) -> Spending:
    """Sum the spending since a time, skipping invalid lines.  Raises `OutsideVault`, or `VaultError` if unreadable."""
    found, _ = read_lines(root, FILE, _dated_spending, folder=_FOLDER)
    spent = Spending()
    for time, one in found:
        spent = spent.plus(one) if time >= since else spent
    return spent


def _name(text: str) -> str:
    """Return a name that can be stored: shortened, and without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()[:_LONGEST]


def _dated_spending(fields: Mapping[str, object]) -> tuple[datetime, Spending]:
    cost = fields.get("cost_usd")
    if cost is not None and (not isinstance(cost, int | float) or isinstance(cost, bool)):
        raise InvalidRecord("`cost_usd` is not a number")
    if cost is not None and not 0 <= cost < _MOST:
        raise InvalidRecord("`cost_usd` is not a price")
    text_of(fields, "for")
    return time_of(fields, "time"), Spending(
        1, _count(fields, "tokens_in"), _count(fields, "tokens_out"), float(cost or 0), int(cost is None)
    )


def _count(fields: Mapping[str, object], name: str) -> int:
    """Return a count; 0 if it is missing."""
    value = fields.get(name)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MOST:
        raise InvalidRecord(f"`{name}` is not a count")
    return value
