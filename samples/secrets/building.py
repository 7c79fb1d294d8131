"""How cases are made: patterns of secrets, templates of contexts, and how a case is judged.

Owns the two small languages.  A *pattern* is a secret's format: `SG.{u:22}.{u:43}` is filled with random characters of
an alphabet, `{h:32|40}` has one of several lengths, `{h:20-30}` a length between.  What stands between `‹` and `›` is the part that must
not survive; without them it is all of it.  A *template* is what stands around: `«ENV»=«V»`.

Values are made when the tests run and are in no file, so that nothing in this repository looks like a secret.
Everything comes from a seed: the same half gives the same cases on every machine.
"""

from __future__ import annotations

import base64
import json
import re
import shlex
import string
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple
from urllib.parse import quote

_BEGIN, _END = "\ue000", "\ue001"
"""Marks around what must not survive, while a case is built: no escape touches a private letter."""

_MARKS = (_BEGIN, _END)
_AROUND_MARKS = re.compile(f"([{_BEGIN}{_END}])")

_B62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_ALPHABETS: Mapping[str, str] = {
    "d": string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "a": string.ascii_lowercase + string.digits,
    "A": string.ascii_uppercase + string.digits,
    "l": string.ascii_letters,
    "L": string.ascii_lowercase,
    "U": string.ascii_uppercase,
    "b": _B62,
    "u": _B62 + "-_",
    "s": _B62 + "+/",
    "3": string.ascii_uppercase + "234567",
    "c": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "n": string.digits[1:],
}
_HOLE = re.compile(r"\{(\w):([\d|-]+)\}")
_SLOT = re.compile(r"«(\w+)»")

_WORDS = (
    *(
        "harbor",
        "signal",
        "meadow",
        "copper",
        "lantern",
        "river",
        "quartz",
        "maple",
        "falcon",
        "ember",
        "orbit",
    ),
    *(
        "willow",
        "granite",
        "comet",
        "saffron",
        "tundra",
        "violet",
        "anchor",
        "breeze",
        "cedar",
        "delta",
        "frost",
    ),
)
_NAMES = (
    "ada",
    "noor",
    "jonas",
    "mei",
    "tomas",
    "lucia",
    "priya",
    "sven",
    "amara",
    "deploy",
    "svc-api",
    "app",
)


class Kind(NamedTuple):
    """One kind of secret.  `shape` says where it may stand.

    `token` shows by itself what it is; `url` too, and is too long for a header; `named` shows by its name only (`names`,
    as in the environment); `line` is a whole line, such as a command; `block` is several lines.
    """

    name: str
    shape: str
    patterns: tuple[str | Callable[[Random], str], ...]
    names: tuple[str, ...] = ()


Wrap = Callable[[str, Random], str]
"""What a text is found in: a diff, a log, a string in JSON."""


class Contexts(NamedTuple):
    """The surroundings of one half: templates by the shape that they take, and what these stand in."""

    templates: Mapping[str, Sequence[str]]
    wraps: Sequence[Wrap]
    neutral_names: Sequence[str]


class Case(NamedTuple):
    """A text that holds a secret; `secrets` are its pieces as they stand there, escaped as their surroundings ask."""

    kind: str
    context: str
    text: str
    secrets: tuple[str, ...]


def fill(pattern: str, rng: Random) -> str:
    """Random characters into the holes of a pattern."""

    def one(hole: re.Match[str]) -> str:
        lengths = hole[2]
        if "-" in lengths:
            low, _, high = lengths.partition("-")
            length = rng.randint(int(low), int(high))
        else:
            length = int(rng.choice(lengths.split("|")))
        return "".join(rng.choices(_ALPHABETS[hole[1]], k=length))

    return _HOLE.sub(one, pattern)


