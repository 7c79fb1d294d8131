"""What `--with` names: a client, the agent of the settings, or a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.cli.command_agent import agent_if_any, agent_named
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT
from crucible.clients.registry import RESUMABLE
from crucible.core.errors import UsageError


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    path.write_text('[agents]\ncommand = "mine --fast"\ntimeout_seconds = 7\n')
    return path


@pytest.mark.parametrize("name", [*RESUMABLE, "claude-code"])
def test_a_client_is_asked_with_what_leaves_it_nothing_to_act_with(name: str, config: Path) -> None:
    client = RESUMABLE[name.removesuffix("-code")]
    found = agent_named(name, "--with", "refine it")
    assert found.words == (client.program, *client.asked_once)
    assert dict(client.asked_env).items() <= dict(found.env).items()
    assert found.timeout_seconds == 7


@pytest.mark.parametrize("named", [None, "default", " default "])
def test_default_is_the_agent_of_the_settings(named: str | None, config: Path) -> None:
    found = agent_named(named, "--with", "refine it")
    assert (found.words, found.timeout_seconds) == (("mine", "--fast"), 7)
    config.write_text('[agents]\ncommand = "opencode"\n')
    assert agent_named(named, "--with", "refine it").words[1:] == RESUMABLE["opencode"].asked_once


@pytest.mark.parametrize("named", [None, "default"])
def test_without_an_agent_in_the_settings_default_is_nobody(named: str | None, config: Path) -> None:
    config.write_text("")
    assert agent_if_any(named, "--with") is None
    with pytest.raises(UsageError, match="no agent is configured to refine it") as caught:
        agent_named(named, "--with", "refine it")
    assert "--with claude" in caught.value.hint


def test_a_command_line_is_taken_as_it_is(config: Path) -> None:
    assert agent_named("claude -p 'a b'", "--with", "refine it").words == ("claude", "-p", "a b")


def test_what_names_nobody_is_refused(config: Path) -> None:
    with pytest.raises(UsageError, match="--with is empty"):
        agent_if_any(" ", "--with")
    with pytest.raises(UsageError, match="--with: No closing quotation"):
        agent_if_any("claude 'x", "--with")


def test_an_agent_that_cru_asked_asks_nobody(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OWN_ENVIRONMENT, "1")
    with pytest.raises(UsageError, match="cannot ask another"):
        agent_if_any("claude", "--with")
