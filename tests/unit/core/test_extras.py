"""The command that adds an extra is the one of the tool that installed Crucible."""

from __future__ import annotations

import importlib.metadata
import json
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crucible.core import command_lines
from crucible.core.command_lines import DISTRIBUTION, install_command, is_temporary

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the installed distribution says about where it came from; empty for an index of packages."""
    said: dict[str, Any] = {}
    read = lambda _: json.dumps(said) if said else None  # noqa: E731
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: SimpleNamespace(read_text=read))
    return said


def test_the_name_is_the_one_in_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION
    assert {"llm", "mcp", "postgres", "tokenizers"} <= project["optional-dependencies"].keys()


@pytest.mark.parametrize(
    ("mark", "command"),
    [("pipx_metadata.json", "pipx install --force"), ("uv-receipt.toml", "uv tool install --force")],
)
@pytest.mark.usefixtures("origin")
def test_tools_that_keep_an_environment_for_each_program_are_named(
    mark: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    (tmp_path / mark).touch()
    assert install_command("mcp") == f'{command} "crucible-vault[mcp]"'


@pytest.mark.usefixtures("origin")
def test_what_uvx_runs_is_installed_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_temporary()
    monkeypatch.setattr(sys, "prefix", "/home/me/.cache/uv/archive-v0/q0cMYewY0r")
    assert is_temporary()
    assert install_command("") == "uv tool install --force crucible-vault"


@pytest.mark.usefixtures("origin")
def test_pip_installs_for_the_running_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/venv/bin/python")
    assert install_command("mcp") == '/venv/bin/python -m pip install "crucible-vault[mcp]"'
    monkeypatch.setattr(command_lines, "find_spec", lambda _: None)
    assert install_command("mcp") == 'uv pip install --python /venv/bin/python "crucible-vault[mcp]"'


def test_what_came_from_a_folder_or_a_wheel_is_extended_from_there(
    origin: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "python")
    origin |= {"url": "file:///src/my%20copy", "dir_info": {"editable": True}}
    assert install_command("mcp") == 'python -m pip install --editable "/src/my copy[mcp]"'
    origin |= {"url": "file:///src/crucible", "dir_info": {}}
    assert install_command("mcp") == 'python -m pip install "/src/crucible[mcp]"'
    origin |= {"url": "https://example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "1"}}
    assert install_command("mcp") == 'python -m pip install "crucible-vault[mcp] @ git+https://example.org/a.git"'
    del origin["vcs_info"]
    origin |= {"url": "file:///dist/crucible_vault-0.1.0-py3-none-any.whl", "archive_info": {}}
    assert install_command("mcp") == 'python -m pip install "/dist/crucible_vault-0.1.0-py3-none-any.whl[mcp]"'
