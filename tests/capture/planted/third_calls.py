"""Calls that are not worth keeping, in half 2; as in `noise_calls`."""

from __future__ import annotations

from tests.cases.planted.refusals import Refused

__all__ = ["AFTER_ENVIRONMENT", "AFTER_SUITE", "AFTER_TRANSIENT", "ANYTHING", "ENVIRONMENT", "EXPECTED", "FIRST_RED", "GIVEN_UP", "LEFT_OUT", "MENTIONS", "PLACES", "REFUSED", "REPEATED", "TRANSIENT", "WRITES"]  # fmt: skip

ENVIRONMENT = (
    Refused("no-tool", "fd -e toml <mod>", "bash: fd: command not found", 127, "find . -name '*<mod>*.toml'", "./<mod>.toml"), Refused("no-tool", "just --list", "sh: 1: just: not found", 127, "cat justfile", "verify:\n  ./verify.sh"), Refused("no-tool", "openocd -f board/<mod>.cfg", "zsh: command not found: openocd", 127), Refused("no-tool", "adb devices", "bash: line 1: adb: command not found", 127),
    Refused("sandbox", "dmesg | tail", "dmesg: read kernel buffer failed: Operation not permitted"), Refused("sandbox", "mount -o loop <mod>.img /mnt", "mount: /mnt: must be superuser to use mount.", 32), Refused("sandbox", "echo 1 > /proc/sys/vm/drop_caches", "bash: /proc/sys/vm/drop_caches: Permission denied"), Refused("sandbox", "strace -p <n>", "strace: attach: ptrace(PTRACE_SEIZE): Operation not permitted"),
    Refused("no-network", "dart pub get", "Got socket error trying to find package http at https://pub.dev.\nFailed host lookup: 'pub.dev'", 69), Refused("no-network", "nix flake update", "error: unable to download 'https://api.github.com/repos/NixOS/nixpkgs': Could not resolve hostname"), Refused("no-network", "wget -q https://data.example.net/<mod>.zip", "wget: unable to resolve host address 'data.example.net'", 4), Refused("no-network", "nc -zv broker-<mod> 5672", 'nc: getaddrinfo for host "broker-<mod>" port 5672: Temporary failure in name resolution'),
    Refused("disk", "sbt assembly", "java.io.IOException: No space left on device"), Refused("disk", "conda env create -n <mod>", "OSError: [Errno 28] No space left on device"), Refused("no-daemon", "podman run --rm <mod>", "Error: unable to connect to Podman socket: no such file or directory", 125), Refused("display", "godot --path . --editor", "X11 Display is not available", 255),
    Refused("memory", "Rscript analysis/full_<mod>.R", "Error: cannot allocate vector of size 14.9 Gb"), Refused("hardware", "st-flash write <mod>.bin 0x8000000", "Couldn't find any ST-Link devices"), Refused("gpu", "python train_<mod>.py --device cuda", "RuntimeError: Found no NVIDIA driver on your system."), Refused("quota", "bazel build //engine/... --remote_executor=grpcs://rbe", "ERROR: PERMISSION_DENIED: this user may not use remote execution", 34),
)  # fmt: skip

TRANSIENT = (
    Refused("timeout", "flutter pub get", "TimeoutException after 0:00:30: pub server did not answer", 69, "", "Got dependencies!"), Refused("reset", "cabal update", "Connection reset by peer (hackage mirror)", 1, "", "Package list of hackage is up to date."), Refused("502", "curl -sf https://tiles.example.org/<mod>/0/0/0", "curl: (22) The requested URL returned error: 502", 22, "", "PNG"), Refused("503", "nix copy --to s3://cache <mod>", "error: HTTP error 503 (Slow Down)", 1, "", "copied 3 paths"),
    Refused("rate", "python pull_cves.py --year 2026", "HTTP 429: too many requests, try again in 30 s", 1, "", "<n> entries"), Refused("flaky", "bazel test //engine:<mod>_timing_test", "FLAKY: //engine:<mod>_timing_test, failed in 1 out of 2: waited 40 ms, expected 35 ms", 3, "", "//engine:<mod>_timing_test PASSED in 0.4s"), Refused("flaky", "flutter test integration/<mod>_ui.dart", "Timed out waiting for the first frame", 1, "", "+1: All tests passed!"), Refused("busy", "sqlite3 app.db 'vacuum'", "Error: database is locked", 5, "", ""),
    Refused("lock", "brew upgrade <mod>", "Error: Another active Homebrew update process is already in progress.", 1, "", "upgraded <mod>"), Refused("tls", "podman pull ghcr.io/acme/<mod>", "net/http: TLS handshake timeout", 125, "", "sha256:91ab"), Refused("eof", "tofu init", "Error: registry responded with unexpected EOF", 1, "", "OpenTofu has been successfully initialized!"),
)  # fmt: skip

