"""Our status line in Claude Code's settings: installed without changing other bytes, and removed to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.clients.claude_code.status_line_setting import (
    has_status_line,
    install_status_line,
    uninstall_status_line,
    with_status_line,
    without_status_line,
)
from crucible.clients.settings_files import parse
from crucible.core.errors import UsageError
from tests.unit.clients.test_hook_settings import HAND_WRITTEN

COMMAND = "/usr/bin/cru statusline"


@pytest.mark.parametrize("text", HAND_WRITTEN)
def test_removing_restores_every_byte(text: str) -> None:
    there = with_status_line(text, COMMAND)
    assert parse(there).root.items[-1].value == {"type": "command", "command": COMMAND}
    assert with_status_line(there, COMMAND) == there
    assert without_status_line(there) == (text if text.strip("\ufeff \n") else None) or not text.strip()


def test_a_file_of_ours_alone_is_created_and_deleted_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    assert install_status_line(path, COMMAND)
    assert not install_status_line(path, COMMAND)
    assert has_status_line(path)
    assert json.loads(path.read_text()) == {"statusLine": {"type": "command", "command": COMMAND}}
    assert uninstall_status_line(path)
    assert not path.parent.exists()


def test_a_moved_cru_is_replaced_and_another_line_is_left_alone() -> None:
    old = with_status_line('{"a": 1}', "/old/cru statusline")
    assert '"/new/bin/cru statusline"' in with_status_line(old, "/new/bin/cru statusline")
    theirs = '{"statusLine": {"type": "command", "command": "ccusage statusline"}}'
    with pytest.raises(UsageError, match="another status line"):
        with_status_line(theirs, COMMAND)
    assert without_status_line(theirs) == theirs
