"""Statistics over sessions, in groups and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from crucible.core.named_tuples import NamedTuple
from crucible.vault.index.query import SessionQuery
from crucible.vault.index.schema import View, split_list
from crucible.vault.index.subagent_tree import (
    ListedSubagent,
    SessionsRead,
    listed_subagents,
    read_sessions,
    roots_of,
)


def _used(listed: Sequence[ListedSubagent], read: SessionsRead, roots: Mapping[str, str]) -> dict[str, int]:
    """Return the tokens of each root and its subagents, where known."""
    used = read.tokens if not roots else {}
    if roots:
        for path, tokens in read.tokens.items():
            root = roots.get(path, path)
            used[root] = used.get(root, 0) + tokens
    for path, _, tokens in listed:
        root = roots.get(path, path)
        used[root] = used.get(root, 0) + tokens
    return used


# --- by agent --------------------------------------------------------------------------------------------------------


def agents_in(cell: object) -> tuple[str, ...]:
    """Return the agents of the column `agents`, without versions."""
    return tuple(dict.fromkeys(item.partition("@")[0] for item in split_list(str(cell or ""))))


def _tokens_by_agent(
    view: View, listed: Sequence[ListedSubagent], read: SessionsRead, roots: Mapping[str, str]
) -> Mapping[str | None, Mapping[str, int]]:
    """Return the tokens of each agent, by the path of the root session.  None collects tokens of unknown agents.

    If a note has one agent, all tokens are that agent's.  If it has several, its phases decide.  A subagent without a
    note is counted from its parent's list.
    """
    used: dict[str | None, dict[str, int]] = {}

    def of_agent(agent: str | None) -> dict[str, int]:
        return used.setdefault((agent or "").partition("@")[0].lower() or None, {})

    def count(path: str, agent: str | None, tokens: int) -> None:
        by_root, root = of_agent(agent), roots.get(path, path)
        by_root[root] = by_root.get(root, 0) + tokens

    agents_of = {cell: agents_in(cell) for cell in dict.fromkeys(read.agents.values())}
    only = {cell: of_agent(names[0] if names else None) for cell, names in agents_of.items() if len(names) < 2}
    several = {path for path, cell in read.agents.items() if cell not in only}
    phases = _by_phases(view, several) if several else {}
    for path, tokens in read.tokens.items():
        if path not in several:
            by_root, root = only[read.agents[path]], roots.get(path, path)
            by_root[root] = by_root.get(root, 0) + tokens
            continue
        known = phases.get(path, Counter())
        if known.total() > tokens:  # the phases were edited by hand
            known = Counter()
        for name, share in known.items():
            count(path, name, share)
        if tokens > known.total() or not known:
            count(path, None, tokens - known.total())
    for path, name, tokens in listed:
        count(path, name, tokens)
    return used


def _by_phases(view: View, paths: Container[str]) -> dict[str, Counter[str]]:
    """Return the tokens of each agent according to the phases of these notes."""
    used: dict[str, Counter[str]] = {}
    for row in view.rows("phases"):
        path, agent, tokens = str(row["path"]), row["agent"], row["tokens"]
        if path in paths and "." not in str(row["phase_id"]):
            known = used.setdefault(path, Counter())
            if agent and isinstance(tokens, int):
                known[str(agent)] += tokens
    return used


class Figures(NamedTuple):
    """Figures over a group of sessions or phases.  `name` is the group's name, or None for sessions without one.

    For sessions: `tokens` includes subagents.  `tokens_average` covers sessions with known tokens, and
    `duration_average_s` and `duration_median_s` cover those with a known duration, in seconds.  `failure_rate` is the
    share of failed sessions among failed and completed ones; `tool_failure_rate` is the share of failed calls.
    `decisions`, `errors`, `users` (user interventions) and the calls are sums over the sessions' own notes.

    For phases: `sessions` counts the sessions that have the phase.  All other figures come from the phases alone, each
    with its sub-phases.  Averages are per phase, and `failure_rate` covers all phases, since many have no status.

    Averages have one decimal; rates, from 0 to 1, have four.  A figure is None if there is nothing to divide by.
    """

    name: str | None
    sessions: int
    tokens: int
    tokens_average: float | None
    duration_average_s: float | None
    duration_median_s: float | None
    failure_rate: float | None
    tool_failure_rate: float | None
    decisions: int
    errors: int
    users: int


class Stats(NamedTuple):
    """The groups, largest first and then by name (months: newest first).

    `total` always covers sessions, whatever `by` is.
    """

    by: str | None
    groups: tuple[Figures, ...]
    total: Figures


_COLUMNS: Mapping[str | None, str] = {
    "agent": "agents",
    "channel": "channels",
    "status": "status",
    "model": "model",
    "month": "started",
}
"""The column of `sessions` that determines a session's group."""

