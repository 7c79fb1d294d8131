from __future__ import annotations

from pathlib import Path

import pytest

from crucible.secrets import Scanner
from crucible.settings import SecretSettings
from tests.secrets.made import chance

SCANNER = Scanner(SecretSettings())
NOTATIONS = (Path(__file__).parent / "notations.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
"""A name with a value as many languages, programs and people write it: `{V}` is a password, `{K}` a key, `\\n` a line's end."""

VALUES = [
    ("tR7#kq9" + "ZpL2w", chance(24)),
    (chance(16, seed=3) + "7", chance(40, seed=4)),
    (chance(11, seed=5) + "!a1", chance(36, seed=6)),
]
WRAPS = ["{}", "+{}", "src/app.cfg:12:{}", "2026-01-02T03:04:05Z INFO [a] {}", "   12\t{}"]


def _text(notation: str, password: str, key: str) -> str:
    lines = notation if "\\r" in notation or notation.startswith("\\") else notation.replace("\\n", "\n")
    return lines.replace("{V}", password).replace("{K}", key)


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_name_with_a_value_loses_the_value(notation: str) -> None:
    for password, key in VALUES:
        clean, counts = SCANNER.redact(_text(notation, password, key))
        assert password not in clean
        assert key not in clean
        assert counts


@pytest.mark.parametrize(
    "notation", [n for n in NOTATIONS if "\\n" not in n and not n.startswith(("machine", "db.ex"))]
)
@pytest.mark.parametrize("wrap", WRAPS)
def test_what_stands_before_the_line_hides_nothing(notation: str, wrap: str) -> None:
    password, key = VALUES[0]
    clean, _ = SCANNER.redact(wrap.format(_text(notation, password, key)))
    assert password not in clean
    assert key not in clean


@pytest.mark.parametrize("notation", [n for n in NOTATIONS if " = " in n or ": " in n])
def test_the_same_notations_with_a_placeholder_stay(notation: str) -> None:
    for hole in ("${SECRET}", "<secret>", "changeme"):
        text = _text(notation, hole, hole)
        assert SCANNER.redact(text) == (text, {})
