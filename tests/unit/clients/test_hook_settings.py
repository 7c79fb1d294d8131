"""Our hooks in Claude Code's settings: installed without changing other bytes, and removed to the byte."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.hook_settings import (
    find_installed,
    hooks_path,
    install_hooks,
    uninstall_hooks,
    with_hooks,
    without_hooks,
)
from crucible.clients.registry import HOOKS
from crucible.clients.settings_files import parse
from crucible.core.errors import VaultError
from tests.cases import for_each

HOOKED = HOOKS["claude-code"]
EVENTS = HOOKED.events
COMMAND = "cru hook claude-code || :"
OTHER = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo hi"}]}


def events_of(settings: dict[str, Any]) -> dict[str, list[Any]]:
    """What is ours in each event's list."""
    return {
        event: [handler for group in groups for handler in group["hooks"] if "cru hook" in handler["command"]]
        for event, groups in settings["hooks"].items()
    }


HAND_WRITTEN = [
    "{}",
    "{ }",
    "{}\n",
    '{"hooks": {}}',
    '{"hooks": {"Stop": []}}\n',
    '{"hooks": { "Stop": [ ] } }',
    '{"model": "opus"}',
    '{\n  "model": "opus"\n}\n',
    '{\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"type": "command", "command": "x"}]}\n\t\t]\n\t}\n}\n',
    '{\r\n  "model": "opus"\r\n}\r\n',
    '\ufeff{\n  "a": 1\n}',
    '{\n  // mine\n  "a": 1, // and this\n  /* more */ "b": [1, 2,], // tail\n}\n',
    '{\n  "hooks": {\n    "Stop": [ // why\n      {"hooks": []} // because\n    ], // so\n  },\n}\n',
    '{"hooks": {"PostToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "a"}]}], "Stop": []}, "z": 1}',
    '{"a": "// no comment", "b": "}{", "c": "\\"", "hooks": {"Other": []}}',
    "",
    "\n",
]


@for_each("text", HAND_WRITTEN)
def test_removing_restores_every_byte(text: str) -> None:
    there = with_hooks(text, COMMAND, EVENTS)
    assert there != text
    assert without_hooks(there) == text


@for_each("text", HAND_WRITTEN)
def test_installing_twice_changes_nothing(text: str) -> None:
    once = with_hooks(text, COMMAND, EVENTS)
    assert with_hooks(once, COMMAND, EVENTS) == once


@for_each("text", HAND_WRITTEN)
def test_others_bytes_stay_in_their_order(text: str) -> None:
    left = iter(with_hooks(text, COMMAND, EVENTS))
    assert all(letter in left for letter in text if not letter.isspace())


@for_each("text", HAND_WRITTEN)
def test_every_event_has_our_handler_once(text: str) -> None:
    settings = parse(with_hooks(text, COMMAND, EVENTS).removeprefix("\ufeff")).root.value
    ours = events_of(settings)
    for event, how in EVENTS.items():
        assert ours[event] == [{"type": "command", "command": COMMAND, **how}]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
GROUPS: st.SearchStrategy[list[Any]] = st.lists(st.just(OTHER) | st.just({"hooks": []}), max_size=2)
SETTINGS = st.builds(
    lambda rest, hooks, has: {**rest, **({"hooks": hooks} if has else {})},
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), JSON, max_size=3),
    st.dictionaries(st.sampled_from([*EVENTS, "Notification"]), GROUPS, max_size=4),
    st.booleans(),
)
WRITTEN = st.builds(
    lambda value, indent, end, newline: (json.dumps(value, indent=indent) + end).replace("\n", newline),
    SETTINGS,
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.sampled_from(["", "\n", "\n\n", " "]),
    st.sampled_from(["\n", "\r\n"]),
)


@given(WRITTEN)
def test_any_settings_come_back_to_the_byte(text: str) -> None:
    there = with_hooks(text, COMMAND, EVENTS)
    json.loads(there)
    assert with_hooks(there, COMMAND, EVENTS) == there
    assert without_hooks(there) == text


@given(SETTINGS)
def test_any_settings_keep_what_they_mean(settings: dict[str, Any]) -> None:
    there = json.loads(with_hooks(json.dumps(settings, indent=2), COMMAND, EVENTS))
    for event, groups in settings.get("hooks", {}).items():
        assert there["hooks"][event][: len(groups)] == groups
    assert {k: v for k, v in there.items() if k != "hooks"} == {k: v for k, v in settings.items() if k != "hooks"}


def test_another_command_takes_the_place_of_ours() -> None:
    old = with_hooks('{\n  "a": 1\n}\n', "/old/cru hook claude-code || :", EVENTS)
    new = with_hooks(old, COMMAND, EVENTS)
    assert "/old/cru" not in new
    assert new.count("cru hook claude-code") == len(EVENTS)
    assert without_hooks(new) == '{\n  "a": 1\n}\n'


