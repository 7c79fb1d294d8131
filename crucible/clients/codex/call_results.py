"""Read the results of tool calls, questions and plans in Codex's rollouts.

A plan is part of an answer, not a call.  The user's decision shows in the next prompt and the mode of its turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from crucible.clients.codex.files import dicts, parsed
from crucible.clients.codex.state import State
from crucible.clients.events import At, CallEnd, Choice, PlanSettled, PromptKind, QuestionsAnswered, TaskState
from crucible.clients.log_values import Row, as_dict, as_list, as_str, choice_of, line_count, number


class Result(NamedTuple):
    """The result of a call.  `open` is True if the command is still running and another result will follow."""

    text: str
    end: CallEnd = CallEnd.OK
    details: Mapping[str, object] | None = None
    open: bool = False


_HEADER = re.compile(
    r"(?:Chunk ID: \S*\n)?(?:Exit code: (?P<exit>-?\d{1,9})\n)?(?:Wall time:? [^\n]*\n)?"
    r"(?:Process exited with code (?P<code>-?\d{1,9})\n)?"
    r"(?:Process running with session ID (?P<session>\d{1,18})\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n)?(?:Warning: [^\n]*\n)?Output:(?:\n|\Z)"
)
_SCRIPT = re.compile(r"Script (completed|failed|running[^\n]*)\n(?:Wall time:? [^\n]*\n)?Output:(?:\n|\Z)")
_REJECTED = re.compile(
    r"(?:exec command |patch |\w+ |exec_command failed: \w+ \{ message: \"Rejected\(\\?\")?"
    r"(?:rejected|denied|declined|cancelled) by (?:the )?user(?! approval)|user (?:rejected|cancelled) MCP tool call",
    re.IGNORECASE,
)
_ABORTED = re.compile(
    r"(?:Wall time:? [^\n]*\n)?(?:(?:command )?(?:was )?aborted(?: by user)?\b|request_user_input was cancelled)",
    re.IGNORECASE,
)
_ABORTED_HEAD = re.compile(r"\AWall time:? [^\n]*\n(?=aborted)")
_FAILED = (
    "request_user_input ",
    "unsupported call: ",
    "unsupported custom tool call: ",
    "failed to parse function arguments",
    "apply_patch verification failed",
    "apply_patch handler received",
    "execution error",
    "exec_command failed",
    "write_stdin failed",
    "failed in sandbox",
    "sandbox error",
    "unable to locate image",
    "unable to process image",
    "tool call error",
    "collab spawn failed",
    "Error: ",
    "err: ",
)
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh\Z|(?:.*[/\\])?(?:pwsh|powershell)(?:\.exe)?\Z", re.IGNORECASE)


def command_line(command: object) -> str:
    """Return a command as a user would type it: `SCRIPT` for `bash -lc SCRIPT`."""
    if isinstance(command, str):
        return command
    words = [word for word in command if isinstance(word, str)] if isinstance(command, list) else []
    if len(words) == 3 and _SHELLS.match(words[0]) and words[1].startswith("-"):
        return words[2]
    return " ".join(words)


# --- what a call printed ---------------------------------------------------------------------------------------------


def of_output(output: object, *, failed: bool = False) -> Result:
    """Read a call's result as the model saw it: text, parts, or a JSON string with the output and exit code."""
    document = parsed(output)
    code = number(as_dict(document.get("metadata")).get("exit_code"))
    if "output" in document and (code is not None or "metadata" in document):
        text = as_str(document.get("output"))
    elif isinstance(output, dict):
        text, failed = _text(output.get("content")), failed or output.get("success") is False
    else:
        text = _text(output)
    return _finished_call(text, code, failed=failed)


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = [as_str(part.get("text")) for part in dicts(content)]
    images = sum("image" in as_str(part.get("type")) for part in dicts(content))
    pictures = [f"[{images} picture{'' if images == 1 else 's'}]"] if images else []
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in [*parts, *pictures] if part).rstrip("\n")


def _finished_call(text: str, code: int | None, *, failed: bool) -> Result:
    session, body = "", _ABORTED_HEAD.sub("", text)
    script = _SCRIPT.match(body)
    if script:
        body, failed = body[script.end() :], failed or script[1] == "failed"
    while (found := _HEADER.match(body)) and found.end():
        body = body[found.end() :]
        exit_code = found["code"] or found["exit"]
        code = int(exit_code) if exit_code else code
        session = found["session"] or session
    if session and code is None:
        return Result(body, CallEnd.OK, {"background": session}, open=True)
    return Result(body, _end(text, code, failed=failed), _facts(body, code))


def _facts(body: str, code: int | None) -> dict[str, object] | None:
    return {"lines": line_count(body), "exit_code": code} if code is not None else None


def _end(text: str, code: int | None, *, failed: bool) -> CallEnd:
    head = text[:400].lstrip()
    if _REJECTED.match(head):
        return CallEnd.REJECTED
    if _ABORTED.match(head) and len(text) < 400:
        return CallEnd.INTERRUPTED
    if failed or code or (code is None and head.startswith(_FAILED)):
        return CallEnd.FAILED
    return CallEnd.OK


