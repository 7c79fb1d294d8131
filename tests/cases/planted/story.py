"""A whole session: its phases, what is worked in them, whom work is given to, and how it ends."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from crucible.cases.model import CaseType, Fault
from crucible.session.model import Mode
from crucible.transcript.events import CallEnd, Prompted, PromptKind, TaskState
from tests.cases.planted import mishaps, people, puzzles
from tests.cases.planted.refusals import FAULTED
from tests.cases.planted.sayings import GOALS
from tests.cases.planted.scribe import Scribe
from tests.cases.planted.sowing import Child, Plot
from tests.cases.planted.truth import Generated, Planted

__all__ = ["generate", "generate_many"]

_LOOKS = (
    "I'll look at <mod> first.",
    "Let me read <func>.",
    "First the callers of <func>.",
    "Let me see what is there.",
    "Reading the tests.",
)
_CHANGES = (
    "Changing <func>.",
    "Now the code.",
    "That goes into <mod>.",
    "A small change in <src>.",
    "Writing it.",
    "",
)
_ENDS = (
    "All done: <func> does what was asked.", "Done, no errors.", "That is all; <mod> is ready for review.", "Finished. The change is in <src>.",
    "<func> is written and checked.", "Done. Tell me if you want anything else.",
)  # fmt: skip
_TASKS = (
    ("Find every caller of <func>", "List all places that call <func> and say which pass a <field>.", "Three places call it, one without a <field>. Summary: three callers, one passes no <field>.", "As the subagent found, one of the three callers passes no <field>, so that one changes."),
    ("Check whether <field> can be empty", "Look through the fixtures and the schema: can <field> be empty?", "The schema allows it and two fixtures have it. Summary: <field> may be empty.", "Since <field> may be empty, as the report says, the default comes first."),
    ("Compare two libraries for <mod>", "Which of the usual libraries fits <mod> best? Report size, licence, upkeep.", "Both are kept well, the smaller one has no dates. Summary: take the larger one, it knows dates.", "Following the recommendation, <mod> takes the larger one that knows dates."),
    ("Review <src>", "Review <src> for races and leaks. Do not change anything.", "One finding: the lock is taken after the check. No errors otherwise. Summary: take the lock before the check.", "The review is right that the lock comes too late; taking it before the check."),
    ("Read the changelog of the new version", "What changes for <mod> in the new version?", "One breaking change: <func> takes keyword arguments only. Summary: call <func> with keywords.", "So, per the report, all calls of <func> get keywords."),
    ("Measure <func>", "Time <func> with <n> rows and tell where it spends its time.", "Nine tenths go into parsing dates. Summary: cache the parsed dates.", "The measurement says that dates cost most, so parsed dates are cached now."),
    ("Look for similar code", "Is there code like <func> elsewhere in the project?", "src/legacy has a copy that differs in rounding. Summary: a copy in src/legacy rounds down.", "With the copy in src/legacy in mind, both now call one function that rounds down."),
    ("Write fixtures for <mod>", "Write three fixtures for <mod> with odd <field>s.", "Wrote three fixtures: empty, very long, with blanks. Summary: three fixtures in tests/fixtures.", "The three fixtures of the subagent go into the test."),
)  # fmt: skip
_UNUSED = (
    "The report does not help with this; I look for myself.", "That answers another question, so I leave it aside.", "I won't follow that suggestion: it would change the interface.",
)  # fmt: skip


def generate(rng: random.Random) -> Generated:
    """One session with its subagents, whole events and truth; the same for the same state of `rng`."""
    plot = Plot(rng)
    goal = plot.fill(rng.choice(GOALS))
    plot.begin(goal)
    plot.trunk.prompt(goal)
    if rng.random() < 0.12:
        _plan(plot)
    _work(plot, _beats(rng, rng.randrange(2, 6)))
    _end_phase(plot)
    for _ in range(rng.choices([0, 1, 2, 3], [25, 40, 25, 10])[0]):
        _next_phase(plot)
    return plot.finish(has_flight=rng.random() < 0.8)


def generate_many(seed: int, count: int) -> Iterator[Generated]:
    """`count` sessions; a longer run begins with the same ones."""
    for number in range(count):
        yield generate(random.Random(f"{seed}:{number}"))


# --- phases ----------------------------------------------------------------------------------------------------------


def _next_phase(plot: Plot) -> None:
    """What opens it, what is worked, how it ends."""
    rng = plot.rng
    if plot.open:
        plot.distract(
            plot.trunk,
            "follow-up",
            "Please have another look at it.",
            plot.trunk.prompt("Please have another look at it."),
        )
        puzzles.mend_later(plot, plot.trunk, plot.open[0])
    else:
        opening = rng.choices(
            ["correct", "follow", "interrupt", "refuse", "ask", "fault"], [34, 36, 10, 6, 9, 5]
        )[0]
        openings: dict[str, Callable[[Plot], bool]] = {
            "correct": people.correct, "interrupt": people.interrupt, "refuse": people.refuse_and_say, "ask": people.ask, "fault": _fault,
        }  # fmt: skip
        if opening == "follow" or not openings[opening](plot):
            people.follow_up(plot)
    _work(plot, _beats(rng, rng.randrange(0, 3)))
    _end_phase(plot)


def _end_phase(plot: Plot) -> None:
    if not plot.open and plot.rng.random() < 0.12:
        puzzles.fail(plot, plot.trunk, "left")
    elif plot.rng.random() < 0.8:
        plot.trunk.say(plot.fill(plot.rng.choice(_ENDS)))
    plot.trunk.answered()


def _fault(plot: Plot) -> bool:
    """The client's service fails in the middle of a turn, and the user sends it on."""
    plot.trunk.prompt(plot.fill("Also look at <test>, please."))
    plot.trunk.say("Looking.")
    text = plot.rng.choice(FAULTED)
    plot.distract(
        plot.trunk, "client-fault", text, plot.trunk.faulted(text), Fault.TRANSIENT, Fault.ENVIRONMENT
    )
    plot.trunk.prompt("continue")
    return True