def test_a_foreign_handler_in_our_group_stays() -> None:
    settings = json.loads(with_hooks("{}", COMMAND, EVENTS))
    settings["hooks"]["Stop"][0]["hooks"].insert(0, {"type": "command", "command": "mine"})
    left = json.loads(without_hooks(json.dumps(settings, indent=2)) or "")
    assert left == {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


def test_entries_added_after_ours_stay() -> None:
    settings = json.loads(with_hooks(None, COMMAND, EVENTS))
    settings["hooks"]["Stop"].append(OTHER)
    settings["model"] = "opus"
    left = json.loads(without_hooks(json.dumps(settings, indent=2)) or "")
    assert left == {"hooks": {"Stop": [OTHER]}, "model": "opus"}


def test_in_a_file_of_one_line_empty_lists_may_stay() -> None:
    settings = json.loads(with_hooks(None, COMMAND, EVENTS))
    settings["hooks"]["Stop"].append(OTHER)
    left = json.loads(without_hooks(json.dumps(settings)) or "")
    assert {event: groups for event, groups in left["hooks"].items() if groups} == {"Stop": [OTHER]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "the settings: expected an object"),
        ('{"hooks": []}', "hooks: expected an object"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop: expected a list"),
        ('{\n"a": 1,\n"b"\n}', "line 4: not JSON: expected ':'"),
        ('{"a": 1', "line 1: not JSON"),
        ("[" * 500, "nested too deeply"),
        ('{"a": 1} x', "extra text after the end"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_left_alone(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(VaultError, match=told) as error:
        install_hooks(HOOKED, path, COMMAND)
    assert str(path) in str(error.value)
    assert path.read_text(encoding="utf-8") == text


def test_a_file_that_came_with_us_goes_with_us(tmp_path: Path) -> None:
    path = tmp_path / ".claude" / "settings.json"
    assert install_hooks(HOOKED, path, COMMAND)
    assert not install_hooks(HOOKED, path, COMMAND)
    assert uninstall_hooks(HOOKED, path)
    assert not path.parent.exists()
    assert not uninstall_hooks(HOOKED, path)


def test_a_link_into_dotfiles_stays_one(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", encoding="utf-8")
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    install_hooks(HOOKED, link, COMMAND)
    assert link.is_symlink()
    assert "cru hook" in real.read_text(encoding="utf-8")
    uninstall_hooks(HOOKED, link)
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "{}"


def test_missing_hooks_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    assert find_installed(HOOKED, path).lacking == tuple(EVENTS)
    install_hooks(HOOKED, path, COMMAND)
    assert find_installed(HOOKED, path).events == tuple(EVENTS)
    assert find_installed(HOOKED, path, COMMAND).lacking == ()
    assert find_installed(HOOKED, path, "other cru hook claude-code").lacking == tuple(EVENTS)
    settings = json.loads(path.read_text(encoding="utf-8"))
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings), encoding="utf-8")
    assert find_installed(HOOKED, path).lacking == ("Stop",)


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_files_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o600)
    install_hooks(HOOKED, path, COMMAND)
    assert path.stat().st_mode & 0o777 == 0o600


@for_each("client", HOOKS)
def test_every_clients_hooks_are_installed_and_removed_to_the_byte(client: str, tmp_path: Path) -> None:
    hooks, home = HOOKS[client], tmp_path / "home"
    path = hooks_path(hooks, {}, home, None)
    home.mkdir(exist_ok=True)
    assert find_installed(hooks, path).events == ()
    assert install_hooks(hooks, path, f"cru hook {client}")
    assert find_installed(hooks, path, f"cru hook {client}").lacking == ()
    assert find_installed(hooks, path, "cru hook other").lacking
    assert not install_hooks(hooks, path, f"cru hook {client}")
    assert uninstall_hooks(hooks, path)
    assert not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{ }\n", encoding="utf-8")
    if not hooks.plugin:
        install_hooks(hooks, path, f"cru hook {client}")
        uninstall_hooks(hooks, path)
    assert path.read_text(encoding="utf-8") == "{ }\n"
    path.unlink()


def test_a_plugin_that_was_edited_is_neither_replaced_nor_removed(tmp_path: Path) -> None:
    hooks, path = HOOKS["opencode"], tmp_path / "crucible.js"
    install_hooks(hooks, path, 'cru hook "opencode"')
    assert json.dumps('cru hook "opencode"') in path.read_text(encoding="utf-8")
    path.write_text("// mine\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert not uninstall_hooks(hooks, path)
    assert find_installed(hooks, path).events == ()
    with pytest.raises(VaultError, match="edited by hand"):
        install_hooks(hooks, path, "cru hook opencode")


_PLUGIN_CALLS = """
import { Crucible } from "./crucible.mjs"
const plugin = await Crucible({ directory: "/" })
await plugin.event({ event: { type: "session.idle" } })
await plugin.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
await new Promise(setImmediate)
await plugin.dispose()
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_a_program_that_cannot_be_started_is_no_error_in_opencode(tmp_path: Path) -> None:
    install_hooks(HOOKS["opencode"], tmp_path / "crucible.mjs", "no program has \0 in its name")
    (tmp_path / "calls.mjs").write_text(_PLUGIN_CALLS, encoding="utf-8")
    done = subprocess.run(["node", "calls.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
