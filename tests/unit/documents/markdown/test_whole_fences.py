"""Which fences are whole wherever their text is put, line by line, and thousands of texts there and back."""

from __future__ import annotations

import random

import pytest

from crucible.documents.markdown.containment import (
    contain,
    contain_line,
    normal,
    normal_line,
    uncontain,
    uncontain_line,
)
from crucible.documents.markdown.fences import whole_fences
from samples.hostile_texts import BLOCKS, INLINE
from tests.cases import for_each


@for_each(
    ("lines", "fences"),
    [
        (["```", "a", "```"], [(0, 3)]),
        (["```", "```"], [(0, 2)]),
        (["a", "~~~~ py `x`", "~~~", "~~~~~", "b"], [(1, 4)]),
        (["```", "a", "```", "```", "b", "```"], [(0, 3), (3, 6)]),
        (["```", "a"], []),
        (["``` a`b", "```"], []),
        (["```", "~~~"], []),
        (["````", "```"], []),
        (["   ```", "   a", "", "   ```"], [(0, 4)]),
        (["   ```", "  a", "   ```"], []),
        (["   ```", " \t", "   ```"], [(0, 3)]),
        (["   ```", "\xa0", "   ```"], []),
        (["   ```", "    a", "    ```"], []),
        (["   ```", "    a", "  ```"], []),
        (["    ```", "    a", "    ```"], []),
        (["- ```", "  a", "  ```"], [(0, 3)]),
        (["- ```", "  a", "```"], []),
        (["-    ```", "     a", "     ```"], [(0, 3)]),
        (["-     ```", "      a", "      ```"], []),
        (["1. ```", "   a", "   ```"], [(0, 3)]),
        (["1) ~~~", "   ~~~"], [(0, 2)]),
        (["2. ```", "   a", "   ```"], []),
        (["   - ```", "     ```"], [(0, 2)]),
        (["    - ```", "      ```"], []),
        (["- a", "  - b", "    ```", "    c", "    ```"], [(2, 5)]),
        (["- a", "    ```", "    c", "    ```"], [(1, 4)]),
        (["- a", "", "b", "", "    ```", "    ```"], []),
        (["- a", "b", "    ```", "    ```"], []),
        (["", "7. a", "   - b", "     ```", "     ```"], [(3, 5)]),
        (["x", "7. a", "    ```", "    ```"], []),
        (["x", "- a", "    ```", "    ```"], [(2, 4)]),
        (["x", "1. a", "     ```", "     ```"], [(2, 4)]),
        (["- a", "\tb", "    ```", "    ```"], []),
        (["- a", "  - b", "7. c", "", "    ```", "    ```"], [(4, 6)]),
        (["-      a", "    ```", "    ```"], []),
        (["- a", "  - b", "    - c", "      - d", "        ```", "        ```"], [(4, 6)]),
        (["- a", "  - b", "    - c", "      - d", "        - e", "          ```", "          ```"], []),
        (["- a", "       ```", "       ```"], []),
        (["   ```", "a", "   ```", "", "   ```", "   b", "   ```"], [(2, 5)]),
        (["   ```", "a", "   ```", "   ```", "   b", "   ```"], [(2, 4)]),
        ([" ```", "a", " ```", "```", "```"], [(3, 5)]),
    ],
)  # fmt: skip
def test_a_fence_is_whole_when_it_is_one_wherever_it_is_put(lines: list[str], fences: list[tuple[int, int]]) -> None:
    assert whole_fences("\n".join(lines)) == fences


@pytest.mark.parametrize("info", ["tasks", "session-toon", "dataviewjs", "query", "mermaid", "ad-note", "no-language"])
def test_an_info_word_that_acts_gets_a_backslash(info: str) -> None:
    text = f"```{info} x\na\n```"
    assert contain(text) == f"```\\{info} x\na\n```"
    assert uncontain(contain(text)) == text
    assert contain(f"~~~ {info.upper()}\n~~~") == f"~~~ \\{info.upper()}\n~~~"


@for_each(
    ("text", "contained"),
    [
        ("# a", r"\# a"),
        ("a\n## b", "a\n\\## b"),
        ("#a", r"\#a"),
        ("#", r"\#"),
        ("a\n---", "a\n\\---"),
        ("a\n===", "a\n\\==="),
        ("> [!user] a", r"> \[!user] a"),
        ("- # a", r"- \# a"),
        ("**Tool calls:**", r"\**Tool calls:**"),
        ("started:: x", r"started:\: x"),
        ("STARTED:: x", r"STARTED:\: x"),
        ("mystarted:: x", r"mystarted:\: x"),
        ("a tokens:: 1", r"a tokens:\: 1"),
        ("[ended:: 1]", r"[ended:\: 1]"),
        ("**ended** :: x", r"**ended** :\: x"),
        ("std::started:: x", r"std:\:started:\: x"),
        ("Rationale: a", r"Rationale\: a"),
        ("a\nSummary: b", "a\nSummary\\: b"),
        ("a Summary: b", "a Summary: b"),
        ("%% a %%", r"%\% a %\%"),
        ("[[a]] ![b](c) $$d$$", r"[\[a]] !\[b]\(c) \$\$d\$\$"),
        ("<b>", r"\<b>"),
        ("a < b", "a < b"),
        ("`<b>` <b>", r"`<b>` \<b>"),
        ("`a", r"\`a"),
        (r"\# a", r"\\# a"),
        (r"\<b>", r"\\\<b>"),
        ("[a]: /u", r"[a]\: /u"),
        ("text\n\n```\n# a\n```\n# b", "text\n\n```\n# a\n```\n\\# b"),
    ],
)
def test_a_mark_that_would_act_gets_a_backslash(text: str, contained: str) -> None:
    assert contain(text) == contained
    assert uncontain(contained) == text


def test_thousands_of_hostile_texts_come_back_equal() -> None:
    draw = random.Random(20261121)
    for _ in range(1_500):
        lines = ["".join(draw.choices((*BLOCKS, *INLINE), k=draw.randrange(1, 4))) for _ in range(draw.randrange(1, 5))]
        indents = draw.choices(("", "", "", "  ", "    ", "> ", "- ", "1. "), k=len(lines))
        text = normal("\n".join(indent + line for indent, line in zip(indents, lines, strict=True)))
        assert uncontain(contain(text)) == text
        line = normal_line(lines[0])
        assert uncontain_line(contain_line(line)) == line


def test_a_field_in_emphasis_is_no_field() -> None:
    assert contain("_started_:: x") == "_started_:\\: x"
    assert uncontain("_started_:\\: x") == "_started_:: x"
