"""The inputs of a lake from a vault: its sessions by month and project, with the rows of the small tables.

Sessions are excluded if they were deleted in the vault or are on one of the lake's lists, and so are their subagents.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.commands.lake.event_columns import LogSession, Words, number
from crucible.commands.lake.lake_manifest import deletion_hash
from crucible.commands.lake.lake_tables import TABLES, VERSION, Kind, key_of, project_key, session_key
from crucible.core.patterns import late_pattern
from crucible.core.prices.price_list import PriceList
from crucible.core.quick_imports import blake2b
from crucible.core.settings.settings import VaultSettings
from crucible.core.text import WORD, stem, stop_words
from crucible.search.embedded.index_update import NoteChanges
from crucible.vault.index.costs import UsageCost, usage_costs
from crucible.vault.index.query import SessionQuery
from crucible.vault.index.schema import UNDATED, Row, View, path_of_cell, shard_of, split_list
from crucible.vault.logs.tombstones import load_tombstones
from crucible.vault.notes.note_heads import read_head
from crucible.vault.notes.note_tail import read_tail

_MONTH = late_pattern(r"\d{4}-\d{2}")
_ENDS = ("ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e")


class CaseFacts(NamedTuple):
    """A learning case: the id of its session and its row, with `id` in place of a key."""

    session: str
    row: Mapping[str, object]


class ExportOptions(NamedTuple):
    """Whether to export texts, and the names of sessions and projects."""

    contents: bool = False
    names: bool = True


class VaultSource(NamedTuple):
    """A vault to export: its real path, its id, its settings, and what else the rows are made from."""

    root: str
    vault: str
    settings: VaultSettings
    prices: PriceList
    cases: Sequence[CaseFacts] = ()


class States(NamedTuple):
    """The hash of each note by path, and the state of each event log by session.

    Both are read before the index, so that a later change is never taken for an exported one.
    """

    notes: Mapping[str, str]
    logs: Mapping[str, str]


class PartInputs(NamedTuple):
    """The inputs of one month and project.

    `digest` changes with every input.  `ids` are the sessions in the order of their rows, `sessions` those with an event
    log.  `rows` returns the rows of the small tables.
    """

    key: str
    digest: str
    ids: Sequence[str]
    sessions: Sequence[LogSession]
    rows: Callable[[], Mapping[str, list[dict[str, object]]]]


def load_states(source: VaultSource) -> States:
    """Return the current states of a vault's notes and event logs."""
    notes = NoteChanges(source.root, source.settings).current("").hashes or {}
    return States(notes, _log_states(source.root))


def _log_states(root: str) -> dict[str, str]:
    """Return, by session, a string that changes with every write to its event log."""
    found: defaultdict[str, str] = defaultdict(str)
    inner = os.path.join(root, ".crucible")
    with suppress(OSError), os.scandir(os.path.join(inner, "flight")) as entries:
        for entry in entries:
            for name in ("events.jsonl", "tools.jsonl"):
                with suppress(OSError):
                    found[entry.name] += _stamp(os.stat(os.path.join(entry.path, name)))
    with suppress(OSError), os.scandir(os.path.join(inner, "archive")) as entries:
        for entry in entries:
            with suppress(OSError):
                found[entry.name.removesuffix(".jsonl.zst")] += f"a{_stamp(entry.stat())}"
    return dict(found)


def _stamp(status: os.stat_result) -> str:
    return f"{status.st_size}-{status.st_mtime_ns};"


def inputs_of(
    view: View, source: VaultSource, states: States, deleted: frozenset[str], options: ExportOptions
) -> list[PartInputs]:
    """Return the inputs of each partition, oldest month first."""
    kept = _kept_rows(view, source, deleted)
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in kept:
        groups[_partition_of(row)].append(row)
    costs = _by_path(usage_costs(view, source.prices, SessionQuery(children=True, archived=True)))
    cases: defaultdict[str, list[CaseFacts]] = defaultdict(list)
    for case in source.cases:
        cases[case.session].append(case)
    shared = _Shared(view, source, options, costs, cases)
    return [_part(key, groups[key], states, shared) for key in sorted(groups)]


class _Shared(NamedTuple):
    view: View
    source: VaultSource
    options: ExportOptions
    costs: Mapping[str, list[UsageCost]]
    cases: Mapping[str, list[CaseFacts]]


def _kept_rows(view: View, source: VaultSource, deleted: frozenset[str]) -> list[Row]:
    """Return the readable sessions that were not deleted."""
    found: dict[str, Row] = {}
    for row in sorted(view.rows("sessions"), key=lambda row: str(row["path"])):
        if not row["unreadable"]:
            # Of two notes with the same id, the first one counts.
            found.setdefault(str(row["id"]), row)
    rows = [*found.values()]
    gone = {one.session for one in load_tombstones(Path(source.root))}
    if deleted:
        gone |= {str(row["id"]) for row in rows if _is_listed(row, source.root, deleted)}
    gone |= _below(rows, gone)
    return [row for row in rows if row["id"] not in gone]


def _is_listed(row: Row, root: str, deleted: frozenset[str]) -> bool:
    try:
        return any(deletion_hash(name) in deleted for name in (str(row["id"]), *_native_ids(root, row)))
    except OSError:
        return True  # not exported while it cannot be read


def _below(rows: Sequence[Row], gone: Iterable[str]) -> set[str]:
    """Return the ids of the sessions' subagents, and of theirs."""
    children: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["parent"]:
            children[str(row["parent"])].append(str(row["id"]))
    found: set[str] = set()
    waiting = list(gone)
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _partition_of(row: Row) -> str:
    month = shard_of(str(row["started"] or ""))
    return f"{month if _MONTH.fullmatch(month) else UNDATED}/{project_key(str(row['project'] or ''))}"