def _plan(plot: Plot) -> None:
    """A task list, whose first task makes a sub-phase."""
    contents = [plot.fill(text) for text in ("Change <func>", "Test <func>")]
    states = [TaskState("1", contents[0], "in_progress"), TaskState("2", contents[1])]
    plot.trunk.say("I'll plan the work as tasks.")
    if plot.client.name == "claude-code":
        todos = [{"content": s.content, "status": s.status, "activeForm": s.content} for s in states]
        plot.trunk.use("TodoWrite", {"todos": todos}, "Todos have been modified successfully.")
    plot.trunk.tasks(states)


# --- work ------------------------------------------------------------------------------------------------------------

_Beat = Callable[[Plot], None]


def _beats(rng: random.Random, count: int) -> list[str]:
    names = (*_BEATS,)
    return rng.choices(names, [_WEIGHTS[name] for name in names], k=count)


def _work(plot: Plot, beats: list[str]) -> None:
    for name in beats:
        _BEATS[name](plot)


def _look(plot: Plot) -> None:
    plot.trunk.say(plot.fill(plot.rng.choice(_LOOKS)))
    if plot.rng.random() < 0.6:
        plot.trunk.read(plot.names.src, "\n".join(f"line {n}" for n in range(plot.names.n)))
    else:
        plot.trunk.shell("git status --short", f" M {plot.names.src}")


def _change(plot: Plot) -> None:
    said = plot.fill(plot.rng.choice(_CHANGES))
    if said:
        plot.trunk.say(said)
    if plot.rng.random() < 0.3:
        plot.trunk.write(plot.names.src.replace(plot.names.mod, f"{plot.names.mod}_parts"), "one\ntwo\nthree")
    else:
        puzzles.edit(plot, plot.trunk)


def _fail(plot: Plot) -> None:
    puzzles.fail(plot, plot.trunk)


def _on_trunk(beat: Callable[[Plot, Scribe], object]) -> _Beat:
    def on_trunk(plot: Plot) -> None:
        beat(plot, plot.trunk)

    return on_trunk


_WEIGHTS = {
    "look": 16, "change": 14, "fail": 17, "tool": 4, "lone": 2, "cancel": 2, "environment": 5, "unknown": 2, "transient": 4,
    "expected": 4, "test-first": 3, "decide": 13, "sound": 8, "steer": 4, "refuse": 3, "delegate": 11,
}  # fmt: skip


def _cancel(plot: Plot) -> None:
    if plot.client.name == "claude-code":
        mishaps.cancel(plot, plot.trunk)


# --- delegation ------------------------------------------------------------------------------------------------------


