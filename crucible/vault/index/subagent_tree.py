"""Which note belongs to which session: subagents' notes belong to the root, the last in their chain of parents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from crucible.core.named_tuples import NamedTuple
from crucible.vault.index.query import SessionQuery, matcher
from crucible.vault.index.schema import View


class SessionsRead(NamedTuple):
    """The result of one pass over the sessions, as plain dicts and tuples, which the garbage collector skips.

    `notes` maps each id to its path, or to the first of several; `parents`, `tokens` and `agents` are by path, the last
    for notes with tokens.
    """

    notes: dict[str, str]
    parents: dict[str, str]
    tokens: dict[str, int]
    agents: dict[str, str]
    matched: list[tuple[Any, ...]]


def read_sessions(view: View, query: SessionQuery, columns: Sequence[str]) -> SessionsRead:
    """Read the sessions.  Subagents' notes are matched too, since their parents may be missing."""
    fits, pick = matcher(query._replace(children=True, archived=True)), itemgetter("path", *columns)
    read = SessionsRead({}, {}, {}, {}, [])
    notes, parents, tokens, agents, matched = read
    kin, cells = itemgetter("path", "id", "parent", "tokens", "agents"), dict[str, str]()
    for row in view.rows("sessions"):
        path, name, parent, used, cell = kin(row)
        if notes.setdefault(name, path) > path:
            notes[name] = path
        if parent:
            parents[path] = parent
        if used is not None:
            tokens[path] = used
            # A hundred thousand sessions share a few dozen cells.
            agents[path] = cells.setdefault(cell or "", cell or "")
        if fits(row):
            matched.append(pick(row))
    return read


def roots_of(read: SessionsRead) -> dict[str, str]:
    """Return the root of each session that has a parent.

    If the parent is not in the vault, the session is its own root.  In a cycle, the root is the first session by path.
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


def _parent_of(path: str, read: SessionsRead) -> str | None:
    parent = read.parents.get(path)
    return read.notes.get(parent) if parent else None


ListedSubagent = tuple[str, str, int]
"""Path, agent and tokens of a subagent that is only listed in a session's note."""


def listed_subagents(view: View, read: SessionsRead) -> Iterator[ListedSubagent]:
    """Yield each subagent listed in a session's note, unless it has a note with tokens.

    A subagent listed twice in one session counts once, with the larger number.
    """
    counted = {name for name, path in read.notes.items() if path in read.tokens}
    named: dict[tuple[str, str], tuple[int, str]] = {}
    for row in view.rows("participants", None, ("subagent",)):
        tokens, session = row["tokens"], str(row["session"] or "")
        # The search string may match another column: an agent's name may contain the word.
        if row["role"] != "subagent" or not isinstance(tokens, int) or session in counted:
            continue
        if session:
            key, listed = (str(row["path"]), session), (tokens, str(row["agent"] or ""))
            named[key] = max(listed, named.get(key, listed))
        else:
            yield str(row["path"]), str(row["agent"] or ""), tokens
    for (path, _), (tokens, agent) in named.items():
        yield path, agent, tokens
