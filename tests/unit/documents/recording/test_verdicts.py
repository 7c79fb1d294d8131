"""Verdicts of runs, from outputs as the runners print them; every name in them is invented."""

from __future__ import annotations

import pytest
from hypothesis import given

from crucible.documents.recording.command_output import bare, is_partial, printed
from crucible.documents.recording.verdicts import verdict
from samples.hostile_texts import hostile_text
from tests.cases import for_each


def _verdict(text: str) -> str:
    output = printed(text)
    return verdict(bare(output.text), is_whole=not output.is_cut, failed=False).text


@for_each(
    ("text", "told"),
    [
        (  # pytest
            ("....F\n"
            "=================== FAILURES ===================\n"
            "____ test_third ____\n"
            "E  assert 1 == 2\n"
            "=========================== short test summary info ============================\n"
            "FAILED tests/test_limiter.py::test_third - assert 1 == 2\n"
            "========================= 1 failed, 3 passed, 1 warning in 0.12s ========================="),
            "1 failed, 3 passed: test_limiter.py::test_third - assert 1 == 2",
        ),
        (  # pytestq
            ("..F\n"
            "FAILED tests/test_limiter.py::TestL::test_third - AssertionError\n"
            "FAILED tests/test_limiter.py::test_b\n"
            "2 failed, 3 passed in 0.12s"),
            "2 failed, 3 passed: TestL::test_third, test_b",
        ),
        (  # pytesterr
            ("ERROR tests/test_a.py - ModuleNotFoundError: No module named 'x'\n"
            "!!!!!! Interrupted: 1 error during collection !!!!!!\n"
            "====== 1 error in 0.10s ======"),
            "1 error: test_a.py - ModuleNotFoundError: No module named 'x'",
        ),
        (  # pytestok
            ("....\n"
            "4 passed in 0.10s"),
            "4 passed in 0.10s",
        ),
        (  # pytestnone
            "====== no tests ran in 0.01s ======",
            "",
        ),
        (  # unittest
            ("F.\n"
            "======\n"
            "FAIL: test_x (tests.test_a.A.test_x)\n"
            "-----\n"
            "Traceback\n"
            "AssertionError: 1 != 2\n"
            "\n"
            "----------------\n"
            "Ran 5 tests in 0.012s\n"
            "\n"
            "FAILED (failures=1, errors=1)"),
            "1 failed, 1 error, 3 passed: test_x",
        ),
        (  # unittestok
            (".....\n"
            "-----\n"
            "Ran 5 tests in 0.012s\n"
            "\n"
            "OK"),
            "5 passed in 0.012s",
        ),
        (  # jest
            ("FAIL src/a.test.ts\n"
            "  Limiter\n"
            "    ✓ first (2 ms)\n"
            "    ✕ third (3 ms)\n"
            "\n"
            "  ● Limiter › third\n"
            "\n"
            "    expect(received).toBe(expected)\n"
            "\n"
            "Test Suites: 1 failed, 2 passed, 3 total\n"
            "Tests:       1 failed, 4 passed, 5 total\n"
            "Snapshots:   0 total\n"
            "Time:        1.2 s"),
            "1 failed, 4 passed: Limiter › third",
        ),
        (  # vitest
            (" ❯ src/a.test.ts (5 tests | 1 failed) 12ms\n"
            "   × Limiter > third 3ms\n"
            "\n"
            "⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯\n"
            "\n"
            " FAIL  src/a.test.ts > Limiter > third\n"
            "AssertionError: expected 1 to be 2\n"
            "\n"
            " Test Files  1 failed | 2 passed (3)\n"
            "      Tests  1 failed | 4 passed (5)\n"
            "   Start at  10:00:00\n"
            "   Duration  1.2s"),
            "1 failed, 4 passed: Limiter > third",
        ),
        (  # mocha
            ("  Limiter\n"
            "    ✔ first\n"
            "    1) third\n"
            "\n"
            "\n"
            "  4 passing (12ms)\n"
            "  1 failing\n"
            "\n"
            "  1) Limiter\n"
            "       third:\n"
            "     AssertionError"),
            "1 failed, 4 passed: third",
        ),
        (  # rspec
            ("Finished in 0.5 seconds (files took 0.1 seconds to load)\n"
            "5 examples, 1 failure, 2 pending\n"
            "\n"
            "Failed examples:\n"
            "\n"
            "rspec ./spec/a_spec.rb:12 # Calc adds"),
            "1 failed, 2 passed, 2 skipped: Calc adds",
        ),
        (  # minitest
            ("Finished in 0.01s, 5 runs/s.\n"
            "5 runs, 7 assertions, 1 failures, 0 errors, 0 skips"),
            "1 failed, 4 passed",
        ),
        (  # cargo
            ("running 4 tests\n"
            "test limiter::first ... ok\n"
            "test limiter::third ... FAILED\n"
            "\n"
            "failures:\n"
            "\n"
            "---- limiter::third stdout ----\n"
            "thread 'limiter::third' panicked at src/lib.rs:3:5:\n"
            "\n"
            "failures:\n"
            "    limiter::third\n"
            "\n"
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
            "\n"
            "error: test failed, to rerun pass `--lib`"),
            "1 failed, 3 passed: limiter::third",
        ),
        (  # nextest
            ("        FAIL [   0.005s] shop limiter::third\n"
            "     Summary [   0.123s] 5 tests run: 4 passed, 1 failed, 0 skipped\n"
            "        FAIL [   0.005s] shop limiter::third\n"
            "error: test run failed"),
            "1 failed, 4 passed: shop limiter::third",
        ),
        (  # rustc
            ("error[E0308]: mismatched types\n"
            " --> src/a.rs:12:5\n"
            "  |\n"
            'error: could not compile `shop` (bin "shop") due to 1 previous error'),
            "1 error: a.rs:12 E0308 mismatched types",
        ),
        (  # dotnet
            ("  Failed Shop.Tests.Third [12 ms]\n"
            "  Error Message:\n"
            "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5, Duration: 12 ms - Shop.Tests.dll (net8.0)"),
            "1 failed, 4 passed: Shop.Tests.Third",
        ),
        (  # dotnetok
            "Passed!  - Failed:     0, Passed:     4, Skipped:     0, Total:     4, Duration: 12 ms - Shop.Tests.dll (net8.0)",
            "4 passed",
        ),
        (  # dotnet9
            ("Test summary: total: 5, failed: 1, succeeded: 4, skipped: 0, duration: 1.2s\n"
            "Build failed with 1 error(s) in 2.0s"),
            "1 failed, 4 passed",
        ),
        (  # dotnetmulti
            ("Total tests: 5\n"
            "     Passed: 4\n"
            "     Failed: 1\n"
            " Total time: 1.2 Seconds"),
            "1 failed, 4 passed",
        ),
        (  # dotnetbuild
            ("Shop.cs(12,3): error CS0103: The name 'x' does not exist [/home/dev/shop/Shop.csproj]\n"
            "\n"
            "Build FAILED.\n"
            "\n"
            "    0 Warning(s)\n"
            "    1 Error(s)"),
            "1 error: Shop.cs:12 CS0103: The name 'x' does not exist",
        ),
        (  # maven
            ("[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in com.shop.LimiterTest\n"
            "[ERROR] com.shop.LimiterTest.third -- Time elapsed: 0.01 s <<< FAILURE!\n"
            "[INFO] Results:\n"
            "[ERROR] Failures: \n"
            "[ERROR]   LimiterTest.third:12 expected:<1> but was:<2>\n"
            "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0\n"
            "[INFO] BUILD FAILURE"),
            "1 failed, 4 passed: com.shop.LimiterTest.third",
        ),
        (  # gradle
            ("LimiterTest > third() FAILED\n"
            "    org.opentest4j.AssertionFailedError at LimiterTest.java:12\n"
            "\n"
            "5 tests completed, 1 failed\n"
            "\n"
            "FAILURE: Build failed with an exception.\n"
            "BUILD FAILED in 3s"),
            "1 failed, 4 passed: LimiterTest > third()",
        ),
        (  # phpunit
            ("There was 1 failure:\n"
            "\n"
            "1) LimiterTest::testThird\n"
            "Failed asserting\n"
            "\n"
            "FAILURES!\n"
            "Tests: 5, Assertions: 7, Failures: 1."),
            "1 failed, 4 passed: LimiterTest::testThird",
        ),
        (  # phpok
            "OK (5 tests, 7 assertions)",
            "5 passed",
        ),
        (  # exunit
            ("  1) test adds (CalcTest)\n"
            "     test/calc_test.exs:3\n"
            "\n"
            "Finished in 0.03 seconds\n"
            "5 tests, 1 failure"),
            "1 failed, 4 passed: test adds (CalcTest)",
        ),
        (  # node
            ("# tests 5\n"
            "# suites 0\n"
            "# pass 4\n"
            "# fail 1\n"
            "# cancelled 0\n"
            "# skipped 0\n"
            "# todo 0\n"
            "# duration_ms 12"),
            "1 failed, 4 passed",
        ),
        (  # tap
            ("ok 1 - first\n"
            "not ok 2 - third\n"
            "1..2"),
            "1 failed, 1 passed: third",
        ),
        (  # bun
            ("(fail) Limiter > third [0.10ms]\n"
            "\n"
            " 4 pass\n"
            " 1 fail\n"
            " 9 expect() calls\n"
            "Ran 5 tests across 2 files. [12.00ms]"),
            "1 failed, 4 passed: Limiter > third",
        ),
        (  # deno
            ("third ... FAILED (3ms)\n"
            "\n"
            " ERRORS \n"
            "\n"
            "FAILED | 4 passed | 1 failed (12ms)"),
            "1 failed, 4 passed: third",
        ),
        (  # gotestsum
            ("=== FAIL: shop TestThird (0.00s)\n"
            "\n"
            "DONE 5 tests, 1 failure in 0.1s"),
            "1 failed, 4 passed: TestThird",
        ),
        (  # ctest
            ("80% tests passed, 1 tests failed out of 5\n"
            "\n"
            "The following tests FAILED:\n"
            "\t  3 - third (Failed)"),
            "1 failed, 4 passed: third",
        ),
        (  # gtest
            ("[==========] 5 tests from 2 test suites ran. (3 ms total)\n"
            "[  PASSED  ] 4 tests.\n"
            "[  FAILED  ] 1 test, listed below:\n"
            "[  FAILED  ] Limiter.Third\n"
            "\n"
            " 1 FAILED TEST"),
            "1 failed, 4 passed: Limiter.Third",
        ),
        (  # playwright
            ("  1) [chromium] › a.spec.ts:3:1 › third ───\n"
            "\n"
            "  1 failed\n"
            "    [chromium] › a.spec.ts:3:1 › third ───\n"
            "  4 passed (3.2s)"),
            "1 failed, 4 passed: [chromium] › a.spec.ts:3:1 › third ───",
        ),
        (  # eslint
            ("/home/dev/shop/a.js\n"
            "  12:3  error  'x' is not defined  no-undef\n"
            "  14:3  warning  Unexpected console  no-console\n"
            "\n"
            "✖ 2 problems (1 error, 1 warning)"),
            "2 problems (1 error, 1 warning): a.js:12 'x' is not defined",
        ),
        (  # tsc
            "src/a.ts(12,3): error TS2322: Type 'string' is not assignable to type 'number'.",
            "1 error: a.ts:12 TS2322: Type 'string' is not assignable to type 'number'.",
        ),
        (  # tscp
            ("src/a.ts:12:3 - error TS2322: Type 'string' is not assignable.\n"
            "\n"
            "12   x = 1\n"
            "     ~\n"
            "\n"
            "Found 1 error in src/a.ts:12"),
            "1 error: a.ts:12 TS2322: Type 'string' is not assignable.",
        ),
        (  # mypy
            ("limiter.py:12: error: Incompatible types  [assignment]\n"
            "limiter.py:12: note: see\n"
            "Found 1 error in 1 file (checked 12 source files)"),
            "1 error: limiter.py:12 Incompatible types  [assignment]",
        ),
        (  # mypyok
            "Success: no issues found in 12 source files",
            "no issues found in 12 source files",
        ),
        (  # pyright
            "0 errors, 0 warnings, 0 informations ",
            "0 errors, 0 warnings, 0 informations",
        ),
        (  # ruff
            ("limiter.py:1:8: F401 [*] `os` imported but unused\n"
            "Found 1 error.\n"
            "[*] 1 fixable with the `--fix` option."),
            "1 error: limiter.py:1 F401 `os` imported but unused",
        ),
        (  # rufffull
            ("F401 [*] `os` imported but unused\n"
            " --> limiter.py:1:8\n"
            "  |\n"
            "1 | import os\n"
            "\n"
            "Found 1 error."),
            "1 error: limiter.py:1 F401 `os` imported but unused",
        ),
        (  # golangci
            ("a/limiter_test.go:12:16: string `main` has 5 occurrences, make it a constant (goconst)\n"
            "\tif x\n"
            "\t ^\n"
            "2 issues:\n"
            "* goconst: 1\n"
            "* dupl: 1"),
            "2 issues: limiter_test.go:12 string `main` has 5 occurrences, make it a constant (goconst)",
        ),
        (  # golangci0
            "0 issues.",
            "0 issues",
        ),
        (  # rubocop
            "12 files inspected, no offenses detected",
            "12 files inspected, no offenses detected",
        ),
        (  # rubocop3
            ("a.rb:1:1: C: Style/Frozen: Missing\n"
            "\n"
            "12 files inspected, 3 offenses detected, 1 offense autocorrectable"),
            "12 files inspected, 3 offenses detected",
        ),
        (  # go
            ("--- FAIL: TestThird (0.00s)\n"
            "    limiter_test.go:12: got 3, want 4\n"
            "FAIL\n"
            "FAIL\tshop/limiter\t0.2s\n"
            "ok  \tshop/cart\t0.1s\n"
            "FAIL"),
            "1 failed: TestThird - limiter_test.go:12 got 3, want 4",
        ),
        (  # go2
            ("--- FAIL: TestThird (0.00s)\n"
            "--- FAIL: TestFourth (0.00s)\n"
            "FAIL\n"
            "FAIL\tshop/limiter\t0.2s\n"
            "ok  \tshop/cart\t0.1s\n"
            "FAIL"),
            "2 failed: TestThird, TestFourth",
        ),
        (  # gok
            ("?   \tshop\t[no test files]\n"
            "ok  \tshop/cart\t0.1s\n"
            "ok  \tshop/limiter\t(cached)"),
            "2 packages ok",
        ),
        (  # gov
            ("=== RUN   TestA\n"
            "=== RUN   TestA/x\n"
            "--- PASS: TestA (0.00s)\n"
            "    --- PASS: TestA/x (0.00s)\n"
            "PASS\n"
            "ok  \tshop/cart\t0.1s"),
            "1 passed",
        ),
        (  # gon
            ("testing: warning: no tests to run\n"
            "PASS\n"
            "ok  \tshop/cart\t0.1s [no tests to run]"),
            "no tests to run",
        ),
        (  # gob
            ("# shop/cart\n"
            "cart/cart.go:12:3: undefined: x\n"
            ""),
            "1 error: cart.go:12 undefined: x",
        ),
        (  # gotb
            ("# shop/cart [shop/cart.test]\n"
            "cart/cart_test.go:12:3: undefined: x\n"
            "FAIL\tshop/cart [build failed]\n"
            "ok  \tshop/a\t0.1s\n"
            "FAIL"),
            "build failed: cart_test.go:12 undefined: x",
        ),
        (  # gopanic
            ("panic: test timed out after 30s\n"
            "running tests:\n"
            "\tTestX (30s)\n"
            "\n"
            "goroutine 1\n"
            "FAIL\tshop/cart\t30.1s\n"
            "FAIL"),
            "panic: test timed out after 30s; 1 package failed: cart",
        ),
        (  # swift
            ("Test Case '-[ShopTests.LimiterTests testThird]' failed (0.1 seconds).\n"
            "\t Executed 5 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds"),
            "1 failed, 4 passed: ShopTests.LimiterTests testThird",
        ),
        (  # shellcheck
            ("In run.sh line 12:\n"
            "echo $x\n"
            "     ^-- SC2086 (info): Double quote to prevent globbing.\n"
            ""),
            "1 error: run.sh:12 SC2086 Double quote to prevent globbing.",
        ),
        (  # prose
            ("We found 3 errors when we looked at the tests and fixed them\n"
            "ok so 5 tests are missing"),
            "",
        ),
        (  # bats
            ("1..3\n"
            "ok 1 a\n"
            "not ok 2 third\n"
            "# (in test file a.bats, line 3)\n"
            "ok 3 c"),
            "1 failed, 2 passed: third",
        ),
        (  # automake
            ("# TOTAL: 6\n"
            "# PASS:  4\n"
            "# FAIL:  2\n"
            ""),
            "2 failed, 4 passed",
        ),
        (  # clang
            ("a.c:12:3: warning: unused variable 'x' [-Wunused-variable]\n"
            "1 warning generated."),
            "1 warning: a.c:12 unused variable 'x' [-Wunused-variable]",
        ),
        (  # gotrunc
            ("=== RUN   TestA\n"
            "... [120 lines truncated] ...\n"
            "--- PASS: TestA (0.00s)\n"
            "PASS\n"
            "ok  \tshop/cart\t0.1s"),
            "package ok",
        ),
        (  # mise
            ("[lint:go] 0 issues.\n"
            "[lint:gofmt] Finished in 100ms\n"
            "Finished in 1.6s"),
            "0 issues",
        ),
        (  # goskip
            ("=== RUN   TestA\n"
            "=== RUN   TestB\n"
            "--- PASS: TestA (0.00s)\n"
            "--- SKIP: TestB (0.00s)\n"
            "PASS\n"
            "ok  \tshop/cart\t0.1s"),
            "1 passed, 1 skipped",
        ),
        (  # gotestify
            ("--- FAIL: TestThird (0.00s)\n"
            "    limiter_test.go:12: \n"
            "        \tError Trace:\t/home/dev/shop/limiter_test.go:12\n"
            "        \tError:      \tNot equal: \n"
            "        \t            \texpected: 3\n"
            "FAIL\n"
            "FAIL\tshop/limiter\t0.2s\n"
            "FAIL"),
            "1 failed: TestThird - limiter_test.go:12 Not equal:",
        ),
        (  # gcc
            ("a.c:12:3: error: 'x' undeclared (first use in this function)\n"
            "a.c:10:1: note: each undeclared\n"
            "make: *** [Makefile:3: a.o] Error 1"),
            "1 error: a.c:12 'x' undeclared (first use in this function)",
        ),
        (  # java
            ("src/main/java/Cart.java:12: error: cannot find symbol\n"
            "    foo();\n"
            "    ^\n"
            "1 error"),
            "1 error: Cart.java:12 cannot find symbol",
        ),
        (  # kotlin
            "e: file:///home/dev/shop/Cart.kt:12:5 Unresolved reference: x",
            "1 error: Cart.kt:12 Unresolved reference: x",
        ),
        (  # flake8
            ("limiter.py:1:1: F401 'os' imported but unused\n"
            "limiter.py:3:80: E501 line too long (88 > 79 characters)"),
            "2 errors: limiter.py:1 F401 'os' imported but unused",
        ),
        (  # batsok
            ("1..3\n"
            "ok 1 a\n"
            "ok 2 third\n"
            "ok 3 c"),
            "3 passed",
        ),
        (  # cargotwo
            ("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n"
            "\n"
            "   Doc-tests shop\n"
            "\n"
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.20s"),
            "4 passed",
        ),
        (  # both
            ("0 issues.\n"
            "ok  \tshop/cart\t0.1s\n"
            "ok  \tshop/limiter\t0.1s"),
            "0 issues; 2 packages ok",
        ),
        (  # lintfails
            ("ok  \tshop/cart\t0.1s\n"
            "a/limiter.go:12:16: x is unused (unused)\n"
            "1 issues:\n"
            "* unused: 1"),
            "1 issue: limiter.go:12 x is unused (unused); 1 package ok",
        ),
        (  # turbo
            ("web:test: Tests:       1 failed, 4 passed, 5 total\n"
            "\n"
            " Tasks:    0 successful, 1 total\n"
            "Failed:    web#test"),
            "1 failed, 4 passed",
        ),
    ],
)  # fmt: skip
def test_a_run_tells_its_counts_and_what_failed_first(text: str, told: str) -> None:
    assert _verdict(text) == told


@pytest.mark.parametrize(
    ("command", "text", "partial"),
    [
        ("go test ./...", "a\nb", False),
        ("go test ./... | tail -30", "a\nb", False),
        ("go test ./... | tail -2", "a\nb", True),
        ("go test ./... 2>&1 | head -n 2", "a\nb", True),
        ("go test ./... | tail", "a\n" * 9, False),
        ("go test ./... | tail", "a\n" * 10, True),
        ("go test ./... | grep FAIL", "a", True),
    ],
)
def test_a_filter_that_left_out_lines_forbids_counting_them(command: str, text: str, partial: bool) -> None:
    assert is_partial(command, text) is partial


def test_packages_are_not_counted_where_lines_are_missing() -> None:
    rows = "ok  \tshop/cart\t0.1s\nok  \tshop/limiter\t(cached)\n"
    assert verdict(rows, is_whole=False, failed=False).text == "packages ok"
    assert verdict(rows + "FAIL\n", is_whole=False, failed=False).is_red
    assert verdict("--- FAIL: TestA (0.0s)\n", is_whole=False, failed=False).text == "failed: TestA"


def test_many_failed_tests_end_in_an_ellipsis_within_a_line() -> None:
    text = "".join(f"--- FAIL: TestTheLimiterInManyWords{n} (0.0s)\n" for n in range(9))
    told = _verdict(text)
    assert told.startswith("9 failed: TestTheLimiterInManyWords0, TestTheLimiterInManyWords1")
    assert told.endswith(", …")
    assert len(told) <= 100


@given(hostile_text())
def test_no_text_raises(text: str) -> None:
    output = printed(text)
    assert isinstance(verdict(bare(output.text), is_whole=True, failed=True).text, str)
