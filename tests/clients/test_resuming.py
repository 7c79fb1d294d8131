"""A session of Claude Code, paused after its first prompt, continues in each client: one note holds both halves."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crucible.documents.session.session import Session, Status
from crucible.memory.bookmarks.bookmark import latest
from samples.waiting import wait_until
from tests.clients.accounts import Tokens, tokens_told
from tests.clients.chat_wires import OTHER_WIRES
from tests.clients.clients import (
    CLAUDE_TOOLS,
    cline_settings,
    codex_settings,
    copilot_settings,
    opencode_settings,
    pi_settings,
    play_cline,
    play_codex,
    play_copilot,
    play_opencode,
    play_pi,
    play_qwen,
    qwen_settings,
    stop_cline,
)
from tests.clients.conftest import Programs
from tests.clients.install import PROGRAMS
from tests.clients.model import MAIN, Said, ScriptedModel
from tests.clients.playing import play_claude
from tests.clients.scenario import Scenario, load_scenario
from tests.clients.stage import Stage, make_stage
from tests.clients.terminal import OnATerminal
from tests.clients.wires import WIRES, Answer, Message, Wire

pytestmark = pytest.mark.e2e

MARK = "<!-- cru:resume "
GOAL = "Make the hats blue."
MORE = {
    "claude-code": ["--allowedTools", CLAUDE_TOOLS],
    "codex": ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"],
    "opencode": [],
    "copilot": ["--allow-all-tools"],
    "qwen-code": ["--auth-type", "openai", "--yolo"],
    "pi": ["--provider", "scripted", "--model", "scripted"],
    "cline": ["-P", "openai", "-m", "scripted"],
}
PLAY = {
    "codex": play_codex,
    "opencode": play_opencode,
    "copilot": play_copilot,
    "qwen-code": play_qwen,
    "pi": play_pi,
}


def tell_client(client: str, program: Path, stage: Stage) -> None:
    """Write down for a client which model there is."""
    env = stage.env()
    match client:
        case "codex":
            codex_settings(env)
        case "opencode":
            opencode_settings(env)
        case "copilot":
            stage.more |= copilot_settings(env)
        case "qwen-code":
            stage.more |= qwen_settings(env)
        case "pi":
            pi_settings(env)
            stage.more["PI_OFFLINE"] = "1"
        case "cline":
            cline_settings(env)


class _Heard:
    """A protocol whose marked prompts are the scenario's second one."""

    def __init__(self, wire: Wire, say: str) -> None:
        self._wire, self._say = wire, say

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wire, name)

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        return [self._message(message) for message in self._wire.messages(request)]

    def _message(self, message: Message) -> Message:
        texts = tuple(self._say if MARK in text else text for text in message.texts)
        return replace(message, texts=texts)


