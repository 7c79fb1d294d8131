"""Secrets made when the tests run: no file holds anything that looks like one."""

from __future__ import annotations

import random
import string
from base64 import b64encode

LETTERS = string.ascii_letters
MIXED = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def chance(length: int, alphabet: str = MIXED, seed: int = 1) -> str:
    """Characters by chance, the same in each run; they hold a digit and a letter."""
    rng = random.Random(f"{length} {alphabet} {seed}")
    while True:
        made = "".join(rng.choices(alphabet, k=length))
        if length < 4 or (any(map(str.isdigit, made)) and any(map(str.isalpha, made))):
            return made


def _values(password: str, key: str, seed: int) -> dict[str, str]:
    seed_of_codes = "".join(random.Random(seed).sample(string.ascii_uppercase, 16))
    return {
        "{V}": password,
        "{K}": key,
        "{B}": b64encode(password.encode()).decode(),
        "{L}": b64encode(f"bob:{password}".encode()).decode(),
        "{O}": seed_of_codes,
        "{F}": "EAA" + chance(150, seed=seed),
        "{H}": chance(40, HEX, seed=seed),
    }


VALUES = [
    _values("tR7#kq9" + "ZpL2w", chance(24), 1),
    _values(chance(16, seed=3) + "7", chance(40, seed=4), 2),
    _values(chance(11, seed=5) + "!a1", chance(36, seed=6), 3),
]
"""The holes of a notation: `{V}` a password, `{K}` a key, `{B}` the password in base64, `{L}` a login in base64.

`{O}` is a seed of one-time passwords without a digit, `{F}` a long Facebook token, `{H}` hex digits.
"""


def filled(notation: str, values: dict[str, str]) -> tuple[str, list[str]]:
    """A notation with its values, and which they are."""
    used = [value for hole, value in values.items() if hole in notation]
    for hole, value in values.items():
        notation = notation.replace(hole, value)
    return notation, used
