"""One member of ours in a JSON file of another program: put into a section, and taken out to the byte.

Owns that nothing else in the text changes, and that a member of the same name that is not ours stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from crucible.core.errors import UsageError
from crucible.integrations.install.jsonc import Node, insert, member, parse, remove, replaced, unit_of

_BOM = "\ufeff"
IsOurs = Callable[[Any], bool]


def with_member(text: str | None, section: str, name: str, value: Mapping[str, Any], is_ours: IsOurs) -> str:
    """The text with `{section: {name: value}}` in it; None is a file that is not there.

    `UsageError` where the text is no JSON of that shape, or another's member has the name.
    """
    if text is None or not text.strip(_BOM + " \t\r\n"):
        whole = json.dumps({section: {name: value}}, indent=2)
        return whole + "\n" if text is None else text + whole
    bom, text = _parted(text)
    parsed = parse(text)
    into = member(_object(parsed.root, "the file"), section)
    if into is None:
        return bom + insert(parsed, parsed.root, _rendered(text, section, {name: value}))
    there = member(_object(into, section), name)
    if there is None:
        return bom + insert(parsed, into, _rendered(text, name, value))
    if not is_ours(there.value):
        raise UsageError(f"{section}.{name}: is there already, and is not ours", "rename it, or take it out by hand")
    return bom + (text if there.value == value else replaced(parsed, there, json.dumps(value)))


def member_in(text: str, section: str, name: str) -> Any:
    """The value of `{section: {name: value}}`, None for none.  `UsageError` where the text is no JSON."""
    root = parse(_parted(text)[1]).root
    into = member(root, section) if isinstance(root.value, dict) else None
    there = member(into, name) if into and isinstance(into.value, dict) else None
    return None if there is None else there.value


def without_member(text: str, section: str, name: str, is_ours: IsOurs) -> str | None:
    """The text without it, and without a section that came with it; None when the whole file did."""
    bom, text = _parted(text)
    if not text.strip(" \t\r\n"):
        return bom + text
    parsed = parse(text)
    into = member(parsed.root, section)
    there = member(into, name) if into and isinstance(into.value, dict) else None
    if into is None or there is None or not is_ours(there.value):
        return bom + text
    for outer, inner in ((into, there), (parsed.root, into)):
        # What was empty before had its first member glued to its bracket.
        if inner.first == outer.start + 1 or len(outer.items) > 1:
            return bom + remove(parsed, outer, inner)
    around = text[: parsed.root.start], text[parsed.root.end :]
    return None if (bom, *around) == ("", "", "\n") else bom + "".join(around)


def _parted(text: str) -> tuple[str, str]:
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _object(node: Node, what: str) -> Node:
    if not isinstance(node.value, dict):
        raise UsageError(f"{what}: expected an object", "mend the file by hand; nothing was changed")
    return node


def _rendered(text: str, name: str, value: object) -> Callable[[str], str]:
    unit = unit_of(text)

    def render(indent: str) -> str:
        # In a file of one line, blanks instead of line breaks: a bracket of ours is never glued to what it holds.
        broken = "\n" in indent
        told = json.dumps(value, indent=unit if broken else "").replace("\n", indent if broken else " ")
        return f"{json.dumps(name)}: {told}"

    return render
