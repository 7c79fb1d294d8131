"""Tokens, in Codex's rollouts: each response once.

Today's rows tell the usage of each response (`token_usage_record`); older ones tell a running total and its last step
(`token_count`), again whenever anything else about the account changes.
"""

from __future__ import annotations

from crucible.clients.codex.state import State, parent_of
from crucible.clients.events import At, UsageCounted
from crucible.clients.log_values import Row, as_dict, as_str, count

__all__ = ["read_token_count", "read_usage_record"]


def read_usage_record(state: State, record: Row, at: At) -> None:
    """One response.  A parent's, in a copy of its history, is the parent's."""
    thread = as_str(record.get("thread_id"))
    if thread and thread in (as_str(state.meta.get("forked_from_id")), parent_of(state.meta)[0]):
        return
    state.total = _total(as_dict(record.get("thread_token_usage"))) or state.total
    state.turn.counted = True
    _tell(state, as_dict(record.get("usage")), as_str(record.get("response_id")), at)


def read_token_count(state: State, event: Row, at: At) -> None:
    """The running total, when it moved.

    Where responses are told one by one, it only repeats them: with a total of its own, since a client that was killed between the
    two goes on with the one that it wrote last.
    """
    info = as_dict(event.get("info"))
    total = _total(as_dict(info.get("total_token_usage")))
    if not total or total == state.total:
        return
    last = as_dict(info.get("last_token_usage")) or _step(state.total, total)
    state.total = total
    if not state.turn.counted:
        _tell(state, last, "", at)


def _total(usage: Row) -> tuple[int, int, int] | None:
    """Input, cached input, output; None when nothing was counted."""
    told = (
        count(usage.get("input_tokens")),
        count(usage.get("cached_input_tokens")),
        count(usage.get("output_tokens")),
    )
    return told if any(told) else None


def _step(before: tuple[int, int, int], after: tuple[int, int, int]) -> Row:
    """What was added to a total; all of it when it began anew."""
    if any(new < old for old, new in zip(before, after, strict=True)):
        before = (0, 0, 0)
    steps = [new - old for old, new in zip(before, after, strict=True)]
    return dict(zip(("input_tokens", "cached_input_tokens", "output_tokens"), steps, strict=True))


def _tell(state: State, usage: Row, response: str, at: At) -> None:
    given, cached, said = _total(usage) or (0, 0, 0)
    written = count(usage.get("cache_write_input_tokens"))
    # Written tokens are part of the input, unless the sum says that they come on top of it.
    on_top = written if written and count(usage.get("total_tokens")) == given + said + written else 0
    if given or said:
        fresh = max(given - cached, 0) + on_top
        message = response or f"tokens-{at.row}"
        state.out.append(UsageCounted(at, message, state.model, fresh, cached, said, min(written, fresh)))
