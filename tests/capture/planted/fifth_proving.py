"""Failures of half 4 with their causes, and claims that a run proves; as `words_failures` and `words_evidence`."""

from __future__ import annotations

from tests.capture.planted.words_failures import Failing

__all__ = ["CAUSES", "CLAIMED", "FAILURES", "GUESSES", "LONE", "PROOFS", "PROVEN"]

FAILURES = (
    Failing("py", "pytest <test> -k timezone", "E   TypeError: can't compare offset-naive and offset-aware datetimes", "<func> takes datetime.now() without a zone while <field> carries one", "3 passed in 0.21s"),
    Failing("py", "python -m <mod> --check", "ImportError: cannot import name '<func>' from partially initialized module '<mod>'", "<mod> and its registry import each other at the top; the registry has to import inside the function", "check: fine"),
    Failing("py", "uv run mypy <src>", '<src>:<n>: error: Incompatible return value type (got "float | None", expected "float")', "<func> falls off the end when <field> is missing", "Success: no issues found in 1 source file"),
    Failing("py", "python tools/tile_survey.py --zoom <n>", "rasterio.errors.CRSError: The WKT could not be parsed", "the survey file has no projection, so EPSG:25832 must be assigned before the tiles are cut", "wrote <m> tiles"),
    Failing("py", "pytest <test> -k cache", "E   assert 2 == 1  # calls", "lru_cache sits on a method and keys on self, so every instance misses", "5 passed in 0.09s"),
    Failing("cs", "dotnet test --filter <mod>Tests", "System.InvalidOperationException: Collection was modified; enumeration operation may not execute.", "<func> removes entries from the list it walks over", "Passed!  - Failed: 0, Passed: 9"),
    Failing("cs", "./ci/playmode.sh <mod>", "NullReferenceException at <mod>.<func> () in <src>:<n>", "Awake of <mod> runs before the scene's registry exists; Start is late enough", "Test run completed. Passed: 6"),
    Failing("cs", "dotnet build -warnaserror", "<src>(<n>,17): error CS8604: Possible null reference argument for parameter '<field>'.", "<field> may be absent in old saves, and <func> never asks", "Build succeeded. 0 Warning(s)"),
    Failing("cpp", "cmake --build build -j8", "undefined reference to `vox::<func>(unsigned int)'", "the header declares it with uint32_t and the source defines it with size_t", "[100%] Built target voxelite"),
    Failing("cpp", "./build/tests --gtest_filter=<mod>.*", "AddressSanitizer: heap-use-after-free in <func> <src>:<n>", "a reference into the vector is held across push_back", "[  PASSED  ] 11 tests."),
    Failing("cpp", "./build/replay demos/<mod>.dem", "desync at tick <n>: checksum 91ac != 7f02", "the hash walks an unordered map, so the order differs between runs", "replay ok, <m> ticks", "", 4),
    Failing("zig", "zig build test -Dfilter=<mod>", "error: expected type '[]const u8', found '[*:0]const u8'", "the C string needs std.mem.span before <func> sees it", "All <m> tests passed."),
    Failing("zig", "zig build run -- --port /dev/pts/3", "thread panic: index out of bounds: index <n>, len 11 in <func>", "the frame grew by its checksum and the buffer did not", "11 frames decoded", "", 134),
    Failing("fw", "make size-check", "section .bss will not fit in region RAM: overflowed by 96 bytes", "the trace ring is compiled into release builds too; it has to sit behind DEBUG", "ram 19872 / 20480", "", 2),
    Failing("fw", "python3 rig/can_loop.py --frames <n>", "frame <n>: arbitration lost 3 times, node went bus-off", "the bit timing assumes 48 MHz and the board has 42, so the prescaler is off", "<m> frames, 0 lost"),
    Failing("fw", "make unit-<mod>", "test_<mod>.c:<n>:FAIL: Expected -40 Was 65496", "<field> is read into an unsigned before it is sign extended", "9 Tests 0 Failures 0 Ignored", "", 2),
    Failing("dart", "flutter test <test>", "A Timer is still pending even after the widget tree was disposed.", "<func> starts a periodic timer that dispose never cancels", "00:03 +8: All tests passed!"),
    Failing("dart", "dart analyze lib", "lib/<mod>.dart:<n>:9 - The argument type 'DateTime?' can't be assigned to 'DateTime'. - argument_type_not_assignable", "<field> is empty for doses on demand, so <func> has to return early", "No issues found!", "", 3),
    Failing("js", "node --test <test>", "Error [ERR_REQUIRE_ESM]: require() of ES Module gtfs.mjs not supported", "the loader went ESM-only in its last major, so <func> needs a dynamic import", "# pass 7"),
    Failing("js", "node server/<mod>.mjs --parse sample.zip", "UnhandledPromiseRejection: reason 'stop_times row <n>: hour 25'", "trips after midnight count hours past 24 and <func> hands them to Date", "parsed <m> trips"),
    Failing("js", "npx eslint server --max-warnings 0", "<src>:<n>:5  error  Promise returned in function argument where a void return was expected", "<func> is async and is passed to forEach", ""),
    Failing("hs", "cabal test <mod>-spec", "Non-exhaustive patterns in function <func>", "the parser now emits Footnote blocks and <func> has no clause for them", "1 of 1 test suites passed."),
    Failing("hs", "cabal run quill -- samples/<mod>.md", "quill: <<loop>>", "the label map is defined by the very fold that reads it; a lazy pattern on the pair unties it", "wrote samples/<mod>.html"),
    Failing("ml", "dune build ./lib/<mod>.cma", 'File "<src>", line <n>: Error: This expression has type Ast.ty but an expression was expected of type Typed.ty', "<func> returns the tree before elaboration; it must go through Elab first", ""),
    Failing("ml", "dune runtest test/<mod>", "Fatal error: exception Stack_overflow", "List.map in <func> is not tail recursive on the generated program", "<mod>: 14 ok", "", 2),
    Failing("scala", "sbt 'testOnly *<mod>Spec'", "java.io.NotSerializableException: org.apache.spark.SparkContext", "the closure in <func> captures this; the field has to be copied into a local first", "All tests passed."),
    Failing("scala", "sbt <mod>/run", "org.apache.spark.sql.AnalysisException: Reference '<field>' is ambiguous", "both sides of the self join carry <field>, so one needs an alias", "wrote <m> partitions"),
    Failing("tf", "terragrunt validate --working-dir modules/<mod>", "Error: Invalid for_each argument: values derived from resource attributes cannot be determined until apply", "the keys of for_each come from ids that do not exist yet; the names are known", "module <mod>: valid"),
    Failing("tf", "tflint --chdir modules/<mod>", '1 issue(s) found: variable "<field>" is declared but not used', "the rename of <field> reached the variables file and not main.tf", "", "", 2),
    Failing("clj", "clojure -X:test :nses '[bullion.<mod>-test]'", "ArithmeticException: Non-terminating decimal expansion; no exact representable decimal result.", "<func> divides big decimals without a math context", "Ran 6 tests containing 19 assertions."),
    Failing("clj", "lein run <mod>", "ClassCastException: class clojure.lang.LazySeq cannot be cast to class clojure.lang.IPersistentVector", "<func> uses map where the caller wants mapv", "posted <m> trades"),
    Failing("r", "Rscript -e 'testthat::test_file(\"<test>\")'", "Error in <func>(x): 'from' must be a finite number", "min() of an empty group gives Inf; patients without a visit go first", "[ FAIL 0 | WARN 0 | SKIP 0 | PASS 12 ]"),
    Failing("r", "R CMD check --as-cran --no-vignettes .", "checking R code for possible problems ... <func>: no visible binding for global variable '<field>'", "the column is used bare inside mutate and needs the .data pronoun", "0 errors, 0 warnings, 0 notes"),
    Failing("vue", "npx vue-tsc --noEmit", "<src>(<n>,12): error TS2339: Property '<field>' does not exist on type 'never'.", "defineProps is called without its generic, so the props collapse", ""),
    Failing("vue", "npx cypress run --component --spec <test>", "AssertionError: Timed out retrying after 4000ms: expected '<field>' to be visible", "the teleport target is not mounted in component tests, so the dialog has nowhere to go", "All specs passed!"),
    Failing("nix", "nix flake check", "error: infinite recursion encountered\n  at hosts/<mod>.nix:<n>: imports = [ config.<field> ];", "the module reads config in its imports, which depend on config themselves", "checks passed"),
    Failing("nix", "colmena build --on <mod>", "error: The option `services.<mod>.<field>' does not exist.", "the option moved under settings in the last release", "building the system configuration..."),
    Failing("", "make schema", "schema: $ref '#/defs/<field>' not found", "draft 2020-12 renamed definitions to $defs and our file is half converted", "schema: 31 types"),
    Failing("", "./scripts/smoke.sh <mod>", "smoke: /<mod> answered 301, wanted 200", "the route got a trailing slash with the router upgrade", "smoke: 9 of 9"),
    Failing("", "protoc --lint_out=. proto/<mod>.proto", "<mod>.proto:<n>: field number 7 was used before and is reserved", "<field> took the number of a field that was removed in May", ""),
    Failing("", "openssl verify -CAfile ca.pem certs/<mod>.pem", "error certs/<mod>.pem: verification failed, error 20 at 0 depth lookup", "the intermediate is not in ca.pem; it has to be handed over as untrusted", "certs/<mod>.pem: OK", "openssl verify -CAfile ca.pem -untrusted chain.pem certs/<mod>.pem", 2),
    Failing("", "sqlite3 var/<mod>.db '.schema <field>'", "Error: file is not a database", "the file is encrypted with SQLCipher, so the plain shell cannot read it", "CREATE TABLE <field> (id INTEGER);", "sqlcipher var/<mod>.db -cmd '.read key.sql' '.schema <field>'", 26),
    Failing("", "tar xf fixtures/<mod>.tar", "tar: This does not look like a tar archive", "the fixture is zstd-compressed despite its name", "", "tar --zstd -xf fixtures/<mod>.tar", 2),
    Failing("", "git apply patches/<mod>.patch", "error: patch failed: <src>:<n>: patch does not apply", "the checkout has CRLF line ends and the patch has LF", "", "git apply --ignore-whitespace patches/<mod>.patch"),
    Failing("", "xmllint --noout --schema xsd/<mod>.xsd export.xml", "export.xml:<n>: element <field>: Schemas validity error: This element is not expected.", "the schema wants a sequence and <func> writes the elements alphabetically", "export.xml validates", "", 3),
    Failing("", "ffmpeg -v error -i clips/<mod>.mov -f null -", "moov atom not found", "the recorder writes the index at the very end and was cut off; a remux from the raw stream restores it", "", "./scripts/remux.sh clips/<mod>.raw && ffmpeg -v error -i clips/<mod>.mp4 -f null -"),
    Failing("", "make lint-i18n", "fr.po:<n>: format string has 2 placeholders, msgid has 1", "the French entry kept a placeholder that the English text lost", "i18n: 3 catalogues"),
    Failing("", "./bin/seed --tenant demo", "seed: foreign key <field> refers to a row that is not there yet", "the seed files are loaded by name, and <mod> sorts before its parent", "seeded <m> rows"),
)  # fmt: skip

