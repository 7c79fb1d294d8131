"""A project's profile: proposed from what is there, found again under any name, read to an end of its own."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.commands.briefing.briefing_parts import Quoter
from crucible.commands.briefing.project_profile import (
    conventions,
    find_files,
    included_section,
    load_profile,
    profile_section,
    propose,
    read_text,
    write_profile,
)
from crucible.core.errors import NoteExists, OutsideVault, VaultError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import SecretSettings
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.vault.notes.note_homes import profile_path
from crucible.vault.notes.vault import Vault

QUOTER = Quoter(redact_of(SecretSettings()), lambda text: text)


def proposed(folder: Path) -> str:
    found = propose(folder, "shop", lambda text: text)
    return found.text if found else ""


def note(vault: Vault, text: str, name: str = "shop") -> Path:
    path = vault.root / "projects" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


# --- what is proposed ------------------------------------------------------------------------------------------------


def test_a_profile_is_proposed_from_readme_manifests_and_rules(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Shop\n\n![badge](x)\n\nSells hats to people who like hats.\n\nMore.\n")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "shop"\nrequires-python = ">=3.11"\n[project.scripts]\nshop = "shop.cli:main"\n'
    )
    (tmp_path / "package.json").write_text(
        json.dumps({"scripts": {"dev": "vite"}, "devDependencies": {"typescript": "5"}})
    )
    (tmp_path / "Makefile").write_text("VERSION := 1\n\ntest: all\n\tpytest\n.PHONY: test\n")
    (tmp_path / "CONTRIBUTING.md").write_text(
        "# Contributing\n\n## Style\n\n- Lines have 100 columns.\n\n## Tests\n\nEvery fix has one.\n"
    )
    (tmp_path / "src").mkdir()
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "Cargo.toml").write_text('[package]\ndescription = "Hats, fast."\n')
    text = proposed(tmp_path)
    found = find_frontmatter(Source(text)).values
    assert (found["type"], found["project"]) == ("project", "shop")
    assert found["proposed_from"] == [
        "README.md",
        "pyproject.toml",
        "package.json",
        "Cargo.toml",
        "Makefile",
        "CONTRIBUTING.md",
    ]
    for line in (
        "Sells hats to people who like hats.",
        "- Hats, fast.",
        "- Python\n",
        "- TypeScript",
        "- Rust",
        "- shop (shop.cli:main)",
        "- npm run dev (vite)",
        "- make test",
        "- src/",
        "- Style: Lines have 100 columns.",
        "- Tests: Every fix has one.",
    ):
        assert line in text
    assert "node_modules" not in text
    assert "VERSION" not in text


def test_a_folder_that_tells_nothing_has_no_profile(tmp_path: Path) -> None:
    (tmp_path / "notes.bin").write_bytes(b"\0\1")
    (tmp_path / "README.md").mkdir()
    (tmp_path / "package.json").write_text("{broken")
    assert proposed(tmp_path) == ""


def test_foreign_words_are_contained_and_what_is_no_text_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# x\n\n[[link]] %%hidden%% <b>bold</b> ## not a heading ```\n")
    os.mkfifo(tmp_path / "Makefile")
    (tmp_path / "Cargo.toml").symlink_to("/etc/passwd")
    text = proposed(tmp_path)
    assert "[[" not in text
    assert "%%hidden" not in text
    assert "root:" not in text
    assert text.count("\n## ") == 1


# --- its place and its words -----------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300) | st.sampled_from(["..", "a/b", "CON", "nul.txt", " x", "x.", "\0", "x" * 300, "日" * 90]))
def test_no_name_of_a_project_leaves_the_folder_and_no_two_share_a_note(vault: Vault, name: str) -> None:
    path = profile_path(vault.root, name)
    assert path.parent == vault.root / "projects"
    assert path.suffix == ".md"
    assert not path.name.startswith(".")
    assert len(path.name.encode()) < 255
    assert profile_path(vault.root, f"{name}/") != path


def test_a_folder_that_leads_out_of_the_vault_is_refused(vault: Vault, tmp_path: Path) -> None:
    (vault.root / "projects").symlink_to(tmp_path)
    with pytest.raises(OutsideVault):
        write_profile(vault.root, "shop", "x")


def test_a_profile_that_is_there_is_never_written_over(vault: Vault) -> None:
    path = note(vault, "mine")
    with pytest.raises(NoteExists):
        write_profile(vault.root, "shop", "theirs")
    assert path.read_text() == "mine"


def test_a_profile_of_5_mb_is_read_to_its_cut(vault: Vault) -> None:
    note(vault, "---\ntype: project\n---\n\n# Shop\n\n" + "Hats, many hats. 日本\n" * 230_000)
    profile = load_profile(vault.root, "shop")
    assert profile
    assert profile.is_cut
    told = profile_section(profile, QUOTER).items
    assert len(told) == 31
    assert told[-1].text.startswith("… and more")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\ntype: session\n---\n", "type"),
        ("no properties", "type"),
        ("---\ntype: project\nproject: other\n---\n", "another project"),
    ],
)
def test_a_note_that_is_no_profile_of_the_project_is_named(vault: Vault, text: str, why: str) -> None:
    note(vault, text)
    with pytest.raises(VaultError, match=why):
        load_profile(vault.root, "shop")


def test_conventions_are_the_lines_below_that_heading(vault: Vault) -> None:
    note(
        vault,
        "---\ntype: project\n---\n# Shop\n\n## Conventions\n\n- One file a class.\n* No `print`.\n\n%%\nhidden\n%%\n\n## Layout\n\n- src/\n",
    )
    assert conventions(vault.root, "shop") == ("One file a class.", "No `print`.")
    assert conventions(vault.root, "none") == ()


# --- files of the project --------------------------------------------------------------------------------------------


def test_only_text_files_inside_the_folder_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    (folder / "docs").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("secret")
    (folder / "docs" / "a.md").write_text("one")
    (folder / "docs" / ".hidden").write_text("two")
    (folder / "docs" / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "binary").write_bytes(b"a\0b")
    os.mkfifo(folder / "pipe")
    assert list(find_files(folder, ["docs", "binary"])) == ["docs/a.md", "binary"]
    assert read_text(folder, "docs/a.md") == "one"
    for name in (
        "../outside.md",
        "docs/link.md",
        "binary",
        "pipe",
        "docs",
        str(tmp_path / "outside.md"),
        "",
        "a\0b",
        "none",
    ):
        assert read_text(folder, name) is None


# --- what is long, and what stands on several lines ------------------------------------------------------------------

KEY = "\n".join(
    ["-----BEGIN PRIVATE KEY-----", *(f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKc{n:02}gSjAgEAAoIBAQClxnZSOguX" for n in range(8)), "-----END PRIVATE KEY-----"]
)  # fmt: skip


def test_a_key_on_several_lines_is_never_shown(vault: Vault, tmp_path: Path) -> None:
    note(vault, f"---\ntype: project\n---\n\n## Conventions\n\n- Tabs.\n{KEY}\n- Names are words.\n")
    told = profile_section(load_profile(vault.root, "shop", QUOTER.whole), QUOTER)
    assert conventions(vault.root, "shop", QUOTER.whole)[1] == "[REDACTED:private-key]"
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "key.md").write_text(f"Look:\n{KEY}\nEnd.\n")
    files = included_section(tmp_path, ["docs/key.md", "docs"], QUOTER)
    assert [item.text for item in told.items] == ["Tabs.", "[REDACTED:private-key]", "Names are words."]
    assert [item.text for item in files.items] == ["Look:", "[REDACTED:private-key]", "End."]


@pytest.mark.timed
@pytest.mark.parametrize(
    "line",
    ["# " + "#" * 60_000 + "x", "## a" + " " * 60_000 + "x", "[" * 60_000, "<" * 60_000, "[](" * 20_000],
)
def test_a_line_as_long_as_a_file_is_looked_at_once(vault: Vault, tmp_path: Path, line: str) -> None:
    note(vault, f"---\ntype: project\n---\n{line}\nHats.\n")
    (tmp_path / "README.md").write_text(f"{line}\n")
    (tmp_path / "CONTRIBUTING.md").write_text(f"{line}\n")
    begin = time.process_time()
    load_profile(vault.root, "shop")
    propose(tmp_path, "shop", str)
    assert time.process_time() - begin < 1


def test_closing_marks_of_a_heading_are_not_part_of_it(vault: Vault) -> None:
    note(vault, "---\ntype: project\n---\n## Conventions ##  \n\n- Tabs.\n")
    assert conventions(vault.root, "shop") == ("Tabs.",)


def test_only_the_mark_of_an_item_goes_and_no_dash_within(vault: Vault) -> None:
    note(vault, "---\ntype: project\n---\n- Spaces - not tabs.\nSee chapter 1. It is short.\n12) Third\n")
    profile = load_profile(vault.root, "shop")
    assert profile
    assert [line for _, line in profile.lines] == [
        "Spaces - not tabs.",
        "See chapter 1. It is short.",
        "Third",
    ]


def test_rules_with_the_line_ends_of_windows_are_the_same_rules(tmp_path: Path) -> None:
    (tmp_path / "CONTRIBUTING.md").write_bytes(b"\xef\xbb\xbf# Rules\r\n\r\n## Style ##\r\n- Tabs.\r\n## Names\r\n")
    text = proposed(tmp_path)
    assert "- Style: Tabs.\n- Names\n" in text
