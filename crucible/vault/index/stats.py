"""Figures over many sessions, in groups and in total."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from crucible.vault.index.query import SessionQuery, matcher
from crucible.vault.index.schema import View, split_list


class SelectedSessions(NamedTuple):
    """The sessions that are wanted.  `cells` has of each its path and then what was asked for.

    `tokens` gives for their paths, and for others', what they and their subagents used; nothing when that is unknown.
    """

    cells: list[tuple[Any, ...]]
    tokens: dict[str, int]


def selected_sessions(view: View, query: SessionQuery, columns: Sequence[str]) -> SelectedSessions:
    """The sessions that match, with these columns' cells.

    A subagent's note is part of its root, the last of its chain of parents, and its tokens are the root's, whether it
    matches or not.  A subagent whose note is not there, or says none, has them in the list of the session that started it.  With
    `query.children` each note is a session of its own.
    """
    read = _read(view, query, columns)
    roots = {} if query.children else _roots(read)
    cells = [one for one in read.matched if roots.get(one[0], one[0]) == one[0]] if roots else read.matched
    return SelectedSessions(cells, _used(view, read, roots))


class _Read(NamedTuple):
    """What one pass over the sessions leaves: plain dicts and tuples, which the garbage collector passes over.

    `notes` has the path of each id, of several the first, `parents` and `tokens` go by path.
    """

    notes: dict[str, str]
    parents: dict[str, str]
    tokens: dict[str, int]
    matched: list[tuple[Any, ...]]


def _read(view: View, query: SessionQuery, columns: Sequence[str]) -> _Read:
    """Subagents' notes match as others do, since their parents may be gone."""
    fits, pick = matcher(query._replace(children=True)), itemgetter("path", *columns)
    read = _Read({}, {}, {}, [])
    notes, parents, tokens, matched = read
    kin = itemgetter("path", "id", "parent", "tokens_used")
    for row in view.rows("sessions"):
        path, name, parent, used = kin(row)
        if notes.setdefault(name, path) > path:
            notes[name] = path
        if parent:
            parents[path] = parent
        if used is not None:
            tokens[path] = used
        if fits(row):
            matched.append(pick(row))
    return read


def _roots(read: _Read) -> dict[str, str]:
    """The root of every session with a parent; itself, when the vault does not hold its parent.

    Of sessions that are each other's parents the first by path is the root.
    """
    roots: dict[str, str] = {}
    for path in read.parents:
        trail: dict[str, None] = {}
        at, above = path, _parent_of(path, read)
        while above is not None and at not in roots and at not in trail:
            trail[at] = None
            at, above = above, _parent_of(above, read)
        if at in trail:
            steps = [*trail]
            root = min(steps[steps.index(at) :])
        else:
            root = roots.get(at, at)
        roots.update(dict.fromkeys([*trail, at], root))
    return roots


def _parent_of(path: str, read: _Read) -> str | None:
    parent = read.parents.get(path)
    return read.notes.get(parent) if parent else None


def _used(view: View, read: _Read, roots: Mapping[str, str]) -> dict[str, int]:
    """What each root and its subagents used, where anything is known."""
    used = read.tokens if not roots else {}
    if roots:
        for path, tokens in read.tokens.items():
            root = roots.get(path, path)
            used[root] = used.get(root, 0) + tokens
    said = {name for name, path in read.notes.items() if path in read.tokens}
    for path, _, tokens in _told_by_others(view, said):
        root = roots.get(path, path)
        used[root] = used.get(root, 0) + tokens
    return used


def _told_by_others(view: View, said: Container[str]) -> Iterator[tuple[str, str, int]]:
    """Path of the session that lists a subagent, its agent and its tokens, when no note of its own has `said` them.

    A subagent that one session lists twice counts once, with the larger number.
    """
    named: dict[tuple[str, str], tuple[int, str]] = {}
    for row in view.rows("participants", None, ("subagent",)):
        tokens, session = row["tokens"], str(row["session"] or "")
        # A needle may stand in another column: an agent's name may hold the word.
        if row["role"] != "subagent" or not isinstance(tokens, int) or session in said:
            continue
        if session:
            key, told = (str(row["path"]), session), (tokens, str(row["agent"] or ""))
            named[key] = max(told, named.get(key, told))
        else:
            yield str(row["path"]), str(row["agent"] or ""), tokens
    for (path, _), (tokens, agent) in named.items():
        yield path, agent, tokens


# --- by agent --------------------------------------------------------------------------------------------------------


def agents_in(cell: object) -> tuple[str, ...]:
    """The agents of the column `agents`, in any version."""
    return tuple(dict.fromkeys(item.partition("@")[0] for item in split_list(str(cell or ""))))


