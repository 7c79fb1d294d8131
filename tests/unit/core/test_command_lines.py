"""A command line is read alike by sh, cmd.exe and PowerShell: by the real sh, and by the others' documented rules."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.command_lines import command_line, hook_command_line
from crucible.core.errors import UsageError
from tests.cases import for_each

ODD = st.text(
    st.sampled_from("abcZ09 _-./:\\&|<>^()%!$`'\"~*?[]{}#;,=@+\u00e9\u201c\u201d\u2013\t\n")
    | st.characters(codec="utf-8"),
    max_size=12,
)
WORDS = st.lists(ODD, max_size=4).map(lambda rest: ["cru", *rest])


def argv_of(line: str) -> list[str]:
    """The words of a Windows program, by the rules of `CommandLineToArgvW` for all but the program's name."""
    words: list[str] = []
    word, in_word, quoted, at = "", False, False, 0
    while at < len(line):
        slashes = len(line[at:]) - len(line[at:].lstrip("\\"))
        at += slashes
        if line[at : at + 1] == '"':
            word, in_word = word + "\\" * (slashes // 2), True
            if slashes % 2:
                word += '"'
            elif quoted and line[at + 1 : at + 2] == '"':
                word, at = word + '"', at + 1
            else:
                quoted = not quoted
            at += 1
        elif slashes:
            word, in_word = word + "\\" * slashes, True
        elif line[at] in " \t" and not quoted:
            words, word, in_word = [*words, word] if in_word else words, "", False
            at += 1
        else:
            word, in_word, at = word + line[at], True, at + 1
    return [*words, word] if in_word else words


def cmd_words(line: str) -> list[str]:
    """What a program gets from `cmd /c`: it knows metacharacters outside quotes, and variables everywhere."""
    assert not re.search(r"%[^%]*%", line)
    assert not re.search(r"[&|<>^()@\r\n]", re.sub(r'"[^"]*"', "", line))
    return argv_of(line)


def powershell_words(line: str) -> list[str]:
    """What PowerShell reads in a line of plain words and strings in double quotes."""
    assert not re.search("[$`\u201c-\u201f\r\n]", line)
    program, *rest = re.findall(r'"[^"]*"|[^\s"]+', line)
    assert re.fullmatch(r"[A-Za-z_./][\w./:-]*", program, re.ASCII)
    for word in rest:
        assert word.startswith('"') or re.fullmatch(r"[\w./:][\w./:-]*|--?[\w-]+", word, re.ASCII)
    return [program, *(word.removeprefix('"').removesuffix('"') for word in rest)]


@given(WORDS)
def test_our_parser_of_windows_lines_reads_what_python_writes(words: list[str]) -> None:
    assert argv_of(subprocess.list2cmdline(words)) == words


@given(WORDS)
def test_every_shell_reads_the_same_words_or_there_is_no_line(words: list[str]) -> None:
    try:
        line = command_line(words)
    except UsageError:
        return
    assert shlex.split(line) == words
    assert cmd_words(line) == words
    assert powershell_words(line) == words


@pytest.mark.skipif(os.name == "nt", reason="asks sh")
@given(st.lists(WORDS, min_size=1, max_size=20))
def test_the_real_sh_reads_the_same_words(commands: list[list[str]]) -> None:
    lines, expected = ["cru() { printf '%s\\0' \"$@\" .; }"], ""
    for words in commands:
        try:
            lines.append(command_line(words))
        except UsageError:
            continue
        expected += "\0".join([*words[1:], ".", ""])
    script = "\n".join(lines).encode("utf-8")
    done = subprocess.run(["sh"], input=script, capture_output=True, check=True)
    assert done.stdout.decode("utf-8") == expected


@for_each(
    ("word", "written"),
    [
        ("--vault", "--vault"),
        ("C:/Users/me/notes", "C:/Users/me/notes"),
        ("C:\\Users\\me", '"C:\\Users\\me"'),
        ("my notes", '"my notes"'),
        ("R&D", '"R&D"'),
        ("100%", '"100%"'),
        ("it's", '"it\'s"'),
        ("-v.x", '"-v.x"'),
        ("caf\u00e9", '"caf\u00e9"'),
    ],
)
def test_only_words_that_need_quotes_get_them(word: str, written: str) -> None:
    assert command_line(["cru", word]) == f"cru {written}"


@for_each("word", ["", "$HOME", "`id`", "%PATH%", 'a"b', "\\\\server\\share", "C:\\", "a\nb", "\u201cx\u201d"])
def test_words_that_some_shell_would_change_are_refused(word: str) -> None:
    with pytest.raises(UsageError, match="every shell"):
        command_line(["cru", word])


@pytest.mark.parametrize("program", ["/opt/my tools/cru", "C:\\bin\\cru.exe", "-cru", "a&b"])
def test_a_program_that_needs_quotes_is_refused(program: str) -> None:
    with pytest.raises(UsageError):
        command_line([program, "hook"])


def test_a_hook_outside_windows_may_have_a_line_for_sh_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["/opt/my $tools/cru", "hook"]
    monkeypatch.setattr("crucible.core.command_lines.os.name", "posix")
    assert shlex.split(hook_command_line(words)) == words
    monkeypatch.setattr("crucible.core.command_lines.os.name", "nt")
    with pytest.raises(UsageError):
        hook_command_line(words)


def test_this_interpreter_can_be_called_by_its_line(tmp_path: Path) -> None:
    said = ["-c", "import sys; print(sys.argv[1:])", "a b", "R&D", "50%"]
    line = hook_command_line([Path(sys.executable).as_posix(), *said])
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['a b', 'R&D', '50%']"
