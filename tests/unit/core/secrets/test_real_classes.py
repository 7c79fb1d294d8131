"""Cases found in real sessions, in invented lines: false positives, and secrets that are words."""

from __future__ import annotations

import random
import string
from pathlib import Path

from crucible.core.secrets import Scanner
from crucible.core.secrets.randomness import likeness
from tests.cases import for_each

SCANNER = Scanner()
HERE = Path(__file__).parent
WORDS = ("sunshine", "letmein", "horsebattery")


def _lines(name: str) -> list[str]:
    lines = (HERE / name).read_text(encoding="utf-8").rstrip("\n").split("\n")
    return [line.replace("\\n", "\n") for line in lines]


def _letters(length: int, seed: int) -> str:
    return "".join(random.Random(f"{length} {seed}").choices(string.ascii_letters, k=length))


@for_each("line", _lines("lookalikes.txt"))
def test_test_output_paths_ids_and_labels_stay(line: str) -> None:
    for text in (line, f"before\n{line}\nafter", f"  12\t{line}", f'"{line}"'):
        assert SCANNER.redact(text) == (text, {})


def test_all_of_them_one_below_the_other_stay() -> None:
    text = "\n".join(_lines("lookalikes.txt"))
    assert SCANNER.redact(text) == (text, {})


@for_each("notation", _lines("literals.txt"))
def test_letters_by_chance_and_words_are_passwords_where_nothing_else_can_stand(notation: str) -> None:
    for word in [*WORDS, *(word.title() for word in WORDS)] if "{W}" in notation else ["admin123!"]:
        assert word not in SCANNER.redact(notation.replace("{W}", word))[0]
    if "{L}" in notation:
        left = [made for seed in range(100) if (made := _letters(12, seed)) in _redacted(notation, made)]
        assert len(left) <= 3, left


def _redacted(notation: str, made: str) -> str:
    return SCANNER.redact(notation.replace("{L}", made))[0]


def test_words_are_likelier_words_and_chance_is_likelier_chance() -> None:
    names = (
        "RegOpenKeyEx",
        "Ed25519PrivateKey",
        "TestStateStore_RemoveAll",
        "cryptography_has_psk_tlsv13",
        "sunshine",
    )
    assert all(likeness(name) > 0 for name in names)
    made = [likeness(_letters(12, seed)) < 0 for seed in range(1000)]
    assert sum(made) >= 980
