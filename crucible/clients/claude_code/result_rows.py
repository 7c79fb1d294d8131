"""Tool results in Claude Code's rows, paired with their calls: questions, plans, tasks, subagents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from crucible.clients.claude_code.call_results import (
    TASK_TOOLS,
    call_end,
    content_text,
    details,
    is_moved,
    peel_agent_tail,
    restored,
    task_events,
)
from crucible.clients.claude_code.state import OpenCall, Result, State
from crucible.clients.events import (
    At,
    CallEnd,
    Choice,
    PlanSettled,
    QuestionsAnswered,
    SubagentReturned,
    SubagentStarted,
    ToolReturned,
)
from crucible.clients.log_values import Row, as_dict, as_list, as_str, count, text_in_tag
from crucible.core.file_stamps import digest_of

ASKING_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})
_NOTES_ONLY = "(notes only)"
"""The client's answer if the user only wrote a note."""
_MOST = 100
"""Maximum number of questions, or of options per question, to search for in text; the client asks up to four."""
_PLAN_HEADS = ("\n## Approved Plan", "\nRejected plan")


# --- questions -------------------------------------------------------------------------------------------------------


def answered(result: Result, arguments: Mapping[str, Any]) -> QuestionsAnswered | None:
    """Return the questions of a call with their answers; None if they are unknown or were never shown to the user."""
    given, text, end = as_dict(result.raw), result.text, result.end
    questions = list(_questions(given.get("questions"))) or list(_questions(arguments.get("questions")))
    if not questions or end is CallEnd.FAILED:
        return None
    asked = [as_str(question["question"]) for question in questions]
    if "answers" in given:
        answers = dict(zip(asked, (_structured(given, each) for each in asked), strict=True))
    else:
        answers = listed_answers(text, asked) if end is CallEnd.REJECTED else _quoted_answers(text, asked)
    return QuestionsAnswered(
        result.at, result.call, tuple(_choice(q, *answers.get(q["question"], ("", ""))) for q in questions)
    )


def _questions(value: object) -> Iterator[Row]:
    return (item for item in as_list(value) if isinstance(item, dict) and as_str(item.get("question")))


def _structured(given: Row, question: str) -> tuple[str, str]:
    """Return an answer and the user's note on it.  A reply to the entire form answers all unanswered questions."""
    answer = as_dict(given.get("answers")).get(question)
    report_text = ", ".join(map(as_str, answer)) if isinstance(answer, list) else as_str(answer)
    notes = as_str(as_dict(as_dict(given.get("annotations")).get(question)).get("notes"))
    report_text = "" if report_text == _NOTES_ONLY else report_text
    return (report_text, notes) if report_text or notes else (as_str(given.get("response")), "")


def _choice(question: Row, answer: str, notes: str) -> Choice:
    options = tuple(_options(question.get("options")))
    picked = _picked(answer, [label for label, _ in options], several=question.get("multiSelect") is True)
    return Choice(question["question"], "\n".join(filter(None, (answer, notes))), options, picked)


def _options(value: object) -> Iterator[tuple[str, str]]:
    for item in as_list(value):
        label = as_str(item) or as_str(as_dict(item).get("label"))
        if label:
            yield label, as_str(as_dict(item).get("description"))


def _picked(answer: str, labels: Iterable[str], *, several: bool) -> tuple[str, ...]:
    """Return the labels that an answer names: the full answer or, for `multiSelect`, labels separated by commas."""
    if answer in labels or not several:
        return (answer,) if answer in labels else ()
    longest_first = sorted((f"{label}, " for label in islice(labels, _MOST)), key=len, reverse=True)
    found, at, last = [], 0, f"{answer}, "
    while at < len(answer):
        label = next((each for each in longest_first if last.startswith(each, at)), "")
        found += [label[:-2]] if label else []
        at = at + len(label) if label else last.index(", ", at) + 2
    return tuple(found)


def _quoted_answers(text: str, questions: list[str]) -> dict[str, tuple[str, str]]:
    """Parse `"question"="answer"` pairs in a result's text, whose inner quotes are not escaped."""
    parts = _parts(text, {question: f'"{question}"="' for question in questions})
    return {question: (part.rpartition('"')[0], "") for question, part in parts.items()}


def listed_answers(text: str, questions: list[str]) -> dict[str, tuple[str, str]]:
    """Parse the answers in the list that the client writes if the user wants to discuss the questions first.

    Returns an empty dict if the text has no such list and is the user's own words.
    """
    parts = _parts(text, {question: f'- "{question}"\n  ' for question in questions})
    found: dict[str, tuple[str, str]] = {}
    for question, part in parts.items():
        answer, _, notes = part.rstrip("\n").partition("\n  User notes: ")
        found[question] = (answer.removeprefix("Answer: ") if answer.startswith("Answer: ") else "", notes)
    return found


