from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from crucible.documents.session.session import Decision, Phase, Session
from crucible.documents.workflow.graph_diagrams import render_timeline
from crucible.vault.notes.vault import Vault
from samples.hostile_texts import BLOCKS, INLINE
from tests.journeys.notes import CLOCK, LIMITER, note, write
from tests.running import Cru, CruProcess


@pytest.fixture
def two(vault: Vault) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK)
    return vault


def test_the_terminal_shows_everything_that_the_note_says(two: Vault, cru: Cru) -> None:
    result = cru("session", "show", "2026-11-21-limiter")
    assert result.exit_code == 0
    assert result.stderr == ""
    shown = result.stdout
    for part in (
        "Add a rate limiter",
        "completed",
        "claude-code@2.1.197, helper",
        "What it is for.",
        "Write the bucket",
        "1620 tokens",
        '"Add a rate limiter"',
        "the plan",
        "Write limiter.py → created, 17 lines",
        "❌ Bash pytest → FAILED",
        "decision",
        "Rationale:",
        "constant memory.",
        "Resolution:",
        "A part of it",
        "#ops",
        "@general-purpose (claude-opus-4-8)",
        "→ 2026-11-21-clock",
        "Use monotonic.",
        "All done.",
    ):
        assert part in shown, part
    assert "\x1b" not in shown


FOUND = """\
---
type: session
session_id: found
started: 2026-11-21T20:26:47Z
status: completed
---

# Found

> [!findings]- 3 findings
> - open_end: Asked, no answer: now? (last state, 0.95)
> - outcome: It works (closing text, 0.89, rows 1dc3c44f ef368c1a)
>   Details: since noon
>   - in every room
> - use tabs

## Work

> [!decision]
> One file
> Alternatives: Redis
> By: user
> Source: answered question, 0.97, row 3a77d35a

> [!error]
> Off by one
> Cause: rounding
> Resolution: fixed

> [!plan]- approved: One file
> First this.
"""


def test_findings_alternatives_causes_and_plans_are_shown(vault: Vault, cru: Cru) -> None:
    write(vault, "found", FOUND)
    shown = re.sub(r"[ │\n]+", " ", cru("session", "show", "found").stdout)
    for part in (
        "outcome: It works (closing text)",
        "since noon - in every room",
        "open end: Asked, no answer: now?",
        "environment: use tabs",
        "Alternatives: Redis",
        "By: user",
        "answered question, 0.97, row 3a77d35a",
        "Cause: rounding",
        "plan approved: One file",
        "First this.",
    ):
        assert part in shown, part
    told = json.loads(cru("session", "show", "found", "--format", "json").stdout)["sessions"][0]
    assert [item["kind"] for item in told["findings"]] == ["open_end", "outcome", "environment"]
    assert told["findings"][1]["rows"] == ["1dc3c44f", "ef368c1a"]


def test_callouts_are_panels_in_colours_of_their_own(two: Vault, bare_cru: Cru) -> None:
    shown = bare_cru("--vault", two.root, "--color", "session", "show", "2026-11-21-limiter").stdout
    colours = {
        kind: re.search(rf"\x1b\[([\d;]+)m ?{kind}", shown) for kind in ("decision", "error", "user", "subagent")
    }
    assert all(colours.values())
    assert len({found[1] for found in colours.values() if found}) == 4


def test_markdown_is_the_note_to_the_byte(vault: Vault, cru: Cru) -> None:
    data = b"\xef\xbb\xbf" + LIMITER.replace("\n", "\r\n").encode() + b"\xff no end"
    write(vault, "2026-11-21-limiter", data)
    assert cru("session", "show", "2026-11-21-limiter", "--format", "markdown").stdout_bytes == data


def test_json_is_the_whole_session(two: Vault, cru: Cru) -> None:
    shown = json.loads(cru("session", "show", "2026-11-21-limiter", "--format", "json").stdout)["sessions"][0]
    assert shown["id"] == "2026-11-21-limiter"
    assert shown["duration_s"] == 605
    assert shown["subagents"][0]["session"] == "2026-11-21-clock"
    assert [phase["id"] for phase in shown["phases"]] == ["phase-1", "phase-2"]
    first = shown["phases"][0]
    assert [entry["type"] for entry in first["entries"]] == [
        "user",
        "prose",
        "tool_calls",
        "decision",
        "error",
    ]
    assert [call["outcome"] for call in first["entries"][2]["calls"]] == ["ok", "failed"]
    assert first["phases"][0]["name"] == "A part of it"
    assert first["lines"][0] == LIMITER.split("\n").index("## Write the bucket @claude-code@2.1.197 #dev") + 1
    assert shown["summary"] == "All done."
    assert shown["problems"] == []