CAUSES = {
    "en": (
        "Ah, <cause>.", "Makes sense: <cause>.", "The stack trace gives it away: <cause>.", "Here's why: <cause>.", "It fails since <cause>.", "Reason found: <cause>.", "Understood now — <cause>.", "The issue is that <cause>.", "The bug: <cause>.", "How it comes about: <cause>.", "I know what it is. <cause>.", "Of course: <cause>.",
        "Reproduced, and the trigger is clear: <cause>.", "Tracked it down: <cause>.", "Underlying cause: <cause>. Changing that.", "That error comes from here: <cause>.", "This one is on us: <cause>.", "So the real story is: <cause>.",
    ),
    "de": ("Da haben wir es: <cause>.", "Der Grund dafür: <cause>.", "Jetzt ist es klar: <cause>.", "Der Fehler sitzt hier: <cause>.", "Ursache gefunden: <cause>.", "Aufgespürt: <cause>.", "Erklärung: <cause>.", "Das kommt daher: <cause>."),
    "fr": ("Ah, voilà : <cause>.", "La raison : <cause>.", "C'est clair maintenant : <cause>.", "Le défaut est ici : <cause>.", "Cause identifiée : <cause>.", "Le pourquoi : <cause>.", "Cela vient de là : <cause>.", "Je tiens la raison : <cause>."),
    "es": ("Ahí está: <cause>.", "El motivo: <cause>.", "Ahora está claro: <cause>.", "El fallo está aquí: <cause>.", "Causa localizada: <cause>.", "Explicación: <cause>.", "Viene de esto: <cause>.", "Lo he encontrado: <cause>."),
}  # fmt: skip

