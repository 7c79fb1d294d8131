"""Whose fault a failed call, or a told error, was: the agent's, the environment's, chance, or nobody's.

Owns the signs by which those are told apart.  A message is read together with the command that it came from: "connection reset" is the
network's in what `git fetch` says, and the agent's own in what the project's program says.  English, as the tools speak.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from crucible.acts.kinds import INTERPRETERS, kind_of, plain_words
from crucible.acts.needled import Needled
from crucible.acts.shell import take_apart
from crucible.cases.model import Fault
from crucible.patterns import ANSI, late_pattern
from crucible.session.model import Outcome, ToolCall

__all__ = ["SHELLS", "commands_in", "fault_of", "fault_told", "is_expected", "message_of", "script_of"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SHELLS = _words(
    "bash shell exec_command run_shell_command shell_command local_shell local_shell_call container.exec powershell execute_command run_command run_in_terminal terminal"
)
"""Tools that run commands, in any client; their names in lower case."""
_READ = 6000
"""Code points of a message that are looked at, at either end."""

_EXIT = late_pattern(
    r"\A\s*(?:Error:\s*)?(?:Command failed with )?exit code:? (-?\d+)\.?[ \t]*\n?", re.IGNORECASE
)
_WRAPPED = late_pattern(r"</?(?:tool_use_error|error|stderr|stdout)>")

_CANCELLED = Needled(
    late_pattern(
        r"\b(?:cancell?ed|aborted|skipped)\b.{0,60}\b(?:parallel|sibling|other|another|previous|earlier)\b.{0,20}\b(?:tool|call)"
        r"|\bsibling (?:tool )?calls?\b|\bparallel (?:tool )?calls?\b.{0,200}\b(?:errored|failed|cancell?ed)"
        r"|^\W*(?:tool )?(?:call|execution|request|operation)? ?(?:was )?(?:cancell?ed|aborted)(?: by (?:the )?(?:user|client))?\W*$",
        re.DOTALL | re.IGNORECASE | re.MULTILINE,
    ),
    "cancel",
    "abort",
    "skipped",
    "sibling",
    "parallel",
)
_REJECTED = Needled(
    late_pattern(
        r"\buser (?:doesn['’]t|does not|did not|didn['’]t) want to (?:proceed|take this action)"
        r"|\b(?:rejected|denied|declined|refused|disallowed) by (?:the )?user\b"
        r"|\b(?:the )?user (?:has )?(?:rejected|denied|declined|refused)\b"
        r"|\bpermission to use \S+.{0,60}\bhas been denied|\brequested permissions? to use\b.{0,80}\bhaven['’]t granted",
        re.DOTALL | re.IGNORECASE,
    ),
    "user",
    "permission",
)
_NO_TOOL = Needled(
    late_pattern(
        r"\bno such tool(?: available)?\b|\bunsupported (?:custom )?(?:tool )?call\b|\btools\.\w+ is not a function\b|\bunavailable tool\b|\bunknown (?:tool|function)\b"
        r"|\btool\b[^\n]{0,80}\b(?:is )?(?:not (?:found|available|registered|supported|enabled|exist)|does not exist|unavailable|disabled)\b"
        r"|\b(?:mcp )?server\b[^\n]{0,60}\b(?:not connected|is not available|disconnected)\b",
        re.IGNORECASE,
    ),
    "tool",
    "call",
    "function",
    "server",
)
"""What a client says of a tool that it does not have; looked for at a message's head alone."""