def of_command(item: Row) -> Result:
    """Read the end of a command from an interface event."""
    output = as_str(item.get("aggregated_output")) or as_str(item.get("stdout")) + as_str(item.get("stderr"))
    status, code = as_str(item.get("status")), number(item.get("exit_code"))
    if status in ("declined", "Declined"):
        return Result(output, CallEnd.REJECTED)
    failed = bool(code) or (code is None and status in ("failed", "Failed"))
    return Result(output, CallEnd.FAILED if failed else CallEnd.OK, _facts(output, code))


# --- patches ---------------------------------------------------------------------------------------------------------


def of_patch(item: Row) -> Result:
    """Read the end of a patch."""
    text = as_str(item.get("stdout")) or as_str(item.get("stderr"))
    if item.get("success") is False:
        text = as_str(item.get("stderr")) or text
    status = as_str(item.get("status"))
    if status == "declined":
        return Result(text, CallEnd.REJECTED)
    failed = item.get("success") is False or status == "failed"
    return Result(text, CallEnd.FAILED if failed else CallEnd.OK, None if failed else change_facts(item.get("changes")))


def change_facts(changes: object) -> dict[str, object]:
    """Return facts about a set of changes by path: `files`, `added` and `removed` lines, `kind` (create, update)."""
    changed = [change for change in as_dict(changes).values() if isinstance(change, dict)]
    if not changed:
        return {}
    added = removed = 0
    for change in changed:
        kind = as_str(change.get("type")) or next(iter(change), "")
        inner = as_dict(change.get(kind)) or change
        diff, content = (
            as_str(inner.get("unified_diff")).split("\n"),
            line_count(as_str(inner.get("content"))),
        )
        added += sum(line.startswith("+") for line in diff) + (content if kind == "add" else 0)
        removed += sum(line.startswith("-") for line in diff) + (content if kind == "delete" else 0)
    new = all((as_str(change.get("type")) or next(iter(change), "")) == "add" for change in changed)
    return {"kind": "create" if new else "update", "files": len(changed), "added": added, "removed": removed}


# --- plans -----------------------------------------------------------------------------------------------------------

_STEP = re.compile(
    r"""["']?step["']?\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)\s*,\s*"""
    r"""["']?status["']?\s*:\s*["'](\w+)["']""",
    re.DOTALL,
)


def tasks_of(arguments: Mapping[str, Any]) -> tuple[TaskState, ...]:
    """Return the steps of a plan as tasks, numbered from 1."""
    steps = ((as_str(step.get("step")), as_str(step.get("status"))) for step in dicts(arguments.get("plan")))
    return tuple(TaskState(str(n), step, status or "pending") for n, (step, status) in enumerate(steps, 1) if step)


def tasks_of_script(script: str) -> tuple[TaskState, ...]:
    """Return the steps of the last plan in a code-mode script."""
    plan = script.rpartition("tools.update_plan")[2] if "tools.update_plan" in script else ""
    found = _STEP.findall(plan[:50_000])
    return tuple(
        TaskState(str(n), re.sub(r"\\(.)", r"\1", double or single or tick), status)
        for n, (double, single, tick, status) in enumerate(found, 1)
    )


QUESTION_TOOL = "request_user_input"
_NOTE, _OTHER = "user_note: ", "None of the above"
_IMPLEMENT = "Implement the plan."
_FRESH = "A previous agent produced the plan below to accomplish the user's task."


def answered(at: At, call: str, arguments: Mapping[str, Any], output: str) -> QuestionsAnswered:
    """Return a call's questions with the answers in its result, matched by id."""
    answers = as_dict(parsed(output).get("answers"))
    questions = dicts(arguments.get("questions"))
    given = (as_list(as_dict(answers.get(as_str(question.get("id")))).get("answers")) for question in questions)
    return QuestionsAnswered(at, call, tuple(map(choice_of, questions, map(_words, given))))


def _words(given: Iterable[object]) -> list[str]:
    """Return the user's labels and notes.  If there is a note, the label for "none of these" is dropped."""
    words = [word for each in given if (word := as_str(each).removeprefix(_NOTE))]
    return [word for word in words if word != _OTHER or len(words) == 1]


def read_retained(state: State, row: Row, at: At) -> None:
    """Read answers from the client's own record.  Needed for questions in a script, whose calls are not logged."""
    call = as_str(row.get("call_id"))
    if as_str(row.get("type")) == "verified_answer" and call not in state.calls:
        choices = (_retained(each) for each in dicts(row.get("questions")))
        state.out.append(QuestionsAnswered(at, call, tuple(choices)))


def _retained(record: Row) -> Choice:
    """Parse a question, which may end with the selected option, and its answer with the user's note."""
    question, (label, _, note) = (
        as_str(record.get("question")),
        as_str(record.get("answer")).partition(f"\n{_NOTE}"),
    )
    asked, picked, description = question.rpartition(f"\n{label}: ")
    options = [{"label": label, "description": description}] if picked else []
    return choice_of({"question": asked or question, "options": options}, _words([label, note]))


def settle_plan(state: State, at: At, text: str) -> PromptKind:
    """Emit the user's decision on the proposed plan, if any; return the kind of the prompt."""
    plan, state.plan = state.plan, ""
    approved = text.strip() == _IMPLEMENT
    if plan and (approved or state.mode):
        state.out.append(PlanSettled(at, "", plan, approved or (False if state.mode == "plan" else None)))
    return PromptKind.PLAN if text.startswith(_FRESH) else PromptKind.TYPED
