"""`cru share`: what leaves the vault in each format, and that the gate asks first."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from atif import Trajectory
from hypothesis import given

from crucible.cli import share_command
from crucible.core.prices.price_list import load_prices
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import SecretSettings
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Intervention,
    Phase,
    Prose,
    Session,
    Subagent,
    SubagentRef,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.vault.index.costs import NO_COST
from crucible.vault.notes.vault import Vault
from crucible.web.call_details import LEFT_OUT, CallDetail
from crucible.web.session_entries import Level, Report, calls_of
from crucible.web.share_redaction import Person, ShareRedaction
from crucible.web.shared_session import Shared, contents_of, shared_html, shared_markdown, shared_session
from crucible.web.trajectory import trajectory_of
from crucible.web.web_vault import WebSettings, WebVault
from samples.hostile_texts import hostile_text
from tests.paths import TESTS
from tests.running import Cru
from tests.unit.web.test_markdown_html import Page

TOKEN = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"
PRIVATE = ("/home/ada/", "ada@lovelace.org", "ada-laptop", TOKEN)
TELL_ALL = (
    f"See /home/ada/shop/.env on ada-laptop, ask ada@lovelace.org, use {TOKEN} at http://10.1.2.3/ and http://wiki/."
)
CHILD = "2026-11-21-child"
START = datetime(2026, 11, 21, 20, 26, tzinfo=UTC)
PERSON = Person("/home/ada", "ada-laptop", ["Ada Lovelace"])


def session_of(text: str, name: str = "2026-11-21-parent", child: str = "") -> Session:
    entries = (
        Intervention(text),
        Prose(text),
        ToolCalls((ToolCall(f"Bash cat {text.splitlines()[0] if text else ''}", text[:60] or "ok"),)),
        Decision(text or "Yes", text),
        *((Subagent(AgentRef("explorer"), link=child, task=text, summary=text),) if child else ()),
    )
    return Session(
        name,
        started=START,
        title=f"Share {text}"[:80],
        project="shop",
        subagents=(SubagentRef(child),) if child else (),
        phases=(Phase(text[:60] or "Work", AgentRef("claude-code", "2.1"), started=START, entries=entries),),
    )


@pytest.fixture
def web(vault: Vault) -> WebVault:
    child = session_of(TELL_ALL, CHILD)
    (vault.sessions / f"{CHILD}.md").write_text(render_session(child), encoding="utf-8")
    return WebVault(vault, WebSettings(UTC, lambda: START, load_prices()))


def shared_of(web: WebVault, session: Session, level: Level = Level.FULL) -> tuple[Shared, ShareRedaction]:
    redaction = ShareRedaction(redact_of(SecretSettings()), PERSON)
    return shared_session(web, session, level, redaction), redaction


def texts_of(shared: Shared, web: WebVault) -> dict[str, str]:
    return {
        "html": shared_html(shared, web),
        "markdown": shared_markdown(shared),
        "atif": json.dumps(trajectory_of(shared), ensure_ascii=False),
    }


def test_every_format_is_redacted_with_the_subagents_work(web: WebVault) -> None:
    shared, redaction = shared_of(web, session_of("Look at it", child=CHILD))
    assert {"github-token", "email", "home-path", "host-name"} <= redaction.counts.keys()
    for kind, text in texts_of(shared, web).items():
        assert not [word for word in PRIVATE if word in text], kind
        assert "user@example.com" in text, kind


def test_what_looks_private_stays_and_is_collected_before_a_format_escapes_it(web: WebVault) -> None:
    _, redaction = shared_of(web, session_of(f"{TELL_ALL} Ask Ada Lovelace about id_rsa and http://10.1.2.3/"))
    assert {kind: {*names} for kind, names in redaction.private.items()} == {
        "secret file": {".env", "id_rsa"},
        "internal address": {"wiki"},
        "IP address": {"10.1.2.3"},
        "your name": {"Ada Lovelace"},
    }


def test_a_subagents_calls_have_their_details_in_every_format_that_shows_calls(web: WebVault) -> None:
    shared, _ = shared_of(web, session_of("Look at it", child=CHILD))
    detail = CallDetail(output="1 passed in 0.1s")
    below = {name: one._replace(details={"e1-3-1": detail}) for name, one in shared.whole.below.items()}
    shared = shared._replace(whole=shared.whole._replace(below=below))
    assert contents_of(shared.whole) == (1, 2, 2, 1, 1, 1, 0)
    assert "<pre tabindex=0>1 passed in 0.1s</pre>" in shared_html(shared, web)
    [trajectory] = trajectory_of(shared)["subagent_trajectories"]
    results = [result for step in trajectory["steps"] for result in step.get("observation", {}).get("results", ())]
    assert results[0]["content"] == "1 passed in 0.1s"


def test_a_subagent_without_a_note_is_counted_as_missing(web: WebVault) -> None:
    shared, _ = shared_of(web, session_of("Look at it", child="2026-11-21-gone"))
    parts = contents_of(shared.whole)
    assert (parts.subagents, parts.listed) == (0, 1)


def test_subagents_of_subagents_are_in_place_once_each_even_in_a_cycle(web: WebVault, vault: Vault) -> None:
    names = [f"2026-11-21-below-{number}" for number in range(8)]
    for name, child in zip(names, [*names[1:], names[0]], strict=True):
        (vault.sessions / f"{name}.md").write_text(render_session(session_of(f"I am {name}.", name, child)))
    shared, _ = shared_of(web, session_of("Look at it", child=names[0]))
    assert contents_of(shared.whole).subagents == len(names)
    for kind, text in texts_of(shared, web).items():
        assert all(f"I am {name}." in text for name in names), kind


def test_a_subagents_phases_are_named_if_there_are_several(web: WebVault, vault: Vault) -> None:
    phases = tuple(Phase(name, entries=(Prose(f"In {name}."),)) for name in ("Reading", "Measuring"))
    child = Session("2026-11-21-two", started=START, title="T", phases=phases)
    (vault.sessions / "2026-11-21-two.md").write_text(render_session(child), encoding="utf-8")
    shared, _ = shared_of(web, session_of("Look at it", child="2026-11-21-two"))
    assert "<p class=facts>Measuring</p>" in shared_html(shared, web)
    assert "Measuring\n" in shared_markdown(shared).replace("> ", "")


def test_a_trajectory_is_valid_atif_and_refers_to_its_subagents(web: WebVault) -> None:
    plain = trajectory_of(shared_of(web, session_of("Look", child=CHILD))[0])
    found = Trajectory.model_validate(plain)
    assert [step.source for step in found.steps] == ["user", "agent", "agent", "system", "agent"]
    assert [one["trajectory_id"] for one in plain["subagent_trajectories"]] == [CHILD]


@pytest.mark.parametrize(
    ("level", "shown"),
    [(Level.USER, ["words"]), (Level.TALK, ["words", "prose"]), (Level.FULL, ["words", "prose", "pytest"])],
)
def test_a_level_leaves_out_what_it_does_not_show(web: WebVault, level: Level, shown: list[str]) -> None:
    entries = (Intervention("My words."), Prose("Some prose."), ToolCalls((ToolCall("Bash pytest", "ok"),)))
    phase = Phase("Work", AgentRef("claude-code"), started=START, entries=entries)
    session = Session("2026-11-21-x", started=START, title="T", phases=(phase,))
    for kind, text in texts_of(shared_of(web, session, level)[0], web).items():
        body = text[text.index("<main") : text.index("</main")] if kind == "html" else text
        found = [word for word in ("words", "prose", "pytest") if word in body]
        assert found == shown, kind


@given(hostile_text())
def test_hostile_text_is_neither_markup_nor_structure_in_what_is_shared(text: str) -> None:
    session = session_of(text)
    redaction = ShareRedaction(redact_of(SecretSettings()), Person())
    shared = Shared(Report(redaction.value(session)), NO_COST, Level.FULL)
    read = read_session(Source(shared_markdown(shared)), "x")
    assert len(read.phases) == 1
    assert len(read.phases[0].entries) <= len(session.phases[0].entries)
    Trajectory.model_validate(trajectory_of(shared))


def test_a_hostile_session_s_file_runs_and_loads_nothing(web: WebVault) -> None:
    evil = '"><script src=https://evil.example/x.js></script><img src=x onerror=alert(1)> [x](javascript:alert(1))'
    page = Page(shared_html(shared_of(web, session_of(evil))[0], web))
    assert page.tags.count("script") == 1  # ours
    assert not {"img", "iframe", "object", "link"} & {*page.tags}
    assert not [
        value for name, value in page.attributes if name == "src" or name.startswith("on") or "script:" in value
    ]


# --- the gate ---


@pytest.fixture
def share(cru: Cru, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    note = vault.sessions / "2026-11-21-parent.md"
    note.write_text(render_session(session_of(TELL_ALL)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: int = 0) -> str:
        before = note.read_bytes()
        result = cru("share", "2026-11-21-parent", *arguments)
        assert result.exit_code == code, result.output
        assert note.read_bytes() == before
        return result.output

    return run


def test_a_pipe_writes_nothing_without_yes(share: Callable[..., str], tmp_path: Path) -> None:
    assert "Pass --yes" in share("-o", "out.html", code=2)
    assert not (tmp_path / "out.html").exists()


def test_what_is_in_the_file_and_what_looks_private_is_said_first(share: Callable[..., str], tmp_path: Path) -> None:
    said = share("--yes", "-o", "out.html")
    assert "level full: 1 phase, 1 prompt, 1 call, 0 outputs, 0 subagents" in said
    assert "email" in said
    assert "secret file: .env" in said
    assert "IP address: 10.1.2.3" in said
    assert "user@example.com" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_a_file_in_the_vault_is_refused(share: Callable[..., str], vault: Vault) -> None:
    assert "in the vault" in share("--yes", "-o", str(vault.root / "out.html"), code=2)
    assert not (vault.root / "out.html").exists()


def test_only_a_file_is_replaced(share: Callable[..., str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        assert "not a regular file" in share("--yes", "-o", name, code=1)
    assert (tmp_path / "pipe").is_fifo()


def test_in_the_vault_the_file_is_written_beside_it(
    share: Callable[..., str], vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(vault.sessions)
    assert f"written  {vault.root.parent / '2026-11-21-parent.html'}" in share("--yes")
    assert f"replaced  {vault.root.parent / '2026-11-21-parent.html'}" in share("--yes")


def test_what_would_make_the_file_too_large_is_left_out_and_named(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Cru(vault)("import", "claude-code", TESTS / "data" / "transcripts" / "claude-code" / "limiter")
    monkeypatch.setitem(share_command._ROOM, "html", 300)
    said: dict[str, str] = {}
    for kind in ("html", "markdown", "atif"):
        said[kind] = Cru(vault)("share", "2026-11-21-add", "--format", kind, "-o", tmp_path / kind, "--yes").stdout
    assert [kind for kind, text in said.items() if "left out: arguments and outputs of" in text] == ["html"]
    assert [kind for kind, text in said.items() if ", 0 outputs," in text] == ["markdown"]
    page = (tmp_path / "html").read_text(encoding="utf-8")
    # Subagents share the room.
    assert 0 < sum(map(len, re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL))) <= 300


def test_a_trajectory_says_which_outputs_were_cut(web: WebVault) -> None:
    shared, _ = shared_of(web, session_of("Look at it"))
    whole = shared.whole._replace(details={name: LEFT_OUT for name, _ in calls_of(shared.whole.session)})
    steps = trajectory_of(shared._replace(whole=whole))["steps"]
    marks = [result.get("extra") for step in steps for result in step.get("observation", {}).get("results", ())]
    assert marks == [{"cut": LEFT_OUT.mark}]
