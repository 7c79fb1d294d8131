"""Personas: what a note may say, and what makes it useless."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.source import Source
from crucible.documents.personas import Persona, read_persona
from tests.cases import for_each

NOTE = """---
type: persona
client: claude-code
model: claude-opus-4-5@20251101
tools: [Read, "Bash(git diff:*)", mcp__crucible__recall_context]
skills: review
tags: [mine]
---
# Reviewer

You review changes. 👩‍💻
"""


def read(text: str, name: str = "reviewer") -> Persona:
    return read_persona(Source(text), name)


def test_a_persona_has_client_model_tools_skills_and_instructions() -> None:
    found = read(NOTE)
    assert found == Persona(
        "reviewer",
        "claude",
        "claude-opus-4-5@20251101",
        ("Read", "Bash(git diff:*)", "mcp__crucible__recall_context"),
        ("review",),
        "# Reviewer\n\nYou review changes. 👩‍💻",
    )
    assert "Use only these tools: Read" in found.text(with_tools=True)
    assert "Use only these tools" not in found.text(with_tools=False)


def test_everything_is_optional() -> None:
    assert read("Be short.") == Persona("reviewer", instructions="Be short.")
    assert read("") == Persona("reviewer")


CASES = {
    "path": (NOTE.replace("claude-code", "/bin/sh"), 3, "client is none of"),
    "shell": (NOTE.replace("claude-code", "claude; rm -rf ~"), 3, "client is none of"),
    "untested client": (NOTE.replace("claude-code", "zed"), 3, "client is none of"),
    "option": (NOTE.replace("claude-opus", "--yolo"), 4, "model is not"),
    "command": (NOTE.replace("claude-opus-4-5@20251101", "$(id)"), 4, "model is not"),
    "number": (NOTE.replace("claude-opus-4-5@20251101", "7"), 4, "model is not"),
    "tool option": (NOTE.replace("[Read,", "[--yolo,"), 5, "tools: not a name"),
    "two tools": (NOTE.replace("[Read,", '["Read,Edit",'), 5, "tools: not a name"),
    "tool with metacharacters": (NOTE.replace("[Read,", '["Bash;id",'), 5, "tools: not a name"),
    "skill path": (NOTE.replace("skills: review", "skills: [../../etc]"), 6, "skills: not a name"),
    "type": (NOTE.replace("type: persona", "type: session"), 2, "type is not"),
    "bidi": (NOTE.replace("You", "You\u202e"), 11, "invisible"),
    "tag characters": (NOTE.replace("You", "You\U000e0041"), 11, "invisible"),
    "long": (NOTE + "x" * 20_001, 1, "longer than"),
    "unclosed": ("---\nclient: claude\n", 1, "never closed"),
}


@for_each("case", CASES.values())
def test_what_could_do_harm_is_a_problem_with_its_line(case: tuple[str, int, str]) -> None:
    text, line, why = case
    (problem, *_) = read(text).problems
    assert (problem.line, why in problem.message) == (line, True), problem


def test_a_name_is_one_word() -> None:
    for name in ("a b", "../a", "-a", "", "a\u202e"):
        assert read(NOTE, name).problems


@given(st.text())
def test_no_note_makes_it_raise(text: str) -> None:
    read(text)
    read(f"---\n{text}\n---\n")