_NO_COMMAND = late_pattern(
    r"^(?:\S+: )?(?:line \d+: |\d+: )?(?P<a>[\w.+-]+): (?:command )?not found\s*$|^(?:\S+: )?command not found: (?P<b>[\w.+-]+)\s*$"
    r"|^(?:\S*/)?env: [‘'\"]?(?P<c>[\w.+-]+)[’'\"]?: No such file or directory"
    r"|\bexecutable file not found in (?:\$PATH|%PATH%)|\bis not recognized as (?:an internal or external command|the name of a cmdlet)"
    r"|\bspawn \S+ ENOENT\b|^(?:/\S+/)?python[\d.]*: No module named \w"
    r"|^(?:Unknown command|fish: Unknown command):? \S+|\bNo such command available in this (?:sandbox|environment)\b"
    r"|^make(?:\[\d+\])?: (?P<d>[\w.+-]+): No such file or directory|^xcrun: error: unable to find utility|^sh: \d+: \S+: not found",
    re.MULTILINE | re.IGNORECASE,
)
_NOT_ALLOWED = Needled(
    late_pattern(
        r"\bread-only file ?system\b|\boperation not permitted\b|\binteractive authentication (?:is )?required\b"
        r"|^sudo: |\ba (?:terminal|password) is required\b|\bsandbox(?:ed)?\b[^\n]{0,60}\b(?:den(?:y|ied)|block(?:ed)?|prevent\w*|not (?:allowed|permitted)|forbid\w*|restrict\w*)"
        r"|\b(?:denied|blocked|forbidden) by (?:the )?(?:sandbox|policy|seccomp|seatbelt|landlock)\b"
        r"|\bnot (?:allowed|permitted) in this (?:workspace|environment|sandbox)\b|\bmust be (?:run as )?root\b|\bare you root\b"
        r"|['‘\"]?/(?:etc|usr|var|root|proc|sys|boot|opt|dev|lib)/[^\n:]{0,200}: permission denied|\bpermission denied \(publickey"
        r"|\bauthentication (?:failed|required) for\b|\bcould not read (?:username|password) for\b|\bterminal prompts disabled\b"
        r"|\bpermission to \S+ denied to\b|\bpolkit\b|\bnot in the sudoers\b|\bSystem has not been booted with systemd\b",
        re.MULTILINE | re.IGNORECASE,
    ),
    "read-only file",
    "not permitted",
    "authentication",
    "sudo",
    "is required",
    "sandbox",
    "policy",
    "seccomp",
    "seatbelt",
    "landlock",
    "in this",
    "root",
    "permission denied",
    "permission to",
    "could not read",
    "terminal prompts",
    "polkit",
    "been booted",
)
_NO_PLACE = Needled(
    late_pattern(
        r"\bno space left on device\b|\bENOSPC\b|\bdisk quota exceeded\b|\bdisk is full\b"
        r"|\bcannot connect to the docker daemon\b|\bdocker daemon (?:is )?not running\b|\bis the docker daemon running\b"
        r"|\berror during connect\b[^\n]{0,200}docker|\bcannot allocate memory\b|\bfailed to connect to bus\b|\bOut of memory: Killed process\b"
        r"|\bunable to connect to (?:podman|containerd)|\bno usable (?:gpu|display)\b|\bcannot open display\b",
        re.IGNORECASE,
    ),
    "no space",
    "enospc",
    "disk quota",
    "disk is full",
    "docker",
    "cannot allocate",
    "failed to connect",
    "out of memory",
    "unable to connect",
    "no usable",
    "cannot open display",
)
_NO_NETWORK = Needled(
    late_pattern(
        r"\bcould ?n[o'’]t resolve (?:host|proxy|hostname)|\bnetwork is unreachable\b|\bname or service not known\b"
        r"|\btemporary failure (?:in name resolution|resolving)|\bENOTFOUND\b|\bEAI_AGAIN\b|\bENETUNREACH\b|\bno route to host\b"
        r"|\bdial tcp: lookup\b|\bno such host\b|\bnodename nor servname\b|\bunknown host\b|\bfailed to resolve\b|\bgetaddrinfo\b"
        r"|\bnetwork (?:access )?(?:is )?(?:disabled|not available|blocked)\b",
        re.IGNORECASE,
    ),
    "resolv",
    "unreach",
    "name or service",
    "temporary failure",
    "enotfound",
    "eai_again",
    "no route",
    "dial tcp",
    "no such host",
    "nodename",
    "unknown host",
    "getaddrinfo",
    "network",
)
_TRANSIENT = late_pattern(
    r"\bconnection (?:was )?(?:reset|timed? ?out|closed by|aborted|broken)\b|\bECONNRESET\b|\bETIMEDOUT\b|\bECONNABORTED\b|\bsocket hang up\b"
    r"|\b(?:operation|connection|request|handshake|read|gateway|i/o)[- ](?:has )?time(?:d[- ]?|[- ]?)out\b|\bdeadline exceeded\b"
    r"|\brate[- ]?limit|\btoo many requests\b|\bHTTP(?:/\d(?:\.\d)?)?(?: status)?:? ?429\b|\bquota exceeded\b|\bthrottl(?:ed|ing)\b"
    r"|\b(?:error|status|code|HTTP)\b[^\n]{0,30}\b(?:429|500|502|503|504|520|522|524|529)\b|\b50[234] (?:bad|service|gateway)\b"
    r"|\bbad gateway\b|\bservice (?:is )?(?:temporarily )?unavailable\b|\bgateway time-?out\b|\btemporarily unavailable\b|\boverloaded\b"
    r"|\bcould not get lock\b|\bunable to (?:acquire|lock)\b[^\n]{0,60}\block\b|\bis (?:held|locked) by (?:another )?process\b|\bwaiting for (?:the )?(?:file )?lock\b"
    r"|\banother (?:git )?process (?:seems to be|is) (?:currently )?running\b|\bremote end hung up unexpectedly\b|\bearly EOF\b|\bunexpected disconnect\b"
    r"|\bnetwork (?:aborted|error|timeout)\b|\brelated to network connectivity\b|\bTLS handshake\b|\bSSL_ERROR_SYSCALL\b|\btry again (?:later|in a (?:few|moment|minute))\b",
    re.IGNORECASE,
)

