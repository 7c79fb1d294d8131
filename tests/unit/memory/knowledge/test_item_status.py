"""Changing an item edits its own lines only, and no count is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import SecretSettings
from crucible.documents.knowledge.item_notes import read_item, render_item
from crucible.documents.knowledge.items import Item, ItemStatus, Verification
from crucible.documents.markdown.source import Source, apply_edits
from crucible.memory.knowledge.item_status import (
    change_edits,
    count_use,
    restore_item,
    retire_item,
    should_ask,
    verify_item,
)
from crucible.memory.knowledge.knowledge_folder import load_item
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.unit.memory.knowledge.sample_items import NOW, any_item, item_of, unchanged

NOTE = """\
---
# mine
type:   pattern   # a comment
my own key: [1, 2]
use_count: 3   # and one here
useful_count: "2"
source: manual
title: 'Use uv'
---

#   Use uv  \t
text  \r
## My heading

%% a comment %%
| a | b |
"""


@pytest.fixture
def note(vault: Vault) -> Path:
    path = vault.root / "knowledge" / "use-uv.md"
    path.parent.mkdir()
    path.write_bytes(NOTE.replace('"2"', "2").encode())
    return path


# --- a use -----------------------------------------------------------------------------------------------------------


def test_a_use_touches_the_lines_of_the_counters_alone(vault: Vault, note: Path) -> None:
    before = note.read_bytes()
    item = count_use(vault, note, NOW, useful=True)
    assert (item.use_count, item.useful_count, item.last_used) == (4, 3, NOW)
    expected = before.replace(b"use_count: 3 ", b"use_count: 4 ").replace(b"ful_count: 2", b"ful_count: 3")
    expected = expected.replace(b"'Use uv'\n", b"'Use uv'\nlast_used: \"2026-11-21T20:26:47Z\"\n")
    assert note.read_bytes() == expected
    again = count_use(vault, note, NOW + timedelta(days=1), useful=False)
    assert (again.use_count, again.useful_count) == (5, 3)
    expected = expected.replace(b"use_count: 4", b"use_count: 5").replace(b"11-21T", b"11-22T")
    assert note.read_bytes() == expected
    assert load_item(vault, note).item == again


def test_a_use_of_an_item_that_counts_nothing_yet_begins_to_count(vault: Vault, note: Path) -> None:
    note.write_text("---\ntype: pattern\n---\nmine\n")
    count_use(vault, note, NOW, useful=False)
    assert note.read_text() == '---\ntype: pattern\nuse_count: 1\nlast_used: "2026-11-21T20:26:47Z"\n---\nmine\n'


def test_a_counter_that_is_no_number_is_not_written_over(vault: Vault, note: Path) -> None:
    note.write_bytes(NOTE.encode())
    with pytest.raises(EditRefused, match=r"use-uv\.md:6: useful_count: '2' is not a whole number"):
        count_use(vault, note, NOW, useful=True)
    assert note.read_bytes() == NOTE.encode()


@pytest.mark.parametrize(
    "text", ["mine\n", "---\ntype: session\n---\n", "---\ntype: [x\n---\n", "---\ntype: pattern\n"]
)
def test_a_note_that_is_no_item_is_left(vault: Vault, note: Path, text: str) -> None:
    note.write_text(text)
    for change in _CHANGES:
        with pytest.raises(UsageError, match="not a knowledge item"):
            change(vault, note)
    assert note.read_text() == text


_CHANGES: list[Callable[[Vault, Path], Item]] = [
    lambda vault, path: count_use(vault, path, NOW, useful=True),
    lambda vault, path: verify_item(vault, path, NOW, Verification(True), unchanged),
    lambda vault, path: retire_item(vault, path, NOW),
    restore_item,
]


@given(any_item(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_of_any_note_only_the_counters_lines_change(item: Item, used: int, helped: int) -> None:
    source = Source(render_item(item))
    after = replace(item, use_count=used, useful_count=helped, last_used=NOW)
    changed = apply_edits(source, change_edits(source, item, after))
    assert read_item(changed, "x").item == after

    def others(text: str) -> list[str]:
        counters = ("use_count:", "useful_count:", "last_used:")
        head, _, body = text.partition("\n---\n")
        return [*(line for line in head.split("\n") if not line.startswith(counters)), body]

    assert others(changed.text) == others(source.text)


# --- verified, retired -----------------------------------------------------------------------------------------------


def test_a_verification_says_how_by_whom_and_when(vault: Vault, note: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    shown = Verification(True, f"curl -H {secret}\nls", "ann")
    item = verify_item(vault, note, NOW, shown, redact_of(SecretSettings()))
    assert item.verification.how.startswith("curl -H [REDACTED:")
    assert item.verification.how.endswith(" ⏎ ls")
    assert (item.verification.by, item.verification.at, item.updated) == ("ann", NOW, NOW)
    assert load_item(vault, note).item == item
    assert secret not in note.read_text()
    failed = verify_item(vault, note, NOW + timedelta(days=1), Verification(False, "no", "bob"), unchanged)
    assert (failed.verification.passed, failed.verification.by, failed.updated) == (False, "bob", NOW)


def test_a_failed_verification_stays_in_the_note(vault: Vault, note: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    first = verify_item(vault, note, NOW, Verification(False, f"with {secret}", "bob"), redact_of(SecretSettings()))
    assert first.disproved
    verify_item(vault, note, NOW + timedelta(days=1), Verification(False), unchanged)
    later = verify_item(vault, note, NOW + timedelta(days=2), Verification(True, "now it does"), unchanged)
    assert not later.disproved
    one, other = later.failed_checks
    assert one.startswith("2026-11-21T20:26:47Z by bob: with [REDACTED:")
    assert other == "2026-11-22T20:26:47Z"
    assert load_item(vault, note).item == later
    assert secret not in note.read_text()


def test_a_retired_item_stays_as_a_note_and_says_why(vault: Vault, note: Path) -> None:
    before = note.read_bytes()
    item = retire_item(vault, note, NOW, "superseded by [[use-pixi]]")
    assert (item.status, item.retired, item.retired_because) == (
        ItemStatus.RETIRED, NOW, "superseded by [[use-pixi]]",
    )  # fmt: skip
    assert load_item(vault, note).item == item
    assert retire_item(vault, note, NOW + timedelta(days=1), "again") == item
    assert restore_item(vault, note).active
    lines = [line for line in note.read_bytes().split(b"\n") if line != b"status: active"]
    assert b"\n".join(lines) == before


# --- several at once -------------------------------------------------------------------------------------------------

_WRITER = """
import sys
from datetime import datetime, UTC
from pathlib import Path
from crucible.memory.knowledge.item_status import count_use
from crucible.vault.notes.vault import Vault
vault = Vault(Path(sys.argv[1]))
for number in range(25):
    count_use(vault, Path(sys.argv[2]), datetime.now(UTC), useful=number % 5 == 0)
