"""Ask small real programs that answer, fail, hang, print too much, or report how they were started."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.client import Answer
from crucible.clients.launch.answering_process import MOST_BYTES
from crucible.clients.launch.ask import asker_of, read_answer
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT, OWN_MARK, RESUMING_ENVIRONMENT
from crucible.clients.registry import RESUMABLE
from crucible.core.errors import AgentFailed
from crucible.core.settings.settings import AgentSettings
from samples.waiting import IDLE, is_gone, wait_until
from tests.paths import ROOT

ENV = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}


def ask(
    tmp_path: Path,
    script: str,
    prompt: str = "Tell.",
    timeout: float = 20.0,
    env: dict[str, str] | None = None,
) -> Answer:
    path = tmp_path / "model.py"
    path.write_text(f"import sys, os, json, time, subprocess\n{script}\n", encoding="utf-8")
    command = shlex.join([sys.executable, str(path)])
    asker = asker_of(AgentSettings(command=command, timeout_seconds=timeout), {**ENV, **(env or {})})
    assert asker is not None
    return asker.ask(prompt)


def test_no_agent_is_asked_unless_the_user_configured_it() -> None:
    assert asker_of(AgentSettings(), ENV) is None
    assert asker_of(AgentSettings(command="  ", model=" "), ENV) is None


def test_a_session_started_by_cru_asks_no_agent() -> None:
    assert asker_of(AgentSettings(command="claude -p"), {**ENV, OWN_ENVIRONMENT: "1"}) is None


def test_the_prompt_comes_on_standard_input_after_our_mark(tmp_path: Path) -> None:
    answer = ask(tmp_path, "print(repr(sys.stdin.read()))", "Wörter\n" * 100_000)
    assert answer.text.strip() == repr(f"{OWN_MARK}\n" + "Wörter\n" * 100_000)
    assert answer.model == os.path.basename(sys.executable)
    assert answer.cost_usd is None


def test_it_runs_in_an_empty_folder_and_knows_that_it_is_ours_alone(tmp_path: Path) -> None:
    script = "print(json.dumps([os.getcwd(), os.environ['PWD'], os.listdir('.'), sorted(os.environ)]))"
    given = {RESUMING_ENVIRONMENT: "x", "CRU_SESSION": "x", "CLAUDECODE": "1", "MINE": "kept"}
    cwd, pwd, listed, names = json.loads(ask(tmp_path, script, env=given).text)
    assert os.path.realpath(pwd) == os.path.realpath(cwd)
    assert listed == []
    assert not os.path.exists(cwd)
    assert {OWN_ENVIRONMENT, "MINE", "PATH"} <= set(names)
    assert not {RESUMING_ENVIRONMENT, "CRU_SESSION", "CLAUDECODE"} & set(names)


def test_a_program_may_answer_without_reading_its_input(tmp_path: Path) -> None:
    assert ask(tmp_path, "print('yes')", "x" * 1_000_000).text == "yes\n"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("sys.exit(3)", "exit code 3$"),
        (
            "print('half an answer'); sys.exit('\\n \\x1b[31mno credit\\x1b[0m \\n')",
            "exit code 1: no credit$",
        ),
        ("os.kill(os.getpid(), 9)", "exit code -9$"),
        ("", "its answer is empty"),
        ("print('  \\n\\t')", "its answer is empty"),
        ("sys.stdout.buffer.write(b'\\xff\\xfe\\x00')", "its answer is not text"),
        ("print(json.dumps({'result': 'no credit', 'is_error': True}))", "failed: no credit"),
        ("print(json.dumps({'result': None}))", "failed"),
    ],
)
def test_no_answer_is_an_error_of_one_line(tmp_path: Path, script: str, message: str) -> None:
    with pytest.raises(AgentFailed, match=message) as failed:
        ask(tmp_path, script)
    assert "\n" not in str(failed.value)


def test_after_its_time_the_program_and_all_that_it_started_are_gone(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = (
        f"child = subprocess.Popen([sys.executable, '-c', {IDLE!r}])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n{IDLE}"
    )
    began = time.monotonic()
    with pytest.raises(AgentFailed, match=r"no answer within 1\.5 seconds") as failed:
        ask(tmp_path, script, timeout=1.5)
    assert time.monotonic() - began < 30
    assert "timeout_seconds" in failed.value.hint
    wait_until(lambda: all(is_gone(int(pid)) for pid in pids.read_text().split()))


def test_a_program_that_never_stops_talking_is_stopped(tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(AgentFailed, match="longer than 1,048,576 bytes"):
        ask(tmp_path, "while True: sys.stdout.write('x' * 100_000)")
    assert time.monotonic() - began < 30
    assert len(ask(tmp_path, f"sys.stdout.write('x' * {MOST_BYTES})").text) == MOST_BYTES


def test_complaints_without_end_hold_up_nothing(tmp_path: Path) -> None:
    assert ask(tmp_path, "sys.stderr.write('x' * 5_000_000); print('done')").text == "done\n"


def test_a_child_that_keeps_the_output_open_is_not_waited_for(tmp_path: Path) -> None:
    script = f"subprocess.Popen([sys.executable, '-c', {IDLE!r}]); print('here', flush=True)"
    began = time.monotonic()
    assert ask(tmp_path, script).text == "here\n"
    assert time.monotonic() - began < 30


def test_a_program_that_is_not_there_says_how_to_go_on() -> None:
    asker = asker_of(AgentSettings(command="/no/such/program -p"), ENV)
    assert asker is not None
    with pytest.raises(AgentFailed, match="cannot be started: no such file") as failed:
        asker.ask("x")
    assert "agents.command" in failed.value.hint


def test_a_command_with_an_open_quote_is_an_error() -> None:
    with pytest.raises(AgentFailed, match="No closing quotation"):
        asker_of(AgentSettings(command="claude -p 'x"), ENV)


def test_the_cost_and_model_of_claude_code_are_read(tmp_path: Path) -> None:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 7,
        "output_tokens": 5,
    }
    told = {
        "type": "result",
        "is_error": False,
        "result": "A brief.",
        "total_cost_usd": 0.0125,
        "usage": usage,
        "modelUsage": {"claude-haiku-4-5": {}},
    }
    answer = ask(tmp_path, f"print(json.dumps(json.loads({json.dumps(told)!r})))")
    assert answer == Answer("A brief.", "claude-haiku-4-5", 0.0125, 20, 5)


def test_the_json_lines_of_codex_are_read(tmp_path: Path) -> None:
    rows = [
        {"type": "thread.started", "thread_id": "x"},
        {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "A brief."}},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 2}},
    ]
    answer = ask(tmp_path, "\n".join(f"print({json.dumps(row)!r})" for row in rows))
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("A brief.", 9, 2)


def test_the_parts_of_opencode_are_read(tmp_path: Path) -> None:
    def part(kind: str, message: str, **more: object) -> dict[str, object]:
        return {"type": kind, "sessionID": "s", "part": {"messageID": message, **more}}

    tokens = {"input": 100, "output": 20, "reasoning": 0, "cache": {"read": 500, "write": 3}}
    rows = [
        part("text", "m1", text="Looking."),
        part("step_finish", "m1", tokens=tokens),
        part("text", "m2", text="A brief."),
        part("text", "m2", text="Its end."),
        part("step_finish", "m2", tokens=tokens),
    ]
    answer = ask(tmp_path, "\n".join(f"print({json.dumps(row)!r})" for row in rows))
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("A brief.\n\nIts end.", 1206, 40)
    assert (answer.tokens_cached, answer.tokens_used) == (1000, 246)


@pytest.mark.parametrize(
    "told",
    [
        '"total_cost_usd": 1' + "0" * 400,
        '"total_cost_usd": NaN',
        '"total_cost_usd": 1e999, "usage": {"input_tokens": 1' + "0" * 30 + ', "output_tokens": -5}',
        '"total_cost_usd": true, "usage": {"input_tokens": true}',
    ],
)
def test_implausible_numbers_are_ignored(tmp_path: Path, told: str) -> None:
    row = '{"result": "x", ' + told + "}"
    answer = ask(tmp_path, f"sys.stdout.write({row!r})")
    assert (answer.cost_usd, answer.tokens_in, answer.tokens_out) == (None, None, None)


def test_a_models_name_is_printable_and_short(tmp_path: Path) -> None:
    row = {"result": "x", "model": "a\ud800\n\x1b[2Jb" + "c" * 1000}
    model = ask(tmp_path, f"print({json.dumps(row)!r})").model
    assert model.isprintable()
    assert len(model) <= 200
    failed = {**row, "is_error": True, "result": "a\n\x1bb"}
    with pytest.raises(AgentFailed) as caught:
        ask(tmp_path, f"print({json.dumps(failed)!r})")
    assert str(caught.value).endswith(": a  b")


@pytest.mark.parametrize("text", ['{"a": 1} and so on', "[1]", '{"text": "x"}', "{" * 5000, "{curly} words"])
def test_an_answer_that_only_looks_like_json_is_text(tmp_path: Path, text: str) -> None:
    assert ask(tmp_path, f"sys.stdout.write({text!r})").text == text


def test_codex_says_why_its_turn_failed(tmp_path: Path) -> None:
    rows = [
        {"type": "thread.started", "thread_id": "x"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "I look first."}},
        {"type": "error", "message": "Reconnecting... 1/5"},
        {"type": "turn.failed", "error": {"message": "no credit\n"}},
    ]
    script = "\n".join(f"print({json.dumps(row)!r})" for row in rows)
    with pytest.raises(AgentFailed, match=": failed: no credit"):
        ask(tmp_path, script)
    with pytest.raises(AgentFailed, match=": failed: no credit"):
        ask(tmp_path, f"{script}\nsys.exit(1)")


def test_a_reconnect_of_codex_is_no_failure(tmp_path: Path) -> None:
    rows = [
        {"type": "error", "message": "Reconnecting... 1/5"},
        {"type": "item.completed", "item": {"type": "agent_message", "text": "A brief."}},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 2}},
    ]
    assert ask(tmp_path, "\n".join(f"print({json.dumps(row)!r})" for row in rows)).text == "A brief."


def test_a_silent_turn_of_codex_is_no_answer(tmp_path: Path) -> None:
    rows = [{"type": "turn.started"}, {"type": "turn.completed", "usage": {"input_tokens": 9}}]
    with pytest.raises(AgentFailed, match="its answer is empty"):
        ask(tmp_path, "\n".join(f"print({json.dumps(row)!r})" for row in rows))


def test_claude_code_that_ends_without_an_answer_says_how(tmp_path: Path) -> None:
    row = {"type": "result", "subtype": "error_max_turns", "is_error": True, "num_turns": 2}
    with pytest.raises(AgentFailed, match="failed: error_max_turns"):
        ask(tmp_path, f"print({json.dumps(row)!r}); sys.exit(1)")


def test_a_client_that_may_not_be_used_says_why(tmp_path: Path) -> None:
    row = {"type": "result", "is_error": True, "result": "Invalid API key · Please run /login"}
    with pytest.raises(AgentFailed, match="Please run /login"):
        ask(tmp_path, f"print({json.dumps(row)!r}); sys.exit(1)")


@pytest.mark.parametrize("begun", [False, True])
def test_opencode_says_why_it_failed(tmp_path: Path, begun: bool) -> None:
    said = {"type": "text", "sessionID": "s", "part": {"messageID": "m", "text": "I cann"}}
    error = {"name": "ContentFilterError", "data": {"message": "blocked"}}
    rows = [*([said] if begun else []), {"type": "error", "sessionID": "s", "error": error}]
    with pytest.raises(AgentFailed, match="failed: blocked"):
        ask(tmp_path, "\n".join(f"print({json.dumps(row)!r})" for row in rows) + "\nsys.exit(1)")


def test_opencode_reports_dollars_for_known_prices(tmp_path: Path) -> None:
    def row(kind: str, **more: object) -> str:
        return json.dumps({"type": kind, "sessionID": "s", "part": {"messageID": "m", **more}})

    tokens = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 0, "write": 0}}
    for cost, known in ((0.25, 0.5), (0, None)):
        end = row("step_finish", tokens=tokens, cost=cost)
        answer = ask(tmp_path, f"print({row('text', text='x')!r}); print({end!r}); print({end!r})")
        assert (answer.cost_usd, answer.tokens_out) == (known, 10)


def test_the_model_with_the_most_output_is_named(tmp_path: Path) -> None:
    used = {"small": {"outputTokens": 3}, "large": {"outputTokens": 400}, "odd": None}
    assert ask(tmp_path, f"print({json.dumps({'result': 'x', 'modelUsage': used})!r})").model == "large"


KEYS = [
    *(
        "type",
        "result",
        "is_error",
        "subtype",
        "usage",
        "total_cost_usd",
        "modelUsage",
        "model",
        "item",
        "text",
    ),
    *(
        "error",
        "message",
        "data",
        "name",
        "sessionID",
        "part",
        "messageID",
        "tokens",
        "cache",
        "input",
        "output",
    ),
    *("read", "write", "reasoning", "cost", "input_tokens", "output_tokens", "outputTokens"),
]
WORDS = [
    "result",
    "item.completed",
    "turn.failed",
    "turn.completed",
    "error",
    "text",
    "step_finish",
    "agent_message",
]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS)
ROWS = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


def printed(text: str) -> Answer | str:
    """What is read of it, or why nothing is."""
    try:
        return read_answer(text, "client")
    except AgentFailed as error:
        return str(error)


@given(rows=st.lists(st.dictionaries(st.sampled_from(KEYS), ROWS, max_size=6), min_size=1, max_size=4))
def test_whatever_a_client_prints_is_an_answer_or_a_failure_in_a_line(rows: list[dict[str, object]]) -> None:
    answer = printed("\n".join(map(json.dumps, rows)))
    if isinstance(answer, str):
        assert "\n" not in answer
        return
    assert isinstance(answer.text, str)
    assert answer.model.isprintable()
    assert all(n is None or n >= 0 for n in (answer.tokens_in, answer.tokens_out, answer.cost_usd))


# --- a client that is only named -------------------------------------------------------------------------------------

SHOWS = """#!/bin/sh
exec {python} -c 'import json, os, sys; sys.stdin.read(); print(json.dumps([sys.argv[1:], dict(os.environ)]))' "$@"
"""


def asked(tmp_path: Path, name: str, env: dict[str, str] | None = None) -> tuple[list[str], dict[str, str]]:
    """The arguments and the environment that a client of this name is asked with."""
    program = tmp_path / "bin" / name
    program.parent.mkdir(exist_ok=True)
    program.write_text(SHOWS.format(python=shlex.quote(sys.executable)), encoding="utf-8")
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{ENV['PATH']}"
    asker = asker_of(AgentSettings(command=f" {name} "), {**ENV, "HOME": str(tmp_path), "PATH": path, **(env or {})})
    assert asker is not None
    words, surroundings = json.loads(asker.ask("Tell.").text)
    return words, surroundings


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_a_client_that_is_only_named_is_asked_as_its_entry_says(name: str, tmp_path: Path) -> None:
    words, env = asked(tmp_path, name)
    assert tuple(words) == RESUMABLE[name].asked_once
    assert dict(RESUMABLE[name].asked_env).items() <= env.items()
    assert env[OWN_ENVIRONMENT] == "1"


def test_a_command_line_is_taken_as_it_is() -> None:
    asker = asker_of(AgentSettings(command="claude -p --model haiku"), ENV)
    assert asker is not None
    assert asker.words == ("claude", "-p", "--model", "haiku")
    assert dict(asker.env) == {**ENV, "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1"}


@pytest.mark.parametrize("elsewhere", [False, True])
def test_codex_is_asked_without_the_servers_of_its_settings(elsewhere: bool, tmp_path: Path) -> None:
    home = tmp_path / ("other" if elsewhere else ".codex")
    home.mkdir()
    text = '[mcp_servers.files]\ncommand = "x"\n[mcp_servers."a.b\\"c"]\nurl = "y"\n'
    (home / "config.toml").write_text(text, encoding="utf-8")
    words, _ = asked(tmp_path, "codex", {"CODEX_HOME": str(home)} if elsewhere else None)
    assert words[:-1] == [*RESUMABLE["codex"].asked_once, "-c"]
    told = tomllib.loads(words[-1])
    assert told == {"mcp_servers": {"files": {"enabled": False}, 'a.b"c': {"enabled": False}}}


@pytest.mark.parametrize("text", ["not toml", "mcp_servers = 3", "\udcff"])
def test_settings_of_codex_that_cannot_be_read_are_its_own_affair(text: str, tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    words, _ = asked(tmp_path, "codex")
    assert tuple(words) == RESUMABLE["codex"].asked_once


# --- the llm library -------------------------------------------------------------------------------------------------

LIBRARY = """
class Usage:
    input, output = 12, 4
