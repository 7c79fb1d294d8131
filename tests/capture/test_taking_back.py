"""What takes back, what proves, what mends and what is of the machine, in words and structures that no table was made for."""

from __future__ import annotations

import pytest

from crucible.capture.model import Kind
from crucible.capture.outside_apis import api_calls_of
from crucible.capture.steps import steps_of
from tests.capture.telling import failed, found_in, kinds_of, passed, said, session_of, written

_EDIT = passed("Edit a.py", "updated, +1 −1")


@pytest.mark.parametrize(
    "text",
    [
        "Retraction: the middleware order is reversed, auth comes last.",
        "I previously described close() as a no-op, yet it flushes the buffer.",
        "Let me set the record straight: the hook fires twice.",
        "Hmm, that contradicts what I put down two messages ago: the queue drops on overflow.",
        "I spoke as if the cache was shared. It is not; every worker has one.",
        "Bei nochmaligem Lesen sehe ich, dass ich mich geirrt habe: es sind Millisekunden.",
        "J'ai affirmé plus haut que le verrou est global ; c'est faux, il est par processus.",
    ],
)
def test_what_was_said_before_is_taken_back_in_other_turns(text: str) -> None:
    assert kinds_of(said("The service blocks."), passed("Read a.py"), said(text)) == [Kind.SELF_CORRECTION]


@pytest.mark.parametrize(
    "text",
    [
        "The earlier version of this function was wrong about leap years.",
        "My understanding: the parser returns the wrong value for empty input.",
        "I called the function with the wrong argument.",
        "I put the check before the loop, not after it.",
        "He claimed the table is empty, which it is not.",
        "I'm correcting the spelling in my last commit message.",
    ],
)
def test_a_word_for_wrong_about_something_else_takes_nothing_back(text: str) -> None:
    assert Kind.SELF_CORRECTION not in kinds_of(said(text))


def test_a_run_that_measures_proves_what_is_said_beside_it_in_any_words() -> None:
    run = passed("Bash npm run bench:render", "median 8.2 ms, p95 11.9 ms")
    assert kinds_of(run, said("Which settles it: rendering stays under 12 ms.")) == [Kind.EVIDENCE]
    assert kinds_of(said("Will rendering stay under 12 ms at the p95?"), run) == [Kind.EVIDENCE]
    assert kinds_of(run, said("Next I'll update the changelog.")) == []
    assert kinds_of(said("Now the script."), run) == []


def test_another_setting_of_a_command_is_another_try() -> None:
    red = failed("Bash grep -P 'a' data/x.txt", "grep: -P supports only unibyte and UTF-8 locales")
    cause = said("Turns out the shell runs in the C locale.")
    assert kinds_of(red, cause, passed("Bash LC_ALL=C.UTF-8 grep -P 'a' data/x.txt", "1")) == [Kind.FAILURE]
    again = passed("Bash grep -P 'a' data/x.txt", "1")
    assert kinds_of(red, cause, again) == []


def test_another_program_for_the_same_mends_where_words_say_why() -> None:
    red = failed("Bash docker-compose up -d", "docker-compose: unsupported file version")
    why = said("The v1 binary no longer understands this file; the plugin does.")
    assert kinds_of(red, why, passed("Bash docker compose up -d")) == [Kind.FAILURE]
    assert kinds_of(red, passed("Bash docker compose up -d")) == []


@pytest.mark.parametrize(
    "before", ["Red, then green.", "Erst rot.", "Start with a failing spec.", "Le test doit échouer d'abord."]
)
def test_a_test_that_is_said_to_fail_first_is_no_failure(before: str) -> None:
    red = failed("Bash pytest tests/test_new.py -k slug", "AttributeError: no attribute 'slug'")
    assert kinds_of(said(before), red, _EDIT, passed("Bash pytest tests/test_new.py -k slug")) == []


@pytest.mark.parametrize(
    "message",
    [
        "npm ERR! network timeout at: x", "Error: listen EADDRINUSE: address already in use :::3000", "toomanyrequests: pull rate limit",
        "407 Proxy Authentication Required", "ssl: certificate verify failed", "error: could not lock config file", "HTTP Error 504", "make: cmake: No such file or directory",
    ],
)  # fmt: skip
def test_what_is_done_about_chance_and_the_machine_is_never_proposed(message: str) -> None:
    red, green = failed("Bash make fetch", message), passed("Bash make fetch")
    for words in ("I decided to simply run it again.", "Network blip; retrying."):
        assert found_in(red, said(words), green) == []
        assert found_in(red, said(words), _EDIT, green) == []


@pytest.mark.parametrize(
    "command",
    [
        "envsubst < t.md > docs/adr/0007-a.md", "dd if=t.md of=docs/adr/0007-a.md", "sd proposed accepted docs/adr/0007-a.md",
        "cp t.md .adr/0007-a.md", "tee docs/architecture/0007-a.md",
    ],
)  # fmt: skip
def test_a_record_put_there_by_any_program_counts(command: str) -> None:
    assert kinds_of(passed(f"Bash {command}")) == [Kind.ADR]


def test_a_record_that_is_looked_at_is_none() -> None:
    for command in ("cat docs/adr/0007-a.md > /tmp/a", "git add docs/adr/0007-a.md", "ls .adr"):
        assert kinds_of(passed(f"Bash {command}")) == [], command


def test_an_api_of_a_host_that_also_has_documents_is_an_api() -> None:
    for line, count in (
        ('requests.get("https://api.github.com/repos/a/b")', 1),
        ('open("https://github.com/a/b")', 0),
        ('websocket.connect("wss://stream.kraken.com/v2")', 1),
    ):
        call, evidence = written("a.py", line)
        steps = steps_of(session_of(call), evidence)
        assert len([found for step in steps for found in api_calls_of(step)]) == count, line