_CLIENT_FAULT = late_pattern(
    r"\A\W*(?:API Error\b|(?:Internal )?API (?:request|call) failed\b|stream (?:disconnected|closed|error)|(?:you(?:['’]ve| have) )?(?:hit|reached|exceeded) your (?:\w+ ){0,3}(?:limit|quota)"
    r"|(?:Claude|Codex|Gemini|Copilot|ChatGPT)(?: \w+){0,3} (?:usage )?limit reached|usage limit (?:reached|exceeded)|(?:\d+[- ]hour|weekly|daily) limit reached"
    r"|(?:connection|network) error\W*\Z|fetch failed\W*\Z|request (?:timed out|was aborted)|overloaded\b|(?:http )?(?:429|5\d\d)\b|credit balance (?:is )?too low|insufficient (?:credits|quota)"
    r"|we(?:['’]re| are) (?:currently )?experiencing high demand|rate limit(?:ed| (?:exceeded|reached|error))|exceeded retry limit|unexpected status 5\d\d|(?:the )?model (?:is )?(?:overloaded|currently unavailable)|service unavailable"
    r"|OAuth token|invalid api key|(?:please )?(?:run /login|log ?in again)|error sending request\b|prompt is too long|context (?:window|length) exceeded)",
    re.IGNORECASE,
)
"""What a client says when its own service fails it."""

_NETWORK_TOOLS = _words(
    "curl wget ping ssh scp sftp rsync git gh glab hub svn hg npm npx yarn pnpm bun pip pip3 pipx uv uvx poetry conda mamba apt apt-get aptitude dpkg dnf yum apk brew pacman "
    "zypper snap gem bundle cargo rustup go helm kubectl oc docker podman buildah skopeo terraform tofu pulumi aws gcloud gsutil az heroku fly flyctl vercel netlify "
    "mvn gradle gradlew composer nuget dotnet flutter dart mix hex nc telnet dig nslookup host traceroute http https xh twine hf huggingface-cli dvc ansible ansible-galaxy "
    "ansible-playbook packer vagrant nix choco winget cpan cpanm luarocks opam stack cabal swift pod carthage"
)
"""Programs that are not the project's own and speak with others' machines."""
_FETCHING = _words(
    "clone fetch pull push ls-remote submodule install i ci add update upgrade init get download publish login search tidy sync restore lock resolve view api "
    "pr issue release run repo workflow mod dep deps create env build apply plan deps.get"
)


@lru_cache(maxsize=1024)
def commands_in(script: str) -> tuple[tuple[str, ...], ...]:
    """The commands of a script as their own names and words, without what runs them (`uv run`, `npx`)."""
    parts = (plain_words(part.words) for part in take_apart(script))
    return tuple(words for words in parts if words)