def tokens_by_agent(view: View, query: SessionQuery) -> Mapping[str | None, Mapping[str, int]]:
    """The tokens of each agent by the path of the root; under None those of which nobody knows who used them.

    A note with one agent is all its own.  Of one with several its phases tell, and a subagent without a note is told by its parent.
    """
    read = _read(view, query, ())
    roots = {} if query.children else _roots(read)
    used: dict[str | None, Counter[str]] = {}

    def count(path: str, agent: str | None, tokens: int) -> None:
        name = (agent or "").partition("@")[0].lower() or None
        used.setdefault(name, Counter())[roots.get(path, path)] += tokens

    cells = {str(row["path"]): row["agents"] for row in view.rows("sessions")}
    agents = {path: agents_in(cells[path]) for path in read.tokens}
    phases = _by_phases(view, {path for path, names in agents.items() if len(names) > 1})
    for path, tokens in read.tokens.items():
        known = phases.get(path, Counter(dict.fromkeys(agents[path], tokens)))
        if len(agents[path]) > 1 and known.total() > tokens:  # somebody edited them
            known = Counter()
        for name, share in known.items():
            count(path, name, share)
        if tokens > known.total() or not known:
            count(path, None, tokens - known.total())
    for path, name, tokens in _told_by_others(view, {n for n, p in read.notes.items() if p in read.tokens}):
        count(path, name, tokens)
    return used


def _by_phases(view: View, paths: Container[str]) -> dict[str, Counter[str]]:
    """What the phases of these notes say that each agent used."""
    used: dict[str, Counter[str]] = {}
    for row in view.rows("phases"):
        path, agent, tokens = str(row["path"]), row["agent"], row["tokens_used"]
        if path in paths and "." not in str(row["phase_id"]):
            known = used.setdefault(path, Counter())
            if agent and isinstance(tokens, int):
                known[str(agent)] += tokens
    return used


class Figures(NamedTuple):
    """What some sessions, or some phases, come to.  `name` is the group's; None of sessions that have none.

    Of sessions: `tokens_used` holds their subagents' too.  `tokens_average` is over the sessions whose tokens are known,
    `duration_average_s` and `duration_median_s` over those whose duration is: from start to end, or to what the note
    says, in seconds.  `failure_rate` is failed ones of those that ended, failed or completed.  `tool_failure_rate` is
    failed calls of all calls.  `decisions`, `errors` and `users`, the words of a human, are sums over the sessions' own
    notes, as are the calls.

    Of phases: `sessions` is how many different ones have the phase; all other figures come from the phases alone, each
    with its sub-phases: averages are for one phase, and `failure_rate` is failed ones of all phases, since many have no
    status.

    Averages have one decimal, rates, from 0 to 1, four; None where there is nothing to divide by.
    """

    name: str | None
    sessions: int
    tokens_used: int
    tokens_average: float | None
    duration_average_s: float | None
    duration_median_s: float | None
    failure_rate: float | None
    tool_failure_rate: float | None
    decisions: int
    errors: int
    users: int


class Stats(NamedTuple):
    """The groups, largest first and then by name, months newest first; `total` is over the sessions, whatever `by` is."""

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
"""The column that says which group a session is in."""

GROUPINGS = ("agent", "channel", "status", "model", "month", "phase")
"""What sessions can be grouped by."""

_Cells = tuple[Any, ...]
_FIGURES = ("status", "tool_calls", "failures", "decisions", "errors", "users")


def aggregate(view: View, query: SessionQuery, by: str | None = None) -> Stats:
    """The figures of the sessions that the query wants, in groups when `by` is one of `GROUPINGS`.

    agent    a session counts for each agent of it, its phases or its subagents, in any version, with the tokens of that agent;
             what nobody knows the agent of is in the group None
    channel  a session counts, with all that it has, for its own channel and each of its phases
    status   as it is written, in lower case
    model    the session's own, not its subagents'
    month    of its start, in UTC
    phase    its level-2 phases by name, in upper or lower case; written as the first that is met

    The query's filters choose sessions; their subagents' tokens count with them, whether those match or not.  With
    `query.children` subagents' notes are sessions of their own.
    """
    sessions = selected_sessions(view, query, (_COLUMNS.get(by, "path"), "duration_s", *_FIGURES))
    total = _of_sessions(None, sessions.cells, sessions.tokens)
    if by is None:
        return Stats(None, (), total)
    if by == "phase":
        figures = list(_by_phase(view, {path: path for path, *_ in sessions.cells}))
    elif by == "agent":
        figures = list(_by_agent(sessions.cells, tokens_by_agent(view, query)))
    else:
        groups = _by_name(sessions.cells, by)
        figures = [_of_sessions(name, cells, sessions.tokens) for name, cells in groups.items()]
    return Stats(by, tuple(_ordered(figures, by)), total)