def _parts(text: str, marks: Mapping[str, str]) -> dict[str, str]:
    """Return the text between each mark and the next one, by the mark's key; missing marks are skipped.

    A match inside a longer mark is ignored: a question may quote another question and its answer.
    """
    places: list[tuple[int, int, str]] = []
    for key, mark in sorted(islice(marks.items(), _MOST), key=lambda each: len(each[1]), reverse=True):
        at = text.find(mark)
        while inside := next((end for start, end, _ in places if start <= at < end), 0):
            at = text.find(mark, inside)
        if at >= 0:
            places.append((at, at + len(mark), key))
    places.sort()
    ends = [at for at, _, _ in places[1:]] + [len(text)]
    return {key: text[start:end] for (_, start, key), end in zip(places, ends, strict=False)}


# --- plans -----------------------------------------------------------------------------------------------------------


def settled(result: Result, *plans: object) -> PlanSettled | None:
    """Return the user's decision on a plan.  `plans` are fallbacks for the plan's text, best first.

    None if the user never saw the plan or its text is unknown.
    """
    given, end = as_dict(result.raw), result.end
    if end is CallEnd.FAILED or given.get("awaitingLeaderApproval"):
        return None
    plan = next(filter(None, map(as_str, (given.get("plan"), *plans, _plan_in(result.text)))), "")
    approved = True if end is CallEnd.OK else False if result.feedback else None
    return PlanSettled(result.at, result.call, plan, approved) if plan else None


def _plan_in(text: str) -> str:
    """Return the plan in a result's text, which repeats the plan under a heading."""
    for head in _PLAN_HEADS:
        _, found, rest = text.partition(head)
        if found:
            return rest.partition("\n")[2]
    return ""


def edited_plan(plan: str, name: str, arguments: Mapping[str, Any], slug: str) -> str:
    """Return the plan after a call.

    Only writing the session's plan file changes it: `slug`.md, or a file in the client's `plans` folder.
    """
    folder, _, file = as_str(arguments.get("file_path")).replace("\\", "/").rpartition("/")
    if not file.endswith(".md") or (file != f"{slug}.md" and not folder.endswith(".claude/plans")):
        return plan
    if name == "Write":
        return as_str(arguments.get("content"))
    old, new = as_str(arguments.get("old_string")), as_str(arguments.get("new_string"))
    return plan.replace(old, new, -1 if arguments.get("replace_all") is True else 1) if old else plan


_LAUNCHED = frozenset({"async_launched", "teammate_spawned", "remote_launched"})
_ENDS = {
    "completed": CallEnd.OK,
    "failed": CallEnd.FAILED,
    "killed": CallEnd.INTERRUPTED,
    "stopped": CallEnd.INTERRUPTED,
}
_LOGGED_CALL = re.compile(r"^(?:\[Tool: [^\]\n]+\] .*|--- RESULT ---)\n?", re.MULTILINE)
_GONE = OpenCall("", {}, {})


def read_result(state: State, block: Row, raw: object, at: At) -> None:
    """Emit the events of one `tool_result` block."""
    call = as_str(block.get("tool_use_id"))
    text, images = content_text(block.get("content"))
    end, feedback = call_end(text, block.get("is_error") is True, raw)
    if is_moved(text):
        text = restored(text, raw, state.outputs and state.outputs())
    result = Result(at, call, text, images, end, feedback, raw)
    if at.agent == state.agent:
        state.queue.step += 1
        state.working, state.last_word, state.unanswered = True, None, False
    opened, started = state.calls.pop(call, _GONE), state.agents.get(call)
    if started is None and opened is _GONE:
        started = _orphan(state, result)
    if started is not None:
        _agent_result(state, started, result)
    if started is None or end is CallEnd.REJECTED:
        if opened is _GONE or opened.name in ASKING_TOOLS:
            feedback = _asked(state, opened, result)
        state.out.append(ToolReturned(at, call, text, end, feedback, _facts(opened, result)))
    if opened.name in TASK_TOOLS and end is CallEnd.OK:
        state.out.extend(task_events(at, opened.name, opened.kept, raw, text))
    if isinstance(raw, dict) and "task" in raw:
        _fetched(state, as_dict(raw["task"]), at)


def _facts(opened: OpenCall, result: Result) -> dict[str, object] | None:
    facts = None
    if result.end is CallEnd.OK or (result.end is CallEnd.FAILED and opened.name == "Bash"):
        facts = details(opened.name, result.raw, result.text, opened.facts)
    return {**(facts or {}), "images": result.images} if result.images else facts


# --- questions and plans ---------------------------------------------------------------------------------------------


def _asked(state: State, opened: OpenCall, result: Result) -> str:
    """Emit the user's answers or decision; return their other feedback.

    If the call is missing, the shape of the result identifies it.
    """
    found: QuestionsAnswered | PlanSettled | None = None
    given = as_dict(result.raw)
    if opened.name == "AskUserQuestion" or "answers" in given:
        found = answered(result, opened.kept)
        if found and listed_answers(result.feedback, [choice.question for choice in found.choices]):
            result = result._replace(feedback="")
    elif opened.name == "ExitPlanMode" or "isAgent" in given:
        found = settled(result, opened.kept.get("plan"), state.plan)
    if found:
        state.out.append(found)
    return result.feedback


# --- subagents -------------------------------------------------------------------------------------------------------