GUESSES = {
    "en": ("Might be a caching thing.", "Let me try the obvious one.", "I suspect the fixture.", "Possibly an off-by-one.", "Trying a clean build.", "One idea: the default argument."),
    "de": ("Könnte am Zwischenspeicher liegen.", "Ich probiere das Naheliegende.", "Vielleicht die Testdaten.", "Ein Versuch mit sauberem Build."),
    "fr": ("Peut-être le cache.", "J'essaie le plus évident.", "Je soupçonne les données de test.", "Essai avec une construction propre."),
    "es": ("Quizá sea la caché.", "Pruebo lo más obvio.", "Sospecho de los datos de prueba.", "Intento con una compilación limpia."),
}  # fmt: skip

LONE = (
    ("Alarms of <mod> came an hour early after the change to summer time.", "the trigger is computed in the patient's zone"), ("The second page of <mod> repeated the last row of the first.", "the cursor compares id and date together"), ("<func> leaked a file handle on each rejected upload.", "the handle is closed in a finally"),
    ("Replays of <mod> drifted apart after a minute.", "the step is fixed and no longer taken from the frame"), ("Accented names were not found by the search in <mod>.", "both sides are folded to NFC and lower case"), ("A full disk left <mod> with an empty settings file.", "settings are written to a sibling and swapped in"),
    ("<field> overflowed at sixteen bits once the counter passed noon.", "the counter has thirty-two bits"), ("Two tabs of <mod> logged each other out.", "the refresh is serialised with a lock in the browser"), ("Totals in <mod> were off by one cent for three customers.", "the split hands the remainder to the first row"), ("The map of <mod> stayed grey behind the company proxy.", "tiles are fetched from our own origin"),
    ("Importing <mod> twice doubled its stops.", "stops are upserted by their feed id"), ("The preview of <mod> hung on notes that link to themselves.", "the walk remembers what it has seen"),
)  # fmt: skip

