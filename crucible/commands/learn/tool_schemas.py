"""The tools in function-calling format: names and arguments, inferred from the calls of a whole export.

Rows pass through a file, since all calls must be seen before the first row is complete: memory holds only the tools.  A tool has the same schema in
every row.  A row lists the tools that it calls, and one more if those all have the same arguments: `datasets` reads rows with differing
tools as JSON values, but a first row with a single tool would fix the arguments for all later rows.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import orjson

from crucible.commands.learn.chat import Row

__all__ = ["with_tools"]

_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def with_tools(rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with `messages`, each with its `tools` after them; the first is yielded after all are read."""
    calls: Counter[str] = Counter()
    known: dict[str, dict[str, set[str]]] = {}
    with tempfile.TemporaryFile() as spool:
        for row in rows:
            for function in _functions(row):
                calls[function["name"]] += 1
                own = known.setdefault(function["name"], {})
                for argument, value in orjson.loads(function["arguments"]).items():
                    own.setdefault(argument, set()).add(_KINDS.get(type(value), "null"))
            spool.write(orjson.dumps(row) + b"\n")
        spool.seek(0)
        often = sorted(known, key=lambda name: (-calls[name], name))
        for row in map(orjson.loads, spool):
            names = sorted({function["name"] for function in _functions(row)})
            if len({frozenset(known[name]) for name in names}) == 1:
                names += [one for one in often if known[one].keys() != known[names[0]].keys()][:1]
            tools = [_schema(name, known[name]) for name in names]
            yield {"messages": row.pop("messages"), "tools": tools, **row}


def _schema(name: str, arguments: Mapping[str, set[str]]) -> Row:
    properties = {argument: _typed(arguments[argument]) for argument in sorted(arguments)}
    parameters = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _typed(kinds: set[str]) -> Row:
    names = sorted(kinds - {"integer"} if "number" in kinds else kinds)
    items: Row = {"items": {}} if "array" in names else {}
    return {"type": names[0] if len(names) == 1 else names, **items}


def _functions(row: Row) -> Iterator[Row]:
    return (call["function"] for message in row["messages"] for call in message.get("tool_calls", ()))
