"""Determine the verdict of tests, checks or a build from what runners print at fixed places in a line.

These are lines of counts, names of failed tests, source locations of errors, and Go packages; prose does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.session.markup import RESULT_LIMIT


class Verdict(NamedTuple):
    """A run's result in words, "" if there is none.  `is_red` is true if something failed."""

    text: str
    is_red: bool = False


# --- lines of counts -------------------------------------------------------------------------------------------------

_WORDS = {
    "passed": "passed passing pass passes succeeded successful ok",
    "failed": "failed failing fail failure failures",
    "errors": "error errors",
    "skipped": "skipped skip skips pending ignored todo disabled xfailed deselected cancelled",
    "total": "tests test examples example runs specs spec total scenarios doctests doctest",
    "warnings": "warning warnings",
    "problems": "problem problems issue issues offenses offense violations violation",
    "": "assertions assertion expectations measured filtered xpassed rerun flaky informations notes files file snapshots "
    "suites unexpected",
}
"""The words that runners use in counts, by meaning."""
_BUCKET = {word: bucket for bucket, words in _WORDS.items() for word in words.split()}
_WORD = "|".join(sorted(_BUCKET, key=len, reverse=True))
_ITEM = (
    rf"(?:(?:\d[\d,]*|no)[ \t]+(?:unit |spec |source |test )?(?:{_WORD})\b(?:[ \t]+(?:run|inspected|detected|completed|found|out|ran)\b)?"
    rf"|(?:tests run|{_WORD})[ \t]*[:=][ \t]*\d+)"
)
_COUNTS = late_pattern(
    r"^(?=[^\d\n]{0,80}(?:\d|(?<=no) ))(?P<label>[^\w\n\[]{0,40}(?:[A-Za-z][\w/@-]{0,40}[^\w\n]{0,19}[ \t:(]){0,3}?(?:\[[ \d.]+m?s\][ \t]*)?)"
    rf"(?P<items>{_ITEM}(?:[^\w\n]{{1,20}}(?:(?:and|with) )?{_ITEM})*)"
    r"(?P<rest>[^\w\n]{0,40}(?:(?:in|across|from|found|generated|emitted|reported|finished|time|duration|out|to)\b[^\n]*|\d[^\n]*)?)$",
    re.MULTILINE | re.IGNORECASE,
)
_ONE = late_pattern(
    rf"(?P<n>\d[\d,]*|no)[ \t]+(?:unit |spec |source |test )?(?P<word>{_WORD})\b|(?P<key>tests run|{_WORD})[ \t]*[:=][ \t]*(?P<v>\d+)",
    re.IGNORECASE,
)
_NAMED_ITEM = late_pattern(rf"^[#ℹ][ ](?P<word>{_WORD})[ ](?P<n>\d+)$", re.MULTILINE)
_NO_TESTS = late_pattern(r"(?:suites|files|tasks|snapshots)\W*\Z", re.IGNORECASE)
_TOOK = late_pattern(r"\A( in [\d.]+ ?m?s)\b")
_CTEST = late_pattern(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)", re.MULTILINE)
_TAP = late_pattern(r"^1\.\.(\d+)$", re.MULTILINE)
_NOT_OK = late_pattern(r"^not ok \d", re.MULTILINE)
_GTEST = late_pattern(r"^\[  (PASSED|FAILED)  \] (\d+) tests?\b", re.MULTILINE)


class _Counts(NamedTuple):
    tests: Counter[str]
    problems: list[str]
    bad: int
    took: str


