"""Sessions of one repository have one project, and repositories with the same name are told apart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.paths import TESTS
from tests.running import Cru

LOG = next((TESTS / "data" / "transcripts" / "claude-code" / "retry" / "projects").glob("*/*.jsonl"))


def session_in(folder: Path, url: str, number: int) -> Path:
    """A real transcript as if it were made in a clone of `url` in this folder."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
    log = folder.parent / f"0000000{number}-0000-4000-8000-000000000000.jsonl"
    rows = [json.loads(line) for line in LOG.read_text().replace(LOG.stem, log.stem).splitlines()]
    log.write_text("".join(json.dumps(row | ({"cwd": str(folder)} if "cwd" in row else {})) + "\n" for row in rows))
    return log


def test_clones_share_a_project_and_a_namesake_gets_its_own(
    vault: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = session_in(tmp_path / "1" / "shop", "https://github.com/acme/shop", 1)
    again = session_in(tmp_path / "2" / "elsewhere", "git@github.com:acme/shop.git", 2)
    theirs = session_in(tmp_path / "3" / "shop", "https://github.com/bob/shop", 3)
    for log in (ours, again, theirs):
        assert cru("import", "claude-code", log).exit_code == 0
    rows = json.loads(cru("session", "list", "--format", "json").stdout)["sessions"]
    assert sorted(row["project"] for row in rows) == ["shop", "shop", "shop-bob"]
    monkeypatch.chdir(tmp_path / "3" / "shop")
    assert json.loads(cru("--json").stdout)["project"] == "shop-bob"
    (tmp_path / "2" / "elsewhere").rename(tmp_path / "2" / "new")
    monkeypatch.chdir(tmp_path / "2" / "new")
    assert json.loads(cru("--json").stdout)["project"] == "shop"
    before = {path.name: path.read_bytes() for path in vault.sessions.glob("*.md")}
    assert cru("import", "claude-code", theirs, again, ours, "--refresh").exit_code == 0
    assert {path.name: path.read_bytes() for path in vault.sessions.glob("*.md")} == before
