"""What is read and written without a change is the same to the byte, whatever stands in the note."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.session.session_reader import read_session
from samples.hostile_texts import BLOCKS, INLINE, hostile_text
from tests.cases import for_each
from tests.paths import ROOT

DATA = ROOT / "tests" / "data"
BOM = b"\xef\xbb\xbf"


def read_and_write(data: bytes) -> None:
    source = Source.from_bytes(data)
    assert source.to_bytes() == data
    assert apply_edits(source, []).to_bytes() == data
    read_session(source, "a-note")


# --- notes that others wrote --------------------------------------------------------------------------------------


def _texts(value: object) -> Iterator[str]:
    """Every text in a row, keys included, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


@for_each("path", sorted((DATA / "conformance").glob("*.json*")))
def test_every_conformance_text_stays_the_same_to_the_byte(path: Path) -> None:
    whole = path.read_text("utf-8")
    rows = [json.loads(line) for line in whole.split("\n") if line] if path.suffix == ".jsonl" else [json.loads(whole)]
    for text in _texts(rows):
        for ended in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r")):
            read_and_write(ended.encode("utf-8", "surrogatepass"))


@for_each(
    "path",
    [*sorted((DATA / "upstream").rglob("*.md")), *sorted((ROOT / "vault-example").rglob("*.md"))],
)
def test_every_example_note_stays_the_same_to_the_byte(path: Path) -> None:
    data = path.read_bytes()
    for variant in (
        data,
        BOM + data,
        data.replace(b"\n", b"\r\n"),
        data.replace(b"\n", b"\r"),
        data[:-1],
        data * 2,
    ):
        read_and_write(variant)


# --- notes that nobody wrote --------------------------------------------------------------------------------------

PROPERTIES = (
    "type: session", "session_id: a-note", "started: 2026-11-21T20:26:47Z", "status: active", "status: [", "# a comment",
    "tags: [a, b] # beside", "tags:", "  - a", "  # between", "  - 'b'", "subagents:", "  - session: x", "    tokens: 1",
    "text: |", "  kept", "", "   ", "\tx: 1", "a: &x 1", "b: *x", "a: 2", "---x", "k: \u2028", "k: \x00", "{a: 1}", "- a",
    'parent: "[[p]]"', "synced_to: {}", "12: 0o7", "? x", "%YAML 1.2", "...", "é: ü", "k: \udc80", 'k: "\\x"',
)  # fmt: skip
BODY = (
    *BLOCKS, *INLINE, "# Title", "## One @claude-code@2.1 #dev", "### Sub", "## Summary", "started:: 2026-11-21T20:26:47Z",
    "tokens:: x", "**Tool calls:**", "- `Bash ls` → ok", "- `Bash ls` → ❌ no", "> [!user]", '> "Do it" - a note', "> [!decision]",
    "> Rationale: because", "> [!subagent] @a@1 (m)", "> mode: inline", "> > deep", "```tasks", '[{"id": "1", "content": "x"}]',
    "```", "", "  ", "text", "---", "\udc80", "\ufeff",
)  # fmt: skip
ENDS = ("\n",) * 6 + ("\r\n", "\r", "\n\n")
FENCES = ("---", "---", "---", "--- ", "----", " ---", "")


def _note(draw: random.Random) -> str:
    end = draw.choice(ENDS)
    lines = draw.choices(BODY, k=draw.randrange(8))
    if draw.random() < 0.7:
        lines = [
            draw.choice(FENCES),
            *draw.choices(PROPERTIES, k=draw.randrange(7)),
            draw.choice(FENCES),
            *lines,
        ]
    if draw.random() < 0.1:
        lines = [line + draw.choice(INLINE) for line in lines]
    mixed = draw.random() < 0.2
    text = "".join(line + (draw.choice(ENDS) if mixed else end) for line in lines)
    return text.rstrip("\r\n") if draw.random() < 0.2 else text


def test_two_thousand_notes_stay_the_same_to_the_byte() -> None:
    draw = random.Random(20261121)
    for number in range(2_000):
        data = _note(draw).encode("utf-8", "surrogatepass")
        if number % 10 == 0:
            data = BOM + data
        source = Source.from_bytes(data)
        assert source.to_bytes() == data
        assert apply_edits(source, []).to_bytes() == data
        session = read_session(source, "a-note")
        # A block that is cut off at the note's end is said to be broken on the line that would come next.
        last = len(source.lines) + 1
        assert all(1 <= problem.line <= last for problem in session.problems)


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    """Frontmatter with comments, odd line ends, hostile text, and bytes that are no text at all."""
    end = draw(st.sampled_from(("\n", "\r\n", "\r")))
    head = draw(st.lists(st.sampled_from(PROPERTIES) | st.text(max_size=6), max_size=8))
    block = end.join([draw(st.sampled_from(FENCES)), *head, draw(st.sampled_from(FENCES)), ""])
    text = (block if draw(st.booleans()) else "") + draw(hostile_text())
    return draw(st.sampled_from((b"", b"", BOM))) + text.encode("utf-8", "surrogatepass") + draw(st.binary(max_size=4))


@given(notes())
def test_any_note_stays_the_same_to_the_byte(data: bytes) -> None:
    read_and_write(data)


@given(st.binary())
def test_bytes_that_are_no_note_stay_the_same(data: bytes) -> None:
    read_and_write(data)