def _by_path(costs: Iterable[UsageCost]) -> dict[str, list[UsageCost]]:
    found: defaultdict[str, list[UsageCost]] = defaultdict(list)
    for one in costs:
        found[one.path].append(one)
    return found


def _part(key: str, rows: Sequence[Row], states: States, shared: _Shared) -> PartInputs:
    rows = sorted(rows, key=lambda row: str(row["path"]))
    vault = shared.source.vault
    facts: list[object] = [VERSION, vault, key, *shared.options, shared.source.settings.secrets]
    for row in rows:
        path, name = str(row["path"]), str(row["id"])
        facts += [path, states.notes.get(path_of_cell(path)), states.logs.get(name), row["parent"]]
        facts += [shared.costs.get(path), shared.cases.get(name)]
    digest = blake2b(orjson.dumps(facts, default=repr), digest_size=16).hexdigest()
    logs = [LogSession(str(row["id"]), session_key(vault, str(row["id"]))) for row in rows]
    ids = [one.id for one in logs]
    return PartInputs(
        key, digest, ids, [one for one in logs if one.id in states.logs], lambda: _SmallTables(rows, shared).rows()
    )


class _SmallTables:
    """The rows of the tables that do not come from event logs, for the sessions of one partition."""

    def __init__(self, sessions: Sequence[Row], shared: _Shared) -> None:
        self._sessions = sessions
        self._shared = shared
        self._words = Words(shared.source.settings.secrets)
        self._keys = {str(row["path"]): session_key(shared.source.vault, str(row["id"])) for row in sessions}

    def rows(self) -> dict[str, list[dict[str, object]]]:
        """Return the rows by table."""
        return {
            "sessions": [self._session(row) for row in self._sessions],
            "findings": list(self._findings()),
            "costs": [
                self._cost(one) for row in self._sessions for one in self._shared.costs.get(str(row["path"]), ())
            ],
            "cases": [self._case(one) for row in self._sessions for one in self._shared.cases.get(str(row["id"]), ())],
        }

    def _session(self, row: Row) -> dict[str, object]:
        name, parent = str(row["id"]), row["parent"]
        agents = split_list(str(row["participants"] or ""))
        agent = next((one for one in agents if "@" in one), agents[0] if agents else "")
        more = {
            "session": self._keys[str(row["path"])],
            "parent": session_key(self._shared.source.vault, str(parent)) if parent else None,
            "id": name,
            "project_name": row["project"],
            "agent": agent.partition("@")[0],
            "interventions": row["users"],
            "archived": bool(row["archived"]),
        }
        return self._fitted("sessions", {**row, **more})

    def _findings(self) -> Iterator[dict[str, object]]:
        shards = sorted({shard_of(_text(row["started"])) for row in self._sessions})
        for row in self._shared.view.rows("callouts", shards):
            if row["finding"] and (key := self._keys.get(str(row["path"]))):
                more = {"session": key, "phase": row["phase_id"], "topic": topic_of(str(row["text"] or ""))}
                yield self._fitted("findings", {**row, **more})

    def _cost(self, one: UsageCost) -> dict[str, object]:
        more = {"session": self._keys[one.path], "usd_micros": one.micros}
        return self._fitted("costs", {**one._asdict(), **one.counts, **more})

    def _case(self, one: CaseFacts) -> dict[str, object]:
        vault = self._shared.source.vault
        more = {
            "session": session_key(vault, one.session),
            "case": session_key(vault, str(one.row["id"])),
            "topic": topic_of(str(one.row["about"] or "")),
        }
        return self._fitted("cases", {**one.row, **more})

    def _fitted(self, table: str, cells: Mapping[str, object]) -> dict[str, object]:
        """Return the cells with the types of the table's columns; None for those that do not fit."""
        return {name: self._cell(kind, cells.get(name)) for name, kind in TABLES[table].items()}

    def _cell(self, kind: Kind, value: object) -> object:
        options = self._shared.options
        if (kind is Kind.TEXT and not options.contents) or (kind is Kind.NAME and not options.names):
            return None
        if kind is Kind.KEY:
            return value
        return _CELLS[kind](self._words, value)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _time(_: Words, value: object) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    return None


def _day(_: Words, value: object) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(value) if isinstance(value, str) else None
    return None


_CELLS: Mapping[Kind, Callable[[Words, Any], object]] = {
    Kind.WORD: Words.word,
    Kind.NAME: Words.text,
    Kind.TEXT: Words.text,
    Kind.NUMBER: lambda _, value: number(value),
    Kind.FLAG: lambda _, value: bool(value),
    Kind.TIME: _time,
    Kind.DAY: _day,
}


def topic_of(text: str) -> str | None:
    """Return a key that texts share if they have the same words, whatever their order and endings."""
    ignored = stop_words("cases")
    words = {stem(word, _ENDS) for word in WORD.findall(text.casefold()) if word not in ignored}
    return key_of(*sorted(words)) if words else None


_SOURCE = late_pattern(rb"([\w.-]+):([^\s\"',\[\]/]+)(?:/([^\s\"',\[\]]+))?")


def _native_ids(root: str, row: Row) -> Iterator[str]:
    """Yield the native ids that a note's sources may name, and those of a subagent's session.

    Each comes with its client (`codex:01a2…`) and without it.
    """
    path = os.path.join(root, path_of_cell(str(row["path"])))
    for found in _SOURCE.finditer(read_head(path) + b"\n" + read_tail(path)):
        client, native, agent = (part.decode("utf-8", "replace") for part in found.groups(b""))
        yield from (native, f"{client}:{native}")
        if agent:
            yield from (agent, f"{client}:{agent}", f"{native}/{agent}", f"{client}:{native}/{agent}")