class Response:
    def __init__(self, text): self._text = text
    def text(self): return self._text
    def usage(self): return Usage
class Model:
    model_id = "small-model-1"
    def prompt(self, prompt, *, stream=True): return Response(f"{stream} {len(prompt)} {prompt[:4]}")
def get_model(name):
    if name != "small": raise KeyError(f"Unknown model: {name}")
    return Model()
"""


def llm(tmp_path: Path, model: str, library: str) -> Answer:
    (tmp_path / "llm.py").write_text(library, encoding="utf-8")
    root = ROOT
    asker = asker_of(
        AgentSettings(model=model, timeout_seconds=20), {**ENV, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"}
    )
    assert asker is not None
    return asker.ask("Tell.")


def test_a_model_of_the_llm_library_answers(tmp_path: Path) -> None:
    text = f"False {len(OWN_MARK) + 6} {OWN_MARK[:4]}"
    assert llm(tmp_path, "small", LIBRARY) == Answer(text, "small-model-1", None, 12, 4)


def test_the_real_library_is_asked_as_it_wants_to_be() -> None:
    pytest.importorskip("llm_echo", reason="a model that answers with what it was asked")
    asker = asker_of(AgentSettings(model="echo", timeout_seconds=60), ENV)
    assert asker is not None
    answer = asker.ask("Tell.")
    said = json.loads(answer.text)
    assert (said["prompt"], said["stream"]) == (f"{OWN_MARK}\nTell.", False)
    assert answer.model == "echo"
    assert answer.tokens_in is not None
    assert answer.tokens_in > 0


def test_a_model_that_the_library_does_not_know_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match="Unknown model: big"):
        llm(tmp_path, "big", LIBRARY)


def test_without_the_library_the_extra_is_named(tmp_path: Path) -> None:
    with pytest.raises(AgentFailed, match=r'Run: .*\[llm\]"'):
        llm(tmp_path, "small", "raise ImportError('no llm')")


@pytest.mark.parametrize(
    "script",
    [
        "print(json.dumps({'result': 'x ' * 95 + TOKEN, 'is_error': True}))",
        "print('x ' * 95 + TOKEN, file=sys.stderr); sys.exit(1)",
    ],
)
def test_a_complaint_is_cut_between_two_words(tmp_path: Path, script: str) -> None:
    token = "ghp_" + "a1B2" * 9
    with pytest.raises(AgentFailed, match=r"x …$") as failed:
        ask(tmp_path, f"TOKEN = {token!r}\n{script}")
    assert token[:6] not in str(failed.value)
