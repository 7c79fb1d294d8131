"""Failed calls that are nobody's puzzle, told into a session; beside a cancelled one stands a failure that is one."""

from __future__ import annotations

from crucible.cases.model import Fault
from crucible.transcript.events import CallEnd
from tests.cases.planted.puzzles import draw, edit, mend, sow_puzzle
from tests.cases.planted.refusals import ENVIRONMENT, EXPECTED, TASK_TOOLS, TRANSIENT, Refused
from tests.cases.planted.scribe import Scribe
from tests.cases.planted.sowing import Plot

__all__ = ["cancel", "environment", "expected", "test_first", "transient", "unknown_tool"]


def _refused(plot: Plot, what: str, options: tuple[Refused, ...]) -> Refused | None:
    chosen = plot.pick(what, options)
    if chosen is None:
        return None
    one = options[chosen]
    return Refused(
        one.kind,
        plot.fill(one.command),
        plot.fill(one.out),
        one.code,
        plot.fill(one.instead),
        plot.fill(one.then),
    )


def environment(plot: Plot, scribe: Scribe) -> None:
    """What this machine does not have or allow."""
    one = _refused(plot, "environment", ENVIRONMENT)
    if one is None:
        return
    made = scribe.shell(one.command, one.out, one.code)
    plot.distract(scribe, f"environment-{one.kind}", made.result, made.step, Fault.ENVIRONMENT)
    if one.instead:
        scribe.say(
            plot.rng.choice(
                ["It is not installed here; there is another way.", "Not available. I'll do without."]
            )
        )
        scribe.shell(one.instead, one.then)
    else:
        scribe.say(
            plot.rng.choice(
                [
                    "That is not possible in this environment; going on without.",
                    "I can't do that from here, so it is left out.",
                ]
            )
        )


def unknown_tool(plot: Plot, scribe: Scribe) -> None:
    """A tool that this client does not have."""
    tool = plot.rng.choice(TASK_TOOLS)
    if f"unknown:{tool}" in plot.taken:
        return
    plot.taken.add(f"unknown:{tool}")
    text = plot.client.unknown_tool.format(tool=tool)
    made = scribe.use(tool, {"subject": f"Work on {plot.names.mod}"}, text, CallEnd.FAILED)
    plot.distract(scribe, "environment-tool", made.result, made.step, Fault.ENVIRONMENT)
    if plot.rng.random() < 0.3:
        again = scribe.use(tool, {"subject": f"Test {plot.names.mod}"}, text, CallEnd.FAILED)
        plot.distract(scribe, "environment-tool", again.result, again.step, Fault.ENVIRONMENT)
    scribe.say("Going on without it.")


def transient(plot: Plot, scribe: Scribe) -> None:
    """What goes well when it is simply done again; or never does, which is not the agent's fault either."""
    one = _refused(plot, "transient", TRANSIENT)
    if one is None:
        return
    for _ in range(plot.rng.choices([1, 2], [80, 20])[0]):
        made = scribe.shell(one.command, one.out, one.code)
        plot.distract(
            scribe, f"transient-{one.kind}", made.result, made.step, Fault.TRANSIENT, Fault.ENVIRONMENT
        )
    if plot.rng.random() < 0.85:
        if plot.rng.random() < 0.6:
            scribe.say(
                plot.rng.choice(
                    [
                        "Trying once more.",
                        "A hiccup of the network; again.",
                        "I'll wait a moment and repeat it.",
                    ]
                )
            )
        scribe.shell(one.command, one.then)
    else:
        scribe.say("The service does not answer now; that can be done later.")


def expected(plot: Plot, scribe: Scribe) -> None:
    """A status other than 0 that is an answer."""
    one = _refused(plot, "expected", EXPECTED)
    if one is None:
        return
    scribe.say(
        plot.fill(
            plot.rng.choice(
                [
                    "Is the old name still used anywhere?",
                    "Let me compare.",
                    "Is it there?",
                    "Looking for leftovers of <func>.",
                ]
            )
        )
    )
    made = scribe.shell(one.command, one.out, one.code)
    plot.distract(scribe, f"expected-{one.kind}", made.line, made.step)
    scribe.say(plot.rng.choice(["As expected.", "Good, that is the answer I needed.", "Nothing, good."]))


_SINGLE = {
    "py": ("pytest <test> -k new_<func>", "FAILED <test>::test_new_<func> - NotImplementedError\n1 failed, 3 deselected", "1 passed, 3 deselected"),
    "ts": ("npx jest -t 'new <func>'", "● new <func>\n\n    TypeError: <func> is not a function\n\nTests: 1 failed, 1 total", "Tests: 1 passed, 1 total"),
    "go": ("go test ./... -run TestNew<func>", "--- FAIL: TestNew<func> (0.00s)\n    not implemented\nFAIL", "ok"),
    "rust": ("cargo test new_<func>", "test new_<func> ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed", "test result: ok. 1 passed; 0 failed"),
    "": ("make test-new-<mod>", "FAIL: new <func> is not there yet\nmake: *** [test-new] Error 1", "PASS: new <func>"),
}  # fmt: skip
_FIRST = (
    "Test first: it has to fail now, since nothing is implemented.", "I write the test before the code; it must be red at first.",
    "Red first, then green.", "The new test should fail until <func> exists.", "I'll add a failing test and then make it pass.",
)  # fmt: skip


def test_first(plot: Plot, scribe: Scribe) -> None:
    """A test that is written before the code."""
    if "test-first" in plot.taken:
        return
    plot.taken.add("test-first")
    command, red, green = map(plot.fill, _SINGLE.get(plot.stack.key, _SINGLE[""]))
    scribe.say(plot.fill(plot.rng.choice(_FIRST)))
    scribe.write(
        plot.names.test.replace(plot.names.mod, f"{plot.names.mod}_new"), f"test new {plot.names.func}"
    )
    made = scribe.shell(command, red, 1)
    plot.distract(scribe, "expected-red", made.result, made.step)
    scribe.say(
        plot.fill(
            plot.rng.choice(
                [
                    "It fails as it should. Now the code.",
                    "Red, as planned; now <func> itself.",
                    "Good, red. Implementing it.",
                ]
            )
        )
    )
    edit(plot, scribe)
    scribe.shell(command, green)


def cancel(plot: Plot, scribe: Scribe) -> None:
    """Three calls at once: the first fails, the others are cancelled."""
    failing = draw(plot)
    if failing is None:
        return
    calls = [
        scribe.shell_use(failing.command),
        *(scribe.shell_use(f"wc -l {plot.names.src}.{n}") for n in range(2)),
    ]
    made = scribe.shell_end(calls[0], failing.out, failing.code)
    sown = sow_puzzle(plot, scribe, failing.kind, made)
    for used in calls[1:]:
        if plot.rng.random() < 0.6:
            text, end = (
                f"Cancelled: parallel tool call {plot.client.shell[0]}({failing.command[:40]}…) errored",
                CallEnd.FAILED,
            )
        else:
            text, end = "<tool_use_error>Sibling tool call errored</tool_use_error>", CallEnd.INTERRUPTED
        gone = scribe.returned(used, text, end)
        plot.distract(scribe, "cancelled", gone.line, gone.step, Fault.CANCELLED)
    mend(plot, scribe, sown, failing)