@pytest.mark.parametrize(("wanted", "begins"), [("1", "## Write"), ("1.1", "### A part"), ("phase-2", "## Ask")])
def test_one_phase_is_shown_alone(two: Vault, cru: Cru, wanted: str, begins: str) -> None:
    args = ("session", "show", "2026-11-21-limiter", "--phase", wanted)
    text = cru(*args, "--format", "markdown").stdout
    assert text.startswith(begins)
    assert text in LIMITER
    name = re.sub(r" [@#]\S+", "", text.split("\n", 1)[0].lstrip("# "))
    assert json.loads(cru(*args, "--json").stdout)["sessions"][0]["phases"][0]["name"] == name
    shown = cru(*args).stdout
    assert name in shown
    assert "All done." not in shown


def test_a_phase_that_is_not_there_is_answered_with_those_that_are(two: Vault, cru: Cru) -> None:
    result = cru("session", "show", "2026-11-21-limiter", "--phase", "7")
    assert result.exit_code == 2
    assert "1, 1.1, 2" in result.stderr


def test_an_id_may_be_a_prefix_or_a_path(two: Vault, cru: Cru) -> None:
    whole = cru("session", "show", "2026-11-21-limiter").stdout
    assert cru("session", "show", "2026-11-21-l").stdout == whole
    assert cru("session", "show", "sessions/2026-11-21-limiter.md").stdout == whole
    assert cru("session", "show", two.root / "sessions" / "2026-11-21-limiter.md").stdout == whole


def test_a_prefix_of_several_lists_them(two: Vault, cru: Cru) -> None:
    write(two, "2026-11-21-lamp", note("2026-11-21-lamp"))
    result = cru("session", "show", "2026-11-21-l")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: '2026-11-21-l' matches 2 sessions\n       One of: 2026-11-21-lamp, 2026-11-21-limiter\n"
    )


def test_a_malformed_id_and_a_missing_session_are_two_errors(two: Vault, cru: Cru) -> None:
    malformed, missing = cru("session", "show", "a b!"), cru("session", "show", "2026-11-21-limitr")
    assert (malformed.exit_code, missing.exit_code) == (2, 1)
    assert "Nearest: 2026-11-21-limiter." in missing.stderr


def test_problems_go_to_stderr_with_their_line_and_the_exit_code_stays_0(vault: Vault, cru: Cru) -> None:
    write(vault, "2026-01-01-a", note("2026-01-01-a", "## One\n\ntokens:: many\n", status="odd"))
    for format_ in ("text", "markdown", "json"):
        result = cru("session", "show", "2026-01-01-a", "--format", format_)
        assert result.exit_code == 0
        assert re.search(r"^sessions/2026-01-01-a\.md:5: [a-z-]+: ", result.stderr, re.MULTILINE)


