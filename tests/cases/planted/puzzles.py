"""Failures of the agent's own, told into a session, and how they are mended, at once, later or never."""

from __future__ import annotations

from dataclasses import replace

from crucible.cases.model import CaseType
from crucible.session.model import Failure
from crucible.transcript.events import CallEnd
from tests.cases.planted.failures import FAILURES, LONE, Failing
from tests.cases.planted.scribe import Made, Scribe
from tests.cases.planted.sowing import Plot, Sown
from tests.cases.planted.truth import Planted

__all__ = ["draw", "edit", "fail", "lone", "mend", "mend_later", "sow_puzzle", "tool_failure"]

_CAUSES = (
    "{why}",
    "I see: {why}",
    "The cause is clear. {why}",
    "That is mine to mend. {why}",
    "{why} Trying again after that.",
)
_GIVE_UP = (
    "I could not find the cause; I leave it as it is and go on.", "This stays as it is for now, I don't know why it happens.",
    "I can't solve this one. It remains open.", "No idea yet; somebody who knows <mod> should look at it.",
)  # fmt: skip
_CHECKS = ("Checking it.", "Running it.", "Let me see whether it holds.", "Now I'll run it.", "", "")
_UNCHECKED = (
    "That settles it; the rest of the checks run in CI.",
    "This is mended now.",
    "With that it is right; I don't run it again here.",
)
_EDITS = (
    ("return value", "return value or default"),
    ("limit = 1", "limit = 2"),
    ("TODO", "done"),
    ("a < b", "a <= b"),
)


def draw(plot: Plot) -> Failing | None:
    """A failure that this session's language knows and that was not told yet, with names put in."""
    fitting = [f for f in FAILURES if f.stacks in ("", plot.stack.key)]
    chosen = plot.pick("failing", fitting)
    return None if chosen is None else filled(plot, fitting[chosen])


def filled(plot: Plot, failing: Failing) -> Failing:
    """With names put into its texts."""
    fill = plot.fill
    return replace(
        failing,
        command=fill(failing.command),
        out=fill(failing.out),
        why=fill(failing.why),
        passes=fill(failing.passes),
        instead=fill(failing.instead),
    )


def edit(plot: Plot, scribe: Scribe, path: str = "") -> Made:
    """A change that goes well."""
    old, new = plot.rng.choice(_EDITS)
    return scribe.edit(
        path or plot.names.src, f"    {plot.names.func}: {old}", f"    {plot.names.func}: {new}"
    )


def sow_puzzle(plot: Plot, scribe: Scribe, kind: str, made: Made) -> Sown:
    """A puzzle that nobody has solved yet."""
    case = Planted(
        CaseType.PUZZLE,
        kind,
        "",
        (),
        (made.result, made.line),
        message=made.text,
        call=made.line,
        is_open=True,
        verified=False,
    )
    return plot.sow(scribe, case, made.step)


def fail(plot: Plot, scribe: Scribe, end: str = "") -> Sown | None:
    """A command fails, and the failure is mended at once, after several tries, by another command, or not at all.

    `end` is one of `mended`, `unchecked`, `open`, `left` (for a later phase) or at random one of the first three.
    """
    failing = draw(plot)
    if failing is None:
        return None
    rng = plot.rng
    if failing.kind == "reproduce":
        scribe.say(
            rng.choice(
                [
                    "Now I'll reproduce the failure.",
                    "First I reproduce what was reported.",
                    "Let me see it fail myself.",
                ]
            )
        )
    elif rng.random() < 0.6:
        scribe.say(rng.choice(_CHECKS) or "Let me try.")
    made = scribe.shell(failing.command, failing.out, failing.code)
    sown = sow_puzzle(plot, scribe, failing.kind, made)
    how = end or rng.choices(["mended", "unchecked", "open"], [74, 10, 16])[0]
    if how == "left":
        plot.dirty = True
        plot.open.append(sown)
        sown.failing = failing
        scribe.say(
            plot.fill(
                rng.choice(
                    ["That fails, and I don't see why yet.", "It does not work yet. Shall I go on with it?"]
                )
            )
        )
    elif how == "open":
        _leave(plot, scribe, sown)
    elif how == "unchecked" and not failing.instead:
        _explain(plot, scribe, sown, failing)
        changed = edit(plot, scribe)
        scribe.say(rng.choice(_UNCHECKED))
        sown.solved = (scribe, changed.step)
        sown.learn(is_open=False, verified=False, solution=failing.why)
        plot.dirty = plot.dirty or rng.random() < 0.5
    else:
        mend(plot, scribe, sown, failing)
    return sown