def script_of(call: ToolCall) -> str:
    """The command of a call as its note has it; newlines are told as such again."""
    return call.call.partition(" ")[2].replace("⏎", "\n")


def message_of(text: str) -> str:
    """A result without colours, the client's own words around it, and the exit code before it."""
    bare = ANSI.sub("", text) if "\x1b" in text else text
    return _EXIT.sub("", _WRAPPED.sub("", bare), count=1).strip()


def fault_of(message: str, call: ToolCall | None, outcome: Outcome | None, script: str = "") -> Fault | None:
    """Whose fault a call's end was; None where nothing failed, or a status other than 0 was the answer.

    `message` is the whole result, `script` the command of a shell's call, whole where that is known.  Without a call the message is an
    error that was told, by an agent or by its client.
    """
    if call is None:
        return fault_told(message)
    if outcome in (None, Outcome.OK, Outcome.PENDING):
        return None
    text = _ends(message_of(message))
    if _CANCELLED.search(text[:400]):
        return Fault.CANCELLED
    if outcome is Outcome.REJECTED or _REJECTED.search(text[:600]):
        return Fault.REJECTED
    if outcome is Outcome.INTERRUPTED:
        return Fault.CANCELLED
    if _NO_TOOL.search(text[:200]) and not text.startswith(("Traceback", "FAIL")):
        return Fault.ENVIRONMENT
    if script or call.tool.casefold() in SHELLS:
        return _failed(text, script or script_of(call))
    return _failed_tool(text.partition("\n")[0][:_LINE], call.tool.casefold())


def fault_told(text: str) -> Fault:
    """Whose fault an `[!error]` tells of."""
    words = _ends(message_of(text))
    if _CLIENT_FAULT.match(words):
        return Fault.TRANSIENT
    if _CANCELLED.search(words[:400]):
        return Fault.CANCELLED
    if _REJECTED.search(words[:400]):
        return Fault.REJECTED
    if len(words) < 300 and (_NO_TOOL.search(words) or _NO_COMMAND.search(words) or _NO_PLACE.search(words)):
        return Fault.ENVIRONMENT
    return Fault.AGENT


def _failed_tool(line: str, tool: str) -> Fault:
    """A tool that runs no command: only its message's first line is its own, the rest may quote a file."""
    if _NOT_ALLOWED.search(line) or _NO_PLACE.search(line):
        return Fault.ENVIRONMENT
    if not _ASKS_OUTSIDE.search(tool):
        return Fault.AGENT
    if _NO_NETWORK.search(line) or _BLOCKED.search(line):
        return Fault.ENVIRONMENT
    return Fault.TRANSIENT if _TRANSIENT.search(line) else Fault.AGENT


_LINE = 300
_ASKS_OUTSIDE = late_pattern(r"fetch|search_?web|web_?search|browse|navigate|crawl|http|url|^mcp__")
_BLOCKED = late_pattern(
    r"\b(?:401|403|407|451)\b|\b(?:unable|not allowed|refused) to fetch\b|\bforbidden\b|\bunauthorized\b",
    re.IGNORECASE,
)
"""What a server, or this machine's rules, do not let pass."""


def _failed(text: str, script: str) -> Fault | None:
    commands = commands_in(script)
    if is_expected(text, commands, script):
        return None
    if _NO_PLACE.search(text) or _lacks_command(text):
        return Fault.ENVIRONMENT
    last = commands[-1] if commands else ()
    if any(map(_is_own, commands)):
        return Fault.AGENT
    if _NOT_ALLOWED.search(text):
        return Fault.ENVIRONMENT
    if commands and not any(map(_fetches, commands)):
        return Fault.ENVIRONMENT if _NO_NETWORK.search(text) and len(last) < 6 else Fault.AGENT
    if _NO_NETWORK.search(text):
        return Fault.ENVIRONMENT
    return Fault.TRANSIENT if _TRANSIENT.search(text) else Fault.AGENT


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _READ else f"{text[:_READ]}\n{text[-_READ:]}"


