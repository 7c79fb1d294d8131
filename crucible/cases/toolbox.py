"""What tools there are, as function calling describes them: names and arguments, inferred from the calls of a whole export.

Owns the schemas.  A tool has the same one in every row, with every argument that any call of it had.  Rows pass through a file, since all calls must be seen
before the first row is complete: memory holds the tools alone.

A row is offered the tools that it calls, and one more if those all have the same arguments.  A choice teaches more than none, and
rows whose tools differ among themselves are read by `datasets` as JSON values; a first row with a single tool would fix the
arguments for all that follow.
"""

from __future__ import annotations

import tempfile
from collections import Counter
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
        self._arguments: dict[str, dict[str, set[str]]] = {}

    def note(self, row: Row) -> None:
        """See the calls of a row's messages."""
        for function in _functions(row):
            name = function["name"]
            self._calls[name] += 1
            known = self._arguments.setdefault(name, {})
            for argument, value in orjson.loads(function["arguments"]).items():
                kinds = known.setdefault(argument, set())
                kinds.add(_kind(value))
                if isinstance(value, list):
                    kinds.update(f"[{_kind(one)}" for one in value)

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


def _typed(kinds: set[str]) -> Row:
    """The schema of an argument that came as these kinds; of an array's items where a `[` stands before."""
    own = _together(kind for kind in kinds if not kind.startswith("["))
    found: Row = {"type": own[0] if len(own) == 1 else own}
    if "array" in own:
        items = _together(kind[1:] for kind in kinds if kind.startswith("["))
        found["items"] = {"type": items[0] if len(items) == 1 else items} if items else {"type": "string"}
    return found


def _together(kinds: Iterable[str]) -> list[str]:
    found = set(kinds)
    return sorted(found - {"integer"} if "number" in found else found)


def _functions(row: Row) -> Iterator[Row]:
    return (call["function"] for message in row["messages"] for call in message.get("tool_calls", ()))
