"""Sessions with the tokens of their subagents: where each token counts, once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
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