EXPECTED = (
    Refused("grep", "grep -c 'chosen' <src>", "0"), Refused("grep", "grep -w FIXME <test>", ""), Refused("test", "test -e out/<mod>.done", ""), Refused("diff", "diff -r assets/<mod> build/<mod>", "Only in build/<mod>: index.bin"), Refused("cmp", "cmp -s golden/<mod>.wav out/<mod>.wav", ""), Refused("git-diff", "git diff --quiet HEAD -- <src>", ""), Refused("pgrep", "pgrep -x <mod>d", ""), Refused("which", "command -v clang-tidy", ""),
    Refused("red", "just spec-<func>", "not ok 1 - <func> does what the spec says # not written yet", 1, "", "ok 1 - <func> does what the spec says"), Refused("red", "make -s check-new-<func>", "undefined: <func>", 2, "", "check-new-<func>: ok"),
)  # fmt: skip

AFTER_ENVIRONMENT = (
    "", "Nothing to be done in this container.", "I chose not to pursue that, the box has no network.", "This host lacks the hardware, skipping.", "Not our bug: the sandbox forbids it.", "Failed due to missing rights on this machine; someone with root may do it.", "No such tool here, moving on.", "Geht auf diesem Rechner nicht.", "Pas possible sur cette machine.",
)  # fmt: skip
AFTER_TRANSIENT = (
    "", "Second try.", "The server was busy; same thing again.", "Network error, not ours. Retrying.", "Let me wait ten seconds and rerun it.", "Probably a blip.", "Nochmal.", "On réessaie.",
)  # fmt: skip
AFTER_SUITE = (
    "", "ok, all pass, no error", "No regressions.", "Suite passes as before, no issues.", "As expected, no failed tests.", "The whole lot is green.", "Checks are fine, proceeding.", "No errors reported.", "Keine Fehler.", "Aucune erreur.", "Nothing broken, no issue.",
)  # fmt: skip
GIVEN_UP = (
    "Can't explain it, leaving that for now.", "Reason unknown; I note it and proceed.", "Still failing and I am out of ideas.", "Whatever it is, it needs someone else's eyes.", "I did not get to the bottom of this error.",
)  # fmt: skip

FIRST_RED = (
    "The spec comes before the code, so expect red.",
    "This one should not pass yet.",
    "Starting from a test that can't succeed so far.",
    "Erst der rote Test.",
    "Le test rouge en premier.",
)

LEFT_OUT = "skipped, the machine at hand has no means for it."
REPEATED = "running it again was enough."
ANYTHING = "Is that there already? A quick look."
REFUSED = "documentation/adr/<n>-<mod>.md"

MENTIONS = (
    ("less documentation/adr/0004-<mod>.md", "# 4. <mod>\n\nStatus: accepted"), ("find . -path '*adr*' -name '*.md'", "./documentation/adr/0004-<mod>.md"), ("grep -l 'Status: accepted' documentation/adr/*.md", "documentation/adr/0004-<mod>.md"), ("git show --stat HEAD~3", " documentation/adr/0009-<mod>.md | 41 +++"),
    ("sed -n 1,20p docs/decisions/0003-<mod>.md", "# <mod>\n\nWe chose it in 2023."), ("git log -1 --format=%s", "Fix wording of ADR 12"),
)  # fmt: skip

WRITES = (
    ("tools/render_adr_index.py", "# prints the titles below documentation/adr\nprint('ADR')"), ("src/pricing/adr.ts", "// average daily rate\nexport const adr = (revenue: number, rooms: number) => revenue / rooms;"), ("docs/glossary.md", "ADR: architecture decision record"), ("src/DecisionStump.scala", "class DecisionStump"), ("tests/fixtures/quadrants.csv", "x,y\n1,2"), ("ci/check_adr_links.sh", "grep -R adr docs"), ("docs/index.md", "The ADRs are in documentation/adr."), ("src/madrid_routes.py", "ROUTES = ()"),
)  # fmt: skip

PLACES = (
    "    // spec: https://datatracker.ietf.org/doc/html/rfc9110", "PROXY = 'http://127.0.0.1:3128'", "    <!-- icon from https://icons.example.org, bundled -->", "    xmlns = 'http://www.w3.org/2000/svg'", "    endpoint = 'http://metrics.svc.cluster.local/<mod>'", "    # docs: https://nixos.org/manual",
)  # fmt: skip