def _lacks_command(text: str) -> bool:
    """Whether a program is not there, which is none of the project's own scripts."""
    return any(
        "/" not in (found["a"] or found["b"] or found["c"] or found["d"] or "")
        for found in _NO_COMMAND.finditer(text)
    )


def _is_own(words: Sequence[str]) -> bool:
    """Whether a command runs what the agent works on: a test, a build, a script of the project, a program in its words."""
    name = words[0]
    if name in _NETWORK_TOOLS and _fetches(words):
        return False
    return (
        name in INTERPRETERS
        or kind_of(words) is not None
        or name.startswith("./")
        or name.endswith((".py", ".sh", ".js", ".rb"))
    )


def _fetches(words: Sequence[str]) -> bool:
    """Whether a command speaks with others' machines, or waits for a lock of the machine's."""
    if words[0] not in _NETWORK_TOOLS:
        return words[:1] == ("sudo",) and len(words) > 1 and _fetches(words[1:])
    if kind_of(words) is not None and words[0] not in ("docker", "podman", "go", "mvn", "gradle", "gradlew"):
        return False
    return len(words) == 1 or words[0] in _ALWAYS or bool(_FETCHING.intersection(words[1:4]))


_ALWAYS = _words(
    "curl wget ping ssh scp sftp rsync apt apt-get aptitude dpkg dnf yum apk brew pacman gh glab kubectl aws gcloud gsutil az nc telnet dig host nslookup http https pip pip3 helm terraform docker podman npx uvx"
)


# --- what was asked --------------------------------------------------------------------------------------------------

_LOOKERS = _words(
    "grep egrep fgrep zgrep rg ag ack pgrep pidof which type command hash test [ [[ expr false lsof fuser findmnt mountpoint"
)
_DIFFERS = _words("diff cmp colordiff sdiff diff3 comm icdiff difft")
_GIT_ASKS = {
    "grep": (), "diff": ("--quiet", "--exit-code", "--check", "--no-index", "-s"), "merge-base": ("--is-ancestor",), "show-ref": (),
    "rev-parse": ("--verify", "-q", "--quiet"), "ls-files": ("--error-unmatch",), "check-ignore": (), "cat-file": ("-e",), "config": ("--get", "--get-all", "--get-regexp"),
    "diff-index": (), "diff-files": (), "symbolic-ref": ("-q", "--quiet"),
}  # fmt: skip
_TESTS = late_pattern(r"\s*(?:! )?(?:test|\[{1,2})\s")
"""A command that the shell itself knows, which `take_apart` does not tell."""
_COMPLAINT = late_pattern(
    r"^(?:\S*/)?(?:bash|sh|zsh|dash|ksh|fish|grep|egrep|fgrep|zgrep|rg|ag|ack|pgrep|diff|cmp|test|git|\[|error|fatal|usage|Usage|Traceback)\b:? ?"
    r"(?:.*(?:: |unknown|unrecognized|invalid|missing)|\(most recent call last\))",
    re.MULTILINE,
)


def is_expected(text: str, commands: Sequence[Sequence[str]], script: str = "") -> bool:
    """Whether a status other than 0 is an answer: a search without a match, differences, something that is not there."""
    if not text and _TESTS.match(script):
        return True
    if not commands:
        return False
    words = commands[-1]
    asked = _asks(words)
    if asked is None:
        return False
    if not text:
        return True
    if _COMPLAINT.search(text) and not _differs(text):
        return False
    return len(commands) == 1 and asked


def _differs(text: str) -> bool:
    """What `cmp` says: `a b differ: byte 7, line 1`."""
    return " differ: " in text or text.startswith("Binary files ")


def _asks(words: Sequence[str]) -> bool | None:
    """Whether a command's status is an answer; None when it is not."""
    name = words[0].rpartition("/")[2]
    if name in _LOOKERS or name in _DIFFERS:
        return True
    if name == "git":
        rest = list(words[1:])
        verb = next((word for word in rest if not word.startswith("-")), "")
        options = _GIT_ASKS.get(verb)
        return True if options == () or (options and any(o in rest for o in options)) else None
    if name == "systemctl":
        return True if {"is-active", "is-enabled", "is-failed"} & set(words) else None
    return None
