"""Our server in clients' settings: registered without changing other bytes, and removed to the byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.registry import MCP_SETTINGS
from crucible.core.errors import VaultError
from crucible.integrations.install.mcp_servers import (
    Marks,
    clients_with_servers,
    parts_of,
    with_block,
    without_block,
)
from tests.unit.clients.test_hook_settings import HAND_WRITTEN

PROGRAM = ["/opt/my tools/cru", "mcp"]
MARKS = Marks("# >>> ours", "# <<< ours")
TOMLS = [
    "",
    "\n",
    'model = "o"\n',
    'model = "o"',
    '# mine\n[mcp_servers.other]\ncommand = "x"\n\n\n',
    'a = 1\r\n[b]\r\nc = "é" # why\r\n',
    "\ufeffa = 1\n",
    '[mcp_servers]\n[mcp_servers."my server"]\ncommand = "x"',
]


@pytest.fixture(params=sorted(MCP_SETTINGS))
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}


@pytest.mark.parametrize("project", [False, True])
def test_removing_also_removes_the_files_and_folders_we_created(client: str, project: bool, tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    if project and not MCP_SETTINGS[client].project:
        assert client not in clients_with_servers(work)
        return
    for name in (".codex", ".claude", ".copilot", ".qwen", ".cline/data", ".config"):
        (home / name).mkdir(parents=True)
    work.mkdir()
    for folder in (home / ".codex", home / ".claude", home / ".config", work):
        (folder / "kept").touch()
    before = snapshot(tmp_path)
    parts = parts_of(client, PROGRAM, {}, home, work if project else None)
    assert {part.install() for part in parts} == {True}
    assert len(snapshot(tmp_path)) > len(before)
    assert {part.install() for part in parts} == {False}, "twice is as good as once"
    assert {part.uninstall() for part in parts} == {True}
    assert snapshot(tmp_path) == before
    assert {part.uninstall() for part in parts} == {False}


@pytest.mark.parametrize(
    "text", [*HAND_WRITTEN, '{"mcpServers": {}}', '{"mcpServers": {"o": {"command": "x"}}, "b": 1}']
)
@pytest.mark.parametrize(("client", "section"), [("claude-code", "mcpServers"), ("opencode", "mcp")])
def test_settings_in_json_keep_every_byte(client: str, section: str, text: str, tmp_path: Path) -> None:
    part = parts_of(client, PROGRAM, {}, tmp_path, None)[0]
    text = text.replace("mcpServers", section)
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_bytes(text.encode())
    part.install()
    assert "/opt/my tools/cru" in part.path.read_text()
    part.uninstall()
    assert part.path.read_bytes() == text.encode()


@pytest.mark.parametrize("text", TOMLS)
def test_settings_in_toml_keep_every_byte_and_mean_the_same(text: str, tmp_path: Path) -> None:
    part = parts_of("codex", PROGRAM, {"CODEX_HOME": str(tmp_path)}, tmp_path / "home", None)[0]
    part.path.write_bytes(text.encode())
    part.install()
    told = tomllib.loads(part.path.read_bytes().decode().removeprefix("\ufeff"))
    server = told["mcp_servers"].pop("crucible")
    assert (server["command"], server["args"]) == (PROGRAM[0], ["mcp"])
    assert "CRUCIBLE_VAULT" in server["env_vars"]
    before = tomllib.loads(text.removeprefix("\ufeff"))
    assert told == {"mcp_servers": {}} | before
    part.uninstall()
    assert part.path.read_bytes() == text.encode()


def test_another_program_takes_the_place_of_the_one_before(client: str, tmp_path: Path) -> None:
    for program in (["/old/cru", "mcp"], ["/new/python", "-P", "-m", "crucible", "mcp"]):
        for part in parts_of(client, program, {}, tmp_path, None):
            part.install()
    parts = parts_of(client, PROGRAM, {}, tmp_path, None)
    text = parts[0].path.read_text()
    assert "/new/python" in text
    assert "/old/cru" not in text
    for part in parts:
        part.uninstall()
    assert not parts[0].path.exists()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude-code", '{"mcpServers": {"crucible": {"command": "somebody-else"}}}'),
        ("claude-code", '{"mcpServers": []}'),
        ("claude-code", "{"),
        ("opencode", '{"mcp": {"crucible": {"type": "remote", "url": "http://x"}}}'),
        ("codex", '[mcp_servers.crucible]\ncommand = "somebody-else"\n'),
        ("codex", "mcp_servers = {}\n"),
        ("codex", "a = \n"),
        ("codex", "# >>> crucible: put in by `cru install codex --mcp`, taken out by --remove\n"),
    ],
)
def test_foreign_or_damaged_settings_stay_unchanged(client: str, text: str, tmp_path: Path) -> None:
    part = parts_of(client, PROGRAM, {}, tmp_path, None)[0]
    part.path.parent.mkdir(parents=True, exist_ok=True)
    part.path.write_text(text)
    with pytest.raises(VaultError, match=str(part.path)) as caught:
        part.install()
    assert caught.value.hint
    assert part.path.read_text() == text
    if "somebody" in text or "remote" in text:
        assert not part.uninstall()
        assert part.path.read_text() == text


def test_a_skill_that_a_human_edited_is_theirs(tmp_path: Path) -> None:
    part = parts_of("claude-code", PROGRAM, {}, tmp_path, None)[1]
    part.install()
    mine = part.path.read_text().replace("Search earlier work:", "Always search:")
    part.path.write_text(mine)
    assert not part.uninstall()
    with pytest.raises(VaultError, match="edited by hand"):
        part.install()
    assert part.path.read_text() == mine


def test_the_skill_says_when_in_a_few_lines(tmp_path: Path) -> None:
    for client in MCP_SETTINGS:
        part = parts_of(client, PROGRAM, {}, tmp_path, None)[1]
        part.install()
        text = part.path.read_text()
        assert len(text.splitlines()) < 40
        for word in ("recall_context", "flight_recorder_log", "decision", "resolution", "milestone"):
            assert word in text
    skill = (tmp_path / ".claude" / "skills" / "crucible" / "SKILL.md").read_text()
    assert skill.startswith("---\nname: crucible\ndescription: ")


def test_a_file_of_opencode_with_comments_is_the_one_that_is_edited(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text('{\n  // mine\n  "model": "m"\n}\n')
    part = parts_of("opencode", PROGRAM, {}, tmp_path, None)[0]
    part.install()
    assert part.path.name == "opencode.jsonc"
    assert json.dumps(PROGRAM[0]) in part.path.read_text()


@given(st.text(st.sampled_from("ab#\n\r \ufeff"), max_size=40), st.text("xy\n", max_size=10))
def test_a_block_goes_out_as_it_came(text: str, body: str) -> None:
    there = with_block(text, body, MARKS)
    assert with_block(there, body, MARKS) == there
    assert without_block(there, MARKS) == text
