"""What a rule is, and how a table of them is read.

A rule is looked at only where one of its literals stands: the literals of all rules are sought in one pass, whatever their
number.  Owns the shape of tables; the tables are `providers` and `services`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crucible.core.patterns import late_pattern

ESCAPED = r"(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u00[0-9a-f]{2})"
NO_HASH = r"(?<!sha\d\d\d[=:-])"
START = rf"(?:(?<![A-Za-z0-9]){NO_HASH}|{ESCAPED})"
"""Where a token begins: after no letter or digit, but for those of an escape, `\\nfc-…`."""
_BOUNDARY = late_pattern(r"\(\?<!\[A-Za-z0-9[^\]]*\]\)")


class Rule(NamedTuple):
    """One kind of secret.

    `literals` are in lower case.  `pattern` is matched where a literal stands, or, with `back`, is sought from so many
    characters before it; its group `s` is the secret, all of the match without one.  Where a rule with `whole_run`
    fails, it fails up to the end of the letters and digits there.  `accept` says no to what only
    looks like it.
    """

    name: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    accept: Callable[[str], bool]
    back: int = 0
    whole_run: bool = False


class Form(NamedTuple):
    """A kind of secret that is found by a function, where one of its literals stands.

    `find` gets a text, where the literal stands and up to where it has looked before; it gives up to where it has looked
    now, and the places of secrets.  It is not called for a literal that stands before that.
    """

    name: str
    literals: tuple[str, ...]
    find: Callable[[str, int, int], tuple[int, list[tuple[int, int]]]]
    surest: bool = False


def read_table(table: str, accept: Callable[[str], bool], around: str = "{}") -> Iterator[Rule]:
    """The rules of a table of lines `name | literals | pattern`, the pattern put into `around`.

    `name <n` sets `back`, `name -` sets `whole_run`.
    """
    for line in filter(None, map(str.strip, table.split("\n"))):
        name, literals, pattern = line.split(" | ", 2)
        name, _, mark = name.strip().partition(" ")
        back = int(mark[1:]) if mark.startswith("<") else 0
        full = around.replace("{}", pattern.strip())
        if "(?<=" not in full:
            full = _BOUNDARY.sub(lambda found: f"(?:{found[0]}{NO_HASH}|{ESCAPED})", full)
        yield Rule(name, tuple(literals.split()), late_pattern(full), accept, back, mark == "-")
