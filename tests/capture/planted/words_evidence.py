"""Claims that a test or a benchmark proves: the claim, the command, what it printed.

Owns matter and wording; `<claim>` is a clause.
"""

from __future__ import annotations

__all__ = ["CLAIMED", "PROOFS", "PROVEN"]

PROOFS = {
    "en": (
        ("<func> stays linear up to a million rows", "python bench/<mod>_scale.py 1000 1000000", "n=1000 0.9 ms\nn=1000000 871 ms\nratio per row 0.97"), ("the pool survives a restart of the database", "make chaos-<mod> KILL=db", "chaos: 40 kills, 40 recoveries, 0 lost requests"),
        ("two workers never take the same job", "./scripts/race_<mod>.sh --workers 16 --jobs 100000", "100000 jobs, 100000 distinct takers, 0 doubles"), ("the new encoder is lossless", "make fuzz-<mod> SECONDS=60", "fuzz: 4120331 inputs, 0 mismatches"),
        ("batching cuts the time to a third", "hyperfine --export-json b.json './old_<mod>' './new_<mod>'", "./new_<mod> ran 3.11 ± 0.08 times faster than ./old_<mod>"), ("memory stays flat over a day of traffic", "make soak-<mod> HOURS=24", "rss start 212 MB, end 214 MB, 86400 samples"),
        ("<func> gives the same result as the old one on production data", "python tools/compare_<mod>.py --sample 500000", "500000 compared, 0 differ"), ("the p99 of <mod> is below 40 ms at 500 rps", "k6 run load/<mod>.js", "http_req_duration p(99)=31.4ms\nchecks 100.00%"),
        ("the migration takes less than a minute on a copy of production", "make rehearse-<mod>", "rehearsal: 41.2 s, 18231004 rows, locks held 0.3 s"), ("the cache answers nine of ten lookups", "python tools/hitrate.py --trace week.log", "hit rate 0.934 over 2210391 lookups"),
        ("index scans replace the table scan", "psql -c 'explain analyze select * from <mod> where <field> = 1'", "Index Scan using <mod>_<field>_idx (actual time=0.03..0.05 rows=12)"), ("the parser accepts every file of the conformance suite", "make conformance", "conformance: 1412 of 1412 accepted"),
        ("rollback works from every step", "./scripts/rollback_matrix.sh <mod>", "12 of 12 rollbacks clean"), ("no frame takes longer than 16 ms while scrolling", "npm run perf:scroll", "frames 1800, dropped 0, worst 14.1 ms"), ("the bundle shrinks by 40 percent", "npx size-limit --json", "dist/<mod>.js 61.2 kB (was 103.4 kB), limit 70 kB"),
        ("sessions outlive a failover of the primary", "make failover-<mod>", "failover 3.1 s, 5000 of 5000 sessions kept"), ("the quantised model keeps its accuracy", "python eval/<mod>.py --int8", "ndcg@10 0.412 (fp32 0.414), latency 0.38x"), ("splitting by customer removes the leak", "python eval/leak_check.py", "overlap train/test 0 of 48121 customers; auc 0.71"),
        ("the ring never drops a byte at full rate", "./build/stress_<mod> --baud 921600 --seconds 600", "55296000 bytes in, 55296000 out, max fill 201"), ("the firmware comes up again after power loss at any page", "make powercut-sim", "512 cut points, 512 boots"), ("current draw in sleep is below 20 µA", "python rig/measure.py --mode sleep", "mean 14.2 uA over 300 s"),
        ("the sum over all accounts is zero after month end", "make reconcile PERIOD=2026-02", "18223 accounts, difference 0.00"), ("rates of closed months do not move", "./gradlew replayRates", "36 months replayed, 0 changed"), ("a seat is never sold twice", "php tools/stampede.php --buyers 2000 --seats 50", "50 sold, 1950 refused, 0 duplicates"),
        ("presence heals within five seconds of a netsplit", "mix run bench/netsplit.exs", "healed in 3.8 s on 5 of 5 nodes"), ("messages arrive once and in order for each topic", "mix run bench/order.exs --messages 1000000", "1000000 in order, 0 repeated"), ("the incremental model equals a full refresh", "dbt run-operation compare_refresh --args '{model: <mod>}'", "rows only in a: 0, rows only in b: 0"),
        ("cold start is below 300 ms", "make coldstart RUNS=50", "median 214 ms, worst 287 ms, 50 runs"), ("the limiter lets bursts of twenty through and no more", "go test ./internal/<mod> -run TestBurst -count=200", "ok  \tgatekeeper/internal/<mod>\t6.214s (200 runs)"), ("the allocator never fragments beyond ten percent", "cargo bench --bench fragmentation", "fragmentation worst 7.3 %, 10000 rounds"),
        ("codegen is the same on both targets", "cargo run -p difftest -- --targets x86,arm", "8122 programs, identical behaviour on all"), ("lookups need a single disk read", "cargo bench --bench reads", "reads per lookup 1.00"), ("offline edits merge without a conflict dialog", "swift test --filter MergeMatrix", "Executed 144 tests in 1.2 seconds"),
        ("elevation gain matches the reference within one percent", "swift run compare-gpx Samples/", "31 tracks, mean deviation 0.4 %"), ("the barcode reader copes with every sample of the cellar", "./gradlew :scanner:sampleRun", "612 of 612 decoded"), ("overdue fees equal those of the old system", "bin/rails fees:compare", "91022 loans compared, 0 cents apart"),
        ("the gateway holds ten thousand idle connections", "make idle-<mod> N=10000", "10000 open after 1800 s, rss 388 MB"), ("certificates renew without a dropped request", "make renew-drill", "renewed 6 hosts, 0 of 182000 requests dropped"), ("backups restore to the last minute", "make restore-drill", "restored to 14:03:10, 52 s behind"),
        ("the sanitizer lets no script through", "npm run xss:corpus", "3301 payloads, 0 executed"), ("the tokenizer is reversible for all scripts", "python tools/roundtrip.py corpora/", "2.1M lines, 0 not reversible"), ("reads do not wait for the writer", "python bench/readers_<mod>.py", "reader p99 1.2 ms idle, 1.3 ms under write"),
    ),
    "de": (
        ("die Summe aller Konten ist nach dem Abschluss null", "make abgleich MONAT=02", "18223 Konten, Differenz 0,00"), ("zwei Arbeiter nehmen nie denselben Auftrag", "./scripts/wettlauf_<mod>.sh", "100000 Aufträge, 0 doppelt"), ("der Import bleibt linear", "python bench/<mod>_import.py", "Faktor je Zeile 0,98"),
        ("die Rücksicherung gelingt auf die Minute", "make ruecksicherung", "52 s Rückstand"), ("der Speicher bleibt über einen Tag gleich", "make dauerlauf-<mod>", "Anfang 212 MB, Ende 214 MB"),
    ),
    "fr": (
        ("la somme des comptes est nulle après la clôture", "make rapprochement MOIS=02", "18223 comptes, écart 0,00"), ("deux ouvriers ne prennent jamais la même tâche", "./scripts/course_<mod>.sh", "100000 tâches, 0 doublon"), ("la mémoire reste stable sur un jour", "make endurance-<mod>", "début 212 Mo, fin 214 Mo"),
        ("la lecture ne bloque pas l'écriture", "python bench/lecteurs_<mod>.py", "p99 1,2 ms"),
    ),
}  # fmt: skip

