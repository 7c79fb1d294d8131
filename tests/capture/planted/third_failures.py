"""Failures of the work itself in half 2, with causes and what mended them; as in `words_failures`."""

from __future__ import annotations

from tests.capture.planted.words_failures import Failing

__all__ = ["CAUSES", "FAILURES", "GUESSES", "LONE"]

FAILURES = (
    Failing("py", "tox -e lint -- <src>", "<src>:<n>: S608 possible SQL injection through string-built query", "<func> glues the table name into the statement, a bound identifier is needed", "lint: OK"),
    Failing("py", "python -m sigil scan samples/<mod>", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0", "some samples are UTF-16 with a byte order mark, and <func> reads everything as UTF-8", "scanned <m> files"),
    Failing("py", "nox -s tests -- -k <func>", "E   ValueError: cannot reindex on an axis with duplicate labels", "<field> is not unique after the merge, so the rows have to be grouped first", "nox > Session tests was successful."),
    Failing("py", "papermill report_<mod>.ipynb out.ipynb", "CRSError: Input crs EPSG:4326 does not match EPSG:25832", "two layers come in different projections and <func> joins them untransformed", "Executing: 100%|##########| 31/31"),
    Failing("cs", "dotnet build Skyforge.sln", "<src>(<n>,17): error CS8602: Dereference of a possibly null reference.", "<func> may be called before Awake has set <field>", "Build succeeded."),
    Failing("cs", "Unity -batchmode -runTests -testFilter <mod>", "Expected: 12  But was: 11   at <mod>Tests.cs:<n>", "the coroutine yields one frame too late for the last item", "Test run completed. Passed: 9"),
    Failing("cs", "dotnet run --project tools/PackAssets", "System.IO.EndOfStreamException: Unable to read beyond the end of the stream.", "the header announces <field> as four bytes while the writer emits two", "packed <m> assets"),
    Failing("cpp", "bazel build //engine:<mod>", "undefined reference to `voxel::<func>(int)'", "the definition is in a namespace that the header does not open", "INFO: Build completed successfully, 12 total actions"),
    Failing("cpp", "./bazel-bin/engine/<mod>_replay demo.rec", "desync at tick <n>: local 0x41af remote 0x41b0", "<func> sums floats in hash-map order, which differs from machine to machine", "replayed <m> ticks, in sync", "", 4),
    Failing("cpp", "ASAN_OPTIONS=halt_on_error=1 ./bazel-bin/engine/<mod>_test", "heap-use-after-free in <func> at <src>:<n>", "the vector grows while a reference into it is held", "[  PASSED  ] 14 tests.", "", 66),
    Failing("zig", "zig build -Dtarget=thumb-freestanding", "<src>:<n>:21: error: expected type 'u8', found 'u16'", "<field> was widened in the protocol and the shift keeps sixteen bits", "Build Summary: 4/4 steps succeeded"),
    Failing("zig", "zig build sim -- --frames 500", "thread 1 panic: integer overflow\n<src>:<n>:13 in <func>", "the sequence counter has to wrap, so it needs the wrapping operator", "500 frames sent, 500 acknowledged", "", 134),
    Failing("fw", "ceedling test:<mod>", "Expected 850 Was 849. Function <func>", "integer division cuts off before the scaling; multiply first", "OVERALL TEST SUMMARY\nPASSED: 11"),
    Failing("fw", "make elf BOARD=rev_c", "section `.bss' will not fit in region `RAM' (208 bytes over)", "the trace buffer doubled in size; <mod> may keep it in the retention bank", "   text    data     bss\n  48120     312   15904", "", 2),
    Failing("fw", "renode-test hil/<mod>.robot", "Timed out on 'precharge done' at line <n>", "<func> polls a register that the shadow update only refreshes at the period's end", "Suite hil.<mod>: PASS"),
    Failing("dart", "flutter build apk --debug", "Gradle task assembleDebug: minSdkVersion 19 cannot be smaller than version 21 declared in library [exact_alarm]", "the alarm plug-in demands API 21, and the manifest still says 19", "Built build/app/outputs/flutter-apk/app-debug.apk"),
    Failing("dart", "flutter test test/<mod>_test.dart", "A RenderFlex overflowed by 14 pixels on the right.", "the long label of <field> has no Flexible around it", "00:02 +6: All tests passed!"),
    Failing("js", "node --test server/<mod>.spec.mjs", "AssertionError [ERR_ASSERTION]: '+120' !== '+60'", "the feed gives minutes before the switch to summer time, <func> adds the hour twice", "# pass 7"),
    Failing("js", "node server/<mod>.mjs --selftest", "SyntaxError: The requested module './clock.js' does not provide an export named 'now'", "clock.js is CommonJS and must be imported whole", "selftest: fine"),
    Failing("hs", "cabal build lib:quill", "• Occurs check: cannot construct the infinite type: a ~ [a]\n  In the expression: <func> rest", "the recursive call forgets to unwrap the list", "Linking quill ..."),
    Failing("hs", "cabal run quill -- check samples/<mod>.ql", "quill: Prelude.head: empty list", "an empty do block reaches <func>, which expects at least one statement", "checked 1 module"),
    Failing("ml", "dune build @check", 'File "<src>", line <n>: Error: This pattern-matching is not exhaustive.', "the new constructor for <field> is not handled in <func>", ""),
    Failing("ml", "dune exec osprey -- -O2 samples/nqueens.osp", "Fatal error: exception Not_found in <func>", "dead registers are removed before their intervals are looked up", "nqueens 8 = 92", "", 2),
    Failing("scala", "sbt 'core/runMain <mod>Job --day 2026-03-29'", "java.util.NoSuchElementException: key not found: <field>", "events from the old tracker lack <field>, hence a default is needed", "[success] wrote <m> visits"),
    Failing("scala", "spark-submit --local out/<mod>.jar", "org.apache.spark.SparkException: Task not serializable", "the closure drags the whole job object along; a local val is enough", "Job 0 finished: wrote <m> rows"),
    Failing("tf", "tofu validate modules/<mod>", 'Error: Unsupported argument "<field>" on modules/<mod>/main.tf line <n>', "the provider renamed it in version six", "Success! The configuration is valid."),
    Failing("tf", "tofu plan -var-file=stage.tfvars", "Error: Invalid for_each argument: keys known only after apply", "the map is keyed by generated ids; static names must be the keys", "Plan: 3 to add, 0 to change, 0 to destroy."),
    Failing("clj", "clojure -M:test -n bullion.<mod>-test", "actual: (not (= 1250.00M 1250.0000M))", "<func> leaves the scale of the division as it comes, it has to be set to two", "Ran 5 tests containing 19 assertions."),
    Failing("clj", "clojure -X:report :period 2026-02", "Execution error (ArityException) at bullion.<mod>: Wrong number of args (1) passed to <func>", "<func> took the currency as second argument since the refactoring and the report does not give one", "report written: <m> lines"),
    Failing("r", "Rscript analysis/<mod>.R", "coxph stopped: NA/NaN/Inf in foreign function call", "patients with zero follow-up time give a log of zero", "n= <m>, number of events= 31"),
    Failing("r", "R CMD check --no-manual .", "checking R code ... NOTE: <func>: no visible binding for '<field>'", "columns used inside of the pipe need the .data pronoun", "Status: OK"),
    Failing("vue", "bunx vue-tsc --noEmit", "<src>:<n>:11 - error TS2339: Property '<field>' does not exist on type 'Ref<Ticket>'.", "the ref is not unwrapped in the script part", ""),
    Failing("vue", "bun run build", '[vite]: Rollup could not resolve import "@/queues" from <src>', "the alias exists in tsconfig only and not in the bundler", "✓ built in 4.02s"),
    Failing("nix", "nix build .#<mod>", "error: infinite recursion encountered at hosts/<mod>.nix:<n>", "the overlay refers to the final package set where it must use the previous one", "/nix/store/8s1-<mod>"),
    Failing("nix", "nixos-rebuild dry-build --flake .#<mod>", "error: The option `services.tunnel.<field>' is used but not defined.", "<field> lost its default in the module; the host has to give it", "would build 4 derivations"),
    Failing("", "buf breaking --against main", 'proto/<mod>.proto:<n>: Field "4" changed name from "<field>"', "the field number was reused, and old ones must be reserved", ""),
    Failing("", "scripts/pack_levels.sh <mod>", "level <n>: spawn point inside wall", "the exporter flips the y axis and the packer does so too", "packed <m> levels"),
    Failing("", "just verify-<mod>", "signature mismatch in entry <n>", "canonical form sorts keys by bytes while <func> sorts by locale", "<m> entries verified"),
    Failing("", "just bench <mod>", "<func> 88.1 us/op exceeds limit 20 us/op", "<func> compiles its regular expression anew with each call", "<func> 6.3 us/op within limit 20 us/op"),
    Failing("", "openssl verify -CAfile ca.pem <mod>.pem", "error 20 at 0 depth lookup: unable to get local issuer certificate", "the intermediate is not in the bundle and needs to be passed as untrusted", "<mod>.pem: OK", "openssl verify -CAfile ca.pem -untrusted mid.pem <mod>.pem", 2),
    Failing("", "sqlite3 app.db '.schema <mod>;'", 'Error: near ";": syntax error in dot command', "dot commands take no semicolon", "CREATE TABLE <mod> (<field> TEXT);", "sqlite3 app.db '.schema <mod>'"),
    Failing("", "ffmpeg -i <mod>.wav -ar 22050 <mod>.ogg", "Requested sampling rate unsupported for codec opus", "opus wants 48 kHz, vorbis takes any rate", "size= 88kB time=00:00:09", "ffmpeg -i <mod>.wav -c:a libvorbis -ar 22050 <mod>.ogg"),
    Failing("", "xmllint --schema feed.xsd out/<mod>.xml", "Schemas parser error: the QName 'siri:Delay' is not resolved", "the schema imports a second file by relative path, thus it must run in its folder", "out/<mod>.xml validates", "cd schemas && xmllint --schema feed.xsd ../out/<mod>.xml", 5),
    Failing("", "duckdb -c \"select avg(<field>) from 'out/<mod>*.parquet'\"", "Binder Error: column <field> has type VARCHAR in part <n> and DOUBLE in part 0", "parts written before May hold text; a cast at reading unifies them", "avg 41.7", "duckdb -c \"select avg(try_cast(<field> as double)) from read_parquet('out/<mod>*.parquet', union_by_name=true)\""),
    Failing("", "tar -xzf fixtures/<mod>.tgz -C tests", "gzip: stdin: not in gzip format", "the fixture is compressed by zstd in spite of its name", "", "tar --zstd -xf fixtures/<mod>.tgz -C tests", 2),
)  # fmt: skip

CAUSES = {
    "en": (
        "cause: <cause>", "Got it, <cause>.", "Reason for the red: <cause>.", "Explanation: <cause>.", "The trouble is that <cause>.", "Now I understand. <cause>.", "Here is why: <cause>.", "This breaks because <cause>.", "I traced it down; <cause>.", "The message is clear enough, <cause>.", "Located: <cause>.",
    ),
    "de": ("Grund: <cause>.", "Jetzt verstehe ich es: <cause>.", "Der Fehler kommt daher: <cause>."),
    "fr": ("Explication : <cause>.", "L'erreur vient de là : <cause>.", "J'ai compris : <cause>."),
    "es": ("La causa: <cause>.", "Ya lo veo: <cause>.", "El fallo viene de aquí: <cause>."),
}  # fmt: skip

GUESSES = {
    "en": ("A long shot: the cache folder.", "Maybe it wants the arguments the other way round.", "One more try with logging on.", "Not sure, testing a hunch."),
    "de": ("Ein Versuch mit vertauschten Argumenten.", "Ich probiere etwas."),
    "fr": ("J'essaie avec les arguments inversés.", "Une idée à vérifier."),
    "es": ("Pruebo con los argumentos al revés.", "Una idea, a ver."),
}  # fmt: skip

LONE = (
    ("Players fell through the floor after <func> streamed a chunk in.", "the collider is enabled before the mesh is shown"), ("Two nurses saw different doses for the same patient in <mod>.", "the plan is versioned and stale writes are refused"), ("The inverter tripped at dawn as <field> went negative.", "the subtraction is signed now and clamped at zero"),
    ("Boards showed trains of the day before, because <func> kept the service date of its start.", "the date is taken anew with each refresh"), ("Tokens of dismissed staff still opened <mod>.", "revocation is asked for at every request"), ("Month-end interest differed by a cent between <mod> and the bank.", "interest is accrued with the day count of the contract"),
    ("The model of <mod> rated every site alike, since <field> was constant after the join.", "the join uses the site code and the year"),
)  # fmt: skip
