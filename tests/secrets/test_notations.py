from __future__ import annotations

from pathlib import Path

import pytest

from crucible.secrets import Scanner
from crucible.settings import SecretSettings
from tests.secrets.made import VALUES, filled

SCANNER = Scanner(SecretSettings())
NOTATIONS = (Path(__file__).parent / "notations.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
"""A name with a value as many languages, programs and people write it: the holes are those of `made`, `\\n` is a line's end."""

WRAPS = ["{}", "+{}", "src/app.cfg:12:{}", "2026-01-02T03:04:05Z INFO [a] {}", "   12\t{}"]


def _lines(notation: str) -> str:
    escaped = "\\r" in notation or notation.startswith("\\")
    return notation if escaped else notation.replace("\\n", "\n")


@pytest.mark.parametrize("notation", NOTATIONS)
def test_a_name_with_a_value_loses_the_value(notation: str) -> None:
    for values in VALUES:
        text, secrets = filled(_lines(notation), values)
        clean, counts = SCANNER.redact(text)
        assert secrets
        assert not [secret for secret in secrets if secret in clean]
        assert counts


@pytest.mark.parametrize("notation", [n for n in NOTATIONS if "\\n" not in n and not n.startswith("machine")])
def test_what_stands_before_the_line_hides_nothing(notation: str) -> None:
    for wrap in WRAPS:
        text, secrets = filled(wrap.format(_lines(notation)) if wrap != "{}" else notation, VALUES[0])
        clean, _ = SCANNER.redact(text)
        assert not [secret for secret in secrets if secret in clean], wrap


@pytest.mark.parametrize("notation", [n for n in NOTATIONS if " = " in n or ": " in n])
def test_the_same_notations_with_a_placeholder_stay(notation: str) -> None:
    for hole in ("${SECRET}", "<secret>", "changeme"):
        text, _ = filled(_lines(notation), dict.fromkeys(VALUES[0], hole))
        assert SCANNER.redact(text) == (text, {})
