"""Whose fault a failed call was: messages of tools, as they speak, with the commands they came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.cases.faults import fault_of, fault_told, message_of
from crucible.cases.model import Fault
from crucible.session.model import Outcome, ToolCall


def fault(command: str, message: str, outcome: Outcome = Outcome.FAILED, tool: str = "Bash") -> Fault | None:
    call = ToolCall(f"{tool} {command}".strip(), message, outcome)
    return fault_of(message, call, outcome, command if tool == "Bash" else "")


AGENT = [
    ("python app.py --fail", "Exit code 1\nretry failed: connection reset"),
    ("pytest tests/test_net.py", "E   ConnectionError: connection reset by peer\n1 failed in 0.1s"),
    ("./serve.sh", "bash: ./serve.sh: Permission denied"),
    ("make test", "Error: 503 Service Unavailable\nmake: *** [test] Error 1"),
    ("curl -sf localhost:8000/users", "curl: (22) The requested URL returned error: 404"),
    ("git push origin main", "! [rejected] main -> main (fetch first)\nerror: failed to push some refs"),
    ("cat nothing.txt", "cat: nothing.txt: No such file or directory"),
    ("grep -P '(' a.txt", "grep: missing closing parenthesis"),
    ("grep 'a b.txt", "bash: -c: line 1: unexpected EOF while looking for matching `''"),
    ("git diff nowhere -- a.py", "fatal: bad revision 'nowhere'"),
    ("diff a.txt missing.txt", "diff: missing.txt: No such file or directory"),
    ("python -c 'import shop.apii'", "ModuleNotFoundError: No module named 'shop.apii'"),
    ("tar xf a.tgz", "tar: a.tgz: Cannot open: No such file or directory"),
    ("make x", "make: ./gen.sh: No such file or directory\nmake: *** [Makefile:3: x] Error 127"),
    ("npm run buld", 'npm error Missing script: "buld"'),
    ("go test ./...", "--- FAIL: TestTimeout (30.00s)\n    context deadline exceeded\nFAIL"),
    ("python worker.py", "RuntimeError: rate limit must be positive"),
    ("cargo build", "error[E0433]: failed to resolve: use of undeclared crate `foo`"),
]


@pytest.mark.parametrize(("command", "message"), AGENT)
def test_a_failure_of_the_agents_own_work_is_the_agents(command: str, message: str) -> None:
    assert fault(command, message) is Fault.AGENT


ENVIRONMENT = [
    ("jq . a.json", "bash: line 1: jq: command not found"),
    ("fd -e py", "/bin/sh: 2: fd: not found"),
    ("tree", "zsh: command not found: tree"),
    ("make lint", "make: ruff: No such file or directory\nmake: *** [Makefile:3: lint] Error 127"),
    ("node -v", "env: ‘node’: No such file or directory"),
    ("python3 -m pytest", "/usr/bin/python3: No module named pytest"),
    ("apt-get install jq", "E: Could not open lock file - open (13: Permission denied)\nE: are you root?"),
    ("cp a /etc/a", "cp: cannot create regular file '/etc/a': Permission denied"),
    ("mkdir /opt/x", "mkdir: cannot create directory '/opt/x': Read-only file system"),
    ("sudo ls", "sudo: a password is required"),
    ("git push origin v2", "remote: Permission to shop/shop.git denied to bot."),
    ("docker build .", "ERROR: Cannot connect to the Docker daemon at unix:///var/run/docker.sock."),
    ("pip install rich", "ERROR: Could not install: [Errno 28] No space left on device"),
    ("git clone ssh://x/y", "ssh: Could not resolve hostname x: Name or service not known"),
    ("curl https://example.org", "curl: (6) Could not resolve host: example.org"),
]


@pytest.mark.parametrize(("command", "message"), ENVIRONMENT)
def test_what_the_machine_does_not_have_or_allow_is_the_environments(command: str, message: str) -> None:
    assert fault(command, message) is Fault.ENVIRONMENT


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("TaskCreate", "unsupported call: TaskCreate"),
        ("TaskUpdate", "The arguments provided to the tool are invalid: Model tried to call unavailable tool 'TaskUpdate'."),
        ("web_fetch", "<tool_use_error>Error: No such tool available: web_fetch</tool_use_error>"),
        ("glob", 'Tool "glob" not found in registry.'),
        ("mcp__db__query", 'MCP server "db" is not connected'),
        ("apply_patch", "unsupported custom tool call: apply_patch"),
        ("exec", "Script error:\nTypeError: tools.apply_patch is not a function\n    at exec_main.mjs:1:23"),
    ],
)  # fmt: skip
def test_a_tool_that_a_client_does_not_have_is_the_environments(tool: str, message: str) -> None:
    assert fault("x", message, tool=tool) is Fault.ENVIRONMENT


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("git pull", "fatal: unable to access 'https://h/x/': Recv failure: Connection reset by peer"),
        ("npm install", "npm error code ETIMEDOUT\nnpm error network request failed"),
        ("gh issue list", "HTTP 502: Bad Gateway"),
        ("curl -f https://example.org", "curl: (22) The requested URL returned error: 503"),
        ("pip download rich", "ReadTimeoutError: Read timed out. connection timed out"),
        ("docker pull busybox", "toomanyrequests: You have reached your pull rate limit"),
        ("apt-get install jq", "E: Could not get lock /var/lib/dpkg/lock"),
    ],
)
def test_what_may_pass_another_time_is_transient(command: str, message: str) -> None:
    assert fault(command, message) is Fault.TRANSIENT


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("grep -rn gone .", "Exit code 1"), ("rg gone src", ""), ("cat a | grep gone", "exit code 1"), ("diff a b", "1c1\n< x\n---\n> y"), ("cmp a b", "a b differ: char 1, line 1"),
        ("git diff --exit-code", "diff --git a/x b/x\n-a\n+b"), ("test -d build", "Exit code 1\n"), ("[ -e a ]", ""), ("which ninja", ""), ("cd sub && pgrep -f x", ""),
        ("git merge-base --is-ancestor a b", ""), ("systemctl is-active x", "inactive"), ("which ninja", "which: no ninja in (/usr/bin:/bin)"),
    ],
)  # fmt: skip
def test_a_status_that_is_an_answer_is_no_failure(command: str, message: str) -> None:
    assert fault(command, message) is None


def test_of_a_tool_that_runs_no_command_only_its_own_words_count() -> None:
    quoted = "String to replace not found in file.\nString: bash: jq: command not found, HTTP 503, rate limit"
    assert fault("a.py", quoted, tool="Edit") is Fault.AGENT
    assert (
        fault("/etc/hosts", "EACCES: permission denied, open '/etc/hosts': Permission denied", tool="Write")
        is Fault.ENVIRONMENT
    )
    assert fault("https://x.org", "Request failed with status code 503", tool="WebFetch") is Fault.TRANSIENT
    assert fault("https://x.org", "Request failed with status code 403", tool="WebFetch") is Fault.ENVIRONMENT
    assert fault("https://x.org/a", "Request failed with status code 404", tool="WebFetch") is Fault.AGENT


def test_what_was_cancelled_or_refused_is_typed_as_such() -> None:
    assert fault("ls", "<tool_use_error>Sibling tool call errored</tool_use_error>") is Fault.CANCELLED
    assert fault("ls", "Cancelled: parallel tool call Bash(make…) errored") is Fault.CANCELLED
    assert fault("make", "[Request interrupted by user]", Outcome.INTERRUPTED) is Fault.CANCELLED
    assert fault("rm -r x", "", Outcome.REJECTED) is Fault.REJECTED
    assert fault("rm -r x", "exec command rejected by user") is Fault.REJECTED


def test_what_went_well_or_still_goes_on_is_no_failure() -> None:
    assert fault("make", "error: nothing", Outcome.OK) is None
    assert fault("make", "", Outcome.PENDING) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("API Error: 529 overloaded_error", Fault.TRANSIENT),
        ("You've hit your weekly limit. Resets at 6pm.", Fault.TRANSIENT),
        ("stream closed before completion", Fault.TRANSIENT),
        ("We’re currently experiencing high demand, which may cause temporary errors.", Fault.TRANSIENT),
        ("jq: command not found", Fault.ENVIRONMENT),
        ("The export wrote each row twice.", Fault.AGENT),
        ("Our API answers 500 when the name is empty.", Fault.AGENT),
        ("The rate limit of the new endpoint was never applied.", Fault.AGENT),
    ],
)
def test_an_error_that_was_told_is_the_clients_only_in_its_own_words(text: str, expected: Fault) -> None:
    assert fault_told(text) is expected


def test_a_message_is_bare_of_colours_and_of_the_clients_words() -> None:
    assert message_of("Exit code 2\n\x1b[31m<tool_use_error>boom</tool_use_error>\x1b[0m\n") == "boom"


@given(st.text(max_size=300), st.text(max_size=80), st.sampled_from(Outcome))
def test_any_message_of_any_command_has_an_answer(message: str, command: str, outcome: Outcome) -> None:
    found = fault(command, message, outcome)
    assert found is None or found in Fault
