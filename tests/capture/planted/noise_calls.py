"""Calls that are not worth keeping: what fails for others' reasons, passes without news, or only names records.

Owns the wording, beside that of `tests.cases.planted.refusals`.
"""

from __future__ import annotations

from tests.cases.planted.refusals import ENVIRONMENT as MORE_ENVIRONMENT
from tests.cases.planted.refusals import EXPECTED as MORE_EXPECTED
from tests.cases.planted.refusals import TRANSIENT as MORE_TRANSIENT
from tests.cases.planted.refusals import Refused

__all__ = ["AFTER_ENVIRONMENT", "AFTER_SUITE", "AFTER_TRANSIENT", "ANYTHING", "ENVIRONMENT", "EXPECTED", "FIRST_RED", "GIVEN_UP", "LEFT_OUT", "MENTIONS", "PLACES", "REFUSED", "REPEATED", "TRANSIENT", "WRITES"]  # fmt: skip

ENVIRONMENT = (
    *MORE_ENVIRONMENT,
    Refused("disk", "docker build -t <mod>:dev .", "write /var/lib/docker/tmp/layer.tar: no space left on device"), Refused("disk", "git checkout <mod>-large", "fatal: cannot create directory at 'assets': No space left on device", 128),
    Refused("no-network", "npx create-<mod>@latest .", "npm ERR! code ENOTFOUND\nnpm ERR! network request to the registry failed, reason: getaddrinfo ENOTFOUND"), Refused("no-network", "go mod download", "dial tcp: lookup proxy on 127.0.0.53:53: server misbehaving"),
    Refused("no-network", "cargo fetch", "warning: spurious network error (3 tries remaining): Could not resolve host", 101), Refused("no-network", "ssh deploy@stage-<mod>", "ssh: connect to host stage-<mod> port 22: Network is unreachable", 255),
    Refused("sandbox", "perf record ./build/<mod>", "perf_event_open(...): Operation not permitted, perf_event_paranoid setting is 4", 255), Refused("sandbox", "mkdir /opt/<mod>", "mkdir: cannot create directory '/opt/<mod>': Permission denied"),
    Refused("sandbox", "iptables -L", "iptables v1.8.9: can't initialize iptables table `filter': Permission denied (you must be root)", 4), Refused("no-tool", "k9s version", "bash: k9s: command not found", 127), Refused("no-tool", "xcodebuild -list", "xcode-select: error: tool 'xcodebuild' requires Xcode", 1),
    Refused("memory", "python tools/embed_all.py", "Killed (out of memory: the container has 2 GB)", 137), Refused("display", "npx playwright test --headed", "Missing X server or $DISPLAY"), Refused("licence", "matlab -batch check_<mod>", "License checkout failed: no licence server on this machine"),
)  # fmt: skip

TRANSIENT = (
    *MORE_TRANSIENT,
    Refused("flaky", "pytest tests/test_<mod>_ui.py", "FAILED tests/test_<mod>_ui.py::test_popup - TimeoutError: waited 5 s\n1 failed, 11 passed", 1, "", "12 passed in 9.1s"), Refused("flaky", "npx playwright test <mod>-login", "1 flaky\n  Error: page.click: Target closed", 1, "", "1 passed (4s)"),
    Refused("flaky", "go test ./internal/<mod> -run TestTicker", "--- FAIL: TestTicker (2.01s)\n    tick 3 came after 1.2 s", 1, "", "ok"), Refused("503", "curl -sf https://hooks.example.org/<mod>", "curl: (22) The requested URL returned error: 503", 22, "", "accepted"),
    Refused("rate", "gh api repos/acme/<mod>/issues", "gh: API rate limit exceeded for user (HTTP 403)", 1, "", "[]"), Refused("rate", "python tools/pull_<mod>.py", "429 Too Many Requests, retry after 20", 1, "", "pulled <n>"), Refused("busy", "docker push acme/<mod>", "received unexpected HTTP status: 502 Bad Gateway", 1, "", "latest: digest: sha256"),
    Refused("lock", "git commit -qm wip", "fatal: Unable to create '.git/index.lock': File exists.", 128, "", ""), Refused("port", "npm run dev -- --once", "Error: listen EADDRINUSE: address already in use :::5173", 1, "", "ready in 300 ms"), Refused("overload", "cru-demo ask <mod>", "overloaded_error: please try again", 1, "", "ok"),
)  # fmt: skip