def build_cases(kinds: Sequence[Kind], contexts: Contexts, seed: str, count: int, step: int = 1) -> Iterator[Case]:
    """`count` cases of each kind, each in another context; with a `step` only every so-manieth, the same ones."""
    for kind in kinds:
        templates = contexts.templates[kind.shape]
        # A part of the contexts of each kind comes first in another one: a small sample sees many.
        start = zlib.crc32(kind.name.encode()) % 997
        for n in range(start % step, count, step):
            rng = Random(f"{seed}/{kind.name}/{n}")
            at = start + n
            template = templates[at % len(templates)]
            wrap = contexts.wraps[(at // len(templates) + at) % len(contexts.wraps)]
            yield _case(kind, template, wrap, contexts, rng)


def _case(kind: Kind, template: str, wrap: Wrap, contexts: Contexts, rng: Random) -> Case:
    for _ in range(1000):
        name = rng.choice(kind.names or tuple(contexts.neutral_names))
        marked = wrap(_filled(template, _value(kind, rng), name, rng), rng)
        secrets = tuple(re.findall(f"{_BEGIN}(.*?){_END}", marked, re.DOTALL))
        bare = re.sub(f"{_BEGIN}.*?{_END}", "\0", marked, flags=re.DOTALL)
        text = marked.replace(_BEGIN, "").replace(_END, "")
        # A short password may be a word of its surroundings too; then nobody could tell whether it survived.
        if secrets and not any(piece in bare for secret in secrets for piece in _pieces(secret)):
            return Case(kind.name, template, text, secrets)
    raise ValueError(f"{kind.name}: no case to be made of {template!r}")


def _value(kind: Kind, rng: Random) -> str:
    pattern = rng.choice(kind.patterns)
    made = pattern(rng) if callable(pattern) else fill(_words_in(pattern, rng), rng)
    if "‹" not in made:
        made = f"‹{made}›"
    return made.replace("‹", _BEGIN).replace("›", _END)


def _words_in(pattern: str, rng: Random) -> str:
    pattern = re.sub("%w", lambda _: rng.choice(_WORDS), pattern)
    pattern = re.sub("%W", lambda _: rng.choice(_WORDS).capitalize(), pattern)
    return re.sub("%u", lambda _: rng.choice(_NAMES), pattern)


def _filled(template: str, value: str, name: str, rng: Random) -> str:
    parts = name.lower().split("_")
    plain = value.replace(_BEGIN, "").replace(_END, "")
    slots: Mapping[str, Callable[[], str]] = {
        "V": lambda: value,
        "J": lambda: json.dumps(value, ensure_ascii=False)[1:-1],
        "Q": lambda: "".join(part if part in _MARKS else quote(part, safe="~") for part in _AROUND_MARKS.split(value)),
        "B": lambda: _BEGIN + base64.b64encode(plain.encode()).decode() + _END,
        "S": lambda: value if shlex.quote(plain) == plain else f"'{value}'",
        "I": lambda: value.replace("\n", "\n  "),
        "I4": lambda: value.replace("\n", "\n    "),
        "N": lambda: value.replace("\n", "\\n"),
        "ENV": lambda: name,
        "snake": name.lower,
        "kebab": lambda: "-".join(parts),
        "camel": lambda: parts[0] + "".join(part.capitalize() for part in parts[1:]),
        "Pascal": lambda: "".join(part.capitalize() for part in parts),
        "Train": lambda: "-".join(part.capitalize() for part in parts),
        "dotted": lambda: ".".join(parts),
        "w": lambda: rng.choice(_WORDS),
        "user": lambda: rng.choice(_NAMES),
        "n": lambda: str(rng.randint(2, 4000)),
        "hex": lambda: fill("{h:7}", rng),
        "uuid": lambda: fill("{h:8}-{h:4}-4{h:3}-a{h:3}-{h:12}", rng),
        "day": lambda: f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "time": lambda: f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}",
    }
    return _SLOT.sub(lambda slot: slots[slot[1]](), template)


def _pieces(secret: str) -> Iterator[str]:
    """Every piece of half its length: while one stands, the secret is not out."""
    length = max((len(secret) + 1) // 2, min(len(secret), 4))
    return (secret[at : at + length] for at in range(len(secret) - length + 1))


def is_caught(case: Case, redacted: str) -> bool:
    """No half of it stands in one piece; stricter than that its middle 60 % is gone."""
    return not any(piece in redacted for secret in case.secrets for piece in _pieces(secret))


def worst_kinds(missed: Mapping[str, int], tried: Mapping[str, int], most: int = 10) -> list[str]:
    """`kind: missed of tried`, never a text: this is all that may be told of the half that is held out."""
    ranked = sorted((kind for kind in missed if missed[kind]), key=lambda kind: (-missed[kind], kind))
    return [f"{kind}: {missed[kind]} of {tried[kind]}" for kind in ranked[:most]]