"""


def test_eight_writers_lose_no_count_and_no_word_that_a_human_writes_meanwhile(vault: Vault) -> None:
    path = vault.root / "knowledge" / "x.md"
    path.parent.mkdir()
    path.write_text(render_item(item_of("Use uv", "text")))
    run = [sys.executable, "-c", _WRITER, str(vault.root), str(path)]
    writers = [subprocess.Popen(run) for _ in range(8)]
    written = 0
    while any(writer.poll() is None for writer in writers):
        # An editor takes no lock, and would save over a count of ours if it had not just looked: it looks here.
        with vault.locked(path):
            mine = path.with_name(".mine")
            mine.write_bytes(path.read_bytes() + b"\nmine %d\n" % written)
            saved = mine.read_bytes()
            mine.replace(path)
        written += 1
        wait_until(lambda: path.read_bytes() != saved or all(one.poll() is not None for one in writers))  # noqa: B023
    assert [writer.wait() for writer in writers] == [0] * 8
    item = load_item(vault, path).item
    assert item
    assert (item.use_count, item.useful_count) == (200, 40)
    assert written > 2
    told = [line for line in path.read_text().split("\n") if line.startswith("mine ")]
    assert told == [f"mine {number}" for number in range(written)]


# --- asking ----------------------------------------------------------------------------------------------------------


def test_a_use_asks_at_most_one_time_in_five(vault: Vault) -> None:
    told = [should_ask(vault, 5) for _ in range(20)]
    assert [at for at, asked in enumerate(told, 1) if asked] == [5, 10, 15, 20]
    assert not any(should_ask(vault, 0) for _ in range(10))
    assert all(should_ask(vault, 1) for _ in range(3))
    assert b"knowledge-uses" not in (vault.root / ".crucible" / ".gitignore").read_bytes()
