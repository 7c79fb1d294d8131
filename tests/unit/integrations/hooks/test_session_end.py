"""The steps after a client's end: the session's history, without a model, once; errors are logged."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.analysis.review.agent_questions import Agent
from crucible.commands.capture.after_stop import StopHelpers, StopResult
from crucible.core.settings.settings import AgentSettings, UserSettings, VaultSettings
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks import session_end as endings
from crucible.integrations.hooks.hook_log import LOG
from crucible.integrations.hooks.session_end import ImportedSession, StoppedSession, ask_all, end_all, stopped_now
from crucible.integrations.hooks.sync import write_down
from crucible.memory.history.memory_log import Memory, MemoryKind, append_memories, load_memories
from crucible.vault.events.spool_reader import Spooled
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note
from tests.unit.integrations.hooks.playing import OTHER, sync, the_note, turn
from tests.unit.integrations.hooks.playing import Client as Player

NAME = "2026-11-21-x"


@pytest.fixture
def place(tmp_path: Path) -> Vault:
    (tmp_path / ".crucible").mkdir()
    vault = Vault(tmp_path.resolve(), VaultSettings(fsync=False))
    vault.create(NAME, note(NAME, "## A\n\n> [!decision]\n> In /home/dev/shop/a.py\n"))
    return vault


def test_its_history_is_written_without_absolute_paths(place: Vault) -> None:
    path = place.find(NAME)
    end_all(place, UserSettings(), [StoppedSession(path, "/home/dev/shop"), StoppedSession(path, "/home/dev/shop")])
    assert "- **In a.py** (captured)\n" in (place.root / "history" / f"{NAME}-history.md").read_text()
    assert not (place.root / LOG).exists()


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("command", ["claude -p", ""])
def test_an_agent_is_asked_only_if_configured_and_enabled(
    place: Vault, monkeypatch: pytest.MonkeyPatch, command: str, at_end: bool
) -> None:
    given: list[StopHelpers] = []

    def after(*_: object, helpers: StopHelpers, **__: object) -> StopResult:
        given.append(helpers)
        return StopResult()

    monkeypatch.setattr(endings, "after_stop", after)
    user = UserSettings(agents=AgentSettings(command, at_end=at_end))
    end_all(place, user, [StoppedSession(place.find(NAME), "")])
    assert [one.asker for one in given] == [None], "nothing waits for an agent"
    ask_all(place, user, [StoppedSession(place.find(NAME), "")])
    agent = given[-1].asker
    assert isinstance(agent, Agent) is (bool(command) and at_end)
    if isinstance(agent, Agent):
        assert (agent.purpose, agent.session, agent.root) == ("findings", NAME, place.root)


def test_a_fault_is_a_line_in_the_log(place: Vault) -> None:
    (place.root / "history").write_text("")
    end_all(place, UserSettings(), [StoppedSession(place.find(NAME), ""), StoppedSession(place.root / "gone.md", "")])
    [line] = (place.root / LOG).read_text().splitlines()
    assert f"end {NAME}: VaultError: history: " in line


def test_only_a_client_that_is_gone_counts_and_only_when_that_is_news(place: Vault) -> None:
    met = ImportedSession(NAME, place.load(NAME), "/home/dev/shop")
    stopped = [StoppedSession(place.find(NAME), "/home/dev/shop")]
    place.touched.clear()

    def now(client: Client, left: str) -> list[StoppedSession]:
        spooled = Spooled("claude-code", "native", (), 0, left=left)
        return list(stopped_now(place, spooled, client, met))

    assert now(Client.RUNNING, "") == now(Client.ENDED, "ended") == []
    assert now(Client.ENDED, "running") == now(Client.DIED, "running") == stopped
    place.touched.add(place.find(NAME))
    assert now(Client.ENDED, "ended") == stopped


def test_a_client_s_end_writes_the_history_and_what_came_before_does_not(vault: Vault, tmp_path: Path) -> None:
    client = Player(vault.root, tmp_path / "home")
    client.say(*turn("Fix it", "We decided to use a token bucket because it needs constant memory."))
    client.call("SessionStart", source="startup")
    client.call("Stop", said="We decided to use a token bucket because it needs constant memory.")
    sync(client)
    history = vault.root / "history" / f"{the_note(client).id}-history.md"
    assert not history.exists()
    client.call("SessionEnd", reason="other")
    sync(client)
    assert "title: Fix it" in history.read_text()
    assert "author:" not in history.read_text()
    before = history.stat().st_mtime_ns
    sync(client)
    assert history.stat().st_mtime_ns == before


def test_memory_that_has_grown_too_long_shrinks(place: Vault) -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    old = [
        Memory(f"t-{n:012d}", MemoryKind.TODO, "x" * 300, "2026-11-01-y", at, project="shop", done=True)
        for n in range(240)
    ]
    append_memories(place.root, old, fsync=False)
    end_all(place, UserSettings(), [StoppedSession(place.find(NAME), "")])
    found = load_memories(place.root, MemoryKind.TODO).found
    assert len(found) == 240
    assert any(one.compacted for one in found)
    assert not (place.root / LOG).exists()


def test_other_sessions_are_written_down_while_an_agent_thinks(
    place: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = Player(place.root, tmp_path / "home"), Player(place.root, tmp_path / "home", OTHER)
    one.say(*turn("Fix it", "It is fixed."))
    one.call("SessionEnd", reason="other")
    asked: list[str] = []

    def think(_: Vault, path: Path, **more: object) -> StopResult:
        if isinstance(more["helpers"], StopHelpers) and more["helpers"].asker:
            asked.append(path.stem)
            if len(asked) == 1:
                other.say(*turn("Write the docs", "They are written."))
                other.call("SessionEnd", reason="other")
                write_down(place.root)
            assert {"2026-11-21-fix.md", "2026-11-21-write-docs.md"} <= {path.name for path in place.sessions.iterdir()}
        return StopResult()

    config = tmp_path / "user.toml"
    config.write_text('[agents]\ncommand = "claude"\nat_end = true\n')
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(config))
    monkeypatch.setattr(endings, "after_stop", think)
    write_down(place.root)
    assert asked == ["2026-11-21-fix", "2026-11-21-write-docs"]