def _counted(text: str) -> _Counts:
    """Add up all lines of counts.  `problems` has the counts of checks, as printed."""
    tests: Counter[str] = Counter()
    problems: list[str] = []
    bad = 0
    took: list[str] = []
    for line in _count_lines(text):
        if "elapsed" in line["rest"] or _NO_TESTS.search(line["label"]):
            continue  # counts for one of several classes, or for files
        found: Counter[str] = Counter()
        for bucket, count in _items(line["items"]):
            found[bucket] += count
        if {"passed", "failed", "skipped", "total"} & set(found):
            if not line["rest"].endswith(":"):  # otherwise the line introduces a list, and the counts follow
                tests.update(found)
                took += _TOOK.findall(line["rest"])
        elif found.keys() - {""}:
            number = sum(n for bucket, n in found.items() if bucket)
            problem = line["items"] if number else f"{line['items']}{line['rest']}".rstrip(". \t")
            problems.append(re.sub(r"\b1 (\w+)s\b", r"1 \1", problem) + ")" * (problem.count("(") - problem.count(")")))
            bad += number
    for item in _NAMED_ITEM.finditer(text) if "# " in text or "ℹ " in text else ():
        tests[_BUCKET[item["word"].lower()]] += int(item["n"])
    for failed, total in _CTEST.findall(text) if "% tests passed" in text else ():
        tests.update({"failed": int(failed), "total": int(total)})
    for word, number in _GTEST.findall(text) if "[  " in text else ():
        tests[word.lower()] += int(number)
    plan = None if tests or "1.." not in text else _TAP.search(text)
    if plan:
        tests.update({"total": int(plan[1]), "failed": len(_NOT_OK.findall(text))})
    return _Counts(tests, problems, bad, took[0] if len(took) == 1 else "")


_NEAR_COUNT = late_pattern(
    r"[\d,oO:=](?:(?<=[A-Za-z\u017f\u212a \t][:=])[ \t]*\d"
    rf"|(?<![:=])[ \t]+(?i:(?:unit |spec |source |test )?(?:{_WORD})\b))"
)
"""A part of every count, which is found fast."""


