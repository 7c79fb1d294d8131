"""Failures of the work itself with their causes and what mended them, as this generator tells them.

Owns matter and wording, apart from those of `tests.cases.planted.failures`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CAUSES", "FAILURES", "GUESSES", "LONE", "Failing"]


class Failing(NamedTuple):
    """`command` fails with `out`; `cause` is a clause, `passes` what the command, or `instead`, says in the end.

    `stacks` are languages that it happens in, "" for all.
    """

    stacks: str
    command: str
    out: str
    cause: str
    passes: str
    instead: str = ""
    code: int = 1


FAILURES = (
    Failing("py ts go rust java ruby php ex", "make migrate-<mod>", "step 3 of 5: column <field> holds <n> empty values, constraint not added", "the backfill has to run before the constraint on <field>", "5 of 5 steps done"),
    Failing("py", "pytest <test> -k rounding", "E   assert Decimal('10.01') == Decimal('10.00')", "amounts are rounded per line and summed afterwards, so <func> has to round once", "1 passed"),
    Failing("py", "python -m <mod>.worker --once", "RuntimeError: cannot schedule new futures after shutdown", "the executor is closed before the last callback; <func> must drain it first", "drained 12, exiting"),
    Failing("py", "alembic check", "New upgrade operations detected: [('add_column', None, '<mod>', <field>)]", "the model of <mod> got <field> without a migration", "No new upgrade operations detected."),
    Failing("py", "python -W error -m <mod>.cli --help", "ResourceWarning: unclosed file <_io.TextIOWrapper name='<mod>.toml'>", "the settings are read without a context manager in <func>", "usage: <mod> [-h]"),
    Failing("py", "pytest tests/test_<mod>_async.py", "E   RuntimeError: Task got Future attached to a different loop", "the client is made at import time and thus belongs to another loop", "7 passed"),
    Failing("py", "python tools/train.py --rows <n>", "ValueError: Found array with 0 sample(s) (shape=(0, 14))", "the filter on <field> compares strings with numbers and keeps nothing", "loss 0.412 after 1 epoch"),
    Failing("ts", "npx tsc -p tsconfig.build.json", "<src>(<n>,9): TS2322: Type 'number' is not assignable to type 'bigint'.", "<field> became a bigint in the schema, so literals need an n", ""),
    Failing("ts", "npm run storybook:build", "Module parse: Unexpected token (<n>:14) in <src>", "the loader for decorators is not in the build config", "built in 14 s"),
    Failing("ts", "npx vitest run <test>", "AssertionError: expected 'Invalid Date' to be '2026-03-01'", "Safari's date format needs a T between day and hour in <func>", "Tests  9 passed (9)"),
    Failing("ts", "pnpm build", "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL  charts@1.0.0 build: `vite build`", "pnpm builds packages by topology and charts lacks the dependency on <mod>", "Done in 11.2s"),
    Failing("ts", "node dist/<mod>.js --dry-run", "ReferenceError: Cannot access '<func>' before initialization", "two modules import each other; the constant moves into a third one", "dry run: <n> rows"),
    Failing("go", "go vet ./internal/<mod>", "<src>:<n>:2: the cancel function is not used on all paths (possible context leak)", "<func> returns early without cancel, so it has to be deferred", "ok"),
    Failing("go", "go test ./internal/<mod> -run TestDrain", "panic: close of closed channel", "both the reader and <func> close the channel; only its owner may", "ok  \tgatekeeper/internal/<mod>\t0.011s"),
    Failing("go", "go run ./cmd/<mod> -listen :8443", "tls: private key does not match public key", "the bundle lists the intermediate first, so the leaf has to go on top", "listening on :8443"),
    Failing("rust", "cargo build --target thumbv7em-none-eabihf", "E0463: can't find crate for `std`", "the crate needs no_std and alloc when it is built for the board", "    Finished `release` profile in 9.1s", "", 101),
    Failing("rust", "cargo test lifetimes_<mod>", "thread 'lifetimes' panicked: called `Option::unwrap()` on a `None` value", "<func> asks for the scope after it was popped", "test result: ok. 3 passed; 0 ignored", "", 101),
    Failing("rust", "cargo run -- fmt samples/<mod>.kl", "stack overflow in thread 'main'", "the printer recurses on long chains; <func> must walk a list", "formatted 1 file", "", 134),
    Failing("java", "mvn -q verify -Dtest=<mod>IT", "LazyInitializationException: could not initialize proxy - no Session", "the view reads <field> after the transaction; it has to be fetched before", "Tests run: 4, Failures: 0"),
    Failing("java", "mvn -q flyway:migrate", "Migration checksum mismatch for migration version <n>", "an applied migration was edited; the change needs a version of its own", "Successfully applied 1 migration"),
    Failing("kotlin", "./gradlew :app:assembleDebug", "Duplicate class kotlin.collections.jdk8 found in modules stdlib and stdlib-jdk8", "two versions of the stdlib meet, and the BOM has to align them", "BUILD SUCCESSFUL in 31s"),
    Failing("swift", "swift build -c release", "<src>:<n>: sending 'self.<field>' risks causing data races", "<func> has to be isolated to the main actor", "Build complete! (12.1s)"),
    Failing("c", "make flash-sim", "region `FLASH' overflowed by 1312 bytes", "printf pulls in float formatting; nano specs leave it out", "text 60112 data 120 bss 2048", "", 2),
    Failing("c", "./build/sim_<mod> --baud 921600", "watchdog reset at tick <n>", "<func> spins on the flag with interrupts off, so the watchdog is not fed", "ran 10000 ticks", "", 3),
    Failing("c", "valgrind --error-exitcode=9 ./build/<mod>_check", "Invalid read of size 4 at <func> (<mod>.c:<n>)", "the head index is compared after it wraps", "All heap blocks were freed -- no leaks are possible", "", 9),
    Failing("ruby", "bin/rails zeitwerk:check", "expected file app/models/<mod>.rb to define constant", "the acronym is missing in the inflections", "All is good!"),
    Failing("ruby", "bundle exec rspec <test> --order rand", "1 example of 14 differs: expected [1, 2] got [2, 1]", "the query has no order, and <field> must break the tie", "14 examples, 0 pending"),
    Failing("sql", "dbt build --select <mod>+", "Got <n> results, configured to stop if != 0 in unique_<mod>_<field>", "late rows arrive twice and need a dedupe by <field>", "Done. PASS=8 WARN=0"),
    Failing("sql", "psql -f <src>", "division by zero in expression revenue / orders", "days without orders come from the calendar join, so nullif is needed", "SELECT <m>", "", 3),
    Failing("ops", "kubectl rollout status deploy/<mod> --timeout=60s", "timed out waiting: 0 of 3 updated replicas are available, readiness probe 404", "the probe asks /health while the app serves /healthz", 'deployment "<mod>" successfully rolled out'),
    Failing("ops", "terraform plan -out tf.plan", "Cycle: aws_security_group.<mod>, aws_security_group.db", "the two groups name each other inline; rules of their own break the circle", "Plan: 2 to add, 0 to change, 0 to destroy."),
    Failing("ops", "helm upgrade --dry-run <mod> charts/<mod>", "nil pointer evaluating interface {}.<field>", "the new value <field> has no default in values.yaml", 'Release "<mod>" has been upgraded.'),
    Failing("php", "bin/console doctrine:schema:validate", "The mapping of <mod> is not in sync: <field> is nullable in the database only", "the attribute lacks nullable", "[OK] The mapping files are correct."),
    Failing("php", "php -d memory_limit=128M bin/console export:<mod>", "Allowed memory size of 134217728 bytes exhausted", "the export hydrates all rows; iterating keeps one at a time", "exported <m> rows", "", 255),
    Failing("ex", "mix test test/relay/<mod>_test.exs --repeat-until-failure 20", "** (EXIT) no process: the process is not alive", "the supervisor restarts <mod> while the test still holds the old pid", "20 runs, all good"),
    Failing("ex", "mix dialyzer", "lib/relay/<mod>.ex:<n>: The pattern can never match the type {:ok, nil}", "<func> never returns nil, so that clause goes", "done (passed successfully)"),
    Failing("", "npx playwright test <mod>", "strict mode violation: getByRole('button') resolved to 2 elements", "the dialog keeps its own button mounted; the locator needs a name", "4 passed (9s)"),
    Failing("", "docker compose run --rm <mod> check", "exec format mismatch: image is arm64, host is amd64", "the base image is not multi-arch, and the platform has to be named", "check done", "docker compose run --rm --platform linux/amd64 <mod> check", 126),
    Failing("", "psql -c 'select count(*) from <mod>'", 'relation "<mod>" does not exist', "the tables live in the schema app, which is not in the search path", " count\n  <m>", "psql -c 'select count(*) from app.<mod>'"),
    Failing("", "git bisect run make check-<mod>", "bisect run: exit code 125 at every commit", "make check does not exist before March, so the script has to be called itself", "3fd1a is the first bad commit", "git bisect run ./scripts/check_<mod>.sh", 125),
    Failing("", "rsync -a out/ stage:<mod>/", "rsync: mkdir: parent of <mod> is missing on the receiver", "rsync makes one level only; mkpath is what makes the rest", "sent 4,311 bytes", "rsync -a --mkpath out/ stage:<mod>/", 11),
    Failing("", "grep -P '\\d{<n>}' data/<mod>.txt", "grep: -P supports only unibyte and UTF-8 locales", "the shell runs in the C locale", "<n>", "LC_ALL=C.UTF-8 grep -P '\\d{<n>}' data/<mod>.txt", 2),
    Failing("", "jq '.rows[] | .<field>' out/<mod>.json", "jq: Cannot iterate over null", "the export wraps rows in data", '"<n>"', "jq '.data.rows[] | .<field>' out/<mod>.json", 5),
    Failing("", "python3 tools/replay.py --from <n>", "replay stopped: event <n> has version 3, reader knows 2", "the reader needs an upcaster for version 3", "replayed <m> events"),
    Failing("", "make bench-<mod>", "<func>: 412 ms, budget 250 ms", "<func> opens the file for each row; once is enough", "<func>: 96 ms, budget 250 ms", "", 2),
    Failing("", "./scripts/import_<mod>.sh sample.csv", "row <n>: unexpected quote in field 4", "the customer exports with backslashes, so the escape character must be set", "imported <m> rows"),
    Failing("", "make docs", "<mod>.md:<n>: reference to unknown heading 'limits'", "the heading was renamed and its anchors were not", "docs: 41 pages"),
    Failing("", "curl -sf localhost:8080/<mod>/export", "curl: (22) The requested URL returned 406", "the endpoint only speaks CSV and wants an Accept header", "<field>,<n>", "curl -sf -H 'Accept: text/csv' localhost:8080/<mod>/export", 22),
)  # fmt: skip

CAUSES = {
    "en": (
        "<cause>.", "I see it: <cause>.", "That explains it: <cause>.", "Found it. <cause>.", "The culprit: <cause>.", "Root cause: <cause>.", "So that's why — <cause>.", "The reason is plain: <cause>.", "It comes down to this: <cause>.", "Diagnosis: <cause>.",
        "What happens is that <cause>.", "Turns out <cause>.", "The output points at it: <cause>.", "Clear now: <cause>.", "The fix follows from the cause: <cause>.", "The actual problem: <cause>.", "This failed because <cause>.",
    ),
    "de": ("Die Ursache ist klar: <cause>.", "Gefunden: <cause>.", "Daran liegt es: <cause>."),
    "fr": ("La cause est claire : <cause>.", "Trouvé : <cause>.", "Voilà pourquoi : <cause>."),
}  # fmt: skip

GUESSES = {
    "en": ("Perhaps it is the order of calls.", "My first guess is a stale build.", "Let me look at the input.", "Trying with the other default.", "Could be the path."),
    "de": ("Vielleicht liegt es an der Reihenfolge.", "Ich sehe mir die Eingabe an."),
    "fr": ("C'est peut-être l'ordre des appels.", "Je regarde l'entrée."),
}  # fmt: skip

LONE = (
    ("<func> gave yesterday's numbers, as the cache key has no date in it.", "the date is part of the key now"), ("Receipts went out twice after the retry of <mod>.", "the message id is the idempotency key"), ("The import of <mod> mangled umlauts.", "it is opened as UTF-8 with a signature"),
    ("The nightly job of <mod> ran in two pods at once.", "an advisory lock lets one of them through"), ("<field> was shown in the reader's zone and stored in the server's.", "it is converted at the edge only"), ("Deploying <mod> without its new column took the page down.", "columns go out one release ahead of the code"),
    ("The dashboard summed <field> over deleted rows.", "the view filters on the validity range"), ("Scrolling jumped back to the top in <mod>.", "the list keeps its keys across renders"), ("Two readers of <mod> saw half a file.", "it is written aside and renamed"), ("The board froze when <func> ran inside the interrupt.", "the handler sets a flag and the loop does the work"),
)  # fmt: skip
"""What an `[!error]` tells without any failed call, and its resolution."""