GROUPINGS = ("agent", "channel", "status", "model", "month", "phase")
"""The properties by which sessions can be grouped."""

_Cells = tuple[Any, ...]
_FIGURES = ("status", "tool_calls", "failures", "decisions", "errors", "users")


def aggregate(view: View, query: SessionQuery, by: str | None = None) -> Stats:
    """Return figures over the sessions that the query selects, grouped if `by` is one of `GROUPINGS`.

        agent    every agent in the session, its phases and its subagents, in any version, with that agent's own tokens;
                 the group None has tokens whose agent is unknown
        channel  the session's channel and each phase's; each group counts the entire session
        status   as written, in lower case
        model    the session's own, not its subagents'
        month    of the start, in UTC
        phase    level-2 phases by name, case ignored; shown as first written

    The query's filters select sessions; their subagents' tokens are included whether or not the subagents match.  With
    `query.children`, subagents' notes are separate sessions.
    """
    read = read_sessions(view, query, (_COLUMNS.get(by, "path"), "duration_s", *_FIGURES))
    # A subagent's note belongs to its root, the last in its chain of parents.
    roots = {} if query.children else roots_of(read)
    cells = [one for one in read.matched if roots.get(one[0], one[0]) == one[0]] if roots else read.matched
    listed = list(listed_subagents(view, read))
    used = _used(listed, read, roots)
    total = _of_sessions(None, cells, used)
    if by is None:
        return Stats(None, (), total)
    if by == "phase":
        figures = list(_by_phase(view, {path: path for path, *_ in cells}))
    elif by == "agent":
        figures = list(_by_agent(cells, _tokens_by_agent(view, listed, read, roots)))
    else:
        figures = [_of_sessions(name, some, used) for name, some in _by_name(cells, by).items()]
    return Stats(by, tuple(_ordered(figures, by)), total)


def _by_agent(sessions: Sequence[_Cells], tokens: Mapping[str | None, Mapping[str, int]]) -> Iterator[Figures]:
    groups = _by_name(sessions, "agent")
    for name in dict.fromkeys((*groups, *tokens)):
        used = tokens.get(name, {})
        worked_on = {*used, *(session[0] for session in groups.get(name, ()))}
        worked = [session for session in sessions if session[0] in worked_on]
        if worked:
            yield _of_sessions(name, worked, used)


def _by_name(sessions: Iterable[_Cells], by: str) -> Mapping[str | None, Sequence[_Cells]]:
    groups: dict[str | None, list[_Cells]] = {}
    # A hundred thousand sessions share a few dozen distinct cells.
    known: dict[str | None, tuple[str | None, ...]] = {}
    for session in sessions:
        cell = session[1]
        if cell not in known:
            known[cell] = _names(cell, by)
        for name in known[cell]:
            groups.setdefault(name, []).append(session)
    return groups


def _names(cell: str | None, by: str) -> tuple[str | None, ...]:
    """Return the groups of a session, based on its cell."""
    if not cell:
        return (None,)
    if by == "agent":
        return agents_in(cell)
    if by == "channel":
        return tuple(dict.fromkeys(split_list(cell)))
    return (cell[:7] if by == "month" else cell.lower() if by == "status" else cell,)


