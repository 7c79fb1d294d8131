"""What tools there are, as function calling describes them: names and arguments, inferred from the calls of a whole export.

Owns the schemas.  A tool has the same one in every row, with every argument that any call of it had.  Rows pass through a file, since all calls must be seen
before the first row is complete: memory holds the tools alone.

A row is offered the tools that it calls, and one more if those all have the same arguments.  A choice teaches more than none, and
rows whose tools differ among themselves are read by `datasets` as JSON values; a first row with a single tool would fix the
arguments for all that follow.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import orjson

from crucible.cases.chat import Row

__all__ = ["Toolbox", "with_tools"]


def with_tools(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with `messages`, each with its `tools` behind them; the first comes when all are seen."""
    box = Toolbox()
    with tempfile.TemporaryFile() as spool:
        for row in rows:
            box.note(row)
            spool.write(orjson.dumps(row) + b"\n")
        spool.seek(0)
        for row in map(orjson.loads, spool):
            offered = box.offered(function["name"] for function in _functions(row))
            yield {"messages": row.pop("messages"), "tools": offered, **row}


class Toolbox:
    """The tools of an export, their arguments, and how often they were called."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._arguments: dict[str, defaultdict[str, list[tuple[str, str]]]] = {}

    def note(self, row: Row) -> None:
        """See the calls of a row's messages."""
        for function in _functions(row):
            self._calls[function["name"]] += 1
            known = self._arguments.setdefault(function["name"], defaultdict(list))
            for argument, value in orjson.loads(function["arguments"]).items():
                kind = _kind(value)
                for one in map(_kind, value or [""]) if kind == "array" else [""]:
                    if (kind, one) not in known[argument]:
                        known[argument].append((kind, one))

    def offered(self, names: Iterable[str]) -> list[Row]:
        """The schemas of these tools, by their names, and of another where these have all the same arguments."""
        own = sorted(set(names))
        if len({frozenset(self._arguments[name]) for name in own}) == 1:
            own += self._other(own[0])
        return [self._schema(name) for name in own]

    def _other(self, name: str) -> list[str]:
        """The tool most often called, of those with other arguments; none where there is none."""
        arguments = self._arguments[name].keys()
        others = [one for one, known in self._arguments.items() if known.keys() != arguments]
        return sorted(others, key=lambda one: (-self._calls[one], one))[:1]

    def _schema(self, name: str) -> Row:
        known = self._arguments[name]
        properties = {argument: _typed(known[argument]) for argument in sorted(known)}
        parameters = {"type": "object", "properties": properties}
        return {"type": "function", "function": {"name": name, "parameters": parameters}}


_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "null")


def _typed(kinds: Iterable[tuple[str, str]]) -> Row:
    """The schema of an argument that came as these kinds, of an array with those of its items."""
    items = {"items": _type_of(item for _, item in kinds if item)} if any(item for _, item in kinds) else {}
    return _type_of(kind for kind, _ in kinds) | items


def _type_of(kinds: Iterable[str]) -> Row:
    found = set(kinds)
    names = sorted(found - {"integer"} if "number" in found else found)
    return {"type": names[0] if len(names) == 1 else names}


def _functions(row: Row) -> Iterator[Row]:
    return (call["function"] for message in row["messages"] for call in message.get("tool_calls", ()))
