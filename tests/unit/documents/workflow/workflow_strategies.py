"""Workflows in the normal form in which a note keeps them, with hostile text wherever foreign text may stand.

Owns what is drawn; what must hold is said where it is used.  A workflow is drawn as a seed and a number of steps: that is fifty times
faster than a draw for every piece, and still shrinks to few steps.  `random_workflow` is the same without Hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random

from hypothesis import strategies as st

from crucible.documents.markdown.code_spans import code_span
from crucible.documents.markdown.containment import contain_line, normal_line, slug
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.workflow import Cell, Condition, Datum, Flow, Grade, Marker, Step, Workflow
from crucible.documents.workflow.workflow_markup import phase_name
from samples.hostile_texts import BLOCKS, INLINE

NAMES = (
    "Load Data", "Re-run Integration Tests", "Summary", "Notes", "Workflow", "workflow graph", "Workflow summary", "\\Summary",
    "What next?", "Ship it !", "!", "?", "\\!", "@dev", "Ask @dev", "a #dev", "#12", "C#", "C #", "#", "Goals", "Validation", "&Build",
    "& Build", "Build (parallel)", "Build (PARALLEL)", "x -> y", "Parse -> config @dev", "Parse → config", "[a:: b]", "A [type:: gate]",
    "[[x::y]]", "Step [k:: v] -> out #", "If x → y", "proceed to Load Data", "Otherwise", "report", "Café İ ß", "...", "> [!gate]", "- x",
    "1. x", "Fix `a::b` @x", "`code`", "a\u2003@b", "x\u2028## y", "Untitled", "---", "limiter.py",
)  # fmt: skip
"""Names that some reader takes for something else, among tidy ones."""

_DATA = (
    "limiter.py", "test_results", "report", "src/a-b.py", "a.b", "a_b", "A.B", "raw data", "the x.csv", "x→y", "a,b", "1", "otherwise",
    "creates:", "é", "n::m", "`q`", "**x**", "-", "a.", "Reads", "Load Data", "takes x",
)  # fmt: skip
_TYPES = (None, None, None, "Python", "Report[]", "Map<K,V>", "TestReport")
_CONDITIONS = (
    "tests fail",
    "`pytest -q`",
    "the count is > 3",
    "x == 1",
    "it works on `main` and elsewhere",
    "",
    "",
)
_BLOCKS = (
    "A sentence of a human.", "Two lines:\nwe go from a -> b today.", "```python\n## no step\na → b\n```", "> [!note]\n> x → y",
    "> [!gate]\n> Ask first.", "| a | b |\n|---|---|\n| x → y | z |", "<!-- c → d -->", "1. Do this.\n2. Then that.",
    "````md\n```\n## no step\n```\n````", "- [ ] open\n- [x] done", "Underlined\n==========",
)  # fmt: skip
_LABELS = ("Decided", "Constraint", "Learned")
_COLUMNS = (
    "agent",
    "channel",
    "input",
    "output",
    "duration_ms",
    "tokens_used",
    "session",
    "started",
    "amount usd",
    "é",
    "2nd",
    "a,b",
)
_WORDS = (
    "",
    "null",
    "true",
    "007",
    "1e5",
    "-",
    " x ",
    "a,b",
    'say "x"',
    "[1]",
    "ok: yes",
    "\\",
    "2026-01-02T03:04:05Z",
    "a\nb",
)


def random_line(random: Random) -> str:
    """One hostile line in its normal form, perhaps empty."""
    start = random.choice(BLOCKS) if random.random() < 0.4 else ""
    return normal_line(start + "".join(random.choices(INLINE, k=random.randrange(5))))


def random_name(random: Random) -> str:
    """A step's name."""
    return random.choice(NAMES) if random.random() < 0.5 else random_line(random) or "Untitled"


def _agent(random: Random) -> AgentRef | None:
    if random.random() < 0.5:
        return None
    names = ("claude-code", "order-api", "gpt-5.1", "a/b", "é", "_x", "9lives", random_line(random))
    version = slug(random.choice(("2.1", "1.0", "é", "x y")), "version") if random.random() < 0.4 else None
    name = slug(random.choice(names), "agent")
    return AgentRef(name, version) if name else None


def _item(random: Random) -> str:
    text = random_line(random) or "nothing"
    kind = random.randrange(5)
    if kind == 0:
        return f'- Asked: "{contain_line(text)}"'
    if kind == 1:
        return f"- Check: {code_span(text)}"
    return f"- {random.choice(_LABELS)}: {contain_line(text)}"