class ListeningModel(ScriptedModel):
    """Keeps its `requests`, except those for a title."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.requests: list[list[Message]] = []

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> Answer | int:
        if request.get("tools"):
            self.requests.append(wire.messages(request))
        return super().answer(_Heard(wire, self.scenario.says[1]), request)  # type: ignore[arg-type]

    def tokens(self, since: int = 0) -> Tokens:
        """Of the answers since that place of the log."""
        usages = {e.answer.id: e.answer.usage for e in self.log[since:] if isinstance(e, Said) and e.agent == MAIN}
        used = sum(usage.fresh + usage.said for usage in usages.values())
        return Tokens(used, sum(usage.cached for usage in usages.values()))


def user_texts(messages: list[Message]) -> list[str]:
    return [text for message in messages if message.role == "user" for text in message.texts]


def paused(stage: Stage, model: ListeningModel, programs: Programs, *, hooked: bool) -> Session:
    """The first prompt, played by the real client, and `cru session pause`."""
    program = programs("claude-code")
    stage.more["ANTHROPIC_BASE_URL"] = model.url
    if hooked:
        stage.cru("install", "claude-code", "--project")
    play_claude(program, stage, model, model.scenario.says[:1])
    if not hooked:
        stage.cru("import", "claude-code")
    (main,) = stage.mains()
    stage.cru("session", "pause", main.id, "--note", "lunch")
    (main,) = stage.mains()
    assert (main.status, main.resume_point) == (Status.PAUSED, "phase-1")
    return main


def on_path(stage: Stage, program: Path) -> None:
    stage.more["PATH"] = os.pathsep.join([str(program.parent), stage.env()["PATH"]])


def make(tmp_path: Path) -> tuple[Stage, Scenario]:
    scenario = load_scenario("plain", "claude-code")
    stage = make_stage(tmp_path, scenario.files)
    stage.write({"go-on": ""})
    return stage, scenario


def check_whole(stage: Stage, model: ListeningModel, first: int, before: Session, named: str = "Resumed") -> Session:
    """Check for one completed note with both halves and the right tokens; importing again changes nothing."""
    assert not model.unforeseen, model.unforeseen
    (main,) = stage.mains()
    assert main.id == before.id
    text = stage.note_text(main.id)
    # The brief may tell them too.
    assert text.splitlines().count("The first answer.") == 1
    assert text.splitlines().count("The second answer.") == 1
    assert "cru:resume" not in text
    assert (main.status, main.resume_point) == (Status.COMPLETED, None)
    assert main.phases[-1].id == "phase-2"
    assert named in main.phases[-1].name
    assert tokens_told(main) == model.tokens()
    assert [phase.tokens for phase in main.phases] == [before.tokens_used, model.tokens(first).used]
    assert latest(stage.vault, main.id), "what was kept at the pause stays; an ended session needs no more"
    held = {session.id: stage.note_text(session.id) for session in stage.sessions()}
    stage.cru("import")
    assert {session.id: stage.note_text(session.id) for session in stage.sessions()} == held
    return main


@pytest.mark.parametrize("hooked", [True, False], ids=["hooked", "imported"])
def test_claude_code_continues_natively(hooked: bool, programs: Programs, tmp_path: Path) -> None:
    stage, scenario = make(tmp_path)
    with ListeningModel(scenario) as model:
        before = paused(stage, model, programs, hooked=hooked)
        on_path(stage, programs("claude-code"))
        first, asked = len(model.log), len(model.requests)
        stage.cru("session", "resume", before.id, "--with", "claude", "--", "--allowedTools", CLAUDE_TOOLS)
        stage.settle()
    told = user_texts(model.requests[asked])
    assert any(scenario.says[0] in text for text in told), "the old conversation"
    assert any("The first answer." in text for m in model.requests[asked] for text in m.texts)
    assert not any("# Continue session" in text for text in told), "no context"
    main = check_whole(stage, model, first, before)
    assert main.sources == before.sources


@pytest.mark.parametrize(
    ("client", "hooked"),
    [
        *((client, hooked) for client in ("claude-code", "codex", "opencode") for hooked in (True, False)),
        *((client, False) for client in ("copilot", "qwen-code", "pi", "cline")),
    ],
)
def test_another_client_continues_with_the_context(
    client: str, hooked: bool, programs: Programs, tmp_path: Path
) -> None:
    stage, scenario = make(tmp_path)
    with ListeningModel(scenario) as model:
        before = paused(stage, model, programs, hooked=hooked)
        if client in OTHER_WIRES:
            model.wires = (OTHER_WIRES[client], *WIRES)
        program = programs(client)
        tell_client(client, program, stage)
        on_path(stage, program)
        first, asked = len(model.log), len(model.requests)
        stage.cru("session", "resume", before.id, "--with", PROGRAMS[client], "--fresh", "--", *MORE[client])
        stage.settle()
        stop_cline(stage.env())
    told = user_texts(model.requests[asked])
    (context,) = [text[text.index(MARK) :] for text in told if MARK in text]
    assert "# Continue session" in context
    assert scenario.says[0] in context
    assert not any(
        "The first answer." in text for m in model.requests[asked] if m.role == "assistant" for text in m.texts
    )
    main = check_whole(stage, model, first, before)
    assert main.sources[0] == before.sources[0]
    assert [source.partition(":")[0] for source in main.sources] == ["claude-code", client]
    speakers = [phase.agent.name for phase in main.phases if phase.agent]
    assert speakers == ["claude-code", client]
    assert len(main.participants) == (1 if client == "claude-code" else 2)


@pytest.mark.parametrize("client", PLAY)
def test_the_other_clients_go_on_natively_too(client: str, programs: Programs, tmp_path: Path) -> None:
    scenario = load_scenario("plain", client)
    stage = make_stage(tmp_path, scenario.files)
    stage.write({"go-on": ""})
    program, play = programs(client), PLAY[client]
    with ListeningModel(scenario) as model:
        stage.more["ANTHROPIC_BASE_URL"] = model.url
        play(program, stage.project, stage.env(), scenario.says[:1])
        stage.cru("import", client)
        (before,) = stage.mains()
        stage.cru("session", "pause", before.id)
        on_path(stage, program)
        tell_client(client, program, stage)
        first, asked = len(model.log), len(model.requests)
        stage.cru("session", "resume", before.id, "--with", PROGRAMS[client], "--native", "--", *MORE[client])
    told = [text for message in model.requests[asked] for text in message.texts]
    assert any("The first answer." in text for text in told), "the old conversation"
    assert not any("# Continue session" in text for text in told), "no context"
    assert check_whole(stage, model, first, before).sources == before.sources


def test_cline_goes_on_in_its_terminal_where_the_human_types_and_its_rules_say_what_changed(
    programs: Programs, tmp_path: Path
) -> None:
    scenario = load_scenario("plain", "cline")
    stage = make_stage(tmp_path, scenario.files)
    stage.write({"go-on": ""})
    program = programs("cline")
    with ListeningModel(scenario) as model:
        stage.more["ANTHROPIC_BASE_URL"] = model.url
        play_cline(program, stage.project, stage.env(), scenario.says[:1])
        stage.cru("import", "cline")
        (before,) = stage.mains()
        stage.cru("session", "pause", before.id)
        on_path(stage, program)
        first, asked = len(model.log), len(model.requests)
        command = ["cru", "session", "resume", before.id, "--native", "--goal", GOAL, "--", *MORE["cline"]]
        with OnATerminal(command, stage.project, stage.env()) as terminal:
            terminal.type(scenario.says[1], after="The first answer.")
            log = next(stage.home.glob(".cline/data/sessions/*/*.messages.json"))
            wait_until(lambda: "The second answer." in log.read_text(), lambda: f"an answer: {terminal.shown[-900:]}")
            assert terminal.end() == 0, terminal.shown[-900:]
        stop_cline(stage.env())
    told = model.requests[asked]
    assert any("The first answer." in text for message in told for text in message.texts), "the old conversation"
    assert [GOAL in text for message in told for text in message.texts].count(True) == 1
    assert user_texts(told) == [*scenario.says[:2]]
    main = check_whole(stage, model, first, before, named=scenario.says[1])
    assert main.sources == before.sources


def test_a_real_client_that_fails_leaves_the_note_paused(programs: Programs, tmp_path: Path) -> None:
    stage, scenario = make(tmp_path)
    with ListeningModel(scenario) as model:
        before = paused(stage, model, programs, hooked=False)
        on_path(stage, programs("claude-code"))
        text, mark = stage.note_text(before.id), latest(stage.vault, before.id)
        stage.cru("session", "resume", before.id, "--with", "claude", "--", "--no-such-option", code=1)
    assert stage.note_text(before.id) == text
    assert latest(stage.vault, before.id) == mark