def _leave(plot: Plot, scribe: Scribe, sown: Sown) -> None:
    """Nobody mends it."""
    plot.dirty = True
    if plot.rng.random() < 0.35:
        text = f"{sown.case.call.partition(' ')[2][:60].strip()} fails and I could not mend it."
        sown.steps.append(scribe.told(Failure(text)))
        sown.learn(anchors=(*sown.case.anchors, text))
    else:
        scribe.say(plot.fill(plot.rng.choice(_GIVE_UP)))


def _explain(plot: Plot, scribe: Scribe, sown: Sown, failing: Failing) -> None:
    """The cause, in prose or as a callout, which is the same puzzle."""
    if plot.rng.random() < 0.25:
        text = failing.out.strip().split("\n")[-1].strip()[:200]
        sown.steps.append(scribe.told(Failure(text, failing.why)))
        sown.learn(anchors=(*sown.case.anchors, text))
    else:
        scribe.say(plot.rng.choice(_CAUSES).format(why=failing.why))


def mend(plot: Plot, scribe: Scribe, sown: Sown, failing: Failing) -> None:
    """It works in the end."""
    rng = plot.rng
    if failing.instead:
        scribe.say(failing.why)
        made = scribe.shell(failing.instead, failing.passes)
    else:
        for _ in range(rng.choices([0, 1, 2], [70, 20, 10])[0]):
            scribe.say(
                plot.fill(
                    rng.choice(
                        [
                            "Perhaps <func> is called too early.",
                            "My first guess is the <field>.",
                            "Let me try the other branch.",
                        ]
                    )
                )
            )
            if rng.random() < 0.7:
                edit(plot, scribe)
            again = scribe.shell(failing.command, failing.out, failing.code)
            sown.steps.append(again.step)
        _explain(plot, scribe, sown, failing)
        edit(plot, scribe)
        if rng.random() < 0.5:
            scribe.say(rng.choice(_CHECKS) or "Again.")
        made = scribe.shell(failing.command, failing.passes)
    sown.solved = (scribe, made.step)
    sown.learn(is_open=False, verified=True, solution=failing.why)


def mend_later(plot: Plot, scribe: Scribe, sown: Sown) -> None:
    """What was left in an earlier phase; perhaps it fails once more first."""
    failing = sown.failing
    assert failing is not None
    if plot.rng.random() < 0.4:
        again = scribe.shell(failing.command, failing.out, failing.code)
        sown.steps.append(again.step)
    mend(plot, scribe, sown, failing)
    plot.open.remove(sown)
    plot.dirty = False


def lone(plot: Plot, scribe: Scribe) -> None:
    """An `[!error]` that no failed call goes before."""
    chosen = plot.pick("lone", LONE)
    if chosen is None:
        return
    text, resolution = map(plot.fill, LONE[chosen])
    solved = plot.rng.random() < 0.75
    edit(plot, scribe)
    step = scribe.told(Failure(text, resolution if solved else None))
    case = Planted(
        CaseType.PUZZLE,
        "callout",
        "",
        (),
        (text,),
        message=text,
        is_open=not solved,
        verified=None,
        solution=resolution if solved else "",
    )
    sown = plot.sow(scribe, case, step)
    sown.solved = (scribe, step) if solved else None


def tool_failure(plot: Plot, scribe: Scribe) -> None:
    """A tool that was used wrongly, and then rightly: an edit that matches nothing, a file that is not there, bad arguments."""
    client, names = plot.client, plot.names
    kind = plot.rng.choice(["edit", "read", "schema"])
    if f"tool:{kind}" in plot.taken or (kind != "edit" and client.reader is None):
        return
    plot.taken.add(f"tool:{kind}")
    path = names.src.replace(names.mod, f"{names.mod}_{kind}")
    if kind == "edit":
        made = scribe.edit(path, f"def {names.func}():  # stale", "pass", fails=True)
        scribe.say("The file has other blanks than I remembered; I'll read it again.")
        scribe.read(path, f"def {names.func}(value):\n    return value")
        mended = scribe.edit(path, f"def {names.func}(value):", f"def {names.func}(value, *, strict=False):")
    else:
        assert client.reader is not None
        tool, key = client.reader
        given = {key: f"{scribe.cwd}/{path}"} if kind == "read" else {"wrong": path}
        said = (
            f"File not found: {scribe.cwd}/{path}"
            if kind == "read"
            else "Please rewrite the input so it satisfies the expected schema."
        )
        made = scribe.use(tool, given, said, CallEnd.FAILED)
        scribe.say("It lies elsewhere." if kind == "read" else "The argument has another name.")
        mended = scribe.read(names.src if kind == "read" else path, "one\ntwo\nthree")
    sown = sow_puzzle(plot, scribe, f"tool-{kind}", made)
    sown.solved = (scribe, mended.step)
    sown.learn(is_open=False, verified=None)