def test_an_embed_is_shown_in_place(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## One\n\nBefore.\n\n![[b]]\n\nAfter.\n"))
    write(vault, "b", note("b", "## Inner\n\nWithin.\n"))
    shown = cru("session", "show", "a").stdout
    assert shown.index("Before.") < shown.index("Within.") < shown.index("After.")
    assert "![[" not in shown


def test_an_embedded_heading_shows_that_phase_alone(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## One\n\n![[b#Second]]\n"))
    write(vault, "b", note("b", "## First\n\nNot this.\n\n## Second\n\nBut this.\n"))
    shown = cru("session", "show", "a").stdout
    assert "But this." in shown
    assert "Not this." not in shown


def test_an_embedded_subagent_is_shown_inside_the_session(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## One\n\n> [!subagent] @x\n> mode: embed\n> ![[b]]\n"))
    write(vault, "b", note("b", "## Inner\n\nWithin.\n"))
    assert "Within." in cru("session", "show", "a").stdout


def test_a_cycle_of_embeds_is_shown_once_and_reported(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## One\n\nFrom a.\n\n![[b]]\n"))
    write(vault, "b", note("b", "## Two\n\nFrom b.\n\n![[a]]\n\n![[b]]\n"))
    result = cru("session", "show", "a")
    assert result.exit_code == 0
    assert result.stdout.count("From a.") == 1
    assert result.stdout.count("From b.") == 1
    assert result.stderr.splitlines() == [
        "sessions/b.md:14: embed-cycle: ![[a]] is embedded in itself",
        "sessions/b.md:16: embed-cycle: ![[b]] is embedded in itself",
    ]


def test_a_note_that_two_embed_is_shown_once(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## One\n\n![[b]]\n\n![[b]]\n"))
    write(vault, "b", note("b", "## Two\n\nFrom b.\n"))
    result = cru("session", "show", "a")
    assert result.stdout.count("From b.") == 1
    assert "b is shown above" in result.stdout
    assert result.stderr == ""


def test_a_long_chain_of_embeds_ends_with_a_report(vault: Vault, cru: Cru) -> None:
    for n in range(200):
        write(vault, f"n{n}", note(f"n{n}", f"## Phase\n\n![[n{n + 1}]]\n"))
    result = cru("session", "show", "n0")
    assert result.exit_code == 0
    assert "embed-too-deep" in result.stderr


def test_what_an_embed_names_and_nobody_has_is_reported(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## One\n\n![[ghost]]\n\n![[picture.png]]\n\n`![[code]]`\n"))
    result = cru("session", "show", "a")
    assert result.stderr == "sessions/a.md:12: broken-embed: no note for ![[ghost]]\n"
    assert "picture.png" in result.stdout


def test_a_note_cannot_steer_the_terminal_or_rich(vault: Vault, cru: Cru) -> None:
    body = '## One [bold]x[/bold]\n\nred \x1b[31m and \x07 bell [link=x]y\n\n> [!user]\n> "\x1b]0;title\x07 [/]"\n'
    write(vault, "a", note("a", body, project='"\\e[2J[blink]"'))
    shown = cru("session", "show", "a").stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
    assert "[bold]x[/bold]" in shown
    assert "[blink]" in shown


def test_an_empty_and_a_bare_note_are_shown(vault: Vault, cru: Cru) -> None:
    write(vault, "empty", "")
    write(vault, "bare", "Just text.\n")
    assert cru("session", "show", "empty").exit_code == 0
    assert "Just text." in cru("session", "show", "bare").stdout


@pytest.mark.parametrize("columns", ["0", "1", "-5", "wide", "²", "9" * 5000])
def test_a_nonsensical_width_still_shows_the_note(two: Vault, cru: Cru, columns: str) -> None:
    result = cru("session", "show", "2026-11-21-limiter", env={"COLUMNS": columns, "LINES": columns})
    assert result.exit_code == 0
    assert "smaller" not in result.stdout
    assert "limiter" in result.stdout
    assert len(result.stdout) < 100_000


def test_an_empty_phase_is_refused(two: Vault, cru: Cru) -> None:
    assert cru("session", "show", "2026-11-21-limiter", "--phase", "").exit_code == 2


def test_a_missing_phase_names_the_file_not_what_the_note_calls_itself(vault: Vault, cru: Cru) -> None:
    write(vault, "real", note("other"))
    assert cru("session", "show", "real", "--phase", "9").stderr.startswith("error: real has no phase '9'\n")


def test_a_value_cannot_forge_a_row_of_the_header(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", project='"x\\nstatus  failed"', **{'"k\\nstatus"': "failed"}))
    shown = cru("session", "show", "a").stdout
    assert "x⏎status  failed" in shown
    assert sum(line.startswith("│ status") for line in shown.splitlines()) == 1


def test_several_are_shown_in_the_order_given_each_once(two: Vault, cru: Cru) -> None:
    result = cru("session", "show", "2026-11-21-limiter", "2026-11-21-clock", "2026-11-21-l")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    titles = [line for line in lines if line.startswith("sessions/") and line.endswith("━━━")]
    assert [title.split()[0] for title in titles] == [
        "sessions/2026-11-21-limiter.md",
        "sessions/2026-11-21-clock.md",
    ]
    assert lines[lines.index(titles[1]) - 1] == ""
    assert result.stdout.index("All done.") < result.stdout.index("It is monotonic.")


def test_one_session_has_no_title_of_its_own(two: Vault, cru: Cru) -> None:
    for format_ in ("text", "markdown"):
        shown = cru("session", "show", "2026-11-21-clock", "--format", format_).stdout
        assert "sessions/2026-11-21-clock.md" not in shown


def test_json_is_a_list_of_sessions_in_the_order_given_each_once(two: Vault, cru: Cru) -> None:
    show = ("session", "show", "--format", "json", "2026-11-21-clock")
    both = json.loads(cru(*show, "2026-11-21-limiter").stdout)["sessions"]
    assert [one["id"] for one in both] == ["2026-11-21-clock", "2026-11-21-limiter"]
    assert json.loads(cru(*show, "2026-11-21-cl").stdout)["sessions"] == both[:1]
    assert json.loads(cru(*show).stdout) == {"schema": 1, "sessions": both[:1]}


def test_markdown_of_several_has_each_notes_exact_bytes(vault: Vault, cru: Cru) -> None:
    notes = {
        "a": b"\xef\xbb\xbf" + LIMITER.replace("\n", "\r\n").encode() + b"\xff no end",
        "b": b"==> sessions/c.md (0 bytes) <==\n\n",
        "empty": b"",
        "two words": CLOCK.encode(),
    }
    paths = [write(vault, name, data) for name, data in notes.items()]
    rest = cru("session", "show", *paths, "--format", "markdown").stdout_bytes
    found = {}
    while rest:
        head, _, rest = rest.partition(b"\n")
        named = re.fullmatch(rb"==> sessions/(.*)\.md \((\d+) bytes\) <==", head)
        assert named
        size = int(named[2])
        found[named[1].decode()] = rest[:size]
        assert rest[size : size + 1] == b"\n"
        rest = rest[size + 1 :]
    assert found == notes


@pytest.mark.parametrize("format_", ["text", "markdown", "json"])
def test_a_wrong_id_among_several_is_one_line_and_the_others_are_shown(two: Vault, cru: Cru, format_: str) -> None:
    ids = ("2026-11-21-clock", "2026-11-21-limitr", "a b!", "2026-11-21-limiter")
    result = cru("session", "show", *ids, "--format", format_)
    assert result.exit_code == 1
    assert "monotonic" in result.stdout
    assert "All done." in result.stdout
    missing, malformed = result.stderr.splitlines()
    assert missing.startswith("error: ")
    assert "2026-11-21-limitr" in missing
    assert "Nearest: 2026-11-21-limiter." in missing
    assert "a b!" in malformed


def test_only_wrong_usage_among_several_exits_2(two: Vault, cru: Cru) -> None:
    assert cru("session", "show", "a b!", "2026-11-21-clock").exit_code == 2
    assert cru("session", "show", "a b!", "c d!").exit_code == 2
    assert cru("session", "show", "a b!", "gone").exit_code == 1
    nothing = cru("session", "show", "gone", "gone-too", "--format", "json")
    assert (nothing.stdout, nothing.exit_code) == ('{\n  "schema": 1,\n  "sessions": []\n}\n', 1)


def test_a_phase_is_looked_for_in_each_of_several(two: Vault, cru: Cru) -> None:
    result = cru("session", "show", "2026-11-21-limiter", "2026-11-21-clock", "--phase", "2", "--format", "json")
    assert [one["phases"][0]["name"] for one in json.loads(result.stdout)["sessions"]] == ["Ask the clock"]
    assert result.stderr == "error: 2026-11-21-clock has no phase '2' (its phases: 1)\n"
    assert result.exit_code == 2


def test_an_unreadable_note_among_several_hides_no_other(two: Vault, cru: Cru) -> None:
    (two.root / "sessions" / "gone.md").symlink_to(two.root / "nowhere.md")
    result = cru("session", "show", "gone", "2026-11-21-clock")
    assert result.exit_code == 1
    assert "monotonic" in result.stdout
    assert len(result.stderr.splitlines()) == 1


def test_without_an_id_show_is_refused(vault: Vault, cru: Cru) -> None:
    assert cru("session", "show").exit_code == 2


def test_every_id_of_several_is_completed(two: Vault, cru_process: CruProcess) -> None:
    words = "cru session show 2026-11-21-clock 2026-11-21-l"
    env = {"_CRU_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "4"}
    done = cru_process(env={**env, "CRUCIBLE_VAULT": str(two.root)})
    assert (done.stdout, done.stderr) == (b"plain,2026-11-21-limiter\n", b"")


def test_a_callout_of_a_title_alone_is_a_line_and_no_empty_box(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", "## One\n\n> [!agent_switch] architect → coder\n"))
    shown = cru("session", "show", "a").stdout.partition("One")[2]
    assert "agent_switch architect → coder" in shown
    assert not set(shown) & set("╭╰│")


def test_a_session_is_shown_as_a_timeline(two: Vault, cru: Cru) -> None:
    drawn = cru("session", "show", "2026-11-21-limiter", "--format", "mermaid")
    assert (drawn.exit_code, drawn.stderr) == (0, "")
    assert drawn.stdout.startswith("timeline\n  title Add a rate limiter\n  section 2026-11-21\n    ")
    assert " : Write the bucket : decided#58; Token bucket#46; : fixed#58; It failed#46;" in drawn.stdout
    both = cru("session", "show", "2026-11-21-limiter", "2026-11-21-clock", "--format", "mermaid")
    assert both.stdout.count("```mermaid\ntimeline\n") == 2


def test_no_text_of_a_session_is_a_mark_in_its_timeline() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    for text in (*BLOCKS, *INLINE, "a:b;c#d", "section x", "%%{init: {}}%%", "end"):
        phase = Phase(text, started=moment, entries=(Decision(text),))
        lines = render_timeline(Session("s", title="T", phases=(phase, phase)), UTC).splitlines()
        assert [line.partition(":")[0].strip().split(" ")[0] for line in lines] == [
            "timeline",
            "title",
            "section",
            "00#58;00",
            "00#58;00",
        ]
        assert all(line.count(" : ") <= 2 and "%" not in line and "<" not in line for line in lines)
