"""Notes are known by the sources in their frontmatter, however a human wrote them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.log_files import source_name
from crucible.commands.imports.note_sources import SourceTable
from crucible.vault.notes.vault import Vault
from tests.unit.commands.imports.places import make_vault

SOURCE = "claude-code:abc-1"


@pytest.fixture
def place(tmp_path: Path) -> Vault:
    return make_vault(tmp_path / "vault")


def put(vault: Vault, name: str, text: str | bytes) -> Path:
    path = vault.sessions / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "---\nsources:\n  - claude-code:abc-1\n---\n",
        "---\nsources:\n- claude-code:abc-1\n---\n",
        '---\ntype: session\nsources: ["claude-code:abc-1", codex:2]\n---\n',
        "---\nsources: claude-code:abc-1\nx: 1\n---\n",
        "---\r\nsources:\r\n  - 'claude-code:abc-1'\r\nx: 1\r\n---\r\n",
        "\ufeff---\nx: 1\nsources:\n  # mine\n  - codex:2\n  - claude-code:abc-1\n---",
        "---\nlong: " + "x" * 20_000 + "\nsources:\n  - claude-code:abc-1\n---\n",
    ],
)
def test_a_source_is_found_however_it_is_written(place: Vault, text: str) -> None:
    path = put(place, "deep/note", text)
    assert SourceTable(place).find(SOURCE) == path


@pytest.mark.parametrize(
    "text",
    [
        "sources:\n  - claude-code:abc-1\n",
        "---\nsources:\n  - claude-code:abc-1\n",
        "---\nother:\n  - claude-code:abc-1\nsources:\n---\n",
        "---\nx: 1\n---\nsources:\n  - claude-code:abc-1\n---\n",
        "---\nsources:\n  - claude-code:abc-12\n---\n",
        b"\xff\xfe\x00---",
        "",
    ],
)
def test_what_is_no_source_is_not_taken_for_one(place: Vault, text: str | bytes) -> None:
    put(place, "note", text)
    table = SourceTable(place)
    assert table.find(SOURCE) is None
    assert table.is_taken("NOTE")


def test_a_copy_gives_way_to_the_note_of_that_id(place: Vault) -> None:
    text = "---\nsession_id: b\nsources:\n  - claude-code:abc-1\n---\n"
    put(place, "a", text)
    path = put(place, "b", text)
    put(place, "c", text)
    assert SourceTable(place).find(SOURCE) == path


def test_what_another_process_wrote_is_seen_after_a_refresh(place: Vault) -> None:
    table = SourceTable(place)
    path = put(place, "note", "---\nsources:\n  - claude-code:abc-1\n---\n")
    assert table.find(SOURCE) is None
    table.refresh()
    assert table.find(SOURCE) == path
    assert table.is_taken("note")


def test_an_unreadable_folder_in_the_place_of_a_note_is_passed_by(place: Vault) -> None:
    (place.sessions / "odd.md").mkdir()
    assert SourceTable(place).find(SOURCE) is None


def test_a_source_s_name_has_no_blank() -> None:
    name = source_name("claude-code", "my session (1)", "a b")
    assert re.fullmatch("claude-code:my-session--1--[0-9a-f]{6}/a-b-[0-9a-f]{6}", name)


def test_a_plain_name_is_its_own_source() -> None:
    assert source_name("claude-code", "abc-1", "a@b") == "claude-code:abc-1/a@b"


def test_ids_of_clients_are_their_own_sources_and_secrets_in_ids_are_removed() -> None:
    for native in ("ses_3f8a1c29e4b0VbqM2yQk7LpXtd", "20261123_001", "1795902047123_k3f9x", "agent-a1b2c3d4e5f6a7b8"):
        assert source_name("opencode", native) == f"opencode:{native}"
    token = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"
    names = {source_name("copilot", "abc", f"{token}{end}") for end in ("", "-1")}
    assert len(names) == 2
    assert all("github-token" in name and token not in name for name in names)


@pytest.mark.parametrize("raw", ["a b", "a\nb", "a\u00e9b", "a\udcffb", "a/b"])
def test_names_that_look_alike_have_sources_of_their_own(raw: str) -> None:
    assert source_name("claude-code", raw) != source_name("claude-code", "a-b")
    assert source_name("claude-code", "s", raw) != source_name("claude-code", "s", "a-b")


@given(st.text(max_size=8), st.text(max_size=8))
def test_every_source_is_found_in_a_note_again(native_id: str, agent: str) -> None:
    assert re.fullmatch(r"[\w.-]+:[^\s\"',\[\]]*", source_name("claude-code", native_id, agent))


def test_a_table_that_lives_on_learns_of_new_moved_and_deleted_notes(place: Vault) -> None:
    text = "---\nsources:\n  - claude-code:abc-1\n---\n"
    table = SourceTable(place)
    old = put(place, "old", text)
    table.refresh()
    assert table.find(SOURCE) == old
    (place.sessions / "2026").mkdir()
    moved = old.rename(place.sessions / "2026" / "new.md")
    table.refresh()
    assert table.find(SOURCE) == moved
    assert not table.is_taken("old")
    moved.unlink()
    table.refresh()
    assert table.find(SOURCE) is None