def _by_agent(sessions: Sequence[_Cells], tokens: Mapping[str | None, Mapping[str, int]]) -> Iterator[Figures]:
    groups = _by_name(sessions, "agent")
    for name in dict.fromkeys((*groups, *tokens)):
        used = tokens.get(name, {})
        there = {session[0] for session in groups.get(name, ())}
        worked = [session for session in sessions if session[0] in there or session[0] in used]
        if worked:
            yield _of_sessions(name, worked, used)


def _by_name(sessions: Iterable[_Cells], by: str) -> Mapping[str | None, Sequence[_Cells]]:
    groups: dict[str | None, list[_Cells]] = {}
    # A hundred thousand sessions share some dozens of cells.
    known: dict[str | None, tuple[str | None, ...]] = {}
    for session in sessions:
        cell = session[1]
        if cell not in known:
            known[cell] = _names(cell, by)
        for name in known[cell]:
            groups.setdefault(name, []).append(session)
    return groups


def _names(cell: str | None, by: str) -> tuple[str | None, ...]:
    """The groups of a session by its cell."""
    if not cell:
        return (None,)
    if by == "agent":
        return agents_in(cell)
    if by == "channel":
        return tuple(dict.fromkeys(split_list(cell)))
    return (cell[:7] if by == "month" else cell.lower() if by == "status" else cell,)


def _by_phase(view: View, wanted: Mapping[str, str]) -> Iterator[Figures]:
    """`wanted` gives for each path the very same text, so that not every phase keeps one of its own."""
    pick = itemgetter("tokens_used", "duration_ms", *_FIGURES)
    names: dict[str, str] = {}
    groups: dict[str, list[_Cells]] = {}
    paths: dict[str, set[str]] = {}
    for row in view.rows("phases"):
        path = wanted.get(row["path"])  # type: ignore[arg-type]  # always a text
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
    """Of cells: path, what it is grouped by, seconds, and `_FIGURES`."""
    return _figures(
        name,
        len(sessions),
        tokens=[tokens.get(session[0]) for session in sessions],
        seconds=_known(sessions, 2),
        failed=[_ENDED.get(str(session[3]).lower()) for session in sessions],
        counts=[_sum(sessions, at) for at in range(4, 9)],
    )


def _of_phases(name: str | None, sessions: int, phases: Sequence[_Cells]) -> Figures:
    """Of cells: tokens, milliseconds, and `_FIGURES`."""
    return _figures(
        name,
        sessions,
        tokens=[phase[0] for phase in phases],
        seconds=[milliseconds / 1000 for milliseconds in _known(phases, 1)],
        failed=[str(phase[2]).lower() == "failed" for phase in phases],
        counts=[_sum(phases, at) for at in range(3, 8)],
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
    """`failed` says of what is to be counted whether it failed; `counts` are the sums of the last five `_FIGURES`."""
    used = [number for number in tokens if number is not None]
    ended = [one for one in failed if one is not None]
    calls, failures, decisions, errors, users = counts
    return Figures(
        name,
        sessions,
        sum(used),
        _rounded(_part(sum(used), len(used)), 1),
        _rounded(_part(sum(seconds), len(seconds)), 1),
        _rounded(_median(seconds), 1),
        _rounded(_part(sum(ended), len(ended)), 4),
        _rounded(_part(failures, calls), 4),
        decisions,
        errors,
        users,
    )


def _known(rows: Iterable[_Cells], at: int) -> list[int]:
    return [row[at] for row in rows if row[at] is not None]


def _sum(rows: Iterable[_Cells], at: int) -> int:
    return sum(_known(rows, at))


def _part(some: float, every: float) -> float | None:
    return some / every if every else None


def _median(numbers: Sequence[float]) -> float | None:
    # Not `statistics`': importing it takes longer than most vaults' figures.
    middle = sorted(numbers)[(len(numbers) - 1) // 2 : len(numbers) // 2 + 1]
    return _part(sum(middle), len(middle))


def _rounded(number: float | None, digits: int) -> float | None:
    return None if number is None else round(float(number), digits)


def _ordered(figures: Iterable[Figures], by: str | None) -> list[Figures]:
    """Those without a name after all others of their size, or after all months."""
    if by == "month":
        return sorted(figures, key=lambda group: group.name or "", reverse=True)
    return sorted(figures, key=lambda group: (-group.sessions, group.name is None, group.name or ""))
