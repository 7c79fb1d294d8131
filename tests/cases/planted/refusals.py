"""Failed calls that are nobody's puzzle: the environment's, passing ones, expected ones; and what agents make of them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ENVIRONMENT", "EXPECTED", "FAULTED", "TASK_TOOLS", "TRANSIENT", "Refused"]


class Refused(NamedTuple):
    """A command that fails with `out`; `instead` and `then` are what the agent did about it, if anything."""

    kind: str
    command: str
    out: str
    code: int = 1
    instead: str = ""
    then: str = ""


ENVIRONMENT = (
    Refused("no-tool", "shellcheck scripts/<mod>.sh", "bash: shellcheck: command not found", 127, "bash -n scripts/<mod>.sh", ""),
    Refused("no-tool", "rg <func> .", "bash: line 1: rg: command not found", 127, "git grep -n <func>", "<src>:<n>: <func>"),
    Refused("no-tool", "hyperfine 'make <mod>'", "/bin/sh: 1: hyperfine: not found", 127),
    Refused("no-tool", "python -V", "bash: python: command not found", 127, "python3 -V", "Python 3.12.4"),
    Refused("no-tool", "tree -L 2", "zsh: command not found: tree", 127, "find . -maxdepth 2", ".\n./src\n./tests\n./docs"),
    Refused("sandbox", "cp build/<mod>.conf /etc/<mod>.conf", "cp: cannot create regular file '/etc/<mod>.conf': Read-only file system"),
    Refused("sandbox", "touch /usr/local/share/<mod>.lock", "touch: cannot touch '/usr/local/share/<mod>.lock': Operation not permitted"),
    Refused("sandbox", "systemctl restart <mod>", "Failed to restart <mod>.service: Interactive authentication required."),
    Refused("sandbox", "sudo make install-<mod>", "sudo: a terminal is required to read the password; either use the -S option or configure an askpass helper"),
    Refused("sandbox", "chown root: <src>", "sandbox: denied: chown is not permitted in this workspace"),
    Refused("no-network", "curl -sS https://status.example.org/<mod>", "curl: (6) Could not resolve host: status.example.org", 6),
    Refused("no-network", "git fetch upstream-<mod>", "fatal: unable to access 'https://git.example.org/<mod>.git/': Could not resolve host: git.example.org", 128),
    Refused("no-network", "ping -c1 cache-<mod>", "ping: connect: Network is unreachable", 2),
    Refused("no-daemon", "docker ps --filter name=<mod>", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"),
    Refused("disk", "tar cf /tmp/<mod>.tar data/", "tar: /tmp/<mod>.tar: Wrote only 4096 of 10240 bytes\ntar: Error is not recoverable: No space left on device", 2),
)  # fmt: skip

TRANSIENT = (
    Refused("reset", "git fetch origin <mod>", "fatal: unable to access the remote: Recv failure: Connection reset by peer", 128, "", "From origin\n   1a2b..3c4d  <mod>"),
    Refused("timeout", "curl -sf --max-time 10 localhost:9090/<mod>/health", "curl: (28) Operation timed out after 10001 milliseconds with 0 bytes received", 28, "", '{"ok": true}'),
    Refused("rate", "gh pr view <n>", "HTTP 429: You have exceeded a secondary rate limit. Please wait a few minutes before you try again.", 1, "", "title: <func>"),
    Refused("gateway", "helm pull oci/<mod>", "Error: unexpected status from HEAD request: 503 Service Unavailable", 1, "", "Pulled: <mod>:1.<n>"),
    Refused("lock", "apt-get install -y lib<mod>", "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process <n> (unattended-upgr)", 100, "", "Setting up lib<mod> ..."),
    Refused("npm-net", "npm ci", "npm ERR! code ECONNRESET\nnpm ERR! network aborted\nnpm ERR! network This is a problem related to network connectivity.", 1, "", "added <n> packages in 9s"),
    Refused("refused", "terraform init", "Error: Failed to query available provider packages: net/http: TLS handshake timeout", 1, "", "Terraform has been successfully initialized!"),
)  # fmt: skip
"""The same call succeeds when it is made again."""

EXPECTED = (
    Refused("grep", "grep -rn <func>_old .", ""), Refused("grep", "grep -q TODO <src>", ""), Refused("git-grep", "git grep <field>_v1", ""),
    Refused("diff", "diff <src> <src>.orig", "<n>c<n>\n< a\n---\n> b"), Refused("git-diff", "git diff --quiet", ""),
    Refused("git-diff", "git diff --exit-code <src>", "-a\n+b"), Refused("cmp", "cmp out/<mod>.bin ref/<mod>.bin", "out/<mod>.bin ref/<mod>.bin differ: byte <n>, line 1"),
    Refused("test", "test -f <src>.lock", ""), Refused("which", "command -v ninja", ""), Refused("pgrep", "pgrep -f <mod>-server", ""),
)  # fmt: skip
"""A status other than 0 is the answer."""

TASK_TOOLS = ("TaskCreate", "TaskUpdate", "TodoWrite", "frobnicate", "web_fetch", "notebook_run")
"""Tools that some clients do not have."""

FAULTED = (
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "API Error: Connection error.",
    "stream disconnected before completion: error sending request",
    "You have hit your usage limit. Try again at 6pm.",
    "API Error: 500 Internal server error",
)  # fmt: skip
"""The client's own, or its API's."""