CLAIMED = {
    "en": (
        "I claim that <claim>. Let me show it.", "Hypothesis: <claim>.", "If I am right, <claim>. A run will tell.", "This should mean that <claim>; measuring.", "To be proven: <claim>.", "I want hard numbers on whether <claim>.", "The whole point is that <claim>. Checking exactly that.",
        "Does it hold that <claim>? A dedicated run.", "Expectation: <claim>.", "The issue demands that <claim>; here is the benchmark for it.", "Before I write it into the docs: <claim>?", "Putting it to the test: <claim>.", "The acceptance criterion says that <claim>.", "Let's see whether <claim>.",
        "Now the proof that <claim>.", "The promise to the customer was that <claim>; I wrote a check for it.", "I believe <claim>, and want it confirmed.", "A benchmark for the statement that <claim>.",
    ),
    "de": ("Zu beweisen: <claim>.", "Die Annahme: <claim>. Ich messe es.", "Jetzt der Nachweis: <claim>."),
    "fr": ("À prouver : <claim>.", "Hypothèse : <claim>. Je mesure.", "Voici le test : <claim>."),
}  # fmt: skip

PROVEN = {
    "en": (
        "Confirmed: <claim>.", "So <claim>, measured and not guessed.", "That proves it: <claim>.", "The numbers say it: <claim>.", "Verified: <claim>.", "Shown by the run: <claim>.", "With that, <claim> is a fact.", "The measurement backs it up: <claim>.", "It holds: <claim>.", "Evidence enough: <claim>.", "Demonstrated: <claim>.",
        "The benchmark agrees that <claim>.", "We can rely on it now: <claim>.", "Result: <claim>.", "Tested and true: <claim>.", "This settles it by measurement: <claim>.", "QED: <claim>.", "The data is unambiguous: <claim>.", "Hypothesis holds: <claim>.", "The run passed, hence <claim>.", "Proven by the stress run: <claim>.", "Checked, and indeed <claim>.", "No errors in the run, so <claim>.",
        "Green, and that means <claim>.",
    ),
    "de": ("Bestätigt: <claim>.", "Damit ist gezeigt: <claim>.", "Die Messung belegt es: <claim>."),
    "fr": ("Confirmé : <claim>.", "C'est prouvé : <claim>.", "La mesure le montre : <claim>."),
}  # fmt: skip