PROOFS = {
    "en": (
        ("replays are bit-identical on all three platforms", "./scripts/replay_matrix.sh demos/", "linux 8f1c, macos 8f1c, windows 8f1c: 24 of 24 equal"), ("undo followed by redo is the identity", "python tools/undo_prop.py --cases 20000", "20000 random edit chains, 0 differences"), ("two editors converge whatever the order of their edits", "node bench/converge.mjs --peers 5 --ops 50000", "5 peers, 50000 ops, all documents equal"),
        ("<func> allocates nothing per frame", "./build/alloc_trace --frames 10000", "10000 frames, 0 allocations in the loop"), ("the greedy mesher halves the triangles", "./build/mesh_stats worlds/plains", "faces 1,204,112 -> 488,930 (0.41x)"), ("an uplink frame fits into eleven bytes", "zig build frame-size", "largest frame: 11 bytes over 100000 samples"),
        ("the median filter suppresses the inverter's spikes", "python3 rig/inject_spikes.py --minutes 30", "1800 spikes injected, 0 reached the output, lag 4 ms"), ("alarms fire within a second of their time in doze", "adb shell am instrument -w -e class DozeDrill <mod>", "120 alarms, worst delay 0.7 s"), ("the import of a full feed finishes within a minute", "time node server/<mod>.mjs --import big.zip", "4,812,003 stop times, real 0m38.4s"),
        ("inference finishes in linear time on generated programs", "dune exec bench/infer_scale.exe", "1k 2 ms, 10k 21 ms, 100k 209 ms"), ("pretty printing and parsing cancel each other out", "cabal run roundtrip -- corpus/", "3120 documents, 3120 equal"), ("the Bloom filter lets fewer than one in a thousand doubles through", "sbt 'bench/run BloomRate'", "false positives 0.00041 over 80 M clicks"),
        ("no plan touches another region's state", "./scripts/plan_isolation.sh", "12 regions, 132 cross plans, 0 foreign changes"), ("converting ounces to grams and back loses nothing", "clojure -X:gen-check :n 100000", "100000 amounts, 0 drift"), ("the confidence intervals cover the truth 95 times in 100", "Rscript sims/coverage.R --runs 5000", "coverage 0.949 over 5000 simulated cohorts"),
        ("round robin gives each agent the same load", "npx tsx sims/assign.ts --days 90", "90 days, 14 agents, spread 1.8 %"), ("a broken configuration returns to the last generation by itself", "nix run .#vm-breakage", "7 broken configs, 7 reverted, longest 94 s"), ("the code page stays below 150 ms to first paint", "npx lighthouse-ci --url /<mod> --runs 20", "median first paint 121 ms, max 139 ms"),
        ("a compromised plugin cannot read the host's files", "cargo test -p sandbox-escape -- --ignored", "41 escapes tried, 41 contained"), ("<mod> keeps up with four thousand messages a second", "vegeta attack -rate 4000 -duration 120s -targets <mod>.txt | vegeta report", "success 100.00 %, p99 18.2 ms"), ("row level security hides foreign tenants from every query", "python tools/tenant_probe.py --queries all", "318 queries as 6 tenants, 0 foreign rows"),
        ("the template database cuts the suite to a quarter", "hyperfine 'make test-truncate' 'make test-template'", "make test-template ran 4.27 ± 0.11 times faster"), ("transcoding does not shift the subtitles", "./scripts/vtt_offset.sh masters/", "52 films, largest offset 8 ms"), ("a signed webhook cannot be replayed after five minutes", "node tools/replay_attack.mjs --delay 301", "500 replays, 500 refused"),
        ("the solver finds every planted fault of the track plan", "python -m interlock.plant --faults 64", "64 planted, 64 reported"), ("lag compensation never gives a player more than 100 ms", "node sims/clock.mjs --rtt 20..400", "max credit 100 ms over 10000 games"), ("a power cut during saving never loses the old save", "python rig/pull_plug.py --rounds 300", "300 cuts, 300 loadable saves"),
        ("search with folded accents finds all the names", "python tools/name_recall.py names.csv", "recall 1.000 on 18220 names (was 0.931)"), ("the decoder reads damaged labels up to a fifth", "python eval/labels.py --damage 0.2", "1500 labels, 1493 read, 0 misread"), ("the hive's battery lasts two seasons", "python rig/current.py --cycle 20m --hours 72", "mean 31 uA, projected 26 months"),
        ("concurrent transfers never deadlock", "go run ./tools/transfer_storm -n 200000", "200000 transfers, 0 deadlocks, sum unchanged"), ("<func> is monotone in <field>", "python tools/hypothesis_run.py <func> --examples 50000", "50000 examples, no counterexample"), ("the new index serves the slow query without a sort", 'duckdb -c "explain analyze from <mod> order by <field> limit 20"', "INDEX_SCAN, 0.8 ms (was 412 ms)"),
        ("fuzzy matching stays under 20 ms per segment", "python bench/tm_lookup.py --segments 100000", "p50 3.1 ms, p99 16.4 ms"), ("the two schedulers place the same shifts", "java -jar tools/shiftdiff.jar old new --weeks 52", "52 weeks, 0 shifts differ"), ("a cold cache never stampedes the origin", "python bench/stampede.py --clients 500", "origin hits: 1"),
        ("the sandboxed renderer draws what the old one drew", "./scripts/pixeldiff.sh golden/ out/", "204 pages, 0 pixels differ"), ("dropping a node loses no acknowledged write", "jepsen/run.sh --nemesis kill --time 600", "612044 acks, 0 lost"), ("the vacuum keeps the table below two gigabytes", "./scripts/churn.sh --hours 12", "size after 12 h: 1.61 GB, stable"),
        ("the type checker rejects every program of the unsound set", "dune exec test/unsound.exe", "87 of 87 rejected"), ("compressing the tiles costs no visible detail", "python eval/ssim.py tiles/", "worst ssim 0.987 over 5120 tiles"), ("priority mails overtake bulk mail within ten seconds", "python bench/mailrace.py", "200 priority mails, slowest 6.3 s, bulk queue 40000"),
    ),
    "de": (
        ("zwei Editoren laufen immer auf denselben Text zu", "node bench/zusammenlauf.mjs --ops 50000", "5 Teilnehmer, alle Texte gleich"), ("ein Stromausfall beim Speichern kostet nie den alten Stand", "python rig/stecker.py --runden 300", "300 Ausfälle, 300 lesbar"), ("die Umrechnung in Gramm und zurück verliert nichts", "clojure -X:umrechnung :n 100000", "100000 Beträge, 0 Abweichung"),
        ("der volle Fahrplan ist in einer Minute eingelesen", "time node server/<mod>.mjs --import voll.zip", "4812003 Zeilen, 38,4 s"), ("die Batterie hält zwei Saisons", "python rig/strom.py --stunden 72", "im Mittel 31 uA, rechnerisch 26 Monate"), ("kein Mandant sieht fremde Zeilen", "python tools/mandantenprobe.py", "318 Abfragen, 0 fremde Zeilen"),
        ("die Wiedergabe ist auf allen Systemen gleich", "./scripts/wiedergabe_matrix.sh", "24 von 24 gleich"), ("gleichzeitige Umbuchungen verklemmen sich nie", "go run ./tools/umbuchungssturm", "200000 Umbuchungen, 0 Verklemmungen"),
    ),
    "fr": (
        ("deux éditeurs convergent toujours", "node bench/convergence_fr.mjs --ops 50000", "5 pairs, documents identiques"), ("une coupure pendant la sauvegarde ne perd jamais l'ancienne version", "python rig/coupure.py --tours 300", "300 coupures, 300 lisibles"), ("la conversion en grammes et retour ne perd rien", "clojure -X:conversion :n 100000", "100000 montants, 0 écart"),
        ("l'import complet tient en une minute", "time node server/<mod>.mjs --import complet.zip", "4812003 lignes, 38,4 s"), ("la pile dure deux saisons", "python rig/courant.py --heures 72", "31 uA en moyenne, 26 mois"), ("aucun locataire ne voit les lignes d'un autre", "python tools/sonde_locataires.py", "318 requêtes, 0 ligne étrangère"),
        ("la relecture est identique partout", "./scripts/relecture_matrice.sh", "24 sur 24 identiques"), ("les virements simultanés ne se bloquent jamais", "go run ./tools/tempete", "200000 virements, 0 blocage"),
    ),
    "es": (
        ("dos editores siempre convergen", "node bench/convergencia.mjs --ops 50000", "5 pares, documentos iguales"), ("un corte al guardar nunca pierde la versión anterior", "python rig/corte.py --rondas 300", "300 cortes, 300 legibles"), ("la conversión a gramos y vuelta no pierde nada", "clojure -X:conversiones :n 100000", "100000 importes, 0 desviación"),
        ("la importación completa cabe en un minuto", "time node server/<mod>.mjs --import completo.zip", "4812003 filas, 38,4 s"), ("la pila dura dos temporadas", "python rig/corriente.py --horas 72", "31 uA de media, 26 meses"), ("ningún cliente ve filas ajenas", "python tools/sonda_clientes.py", "318 consultas, 0 filas ajenas"),
        ("la reproducción es idéntica en todos los sistemas", "./scripts/matriz_repeticion.sh", "24 de 24 iguales"), ("las transferencias simultáneas nunca se bloquean", "go run ./tools/tormenta", "200000 transferencias, 0 bloqueos"),
    ),
}  # fmt: skip

