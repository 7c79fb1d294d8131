"""Secrets made when the tests run: no file holds anything that looks like one."""

from __future__ import annotations

import random
import string

__all__ = ["HEX", "LETTERS", "MIXED", "chance"]

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