def _prose(random: Random) -> str:
    blocks = ["\n".join(_item(random) for _ in range(random.randrange(4)))]
    blocks += random.sample(_BLOCKS, random.choice((0, 0, 0, 1, 2)))
    return "\n\n".join(filter(None, blocks))


def _datum(random: Random) -> Datum:
    name = random.choice(_DATA) if random.random() < 0.9 else random_line(random) or "x"
    return Datum(name, random.choice(_TYPES))


def _stage(random: Random) -> tuple[Datum, ...]:
    data = [_datum(random) for _ in range(random.choice((1, 1, 1, 2, 3, 5)))]
    return tuple({datum.name.casefold(): datum for datum in data}.values())


def _flow(random: Random, names: list[str]) -> Flow:
    kind = random.randrange(6)
    target = random.choice(names)
    condition = Condition(random.choice(_CONDITIONS))
    if kind == 0:
        return Flow(condition=condition, target=target)
    if kind == 1:
        return Flow((_stage(random)[:1],), condition)
    if kind == 2:
        return Flow((_stage(random),) if random.random() < 0.5 else (), None, target)
    return Flow(tuple(_stage(random) for _ in range(random.choice((2, 2, 2, 3)))))


def _cell(random: Random) -> Cell:
    choices: tuple[Callable[[], Cell], ...] = (
        lambda: random.choice(_WORDS),
        lambda: random_line(random),
        lambda: random.randrange(-10, 10**7),
        lambda: random.choice((1.5, 0.1, -2.25, 10**20)),
        lambda: random.choice((True, False, None)),
    )
    return random.choice(choices)()


def random_rows(random: Random, name: str, at_most: int = 3) -> list[dict[str, Cell]]:
    """Marker rows of a step, all with the same columns."""
    columns = random.sample(_COLUMNS, random.randrange(6))
    statuses = ("success", "success", "failed", "skipped", "timeout", "odd")
    return [
        {
            "phase": phase_name(name),
            **{column: _cell(random) for column in columns},
            "status": random.choice(statuses),
        }
        for _ in range(random.randrange(at_most + 1))
    ]


def random_workflow(seed: int, steps: int = 6) -> Workflow:
    """A workflow of that many steps, nested down to the sixth level of headings."""
    random = Random(seed)
    names = [random_name(random) for _ in range(steps)]
    flat = [_step(random, name, names) for name in names]
    depths = [0]
    while len(depths) < steps:
        depths.append(random.randint(0, min(depths[-1] + 1, 4)))
    return Workflow(
        title=random_name(random),
        sessions=tuple(f"2026-01-0{n}-s" for n in range(1, random.randrange(1, 4))),
        preamble=random.choice(("", "", "Made of a session.", "- [ ] open\n- [x] done", _prose(random))),
        steps=_nested(flat, depths[:steps]),
    )


def _step(random: Random, name: str, names: list[str]) -> Step:
    channel = slug(random.choice(("dev", "a/b", "7", "é")), "channel") if random.random() < 0.4 else None
    flows = tuple(_flow(random, names) for _ in range(random.choice((0, 1, 1, 2, 3))))
    markers = tuple(Marker(values) for values in random_rows(random, name))
    grade = random.choice((Grade.PLAIN, Grade.PLAIN, *Grade))
    return Step(name, _agent(random), channel, grade, _prose(random), flows, markers)


def _nested(flat: list[Step], depths: list[int]) -> tuple[Step, ...]:
    """The steps as a tree; from the last to the first, so that each one's children are known."""
    below: dict[int, list[Step]] = {}
    for step, depth in zip(reversed(flat), reversed(depths), strict=True):
        below.setdefault(depth, []).insert(0, replace(step, children=tuple(below.pop(depth + 1, ()))))
    return tuple(below.get(0, ()))


@cache
def workflows(at_most: int = 7) -> st.SearchStrategy[Workflow]:
    """Workflows of up to so many steps."""
    return st.builds(random_workflow, st.integers(0, 2**48), st.integers(0, at_most))


@cache
def rows() -> st.SearchStrategy[list[dict[str, Cell]]]:
    """At least one row for the step called `Load Data`."""
    return st.integers(0, 2**48).map(lambda seed: random_rows(Random(seed), "Load Data")).filter(bool)
