from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from tests.unit.core.secrets.made import VALUES, filled

SCANNER = Scanner(SecretSettings())
NOTATIONS = (Path(__file__).parent / "notations.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
"""Names with values in the notations of many languages and programs; `made` fills the holes, `\\n` is a line end."""

WRAPS = ["{}", "+{}", "src/app.cfg:12:{}", "2026-01-02T03:04:05Z INFO [a] {}", "   12\t{}"]


def _lines(notation: str) -> str:
    escaped = "\\r" in notation or notation.startswith("\\")
    return notation if escaped else notation.replace("\\n", "\n")


def _told(wrong: Mapping[object, object]) -> str:
    """All of it: pytest cuts what it shows of a value."""
    return "\n" + "\n".join(f"{case!r}: {found!r}" for case, found in wrong.items())


# A notation is looked at in microseconds: as a test of its own it took ten times as long.


def test_a_name_with_a_value_loses_the_value() -> None:
    left: dict[object, object] = {}
    for notation in NOTATIONS:
        for values in VALUES:
            text, secrets = filled(_lines(notation), values)
            clean, counts = SCANNER.redact(text)
            assert secrets, notation
            if not counts or any(secret in clean for secret in secrets):
                left[notation] = clean
    assert not left, _told(left)


def test_text_before_a_line_hides_nothing() -> None:
    left: dict[object, object] = {}
    for notation in NOTATIONS:
        if "\\n" not in notation and not notation.startswith("machine"):
            for wrap in WRAPS:
                text, secrets = filled(wrap.format(_lines(notation)) if wrap != "{}" else notation, VALUES[0])
                clean, _ = SCANNER.redact(text)
                if any(secret in clean for secret in secrets):
                    left[wrap, notation] = clean
    assert not left, _told(left)


def test_the_same_notations_with_a_placeholder_stay() -> None:
    changed: dict[object, object] = {}
    for notation in NOTATIONS:
        if " = " in notation or ": " in notation:
            for hole in ("${SECRET}", "<secret>", "changeme"):
                text, _ = filled(_lines(notation), dict.fromkeys(VALUES[0], hole))
                if (found := SCANNER.redact(text)) != (text, {}):
                    changed[hole, notation] = found
    assert not changed, _told(changed)
