"""How ordinary lines are made: what stands in them, and mixing them.

Owns the holes of a line's pattern and the long material (base64, minified code).  The patterns are in `open_lines` and
`heldout_lines`.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from random import Random

from samples.secrets.building import fill

_WORDS = (
    *(
        "request",
        "session",
        "account",
        "handler",
        "payload",
        "worker",
        "router",
        "schema",
        "buffer",
        "cursor",
    ),
    *(
        "invoice",
        "customer",
        "widget",
        "thread",
        "parser",
        "token",
        "secret",
        "password",
        "credential",
        "key",
    ),
)
_FILES = (
    "auth",
    "login",
    "session_store",
    "password_reset",
    "tokens",
    "api_keys",
    "utils/secrets",
    "models/user",
)

_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_JPEG = b"\xff\xd8\xff\xe0\0\x10JFIF"


def encoded(rng: Random, size: int) -> str:
    """Random bytes in base64."""
    return base64.b64encode(rng.randbytes(size)).decode()


def checksum(rng: Random, algorithm: str) -> str:
    """A hash in base64, as lock files have it."""
    return base64.b64encode(hashlib.new(algorithm, rng.randbytes(8)).digest()).decode()


def picture(rng: Random) -> str:
    """A picture in base64: its head is that of a picture, the rest noise as compressed pixels are."""
    return base64.b64encode(rng.choice((_PNG, _JPEG)) + rng.randbytes(rng.randint(60, 1500))).decode()


def minified(rng: Random) -> str:
    """Minified JavaScript or CSS."""
    parts = []
    for _ in range(rng.randint(6, 30)):
        a, b, c = (fill("{l:1|2}", rng) for _ in range(3))
        parts.append(
            rng.choice(
                (
                    f"function {a}({b},{c}){{return {b}.token===null?{c}:{a}({b}.next,{c})}}",
                    f'var {a}={b}("{fill("{h:6}", rng)}"),{c}={{key:{rng.randint(1, 99)},password:!0,secret:void 0}};',
                    f"{a}.prototype.{b}=function(){{this.{c}.accessToken=null,this.apiKey={a}[{b}]}};",
                    f".{fill('{L:1}{a:5}', rng)}{{color:#{fill('{h:6}', rng)};margin:0 {rng.randint(0, 40)}px}}",
                    f'{a}&&({b}.password={c}.value),{b}.type="password",{c}++;',
                    f'!function({a},{b}){{"object"==typeof exports?{b}(exports):{a}.{c}={b}({a})}}(this,0);',
                )
            )
        )
    return "".join(parts)


_LONG: dict[str, Callable[[Random], str]] = {
    "%picture": picture,
    "%minified": minified,
    "%sha512": lambda rng: checksum(rng, "sha512"),
    "%sha256": lambda rng: checksum(rng, "sha256"),
    "%blob": lambda rng: encoded(rng, rng.randint(90, 600)),
    "%b76": lambda rng: encoded(rng, 57),
    "%b64": lambda rng: encoded(rng, 48),
    "%b61": lambda rng: encoded(rng, 48)[:61],
    "%b16": lambda rng: encoded(rng, 16),
    "%uuid": lambda rng: fill("{h:8}-{h:4}-4{h:3}-9{h:3}-{h:12}", rng),
    "%vlq": lambda rng: ";".join(fill("{U:4}", rng) + ",GAA" + fill("{U:1}", rng) for _ in range(60)),
    "%word": lambda rng: rng.choice(_WORDS),
    "%file": lambda rng: rng.choice(_FILES),
    "%n": lambda rng: str(rng.randint(1, 9999)),
    "%day": lambda rng: f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    "%time": lambda rng: f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}",
}


_AROUND = ("{0}", "        {0}", "+{0}", "src/app/settings.txt:{1}:{0}", "{1:6}\t{0}")


def build_lines(patterns: Sequence[str], seed: str, count: int) -> list[str]:
    """`count` lines: each pattern without a hole in some surroundings, and as many of each with one.

    A line that is always the same would count as often as it is repeated.
    """
    fixed = [pattern for pattern in patterns if not _has_hole(pattern)]
    filled = [pattern for pattern in patterns if _has_hole(pattern)]
    lines = [around.format(line, n + 7) for n, line in enumerate(fixed) for around in _AROUND]
    rest = range(count - len(lines))
    return lines + [_made(filled[n % len(filled)], Random(f"{seed}/{n}")) for n in rest]


def _has_hole(pattern: str) -> bool:
    return any(hole in pattern for hole in _LONG) or fill(pattern, Random(0)) != pattern


def _made(pattern: str, rng: Random) -> str:
    for hole, make in _LONG.items():
        while hole in pattern:
            pattern = pattern.replace(hole, make(rng).replace("{", "\0"), 1)
    return fill(pattern, rng).replace("\0", "{")
