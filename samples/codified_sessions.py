"""Sessions built in memory for tests of codifying: by hand in few words, and drawn at random with work in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from crucible.commands.codify.codify_sessions import RecordedSession, codify
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Mode,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.workflow.graph import Graph, build_graph
from crucible.documents.workflow.graph_diagrams import render_mermaid
from crucible.documents.workflow.workflow import Diagnostic, Step, Workflow
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.documents.workflow.workflow_markup import render_workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from samples.hostile_texts import BLOCKS, INLINE

AGENT = AgentRef("claude-code", "2.1.197")
START = datetime(2026, 11, 21, 20, tzinfo=UTC)


def calls(*lines: str, outcome: Outcome = Outcome.OK, result: str = "") -> ToolCalls:
    """One list of calls that ended alike."""
    return ToolCalls(tuple(ToolCall(line, result, outcome) for line in lines))


def failed(line: str, result: str = "") -> ToolCalls:
    return calls(line, outcome=Outcome.FAILED, result=result)


def phase(name: str, *entries: Entry, subphases: Iterable[Phase] = ()) -> Phase:
    return Phase(name, AGENT, None, START, START + timedelta(seconds=90), 100, entries, tuple(subphases))


def session(*phases: Phase, name: str = "one", **more: object) -> Session:
    numbered = (_numbered(one, f"phase-{at}") for at, one in enumerate(phases, 1))
    return Session(id=name, title="A session", started=START, phases=tuple(numbered), **more)  # type: ignore[arg-type]


def _numbered(one: Phase, name: str) -> Phase:
    below = (_numbered(sub, f"{name}.{at}") for at, sub in enumerate(one.subphases, 1))
    return replace(one, id=name, subphases=tuple(below))


def corrected(one: Session, *words: str) -> Session:
    """The session with findings that these words of the user's are corrections."""
    found = (FindingItem("correction", f'"{text}"', grounds=Grounds("rejected call", 0.98)) for text in words)
    return replace(one, findings=tuple(found))


def inline(task: str, *entries: Entry) -> Subagent:
    return Subagent(AgentRef("helper"), None, Mode.INLINE, None, "", None, task, entries)


def linked(link: str) -> Subagent:
    return Subagent(AgentRef("helper"), None, Mode.LINK, link)


def no_secrets(text: str) -> tuple[str, Mapping[str, int]]:
    return text, {}


def codify_one(one: Session, children: Mapping[str, Session | None] | None = None) -> Workflow:
    return codify([RecordedSession(one, children or {})], no_secrets)


def written(workflow: Workflow) -> str:
    """The whole note, its drawing included."""
    return render_workflow(workflow, render_mermaid(build_graph(workflow)))


def read_back(text: str) -> tuple[Workflow, Graph, tuple[Diagnostic, ...]]:
    found = read_workflow(Source(text), "flow")
    graph = build_graph(found)
    return found, graph, check_workflow(found, graph)


def tree(workflow: Workflow) -> list[object]:
    """Names, one list for each level."""

    def told(step: Step) -> object:
        return [step.name, *map(told, step.children)] if step.children else step.name

    return [told(step) for step in workflow.steps]


def step_called(workflow: Workflow, name: str) -> Step:
    (found,) = (step for step in workflow.walk() if step.name == name)
    return found


def flow_of(step: Step) -> str:
    """`a, b → c`, types left out."""
    sides = [", ".join(datum.name for datum in side) for side in (step.inputs(), step.outputs())]
    return " → ".join(sides)


# --- at random -------------------------------------------------------------------------------------------------------

_PATHS = (
    "app.py", "src/app.py", "tests/test_app.py", "README.md", "a b.txt", "request", "Otherwise", "summary", "x->y.md", "List[int].py",
    "/home/me/shop/src/app.py", "../up.py", "A.PY", "write app.py", "test_results", "é.py", "a,b.py", "`tick`.py", "app.py.", "notes;",
)  # fmt: skip
_LINES = (
    "Write {}", "Edit {}", "Read {}", "write {}", "edit {}", "Bash cat {}", "Bash python3 {}", "Bash rm {}", "Bash mv {} z.py",
    "Bash cat > {} <<'END'⏎import app⏎END", "Bash sed -i 's/a/b/' {}", "Bash pytest {}", "Bash ruff check . && mypy {}", "Bash make",
    "exec_command ls && cat {}", "apply_patch {}", "Grep x {}", "WebFetch https://x.y/{}", "TaskCreate {}", "mcp__db__query {}",
)  # fmt: skip
_SAID = (
    "No, {}", "Don't use {}", "Add {}", "continue", "It must be {}, not this", "thanks!", "What is {}?", "If {} → proceed to app.py",
    "{} -> {}", "I chose {} because it is {}.", "Summary", "Workflow {}", "!", "## {}",
)  # fmt: skip


class Work:
    """Random sessions that read, write, test and hand out work, with children by id in `children`."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.children: dict[str, Session | None] = {}

    def session(self, depth: int = 2) -> Session:
        number = len(self.children)
        found = session(
            *(self._phase(depth) for _ in range(self._random.randrange(5))),
            name=f"s{number}",
            tasks=(Task("1", "app.py"),),
            preamble=(Prose(self._said()),) if self._random.random() < 0.5 else (),
        )
        self.children[found.id] = found if self._random.random() < 0.9 else None
        return found

    def _phase(self, depth: int, *, below: bool = True) -> Phase:
        subs = [self._phase(depth, below=False) for _ in range(self._random.choice((0, 0, 1, 2)))] if below else []
        entries = tuple(self._entry(depth) for _ in range(self._random.randrange(7)))
        return phase(self._said() or "Untitled", *entries, subphases=subs)

    def _entry(self, depth: int) -> Entry:
        chance = self._random.random()
        if chance < 0.5:
            lines = [
                self._random.choice(_LINES).replace("{}", self._path()) for _ in range(self._random.randrange(1, 4))
            ]
            return ToolCalls(tuple(ToolCall(line, "ok", self._random.choice(list(Outcome))) for line in lines))
        if chance < 0.65 and depth:
            return self._subagent(depth)
        draws = (
            Prose(self._said()),
            Intervention(self._said()),
            Decision(self._said(), self._said()),
            Failure(self._said()),
        )
        return self._random.choice(draws)

    def _subagent(self, depth: int) -> Subagent:
        chance = self._random.random()
        if chance < 0.4:
            return inline(self._said(), *(self._entry(depth - 1) for _ in range(3)))
        known = [*self.children, "nowhere", "s0"]
        return linked(self._random.choice(known) if chance < 0.6 else self.session(depth - 1).id)

    def _path(self) -> str:
        return self._random.choice(_PATHS) if self._random.random() < 0.9 else self._hostile()

    def _said(self) -> str:
        return self._random.choice(_SAID).replace("{}", self._random.choice((self._path(), self._hostile())))

    def _hostile(self) -> str:
        return (self._random.choice(BLOCKS) + "".join(self._random.choices(INLINE, k=2))).replace("\n", " ")