def _delegate(plot: Plot) -> None:
    """Work that is given away, what a subagent did with it, and what its parent made of that."""
    chosen = plot.pick("task", _TASKS)
    if chosen is None:
        return
    title, task, report, use = map(plot.fill, _TASKS[chosen])
    trunk, rng = plot.trunk, plot.rng
    child = plot.child(title, rng.choice(plot.client.kinds))
    trunk.say(
        rng.choice(
            [
                "I'll delegate that.",
                f"A subagent can do this: {title[:1].lower()}{title[1:]}.",
                "This goes to a subagent.",
                "",
            ]
        )
        or "One question first."
    )
    step, call = trunk.hand_out(title, task, child.scribe.kind, child.scribe.agent)
    fate = rng.choices(["used", "unused", "failed", "silent", "mended"], [50, 18, 10, 10, 12])[0]
    if fate == "mended" and plot.mode is Mode.INLINE:
        fate = "used"
    finding = _child_works(plot, child, task, report, fate)
    if fate == "failed":
        trunk.take_back(call, child.scribe.agent, "API Error: Connection error.", CallEnd.FAILED)
    else:
        trunk.take_back(call, child.scribe.agent, finding)
    _sow_delegation(plot, child, step, task, finding, fate)
    if fate == "used":
        trunk.say(use)
        puzzles.edit(plot, trunk)
    elif fate in ("unused", "failed"):
        trunk.say(
            rng.choice(_UNUSED) if fate == "unused" else "The subagent came to nothing, so I do it myself."
        )
        trunk.read(plot.names.src, "one\ntwo\nthree")
    elif fate == "mended":
        _mend_for(plot)


def _sow_delegation(plot: Plot, child: Child, step: int, task: str, finding: str, fate: str) -> None:
    used = {"used": True, "mended": True, "unused": False, "failed": False}.get(fate)
    link = () if plot.mode is Mode.INLINE else (child.id,)
    summary = () if fate == "failed" else (finding.rpartition("Summary: ")[2],)
    case = Planted(CaseType.DELEGATION, f"{plot.mode}-{fate}", "", (), (*link, task, *summary), used=used)
    plot.sow(plot.trunk, case, step)


def _child_works(plot: Plot, child: Child, task: str, report: str, fate: str) -> str:
    """What happens in the subagent's note; the report."""
    scribe, rng = child.scribe, plot.rng
    scribe.now = plot.trunk.now
    scribe.add(Prompted(scribe.at(), task, PromptKind.TASK))
    scribe.say(rng.choice(["Looking at the code.", "Starting.", "Searching."]))
    scribe.read(plot.names.src, "one\ntwo\nthree")
    has_note = child.mode is not Mode.INLINE
    if fate == "mended":
        sown = puzzles.fail(plot, scribe, "left")
        if sown and sown.failing:
            report = f"I ran it and it fails. Summary: one failure, {sown.failing.why[:1].lower()}{sown.failing.why[1:]}"
    elif has_note and rng.random() < 0.2:
        puzzles.fail(plot, scribe, "mended")
    elif has_note and rng.random() < 0.1:
        mishaps.expected(plot, scribe)
    if fate == "failed":
        return ""
    scribe.say(report)
    scribe.answered()
    plot.trunk.now = scribe.now
    return report


def _mend_for(plot: Plot) -> None:
    """The parent mends what its subagent saw fail: the puzzle is the subagent's."""
    if not plot.open:
        return
    sown = plot.open.pop()
    plot.dirty = bool(plot.open)
    assert sown.failing is not None
    failing = sown.failing
    plot.trunk.say(f"The run of the subagent failed: {failing.why}")
    puzzles.edit(plot, plot.trunk)
    made = plot.trunk.shell(failing.instead or failing.command, failing.passes)
    sown.solved = (plot.trunk, made.step)
    sown.learn(is_open=False, verified=True, solution=failing.why)


_BEATS: dict[str, _Beat] = {
    "look": _look, "change": _change, "fail": _fail, "tool": _on_trunk(puzzles.tool_failure), "lone": _on_trunk(puzzles.lone),
    "cancel": _cancel, "environment": _on_trunk(mishaps.environment), "unknown": _on_trunk(mishaps.unknown_tool),
    "transient": _on_trunk(mishaps.transient), "expected": _on_trunk(mishaps.expected), "test-first": _on_trunk(mishaps.test_first),
    "decide": _on_trunk(people.decide), "sound": _on_trunk(people.sound), "steer": people.steer, "refuse": people.refuse, "delegate": _delegate,
}  # fmt: skip
