"""Failures of an agent's own work, as compilers, test runners and tools tell them, with what mends each.

Owns the words: how a failure looks, what the agent says of it and what it does.  Slots are `<src>`, `<test>`, `<mod>`,
`<func>`, `<field>`, `<n>`, `<m>`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAILURES", "LONE", "Failing"]


@dataclass(frozen=True)
class Failing:
    """`stacks` are the languages that it happens in ("" for all); `command` failing says `out`.

    `why` is the agent's word on the cause and the remedy, `passes` what the command says once it is mended.  With `instead`,
    another command does what this one was for, and `passes` is what that says.
    """

    kind: str
    stacks: str
    command: str
    out: str
    why: str
    passes: str
    instead: str = ""
    code: int = 1


_PY = (
    Failing("pytest-assert", "py", "pytest <test> -q", "F.\n>       assert <func>(2) == 4\nE       assert 3 == 4\n\nFAILED <test>::test_<func> - assert 3 == 4\n1 failed, 1 passed in 0.12s", "<func> stops one step early, so I'll make the range inclusive.", "2 passed in 0.10s"),
    Failing("python-none", "py", "python -m <mod> --once", "Traceback (most recent call last):\n  File \"<src>\", line <n>, in <func>\n    return row.<field>.strip()\nAttributeError: 'NoneType' object has no attribute 'strip'", "An empty <field> comes through as None; I'll treat it as an empty text.", "processed <m> rows"),
    Failing("python-keyerror", "py", "python scripts/run_<mod>.py", "Traceback (most recent call last):\n  File \"<src>\", line <n>, in <func>\nKeyError: '<field>'", "Older rows have no <field>, so it has to be read with a default.", "done, <m> rows"),
    Failing("python-import", "py", "python -c 'import <mod>_api'", "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named '<mod>_api'", "The module I just moved is called <mod>.api now; the import has to say so.", "", "python -c 'import <mod>.api'"),
    Failing("python-circular", "py", "python manage_<mod>.py check", "ImportError: cannot import name '<func>' from partially initialized module '<mod>' (most likely due to a circular import)", "The two modules import each other; I'll move <func> into a module of its own.", "System check identified no issues (0 silenced)."),
    Failing("mypy", "py", "mypy <src>", '<src>:<n>: error: Incompatible return value type (got "str | None", expected "str")  [return-value]\nFound 1 error in 1 file (checked 1 source file)', "<func> can return None, so its annotation has to admit that.", "Success: no issues found in 1 source file"),
    Failing("ruff", "py", "ruff check <src>", "<src>:<n>:5: F841 Local variable `<field>` is assigned to but never used", "That variable is a leftover of mine and goes.", "All checks passed!"),
    Failing("unittest", "py", "python -m unittest tests.test_<mod>", "F\n======================================================================\nFAIL: test_<func> (tests.test_<mod>.Test)\n----------------------------------------------------------------------\nAssertionError: Lists differ: [1, 2] != [2, 1]\n\nRan 1 test in 0.002s\n\nFAILED (failures=1)", "The order of <field> depends on a set; sorting makes it stable.", "Ran 1 test in 0.002s\n\nOK"),
    Failing("alembic-heads", "py", "alembic upgrade head", "FAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision", "My migration and one from main both follow the same parent; a merge revision joins them.", "INFO  [alembic.runtime.migration] Running upgrade 3fa1 -> 9c04, merge"),
    Failing("hang", "py", "timeout 60 pytest <test> -x", "tests/test_<mod>.py ..\n+++++++++++++++++++++++++++ Timeout +++++++++++++++++++++++++++\nFailed: Timeout >60.0s", "<func> waits for a lock that it holds itself, so it must be re-entrant.", "14 passed in 1.02s", "", 124),
)  # fmt: skip
_TS = (
    Failing("tsc", "ts", "npx tsc --noEmit", "<src>(<n>,14): error TS2345: Argument of type 'string | undefined' is not assignable to parameter of type 'string'.", "<field> may be missing in that type, so <func> has to check before it passes it on.", "", "", 2),
    Failing("jest", "ts", "npx jest <src>", "FAIL <src>\n  ● <func> › keeps the last <field>\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: <m>\n    Received: <n>\n\nTests:       1 failed, 6 passed, 7 total", "The accumulator is shared by both calls; each has to get a fresh one.", "Tests:       7 passed, 7 total"),
    Failing("npm-script", "ts", "npm run test:unit", 'npm ERR! Missing script: "test:unit"\nnpm ERR!\nnpm ERR! To see a list of scripts, run:\nnpm ERR!   npm run', "There is no such script here; package.json calls it `check`.", "<m> passing (2s)", "npm run check"),
    Failing("eslint", "ts", "npx eslint <src>", '<src>\n  <n>:3  error  React Hook "useEffect" is called conditionally  react-hooks/rules-of-hooks\n\n✖ 1 problem (1 error, 0 warnings)', "The early return stands above the hook; I'll move it below.", "no problems"),
    Failing("node-undefined", "ts", "node dist/<mod>.js", "/home/dev/app/dist/<mod>.js:<n>\n    return data.<field>.map(toRow);\n                       ^\n\nTypeError: Cannot read properties of undefined (reading 'map')\n    at <func>", "The API answers with `items`, not with `<field>`.", "wrote <m> rows"),
    Failing("vite-build", "ts", "npx vite build", 'error during build:\nRollupError: "<func>" is not exported by "<src>", imported by "src/main.ts".', "I renamed the export and missed this importer.", "✓ built in 2.31s"),
    Failing("flag", "ts", "npx vitest --grep <func>", "CACError: Unknown option `--grep`", "vitest calls that option -t.", "Tests  1 passed (1)", "npx vitest run -t <func>"),
)  # fmt: skip
_NATIVE = (
    Failing("go-compile", "go", "go build ./internal/<mod>", "# gatekeeper/internal/<mod>\n<src>:<n>:9: cannot use d (variable of type int64) as time.Duration value in argument to <func>", "The <field> has to become a time.Duration first.", "ok", "", 1),
    Failing("go-test", "go", "go test ./internal/<mod> -run Test<func>", "--- FAIL: Test<func> (0.00s)\n    <mod>_test.go:<n>: got 3 retries, want 2\nFAIL\nFAIL\tgatekeeper/internal/<mod>\t0.004s", "The first try is counted as a retry; the counter starts at zero.", "ok  \tgatekeeper/internal/<mod>\t0.003s"),
    Failing("go-race", "go", "go test -race ./internal/<mod>", "==================\nWARNING: DATA RACE\nWrite at 0x00c0001 by goroutine 8:\n  <func>()\n      <src>:<n>\n==================\n    testing.go:1398: race detected during execution of test\nFAIL\tgatekeeper/internal/<mod>\t1.031s", "Two goroutines write <field> without the mutex; I'll take it around the write.", "ok  \tgatekeeper/internal/<mod>\t1.204s"),
    Failing("rust-borrow", "rust", "cargo build", "error[E0502]: cannot borrow `self.<field>` as mutable because it is also borrowed as immutable\n  --> <src>:<n>:9", "The iterator still holds the borrow; collecting the indices first ends it.", "    Finished `dev` profile in 2.10s", "", 101),
    Failing("rust-panic", "rust", "cargo test --test <mod>", "---- <func>_handles_eof stdout ----\nthread '<func>_handles_eof' panicked at <src>:<n>:17:\nindex out of bounds: the len is 4 but the index is 4\n\ntest result: FAILED. 3 passed; 1 failed", "The loop reads one past the end at EOF; the bound must be strict.", "test result: ok. 4 passed; 0 failed", "", 101),
    Failing("clippy", "rust", "cargo clippy -- -D warnings", "error: this `match` can be collapsed into the outer `if let`\n  --> <src>:<n>:13\nerror: could not compile `kiln` (lib) due to 1 previous error", "Clippy is right, the nested match goes into the pattern.", "    Finished `dev` profile in 0.90s", "", 101),
    Failing("filecheck", "rust", "lit tests/ir/<mod>.ll", "<mod>.ll:<n>:10: error: CHECK: expected string not found in input\n; CHECK: %slot = load i32\nFailed Tests (1):\n  kiln :: ir/<mod>.ll", "The pass removes that load now, so the pattern has to look for the register.", "Passed: 1"),
    Failing("gcc", "c", "cc -Wall -Werror -c <src>", "<src>:<n>:12: error: implicit declaration of function '<func>_isr' [-Wimplicit-function-declaration]", "The prototype is missing in the header.", "ok"),
    Failing("linker", "c", "make firmware.elf", "/usr/bin/ld: <mod>.o: in function `main':\n<src>:<n>: undefined reference to `<func>'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:31: firmware.elf] Error 1", "The new file is not in the list of objects; I'll add it to the Makefile.", "text 14212 data 96 bss 512", "", 2),
    Failing("segfault", "c", "./build/test_<mod>", "Running <n> checks\nSegmentation fault (core dumped)", "<func> frees the buffer before the last reader is done; the free moves to the end.", "<n> checks, all good", "", 139),
    Failing("cmake", "c", "cmake -B build", 'CMake Error at CMakeLists.txt:<n> (target_link_libraries):\n  Cannot specify link libraries for target "<mod>" which is not built by this project.', "The target is defined further down; it has to come first.", "-- Configuring done"),
    Failing("swift-optional", "swift", "swift build", "<src>:<n>:22: error: value of optional type 'Double?' must be unwrapped to a value of type 'Double'", "The <field> is optional since the last change; a guard unwraps it.", "Build complete! (3.21s)"),
    Failing("xctest", "swift", "swift test --filter <mod>Tests", '<test>:<n>: error: -[<mod>Tests test_<func>] : XCTAssertEqual failed: ("11.0") is not equal to ("12.0")\nExecuted 4 tests, with 1 failure', "The window is centred, so its half has to be rounded up.", "Executed 4 tests, with 0 failures"),
    Failing("kapt", "kotlin", "./gradlew :app:compileDebugKotlin", "e: <src>:<n>:17 Unresolved reference: <field>\n\nFAILURE: Build failed with an exception.", "The column was renamed in the entity and not in the query.", "BUILD SUCCESSFUL in 11s"),
    Failing("junit", "java", "mvn -q test -Dtest=<mod>Test", "[ERROR] Failures:\n[ERROR]   <mod>Test.<func>:<n> expected: <100.00> but was: <100.0>\n[INFO] Tests run: 5, Failures: 1", "BigDecimal compares the scale too; compareTo is what was meant.", "Tests run: 5, Failures: 0, Errors: 0"),
    Failing("javac", "java", "mvn -q compile", "[ERROR] /<src>:[<n>,31] incompatible types: java.util.Optional<Money> cannot be converted to Money", "<func> gives an Optional now; the caller has to say what an empty one means.", "BUILD SUCCESS"),
    Failing("npe", "java", "java -jar target/ledger.jar --dry-run", 'Exception in thread "main" java.lang.NullPointerException: Cannot invoke "String.length()" because "<field>" is null\n\tat ledger.<mod>.<func>(<mod>.java:<n>)', "Old postings have no <field>; they get the ledger's own one.", "dry run: <m> postings"),
)  # fmt: skip
_OTHER = (
    Failing("rspec", "ruby", "bundle exec rspec <test>", "Failures:\n\n  1) <mod> #<func> is true after the date\n     expected: true\n          got: false\n\n4 examples, 1 failure\n\nrspec <test>:<n> # <func>", "Dates are compared with times here; both become dates.", "4 examples, 0 failures"),
    Failing("rails-migrate", "ruby", "bin/rails db:migrate", 'PG::UndefinedColumn: ERROR:  column "<field>" of relation "<mod>s" does not exist', "The migration renames before it adds; the two steps change places.", "== AddFee: migrated (0.0121s)"),
    Failing("dbt-compile", "sql", "dbt run --select <mod>", "Compilation Error in model <mod> (<src>)\n  Model 'model.warehouse.<mod>' depends on a node named 'stg_<mod>' which was not found", "The staging model is called stg_<mod>_v2 since Monday.", "Done. PASS=1 WARN=0 ERROR=0"),
    Failing("dbt-test", "sql", "dbt test --select <mod>", "Failure in test unique_<mod>_<field> (<test>)\n  Got <n> results, configured to fail if != 0", "The join multiplies rows; it has to be on both keys.", "Done. PASS=6 WARN=0 ERROR=0"),
    Failing("psql-groupby", "sql", "psql -f <src>", 'psql:<src>:<n>: ERROR:  column "o.<field>" must appear in the GROUP BY clause or be used in an aggregate function', "<field> belongs into the GROUP BY.", "SELECT <m>", "", 3),
    Failing("terraform", "ops", "terraform plan -target=module.<mod>", 'Error: Unsupported argument\n\n  on modules/<mod>/main.tf line <n>, in resource "aws_lb" "this":\n  <n>:   <field> = 3\n\nAn argument named "<field>" is not expected here.', "That argument belongs to the target group and moves there.", "Plan: 1 to add, 0 to change, 0 to destroy."),
    Failing("kubectl-schema", "ops", "kubectl apply --dry-run=server -f <src>", 'error: error validating "<src>": error validating data: ValidationError(Deployment.spec): unknown field "<field>Count"', "The field is called <field>, without Count.", "deployment.apps/<mod> configured (server dry run)"),
    Failing("helm", "ops", "helm lint charts/<mod>", "[ERROR] templates/: parse error at (<mod>/templates/svc.yaml:<n>): unexpected {{end}}\n\nError: 1 chart(s) linted, 1 chart(s) failed", "There is one end too many after the port loop.", "1 chart(s) linted, 0 chart(s) failed"),
    Failing("dockerfile", "ops", "docker build -t <mod> .", 'ERROR: failed to solve: failed to compute cache key: "/dist": not found', ".dockerignore hides dist, which the COPY needs.", "naming to docker.io/library/<mod> done"),
    Failing("nginx", "ops", "nginx -t -c deploy/nginx.conf", 'nginx: [emerg] unexpected "}" in deploy/nginx.conf:<n>\nnginx: configuration file deploy/nginx.conf test failed', "A semicolon is missing in the line above.", "nginx: configuration file deploy/nginx.conf test is successful"),
    Failing("ansible", "ops", "ansible-playbook site.yml --syntax-check", "ERROR! conflicting action statements: <mod>, copy\n\nThe error appears to be in 'roles/<mod>/tasks/main.yml': line <n>", "The copy step lost its own dash; it has to be a task of its own.", "playbook: site.yml", "", 4),
    Failing("phpunit", "php", "vendor/bin/phpunit --filter <func>", "1) <mod>Test::test_<func>\nTypeError: <mod>::<func>(): Argument #1 ($<field>) must be of type string, null given\n\nTests: 3, Assertions: 4, Errors: 1.", "A guest has no <field>; the signature admits null and falls back.", "OK (3 tests, 6 assertions)", "", 2),
    Failing("mix-match", "ex", "mix test <test>", "  1) test <func> twice (Relay.<mod>Test)\n     ** (MatchError) no match of right hand side value: {:error, :already_tracked}\n\n4 tests, 1 failure", "Tracking twice is legal, so both answers have to be matched.", "4 tests, 0 failures", "", 2),
    Failing("mix-compile", "ex", "mix compile --warnings-as-errors", 'error: undefined variable "<field>"\n  <src>:<n>: Relay.<mod>.<func>/2\n\n== Compilation error in file <src> ==', "The pattern binds it under another name.", "Generated relay app"),
    Failing("sed-option", "", "sed -i 's/<mod>/old/<mod>/g' <src>", "sed: -e expression #1, char 24: unknown option to `s'", "The path has slashes in it, so another delimiter is needed.", "", "sed -i 's|<mod>/old|<mod>|g' <src>"),
    Failing("jq-syntax", "", "curl -s localhost:8080/<mod> | jq .items[].<field>-id", "jq: error: id/0 is not defined at <top-level>, line 1:\n.items[].<field>-id\njq: 1 compile error", "A key with a dash has to be quoted in jq.", '"<n>"', "curl -s localhost:8080/<mod> | jq '.items[].\"<field>-id\"'", 3),
    Failing("wrong-path", "", "cat config/<mod>.settings.json", "cat: config/<mod>.settings.json: No such file or directory", "The settings lie under etc/ in this project.", '{\n  "<field>": <n>\n}', "cat etc/<mod>.json"),
    Failing("quote", "", "grep -c \"it's <func>' <src>", "bash: -c: line 1: unexpected EOF while looking for matching `\"'", "The quotes do not pair up.", "<n>", "grep -c \"it's <func>\" <src>", 2),
    Failing("git-push", "", "git push origin feature/<mod>", " ! [rejected]        feature/<mod> -> feature/<mod> (non-fast-forward)\nerror: failed to push some refs to 'origin'", "Somebody pushed to the branch meanwhile; a rebase puts my commit on top.", "   3fd1..9ac2  feature/<mod> -> feature/<mod>"),
    Failing("git-merge", "", "git merge main", "CONFLICT (content): Merge conflict in <src>\nAutomatic merge failed; fix conflicts and then commit the result.", "Both sides changed <func>; I'll keep theirs and put my check before it.", "Already up to date."),
    Failing("git-ref", "", "git diff origin/master -- <src>", "fatal: bad revision 'origin/master'", "The default branch is main here.", "+ <field>", "git diff origin/main -- <src>", 128),
    Failing("not-executable", "", "./scripts/<mod>.sh", "bash: ./scripts/<mod>.sh: Permission denied", "I wrote the script without its execute bit.", "done: <n>", "chmod +x scripts/<mod>.sh && ./scripts/<mod>.sh", 126),
    Failing("curl-422", "", "curl -sf -X POST localhost:8080/<mod> -d '{\"<field>\": null}'", "curl: (22) The requested URL returned error: 422", "The endpoint wants a value for <field>.", '{"id": <n>}', "curl -sf -X POST localhost:8080/<mod> -d '{\"<field>\": <n>}'", 22),
    Failing("reproduce", "", "python3 tools/replay.py --case <n>", "replay of case <n> failed: connection reset by peer while <func> was sending", "<func> gives up at the first reset; it has to try again with a pause.", "replay of case <n> ok"),
    Failing("bench", "", "make bench-<mod>", "<func>: 412 ms, budget 250 ms\nmake: *** [bench-<mod>] Error 1", "<func> reads the file once for each row; reading it once is enough.", "<func>: 96 ms, budget 250 ms", "", 2),
)  # fmt: skip

FAILURES = (*_PY, *_TS, *_NATIVE, *_OTHER)

LONE = (
    ("The export of <mod> wrote every <field> twice, though the command ended well.", "the writer was flushed in both branches; one flush is left"),
    ("<func> gave back yesterday's numbers: it read the cached file.", "the cache key has the date in it now"),
    ("I deployed <mod> with the wrong <field>, so all requests went to the old backend.", "rolled back and set <field> from the environment"),
    ("The migration left <n> rows of <mod> without a <field>.", "a second migration fills them from the audit log"),
    ("The screenshots of <mod> differ by one pixel on every run.", "the animation is switched off while they are taken"),
    ("After the change <func> answers with an empty list and a status of 200.", "the filter compared strings with numbers; both are numbers now"),
)  # fmt: skip
"""`[!error]` callouts that no failed call goes before: what, and how it was mended."""