CLAIMED = {
    "en": (
        "My expectation is that <claim>. Time to measure.", "I need to know for sure that <claim>.", "Claim to verify: <claim>.", "Is it really the case that <claim>? I'll run it.", "The design only works if <claim>, so let me verify that.", "Let me back this up with data: <claim>.", "We said that <claim>. Here comes the check.",
        "I'd like proof that <claim>.", "This change is worth it only if <claim>. Benchmarking.", "Requirement under test: <claim>.", "Theory: <claim>. Experiment next.", "I wrote a small harness to find out whether <claim>.", "Next I verify that <claim>.", "Let me demonstrate that <claim>.", "The ticket's promise is that <claim>; testing precisely this.",
        "What has to be true: <claim>. Running the experiment.", "A targeted run should show that <claim>.", "Claiming that <claim> is cheap, so here is the run.",
    ),
    "de": ("Ich erwarte Folgendes: <claim>. Das prüfe ich jetzt.", "Behauptung: <claim>.", "Stimmt es wirklich? <claim>. Ein eigener Lauf zeigt es.", "Zu prüfen: <claim>.", "Gefordert ist: <claim>. Hier der Test dazu.", "Die These: <claim>.", "Das soll gelten: <claim>. Ich belege es.", "Vermutung, nun im Experiment: <claim>."),
    "fr": ("J'attends ceci : <claim>. Je vérifie.", "Affirmation : <claim>.", "Est-ce bien vrai ? <claim>. Une mesure dédiée le dira.", "À vérifier : <claim>.", "Le ticket exige : <claim>. Voici l'essai.", "La thèse : <claim>.", "Que l'essai le dise : <claim>.", "Supposition, maintenant à l'épreuve : <claim>."),
    "es": ("Espero esto: <claim>. Lo compruebo.", "Afirmación: <claim>.", "¿Es cierto? <claim>. Una medición aparte lo dirá.", "Por verificar: <claim>.", "El ticket exige: <claim>. Aquí va la prueba.", "La tesis: <claim>.", "Toca demostrarlo: <claim>.", "Hipótesis a prueba: <claim>."),
}  # fmt: skip

