"""`cru doctor` on `cru mcp`: which clients start it, and whether what they start is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crucible.cli.install_hooks import own_program
from crucible.vault.notes.vault import Vault
from tests.running import Cru

HOMES = {"claude-code": ".claude", "codex": ".codex", "opencode": ".config/opencode"}
TITLES = {"claude-code": "Claude Code", "codex": "Codex", "opencode": "OpenCode"}


def found(cru: Cru) -> list[dict[str, Any]]:
    return [each for each in json.loads(cru("doctor", "--format", "json").stdout)["checks"] if each["topic"] == "mcp"]


def test_clients_that_are_not_here_share_a_line(project: Path, cru: Cru) -> None:
    (one,) = found(cru)
    assert one["state"] == "note"
    assert all(title in one["text"] for title in TITLES.values())


@pytest.mark.parametrize("client", HOMES)
@pytest.mark.parametrize("where", [(), ("--project",)])
def test_a_client_is_registered_or_not(
    client: str, where: tuple[str, ...], project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path.home() / HOMES[client]).mkdir(parents=True)
    first, _ = found(cru)
    assert (first["state"], first["fix"]) == ("note", f"cru install {client} --mcp")
    assert TITLES[client] in first["text"]
    cru(*first["fix"].split()[1:], *where)
    if where:  # colleagues find it by its name
        program = project.parent / "bin" / "cru"
        program.parent.mkdir()
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    good, _ = found(cru)
    assert good["state"] == "good"
    assert TITLES[client] in good["text"]


@pytest.mark.parametrize("client", HOMES)
def test_a_program_or_a_vault_that_is_gone_is_bad_and_mended(
    client: str, project: Path, vault: Vault, cru: Cru
) -> None:
    cru("install", client, "--mcp")
    (path,) = (path for path in Path.home().rglob("*") if path.suffix in (".json", ".toml"))
    path.write_text(path.read_text().replace(own_program()[0], "/gone/cru"))
    bad = found(cru)[0]
    assert (bad["state"], bad["fix"]) == ("bad", f"cru install {client} --mcp")
    assert bad["items"] == ["/gone/cru"]
    cru(*bad["fix"].split()[1:])
    assert found(cru)[0]["state"] == "good"
    path.write_text(path.read_text().replace(str(vault.root), "/gone/vault"))
    bad = found(cru)[0]
    assert bad["state"] == "bad"
    assert bad["items"] == ["/gone/vault"]


def test_what_is_anothers_or_broken_is_said(project: Path, cru: Cru) -> None:
    settings = Path.home() / ".claude.json"
    settings.write_text('{"mcpServers": {"crucible": {"command": "somebody-else"}}}')
    told = [each["text"] for each in found(cru) if str(settings) in each["text"]]
    assert len(told) == 1
    assert "another program" in told[0]
    settings.write_text("{broken")
    told = [each["text"] for each in found(cru) if str(settings) in each["text"]]
    assert len(told) == 1
    assert "line 1" in told[0]
