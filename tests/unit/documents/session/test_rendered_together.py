"""Dataview renders the value of `(key:: value)` again: no pair of colons stays whole between a bracket and what would act then.

Texts that are rendered in one block count together, however many of them there are.
"""

from __future__ import annotations

import pytest

from crucible.documents.markdown.containment import contain, uncontain
from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.session.findings_block import render_findings
from crucible.documents.session.markup import render_entry
from crucible.documents.session.property_upgrade import migrate
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Intervention,
    Mode,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.memory.history.history import HistoryLine
from crucible.memory.history.history_notes import render_item
from tests.cases import for_each

VALUE = "x:: ![[secret]])"


def split(written: str) -> bool:
    """Whether every pair of colons has a blank in it, which is shown."""
    return "::" not in written.replace("\\", "")


@for_each(
    "text",
    [
        f"(a {VALUE}",
        "`(a::\\) ![[secret]])`",
        "(a:: \\\\) ![[secret]])",
        "(foo [b](https://e.com/x::y) ![[secret]])",
        f"- foo (\n  ```text\n  code\n  ```\n  {VALUE}",
        f"> - foo (\n>\n>   {VALUE}",
        "(a::x `= this.file`)",
        "(a:: $\\href{obsidian://x}{y}$)",
        "[a::\n~~~dataview x\nLIST",
    ],
)
def test_a_value_that_would_act_is_split_from_its_key(text: str) -> None:
    assert split(contain(text))
    assert uncontain(contain(text)) == text


@for_each(
    "entry",
    [
        Decision("seven (", VALUE),
        Decision("(x::", "![[secret]])"),
        Failure("bad (", VALUE),
        Failure("bad", VALUE, "("),
        Decision("seven", "(x::", "b", "![[secret]])"),
        Decision("seven", None, "(", VALUE),
        Callout("plan", "", f"(a {VALUE}"),
        Intervention("nine (", VALUE),
        Intervention("(x::", "![[secret]])"),
        Subagent(AgentRef("a"), None, Mode.LINK, None, "ten (", VALUE),
        ToolCalls((ToolCall("Bash (", VALUE),)),
        ToolCalls((ToolCall("Bash (x::", "![[secret]])"),)),
    ],
)
def test_texts_of_one_entry_count_together(entry: Entry) -> None:
    assert split("\n".join(render_entry(entry)))


@pytest.mark.parametrize("item", [FindingItem("outcome", "(", VALUE), FindingItem("outcome", "(x::", "![[secret]])")])
def test_the_texts_of_an_item_of_the_findings_count_together(item: FindingItem) -> None:
    assert split("\n".join(render_findings([item])))


def test_the_texts_of_a_history_s_item_count_together() -> None:
    assert split("\n".join(render_item("further", HistoryLine("eleven (", VALUE), 1)))


def test_a_call_and_its_result_count_together_in_an_old_note() -> None:
    note = Source(f"---\ntype: session\n---\n\n## A\n\n**Tool calls:**\n- `Bash TEN (` → {VALUE}\n")
    assert split(apply_edits(note, migrate(note)).text.partition("## A")[2])


@pytest.mark.parametrize(
    "text", ["`std::vector<int>` (see [x](https://y.z))", "foo(std::string), a[0]", "`f(a::b)` and `g`"]
)
def test_ordinary_code_stays_whole(text: str) -> None:
    assert " :" not in contain(text)
