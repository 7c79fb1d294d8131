"""Questions with their answers, and plans with the user's decision, in Claude Code's transcripts.

Reads the results of `AskUserQuestion` and `ExitPlanMode`, structured and as text.  A call that failed never reached the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from crucible.clients.claude_code.state import Result
from crucible.clients.events import CallEnd, Choice, PlanSettled, QuestionsAnswered
from crucible.clients.log_values import Row, as_dict, as_list, as_str

ASKING_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})
_NOTES_ONLY = "(notes only)"
"""The client's answer if the user picked nothing but wrote a note."""
_MOST = 100
"""Questions, or options of one, that are looked for in a text; the client asks four at once."""
_PLAN_HEADS = ("\n## Approved Plan", "\nRejected plan")


# --- questions -------------------------------------------------------------------------------------------------------


def answered(result: Result, arguments: Mapping[str, Any]) -> QuestionsAnswered | None:
    """The questions of a call with their answers; None if they are unknown or never reached the user."""
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
    """An answer and the user's note on it; a reply to all questions applies to those without their own answer."""
    answer = as_dict(given.get("answers")).get(question)
    said = ", ".join(map(as_str, answer)) if isinstance(answer, list) else as_str(answer)
    notes = as_str(as_dict(as_dict(given.get("annotations")).get(question)).get("notes"))
    said = "" if said == _NOTES_ONLY else said
    return (said, notes) if said or notes else (as_str(given.get("response")), "")


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
    """The labels that an answer names: the whole answer or, for `multiSelect`, labels separated by commas."""
    if answer in labels or not several:
        return (answer,) if answer in labels else ()
    longest_first = sorted((f"{label}, " for label in islice(labels, _MOST)), key=len, reverse=True)
    found, at, told = [], 0, f"{answer}, "
    while at < len(answer):
        label = next((each for each in longest_first if told.startswith(each, at)), "")
        found += [label[:-2]] if label else []
        at = at + len(label) if label else told.index(", ", at) + 2
    return tuple(found)


def _quoted_answers(text: str, questions: list[str]) -> dict[str, tuple[str, str]]:
    """The answers in a result as text: `"question"="answer"` pairs, in which quotes are not escaped."""
    parts = _parts(text, {question: f'"{question}"="' for question in questions})
    return {question: (part.rpartition('"')[0], "") for question, part in parts.items()}


def listed_answers(text: str, questions: list[str]) -> dict[str, tuple[str, str]]:
    """The answers in the list of questions that the client writes if the user wants to discuss them first.

    Empty if the text has no such list, so that its words are the user's own.
    """
    parts = _parts(text, {question: f'- "{question}"\n  ' for question in questions})
    found: dict[str, tuple[str, str]] = {}
    for question, part in parts.items():
        answer, _, notes = part.rstrip("\n").partition("\n  User notes: ")
        found[question] = (answer.removeprefix("Answer: ") if answer.startswith("Answer: ") else "", notes)
    return found


def _parts(text: str, marks: Mapping[str, str]) -> dict[str, str]:
    """What follows each mark up to the next one, by what the mark is for; nothing for those that are not there.

    A mark that stands inside a longer one belongs to that: a question may quote another one and its answer.
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
    """The user's decision on a plan; `plans` are other places for its text if the result has none, best first.

    None if the user never saw the plan, or if its text is unknown.
    """
    given, end = as_dict(result.raw), result.end
    if end is CallEnd.FAILED or given.get("awaitingLeaderApproval"):
        return None
    plan = next(filter(None, map(as_str, (given.get("plan"), *plans, _plan_in(result.text)))), "")
    approved = True if end is CallEnd.OK else False if result.feedback else None
    return PlanSettled(result.at, result.call, plan, approved) if plan else None


def _plan_in(text: str) -> str:
    """The plan in a result as text, which repeats it under a heading."""
    for head in _PLAN_HEADS:
        _, found, rest = text.partition(head)
        if found:
            return rest.partition("\n")[2]
    return ""


def edited_plan(plan: str, name: str, arguments: Mapping[str, Any], slug: str) -> str:
    """The plan after a call; only calls that write the session's plan file change it: `slug`.md, or a file in the client's `plans` folder."""
    folder, _, file = as_str(arguments.get("file_path")).replace("\\", "/").rpartition("/")
    if not file.endswith(".md") or (file != f"{slug}.md" and not folder.endswith(".claude/plans")):
        return plan
    if name == "Write":
        return as_str(arguments.get("content"))
    old, new = as_str(arguments.get("old_string")), as_str(arguments.get("new_string"))
    return plan.replace(old, new, -1 if arguments.get("replace_all") is True else 1) if old else plan
