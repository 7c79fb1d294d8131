"""Accounts of a session: one line per thing that happened, from the scenario as played and from the note.

`played` reads only the scenario and the model's log, not the client's files; `told` reads the note with `crucible`.
Both give the same lines if nothing is missing, duplicated or misplaced:

    phase
    prompt | Fix the retry bug
    says | I'll look at the project first.
    ok | Bash ls && cat app.py
    failed | Bash python3 app.py --fail
    subagent | Find how retries are done here
    compacted
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crucible.clients.log_values import as_list
from crucible.documents.session.session import Callout, Entry, Intervention, Prose, Session, Subagent, ToolCalls
from tests.clients.model import MAIN, Compacted, Heard, Said, ScriptedModel
from tests.clients.wires import Called

SHOWN_AT_MOST = 199


@dataclass(frozen=True)
class Tokens:
    used: int
    cached: int


# --- as it was played ------------------------------------------------------------------------------------------------


def played(model: ScriptedModel, agent: str = MAIN) -> list[str]:
    """The account of one conversation, by the model's log."""
    lines = [] if agent == MAIN else ["phase"]
    for event in model.log:
        match event:
            case Said(agent=speaker, answer=answer) if speaker == agent:
                lines.append(f"says | {answer.text}")
                lines += _unmerged_calls(model, answer.calls)
            case Heard(words=words, steering=steering) if agent == MAIN:
                lines += ([] if steering else ["phase"]) + [f"prompt | {words}"]
            case Compacted() if agent == MAIN:
                lines.append("compacted")
            case _:
                continue
    return _merged(lines)


def _unmerged_calls(model: ScriptedModel, calls: Iterable[Called]) -> Iterator[str]:
    for call in calls:
        if call.action.kind == "delegate":
            yield f"subagent | {call.action.given['task']}"
        else:
            _, failed = model.results.get(call.id, ("", None))
            assert failed is None or failed == call.action.fails, f"{call}: not as the scenario has it"
            yield f"{call.action.ends or ('failed' if call.action.fails else 'ok')} | {_shown(call)}"


def _shown(call: Called) -> str:
    """The tool and what a person would look for, in one line."""
    given: Mapping[str, object] = call.given
    shown = next(
        (str(given[key]) for key in ("command", "cmd") if key in given),
        "; ".join(map(str, as_list(given.get("commands")))),
    )
    if any(key in given for key in ("file_path", "filePath", "path", "files")):
        shown = call.action.given if call.action.kind == "read" else call.action.given["path"]
    if call.action.kind == "call":
        shown = call.action.given["shown"]
    if call.action.kind == "wait":
        shown = _waited_for(call.given["targets"])
    text = f"{call.name} {shown}".strip()
    text = re.sub(r"[ \t]*\n[ \t]*", "⏎", text)
    return text if len(text) <= SHOWN_AT_MOST + 1 else text[:SHOWN_AT_MOST] + "…"


def _waited_for(agents: Sequence[str]) -> str:
    """One by the end of its number, several by their count."""
    return f"{len(agents)} agents" if len(agents) > 1 else agents[0].rpartition("-")[2]


def tasks_played(model: ScriptedModel) -> list[tuple[str, str]]:
    """The tasks and how far they are, by the calls that made and moved them."""
    tasks: list[list[str]] = []
    for call in (c for e in model.log if isinstance(e, Said) for c in e.answer.calls):
        match call.name, call.given:
            case "TaskCreate", {"subject": subject}:
                tasks.append([subject, "pending"])
            case "TaskUpdate", {"taskId": number, "status": status}:
                tasks[int(number) - 1][1] = status
            case "todowrite", {"todos": todos}:
                tasks = [[todo["content"], todo["status"]] for todo in todos]
    return [(content, status) for content, status in tasks]


def tokens_played(model: ScriptedModel, agent: str = MAIN) -> Tokens:
    """The sum over the answers of one conversation; titles and summaries are not in any transcript."""
    answers = {e.answer.id: e.answer.usage for e in model.log if isinstance(e, Said) and e.agent == agent}
    return Tokens(sum(u.fresh + u.said for u in answers.values()), sum(u.cached for u in answers.values()))


# --- from the note ---------------------------------------------------------------------------------------------------


def told(session: Session, tasks: Mapping[str, str]) -> list[str]:
    """Return the account of a note; `tasks` has the task of each subagent, by its note."""
    lines = []
    for phase in session.phases:
        lines.append("phase")
        for entry in phase.all_entries():
            lines += _entry(entry, tasks)
    return _merged(lines)


def _entry(entry: Entry, tasks: Mapping[str, str]) -> list[str]:
    match entry:
        case Prose(text=text):
            return [f"says | {text}"]
        case ToolCalls(calls=calls):
            return [f"{call.outcome} | {call.call}" for call in calls]
        case Intervention(words=words):
            return [f"prompt | {words}"]
        case Subagent(link=link):
            return [f"subagent | {tasks.get(link or '', link)}"]
        case Callout(title="Compacted"):
            return ["compacted"]
        case Callout(title="Interrupted"):
            return ["stopped"]
    return [f"{type(entry).__name__} | {entry}"]


def tokens_told(session: Session) -> Tokens:
    return Tokens(session.tokens_used or 0, session.tokens_cached or 0)


def task_of(session: Session) -> str:
    """Return a subagent's task: the first words of its note or its first prompt, without the marker."""
    words = [e.text for e in session.preamble if isinstance(e, Prose)]
    words += [e.words for e in session.all_entries() if isinstance(e, Intervention)]
    return words[0].partition("] ")[2] if words else f"no task in {session.id}"


# --- both ------------------------------------------------------------------------------------------------------------


def _merged(lines: Iterable[str]) -> list[str]:
    """What is said twice in a row is one prose."""
    merged: list[str] = []
    for line in lines:
        if line.startswith("says | ") and merged and merged[-1].startswith("says | "):
            merged[-1] += "\n\n" + line[7:]
        else:
            merged.append(line)
    return merged


def compare(expected: list[str], found: list[str], what: str) -> None:
    """Fail with a diff."""
    if expected != found:
        diff = difflib.unified_diff(expected, found, "played", "told", lineterm="", n=2)
        raise AssertionError(f"{what}:\n" + "\n".join(diff))