def name_agent(state: State, call: str, agent: str, at: At) -> None:
    """Emit a subagent's id once it is known.  This is an event of the parent, even if another row has the id."""
    started = state.agents.get(call)
    if started is not None and not started.agent and agent:
        state.agents[call] = started = replace(started, at=replace(at, agent=started.at.agent), agent=agent)
        state.out.append(started)


def call_of(state: State, agent: str) -> str:
    """Return the call that started a subagent; "" if the id does not belong to a subagent."""
    calls = (call for call, started in state.agents.items() if started.agent and started.agent == agent)
    return next(calls, "")


def background_end(status: object) -> CallEnd | None:
    """Return how a background task ended, None while it runs."""
    return _ENDS.get(as_str(status))


def report(state: State, event: SubagentReturned) -> bool:
    """Emit a subagent's report, which the client logs in several ways.  Returns False if it is already known."""
    last, new = state.reports.get(event.call), digest_of(event.text, event.end)
    if last == new or (last is not None and not event.text and event.end is CallEnd.OK):
        return False
    state.reports[event.call] = new
    state.out.append(event)
    return True


def _orphan(state: State, result: Result) -> SubagentStarted | None:
    """Start a subagent whose call is missing, with the task from the call's result."""
    given = as_dict(result.raw)
    if result.call in state.calls or not (as_str(given.get("agentId")) and isinstance(given.get("content"), list)):
        return None
    started = SubagentStarted(result.at, result.call, "", as_str(given.get("prompt")), agent=given["agentId"])
    state.agents[result.call] = started
    state.out.append(started)
    return started


def _agent_result(state: State, started: SubagentStarted, result: Result) -> None:
    """Handle a subagent's report, or a notice that the subagent continues in the background and reports later."""
    given = as_dict(result.raw)
    report_text, agent, tokens = peel_agent_tail(result.text)
    agent = as_str(given.get("agentId")) or as_str(given.get("agent_id")) or agent or started.agent
    launched = given.get("isAsync") or as_str(given.get("status")) in _LAUNCHED
    if launched or result.text.startswith("Async agent launched"):
        name_agent(state, started.call, agent or _named_in(result.text), result.at)
        return
    if agent and not started.agent:
        state.agents[started.call] = replace(started, agent=agent)
    if isinstance(given.get("content"), list):
        report_text, _ = content_text(given["content"])
    elif result.end is CallEnd.FAILED:
        report_text = report_text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    elif result.end is CallEnd.INTERRUPTED:
        report_text = ""
    tokens = count(given.get("totalTokens")) or tokens
    report(state, SubagentReturned(result.at, started.call, agent, report_text, result.end, tokens))


def _named_in(text: str) -> str:
    words = text.partition("agentId:")[2].split(None, 1)
    return words[0] if words else ""


def _fetched(state: State, task: Mapping[str, Any], at: At) -> None:
    """Handle a background subagent's report that the agent fetched.

    Older versions put the subagent's calls before the report.
    """
    agent, end = as_str(task.get("task_id")), background_end(task.get("status"))
    call = call_of(state, agent) if task.get("task_type") == "local_agent" else ""
    if not call or end is None:
        return
    report_text = _LOGGED_CALL.split(as_str(task.get("result")) or as_str(task.get("output")))[-1].strip("\n")
    report(state, SubagentReturned(at, call, agent, report_text or as_str(task.get("error")), end))


# --- notices of background tasks -----------------------------------------------------------------------------------

_NOTICE = re.compile(r"<(task|agent)-notification>")


@dataclass(frozen=True, slots=True)
class Notice:
    """A `<task-notification>` (formerly `<agent-notification>`) about the end of a background task.

    `text` is the task's result, or "" if the agent has to fetch it; `summary` is the client's one-line description.
    """

    task: str
    call: str
    status: str
    text: str
    summary: str
    tokens: int | None


def is_notice(text: str) -> bool:
    """Return whether text begins with the client's notice that a background task ended."""
    return _NOTICE.match(text.lstrip()) is not None


def find_notices(text: str) -> list[Notice]:
    """Return all notices in a text."""
    places = [*_NOTICE.finditer(text)]
    ends = [place.start() for place in places[1:]] + [len(text)]
    parts = (text[place.end() : end] for place, end in zip(places, ends, strict=True))
    return [
        _notice(part.partition(f"</{place[1]}-notification>")[0]) for place, part in zip(places, parts, strict=True)
    ]


def _notice(text: str) -> Notice:
    # The result is the agent's own text and may quote any tag, so only tags before and after it are read.
    result = text_in_tag(text, "result").strip("\n")
    head = text.partition("<result>")[0]
    tail = text.rpartition("</result>")[2]
    found = re.search(r"(?:subagent|total)_tokens(?:>|:\s*)(\d{1,15})", tail)
    return Notice(
        (text_in_tag(head, "task-id") or text_in_tag(head, "agent-id")).strip(),
        text_in_tag(head, "tool-use-id").strip(),
        text_in_tag(head, "status").strip(),
        result,
        text_in_tag(head, "summary").strip(),
        int(found.group(1)) if found else None,
    )