def _by_phase(view: View, shared_paths: Mapping[str, str]) -> Iterator[Figures]:
    """Yield figures per phase name.  `shared_paths` maps each path to one shared string, to save memory."""
    pick = itemgetter("tokens", "duration_s", *_FIGURES)
    names: dict[str, str] = {}
    groups: dict[str, list[_Cells]] = {}
    paths: dict[str, set[str]] = {}
    for row in view.rows("phases"):
        path = shared_paths.get(row["path"])  # type: ignore[arg-type]  # always a text
        if path is None or "." in str(row["phase_id"]):
            continue
        name = str(row["phase"] or "")
        key = name.casefold()
        if key not in names:
            names[key], groups[key], paths[key] = name, [], set()
        groups[key].append(pick(row))
        paths[key].add(path)
    return (_of_phases(names[key] or None, len(paths[key]), cells) for key, cells in groups.items())


_ENDED = {"failed": True, "completed": False}


def _of_sessions(name: str | None, sessions: Sequence[_Cells], tokens: Mapping[str, int]) -> Figures:
    """Compute the figures for sessions with the cells path, group, seconds, and `_FIGURES`."""
    paths, _, seconds, statuses, *counts = zip(*sessions, strict=True) if sessions else repeat((), 9)
    ended = {status: _ENDED.get(str(status).lower()) for status in set(statuses)}
    return _figures(
        name,
        len(sessions),
        tokens=map(tokens.get, paths),
        seconds=_known(seconds),
        failed=map(ended.get, statuses),
        counts=[*map(_sum, counts)],
    )


def _of_phases(name: str | None, sessions: int, phases: Sequence[_Cells]) -> Figures:
    """Compute the figures for phases with the cells tokens, seconds, and `_FIGURES`."""
    tokens, seconds, statuses, *counts = zip(*phases, strict=True)
    return _figures(
        name,
        sessions,
        tokens=tokens,
        seconds=_known(seconds),
        failed=[str(status).lower() == "failed" for status in statuses],
        counts=[*map(_sum, counts)],
    )


def _figures(
    name: str | None,
    sessions: int,
    *,
    tokens: Iterable[int | None],
    seconds: Sequence[float],
    failed: Iterable[bool | None],
    counts: Sequence[int],
) -> Figures:
    """Build figures.

    `failed` has a bool per ended session or phase; `counts` has the sums of the last five `_FIGURES`.
    """
    used = [number for number in tokens if number is not None]
    ended = [one for one in failed if one is not None]
    calls, failures, decisions, errors, users = counts
    return Figures(
        name,
        sessions,
        sum(used),
        _rounded(_ratio(sum(used), len(used)), 1),
        _rounded(_ratio(sum(seconds), len(seconds)), 1),
        _rounded(_median(seconds), 1),
        _rounded(_ratio(sum(ended), len(ended)), 4),
        _rounded(_ratio(failures, calls), 4),
        decisions,
        errors,
        users,
    )


def _known(cells: Iterable[int | None]) -> list[int]:
    return [cell for cell in cells if cell is not None]


def _sum(cells: Iterable[int | None]) -> int:
    return sum(filter(None, cells))


def _ratio(some: float, every: float) -> float | None:
    return some / every if every else None


def _median(numbers: Sequence[float]) -> float | None:
    # Not `statistics.median`: importing it takes longer than computing the figures for most vaults.
    middle = sorted(numbers)[(len(numbers) - 1) // 2 : len(numbers) // 2 + 1]
    return _ratio(sum(middle), len(middle))


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(float(number), digits)


def _ordered(figures: Iterable[Figures], by: str | None) -> list[Figures]:
    """Sort groups.  The group without a name comes after others of its size, or after all months."""
    if by == "month":
        return sorted(figures, key=lambda group: group.name or "", reverse=True)
    return sorted(figures, key=lambda group: (-group.sessions, group.name is None, group.name or ""))