def _count_lines(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while near := _NEAR_COUNT.search(text, at):
        line = _COUNTS.match(text, text.rfind("\n", 0, near.start()) + 1)
        if line:
            yield line
        at = text.find("\n", near.start()) + 1
        if not at:
            return


def _items(text: str) -> Iterator[tuple[str, int]]:
    for item in _ONE.finditer(text):
        word = (item["word"] or item["key"]).lower().split(" ")[0]
        number = (item["n"] or item["v"]).replace(",", "")
        yield _BUCKET[word], int(number) if number.isdecimal() else 0


# --- failed tests ----------------------------------------------------------------------------------------------------

_NAMES = tuple(
    (signs.split("|"), late_pattern(pattern, re.MULTILINE))
    for pattern, signs in {
        r"^(?:--- FAIL:|=== FAIL: \S+) (\S+) \(": "FAIL:",  # go, gotestsum
        r"^(?:FAILED|ERROR) (\S+?::\S.*?|\S+\.py)(?: - (?P<why>.*))?$": "FAILED |ERROR ",  # pytest
        r"^(?:FAIL|ERROR): (\w+) \(\S+\)": "FAIL: |ERROR: ",  # unittest
        r"^(?:test )?(\S.*?) \.\.\. (?:FAILED|FAIL)\b": "... FAIL",  # cargo, deno
        r"^[ \t]+(?:FAIL|TIMEOUT) \[[ \d.]+s\] (?:\([ \d/]+\) )?(\S+ \S+)$": "FAIL [|TIMEOUT [",  # nextest
        r"^rspec \S+ # (.+)$": "rspec ",
        r"^[ \t]*not ok \d+ (?:- )?(.+?)(?: # .*)?$": "not ok ",  # TAP
        r"^\(fail\) (.+?)(?: \[[\d.]+m?s\])?$": "(fail) ",  # bun
        r"^\[  FAILED  \] (\w\S*\.\S+?)(?:,| \(|$)": "[  FAILED  ] ",  # googletest
        r"^(\w\S* > .+?) FAILED$": " FAILED",  # gradle
        r"^[ \t]+Failed (\S.*?) \[[\d<].*\]$": "Failed ",  # dotnet
        r"^[ \t]+(\S+) \[FAIL\]$": " [FAIL]",  # xunit
        r"^Test Case '-\[(.+)\]' failed": "' failed",  # swift
        r"^[ \t]*● (.+ › .+)$": "● ",  # jest
        r"^[ \t]*FAIL[ \t]+\S+ > (.+)$": "FAIL",  # vitest
        r"^(\S+\.\w+)(?:\(.*\))?(?: --)? .*<<< (?:FAILURE|ERROR)!$": "<<< ",  # maven
        r"^[ \t]+\d+ - (.+) \((?:Failed|Timeout|SEGFAULT).*\)$": "(Failed|(Timeout|(SEGFAULT",  # ctest
    }.items()
)
"""Lines that name a failed test, and the reason if the runner prints it on the same line.

Each contains one of the texts after its pattern, which are searched first, for speed.
"""
_LISTED = tuple(
    ([""], late_pattern(pattern, re.MULTILINE))
    for pattern in (
        r"^FAILED ([^\s(]\S*)$",
        r"^[ \t]*[×✕✗✖] (.+?)(?: \(?\d+ ?m?s\)?)?$",
        r"^[ \t]+\d+\) (\S.*?):?$|^\d+\) (\S+::\S+)$",
    )
)
"""Marks that other programs also print; used only if tests failed."""


def _failed_tests(text: str, bad: int) -> dict[str, str]:
    """Return the names of failed tests, with the reason if the runner prints it on the same line."""
    for signs, pattern in (*_NAMES, *(_LISTED if bad else ())):
        if not any(sign in text for sign in signs):
            continue
        found: dict[str, str] = {}
        for match in pattern.finditer(text):
            name = _test_name(match[match.lastindex if "why" not in match.groupdict() and match.lastindex else 1])
            found[name] = found.get(name) or match.groupdict().get("why") or ""
        if found:
            return dict(list(found.items())[: bad or None])  # some runners list a test twice, in different words
    return {}


def _test_name(name: str) -> str:
    """A test's name without the folders of its file: `test_limiter.py::test_third`."""
    file, mark, rest = name.partition("::")
    return f"{file.rpartition('/')[2]}{mark}{rest}"


# --- places ----------------------------------------------------------------------------------------------------------

_KIND = r"(?P<kind>fatal error|error|warning|note|[A-Z]{1,5}\d{2,5})"
_PLACES = tuple(
    (sign, late_pattern(pattern, re.MULTILINE))
    for sign, pattern in (
        (
            ":",
            rf"\n(?:vet: )?(?P<path>[^\s:()]+\.\w+):(?P<line>\d+)(?::\d+)?(?:: | - )(?:{_KIND}\b:? (?:\[\*\] )?)?(?P<said>[^\s:].*)$",
        ),
        (
            "): ",
            r"\n[ \t]*(?P<path>[^\s:()]+\.\w+)\((?P<line>\d+),\d+\): (?P<kind>error|warning) (?P<said>.+?)(?: \[[^\[\]]+\])?$",
        ),
        (
            "--> ",
            r"\n(?:(?P<kind>error|warning)(?:\[(?P<rule>\w+)\])?: |(?P<code>[A-Z]{1,5}\d{2,5}) (?:\[\*\] )?)(?P<said>.+)\n[ \t]*--> (?P<path>\S+?):(?P<line>\d+)",
        ),
        (
            "e: ",
            r"\n(?P<kind>e): (?:file://)?(?P<path>\S+?):(?P<line>\d+):\d+:? (?P<said>.+)$",
        ),
        (
            ":",
            r"\n(?=\S*[/.])(?P<path>\S+)\n[ \t]+(?P<line>\d+):\d+[ \t]+(?P<kind>error|warning)[ \t]+(?P<said>.+?)(?:[ \t]{2,}\S+)?$",
        ),
        (
            "SC",
            r"\nIn (?P<path>\S+) line (?P<line>\d+):\n(?:.*\n){1,3}?[ \t]*\^-+.*?(?P<kind>SC\d+)[^:]*: (?P<said>.+)$",
        ),
    )
)
"""Source locations as printed for Go, C, Python, TypeScript; C#; Rust, ruff; Kotlin; eslint; shellcheck.

Each has text that it always contains, which is checked first, and begins with a line end, which is found far faster
than `^`.
"""
_OF_GO = late_pattern(r"^# \S+(?: \[\S+\])?$", re.MULTILINE)
_LINTER = late_pattern(r"\((?:[a-z]+[\w-]*)\)$")


def _places(text: str, *, is_red: bool) -> list[str]:
    """Source locations as `limiter.py:12 message`; only errors if there are any, else warnings."""
    is_red = is_red or ("# " in text and bool(_OF_GO.search(text)))
    found: list[tuple[str, str]] = []
    lines = f"\n{text}"
    for sign, pattern in _PLACES:
        for match in pattern.finditer(lines) if sign in text else ():
            parts = match.groupdict()
            kind = parts.get("kind") or parts.get("code") or ""
            if kind == "note" or not (is_red or kind or _LINTER.search(parts["said"])):
                continue
            name = re.split(r"[\\/]", parts["path"])[-1]
            code = f"{parts.get('rule') or kind} " if parts.get("rule") or kind[:1].isupper() else ""
            found.append((kind, f"{name}:{parts['line']} {code}{parts['said']}"))
    errors = [place for kind, place in found if kind != "warning"]
    return list(dict.fromkeys(errors or [place for _, place in found]))


# --- go --------------------------------------------------------------------------------------------------------------

_GO_ROW = late_pattern(
    r"^(?P<word>ok|FAIL|\?)[ \t]+(?P<package>\S+)[ \t]+(?P<what>\(cached\)|[\d.]+s|\[[\w ]+\])(?P<more>.*)$",
    re.MULTILINE,
)
_GO_TEST = late_pattern(r"^(?:=== (RUN)[ \t]+[^\s/]+$|--- (PASS|SKIP|FAIL): [^\s/]+ \()", re.MULTILINE)
_GO_FAIL = late_pattern(r"^FAIL$", re.MULTILINE)
_GO_SAID = late_pattern(
    r"^[ \t]+(\w\S*\.go:\d+): (.*(?:\n(?![ \t]+\w\S*\.go:\d+: )[ \t]+(?:Error Trace|Error|\s).*){0,4})",
    re.MULTILINE,
)
_GO_ENDS = late_pattern(r"^(?:--- |=== |FAIL|ok\b|PASS)", re.MULTILINE)
_PANIC = late_pattern(r"^panic: (.+)$", re.MULTILINE)


def _go(text: str, *, is_whole: bool) -> Verdict:
    """The verdict of Go packages.  Failed tests are reported elsewhere."""
    if not any(sign in text for sign in ("FAIL", "ok ", "ok\t", "?")):
        return Verdict("")
    rows = [row.groupdict() for row in _GO_ROW.finditer(text)]
    failed = [row for row in rows if row["word"] == "FAIL"]
    good = [row for row in rows if row["word"] == "ok"]
    fine = _go_good(text, good, is_whole=is_whole) if good else ""
    if failed:
        named = ", ".join(dict.fromkeys(row["package"].rpartition("/")[2] for row in failed))
        count = f"{many(len(failed), 'package')} failed" if is_whole else "failed"
        why = "build failed" if all("failed]" in row["what"] for row in failed) else count
        return Verdict("; ".join(part for part in (f"{why}: {named}", fine) if part), is_red=True)
    if _GO_FAIL.search(text):
        return Verdict("failed; the rest of what is shown passed" if good else "failed", is_red=True)
    return Verdict(fine or ("no test files" if rows else ""))


def _go_good(text: str, rows: list[dict[str, str]], *, is_whole: bool) -> str:
    empty = sum("[no tests to run]" in row["more"] for row in rows)
    if empty == len(rows):
        return "no tests to run"
    ends = Counter(run or end for run, end in _GO_TEST.findall(text))
    packages = (
        f"{many(len(rows) - empty, 'package')} ok" if is_whole else "packages ok" if len(rows) > 1 else "package ok"
    )
    if all(row["what"] == "(cached)" for row in rows):
        packages += " (cached)"
    if not ends["PASS"] or not is_whole or ends["RUN"] != ends["PASS"] + ends["SKIP"] + ends["FAIL"]:
        return packages
    skipped = f", {ends['SKIP']} skipped" if ends["SKIP"] else ""
    return f"{ends['PASS']} passed{skipped}" + (f", {packages}" if len(rows) > 1 else "")


# --- all of it -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def verdict(text: str, *, is_whole: bool, failed: bool) -> Verdict:
    """The verdict of all runners in an output.

    `is_whole` is true if no lines are missing, `failed` if the command failed.
    """
    counts = _counted(text)
    bad = counts.tests["failed"] + counts.tests["errors"]
    names = _failed_tests(text, bad)
    go = _go(text, is_whole=is_whole)
    verdicts = [_of_tests(text, counts, names, is_whole=is_whole)]
    if not names:
        places = _places(text, is_red=failed or go.is_red)
        verdicts.append(
            _of_checks(
                counts,
                [] if bad else places,
                "build failed" if go.text.startswith("build failed") else "",
                is_whole=is_whole,
            )
        )
        panic = _PANIC.search(text) if "panic: " in text else None
        verdicts.append(Verdict(panic[0] if panic else "", is_red=True))
    if not (go.is_red and any(one.is_red and one.text for one in verdicts[:2])):
        verdicts.append(go)
    red = [one.text for one in verdicts if one.text and one.is_red]
    return Verdict("; ".join(red + [one.text for one in verdicts if one.text and not one.is_red]), bool(red))


def _of_tests(text: str, counts: _Counts, names: dict[str, str], *, is_whole: bool) -> Verdict:
    """`2 failed, 3 passed: test_a, test_b`; also the reason if only one test failed."""
    summary, bad = _tally(counts.tests), counts.tests["failed"] + counts.tests["errors"]
    if not names:
        return Verdict(summary if bad or not summary else summary + counts.took, bad > 0)
    if counts.bad and not bad:
        summary = counts.problems[-1]
    elif not bad:
        summary = f"{len(names)} failed" if is_whole else "failed"
    # Runners that print `file::test` also print counts.  Without counts, show the line unchanged.
    summary = "FAILED" if not (bad or counts.bad) and "::" in next(iter(names)) else f"{summary}:"
    if len(names) == 1:
        [(name, reason)] = names.items()
        reason = reason or _why(text)
        return Verdict(f"{summary} {name}" + (f" - {reason}" if reason else ""), is_red=True)
    for place, name in enumerate(name.partition(".py::")[2] or name for name in names):
        more = f"{summary}{',' if place else ''} {name}"
        if place and len(more) > RESULT_LIMIT - 3:
            return Verdict(f"{summary}, …", is_red=True)
        summary = more
    return Verdict(summary, is_red=True)


def _of_checks(counts: _Counts, places: list[str], head: str, *, is_whole: bool) -> Verdict:
    """`2 issues: limiter.go:12 message`, or a compiler's first error."""
    summary = "; ".join(dict.fromkeys(counts.problems))
    if summary and (counts.bad or not places):
        return Verdict(f"{summary}: {places[0]}" if counts.bad and places else summary, bool(counts.bad))
    if not places:
        return Verdict("")
    return Verdict(f"{head or (many(len(places), 'error') if is_whole else 'failed')}: {places[0]}", is_red=True)


def _why(text: str) -> str:
    """The last message of a failed Go test, since its logs are printed first.

    A message above the `--- FAIL` line counts only if it is directly above.
    """
    fails = text.find("--- FAIL")
    if fails < 0:
        return ""
    ends = _GO_ENDS.search(text, fails + 8)
    messages = list(_GO_SAID.finditer(text, fails, ends.start() if ends else len(text)))
    before = [one for one in _GO_SAID.finditer(text, 0, fails) if "_test.go:" in one[1]]
    messages = messages or [one for one in before[-1:] if not text[one.end() : fails].strip()]
    if not messages:
        return ""
    lines = [line.strip().removeprefix("Error:").strip() for line in messages[-1][2].split("\n")]
    return f"{messages[-1][1]} " + next((line for line in lines if line and not line.startswith("Error Trace")), "")


def _tally(tests: Counter[str]) -> str:
    passed = tests["passed"]
    if not passed and tests["total"]:
        passed = tests["total"] - tests["failed"] - tests["errors"] - tests["skipped"]
    parts = [
        (tests["failed"], "failed"),
        (tests["errors"], "error" if tests["errors"] == 1 else "errors"),
        (max(passed, 0), "passed"),
        (tests["skipped"], "skipped"),
    ]
    return ", ".join(f"{count} {word}" for count, word in parts if count)


def many(count: int, noun: str) -> str:
    """`no lines`, `1 match`, `2 matches`."""
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"1 {noun}" if count == 1 else f"{count or 'no'} {plural}"