EXPECTED = (
    *MORE_EXPECTED,
    Refused("grep", "grep -rn 'decided' <src>", ""), Refused("test", "test -d docs/adr", ""), Refused("diff", "diff -q old/<mod>.sql new/<mod>.sql", "Files old/<mod>.sql and new/<mod>.sql differ"), Refused("red", "make test-new-<func>", "FAIL: <func> is not there yet", 1, "", "PASS: new <func>"),
)  # fmt: skip

AFTER_ENVIRONMENT = (
    "", "That is not possible here; going on without.", "No network in this sandbox, so I decided to skip that.", "The disk of this machine is full, nothing I can fix from here.", "Permission denied by the sandbox; leaving it.", "It failed because the tool is not installed. I went without it.",
    "This environment cannot do it. I opted for leaving it to CI.", "Actually that cannot work in a container.", "A limit of this machine, not an error of ours.", "Das geht hier in der Umgebung nicht.", "Impossible dans ce bac à sable.",
)  # fmt: skip
AFTER_TRANSIENT = (
    "", "Trying once more.", "Flaky; again.", "Wait a moment and repeat it.", "A hiccup of the service, once more.", "The error is a rate limit; a pause and again.", "Failed for no reason of ours. Same command again.", "Noch einmal.", "Encore une fois.", "I decided to simply run it again.",
)  # fmt: skip
AFTER_SUITE = (
    "", "All green.", "Tests pass, nothing failed.", "Everything passes, no errors.", "The suite is fine.", "Good, nothing broke.", "Still green after the change.", "All tests pass, no errors.", "Passing; going on.", "Alles grün.", "Tout passe.", "No problem there.", "The fix did not break anything.",
)  # fmt: skip
GIVEN_UP = (
    "I could not find out why; it stays as it is.", "No idea why this happens, so it is left open.", "The cause is unknown. Going on.", "I have no explanation for that error yet.", "This failed and I can't tell why.", "Somebody who knows <mod> has to look at it.", "Unclear, moving on.",
)  # fmt: skip

FIRST_RED = (
    "It has to be red before there is any code.", "Test first, so this must fail now.", "Writing the failing test before <func>.", "Red, then green.", "D'abord le rouge.", "Zuerst muss der Test rot sein.",
)  # fmt: skip

MENTIONS = (
    ("cat docs/adr/0003-<mod>.md", "# 3. <mod>\n\nAccepted.\n\nWe decided to keep it."), ("ls docs/adr", "0001-record-architecture-decisions.md\n0002-<mod>.md"), ("grep -rn ADR-0007 <src>", "<src>:<n>: # see ADR-0007"), ("git log --oneline -- docs/adr", "3fa1 Add ADR 3\n9c04 Decide on <mod>"),
    ("git grep -n 'decided to' docs", "docs/history.md:<n>: we decided to move"), ("head -20 docs/decisions/0001-use-madr.md", "# Use MADR\n\nDecision: yes."), ("wc -l docs/architecture/decisions/*.md", "  41 total"), ("curl -s localhost:8080/<mod>/docs", "error: see https://api.example.org for the approach"),
)  # fmt: skip
"""Commands that only look at records."""

WRITES = (
    ("src/adr_parser.py", "# reads docs/adr/*.md\nHEADING = 'ADR'"), ("tools/list_adrs.sh", "ls docs/adr"), ("src/address/adr_lookup.ts", "export const adr = (street: string) => street;"), ("README.md", "See docs/adr for the decisions."), ("lib/decision_tree.rb", "class DecisionTree\nend"),
    ("tests/data/quadratic.txt", "x1 x2\n0 1"), (".github/ISSUE_TEMPLATE/bug.md", "What failed?"), ("src/decide.go", "package decide"), ("docs/adr-tool-manual.html", "<h1>How to write an ADR</h1>"), ("app/models/adr_message.rb", "# adverse drug reaction\nclass AdrMessage\nend"),
)  # fmt: skip
"""Files that are no records, whatever they are called."""

PLACES = (
    "    # see https://api.stripe.com/docs for the answer's fields", "BASE = 'http://localhost:8080/v1'", "    // talks to http://inventory.internal/<mod>, our own service", "LICENSE_URL = 'https://www.apache.org/licenses/LICENSE-2.0'", "    expected = 'https://example.org/<mod>'", "    url = build_url(self.request.host, '<mod>')",
)  # fmt: skip
"""Lines that name an address and call no API outside."""

LEFT_OUT = "left out, this machine cannot do it."
REPEATED = "the same command went through the second time."
ANYTHING = "Is there anything left of it?"
"""What goes before a call whose status is an answer."""
REFUSED = "docs/adr/<n>-<mod>.md"
"""A record that the user did not let be written."""