PROVEN = {
    "en": (
        "The experiment shows that <claim>.", "Measured just now: <claim>.", "Now we know: <claim>.", "As hoped, <claim>; the output above shows it.", "That's the proof: <claim>.", "The output demonstrates that <claim>.", "It really is the case that <claim>.", "Empirically, <claim>.", "The figures leave no doubt: <claim>.", "Validated by that run: <claim>.", "The harness confirms that <claim>.", "I can sign off on the claim: <claim>.",
        "I can now say with numbers behind it that <claim>.", "Not a guess any longer: <claim>.", "Test result in: <claim>.", "Benchmark result: <claim>.", "This run establishes that <claim>.", "And there it is: <claim>.", "Good, the data supports it: <claim>.", "That meets the requirement: <claim>.", "Supported by measurement: <claim>.", "The test was built to break this and did not: <claim>.", "Exactly as predicted, <claim>.", "Conclusion from the run: <claim>.",
    ),
    "de": ("Jetzt auch gemessen: <claim>.", "Der Lauf zeigt es: <claim>.", "Der Nachweis liegt vor: <claim>.", "Das Experiment gibt mir recht: <claim>.", "Nun ist es belegt: <claim>.", "Die Zahlen sind eindeutig: <claim>.", "Ergebnis der Messung: <claim>.", "Anforderung erfüllt: <claim>."),
    "fr": ("Mesures à l'appui : <claim>.", "L'essai le montre : <claim>.", "Démontré : <claim>.", "L'expérience me donne raison : <claim>.", "On le sait désormais : <claim>.", "Les chiffres sont nets : <claim>.", "Résultat de la mesure : <claim>.", "Exigence remplie : <claim>."),
    "es": ("Medido: <claim>.", "La prueba lo muestra: <claim>.", "Demostrado por la prueba: <claim>.", "El experimento me da la razón: <claim>.", "Queda probado: <claim>.", "Las cifras son claras: <claim>.", "Resultado de la medición: <claim>.", "Requisito cumplido: <claim>."),
}  # fmt: skip
