"""Claims that a test or a benchmark proves in half 2; as in `words_evidence`."""

from __future__ import annotations

__all__ = ["CLAIMED", "PROOFS", "PROVEN"]

PROOFS = {
    "en": (
        ("replays stay in sync for an hour of play", "./tools/desync_hunt --minutes 60 --clients 8", "216000 ticks, 8 clients, 0 desyncs"), ("the mesher fits into four milliseconds on the old console", "bazel run -c opt //bench:mesher_bench", "BM_Mesher/worst  3.61 ms  n=2000"), ("save files survive a power cut at any byte", "dotnet run --project tools/CutSave", "18422 cut points, 18422 recovered"),
        ("the mixer never exceeds two percent of a core", "just perf-audio", "mixer cpu mean 1.1 %, max 1.7 %"), ("the pathfinder finds the same route as Dijkstra", "dotnet run --project tools/PathOracle -- --maps 5000", "5000 maps, 5000 equal lengths"), ("dead time never drops under 400 ns", "python rig/scope_<mod>.py --captures 10000", "10000 captures, min 431 ns"),
        ("the charge estimate is within three percent over a full cycle", "python rig/cycle.py --cell A7", "max deviation 2.2 % over 412 min"), ("the bus tolerates ninety percent load", "cangen-soak --load 90 --minutes 30", "2700000 frames sent, 0 lost, 0 error passive"), ("the modem recovers from a brown-out within a second", "just brownout-rig N=300", "300 of 300 recovered, slowest 0.84 s"),
        ("the buoy lasts four hundred days on one pack", "python rig/energy.py --profile field", "projected 431 days at 11.2 C"), ("imputation leaves the mean income unchanged", "Rscript validation/<mod>_mean.R", "difference 0.02 sd, 95% CI [-0.03, 0.07]"), ("the seasonal model beats the naive forecast on every station", "python backtest/run.py --folds 24", "41 of 41 stations better, median MASE 0.71"),
        ("tiles line up at the seams", "python qa/seams.py --all", "seams 9120, offset > 1 px: 0"), ("scores are stable under relabelling", "Rscript validation/permute.R 2000", "2000 permutations, max shift 0.004"), ("raking converges for each stratum", "Rscript validation/rake_all.R", "512 strata, 512 converged, max 9 iterations"),
        ("alarms ring on time after a night of doze", "adb-lab run doze_<mod>.yaml", "240 alarms on 12 phones, latest +1.3 s"), ("scrolling the dose history stays at 120 Hz", "flutter drive --profile -t bench/history.dart", "p99 frame build 5.2 ms, jank 0"), ("merging offline charts loses no entry", "dart run tools/merge_storm.dart --edits 40000", "40000 edits in, 40000 out"),
        ("nobody outside of the team role can read the bucket", "python iam_probe.py --principals all", "1204 principals tried, 7 allowed, all in team"), ("a lost zone costs less than two seconds of requests", "just gameday ZONE=b", "errors during 1.4 s, then none"), ("the closure builds to the same hash on both builders", "nix build .#<mod> --rebuild --check", "outputs identical on builder-1 and builder-2"),
        ("cold storage queries return within a minute", "just cold-query SAMPLES=50", "p95 38 s, max 51 s"), ("netting reproduces the custodian's figures", "clojure -X:reconcile :days 250", "250 days, 0 breaks"), ("the curve reprices every input bond", "clojure -X:reprice", "88 bonds, max error 0.00003"), ("interest over leap years matches the term sheet", "just daycount-oracle", "73048 periods, 73048 equal"),
        ("comparison time does not depend on the secret", "./tools/dudect_<mod> --samples 1000000", "max t = 2.1, no leakage detected"), ("the rule set raises no false alarm on a week of traffic", "python replay_pcap.py week.pcap", "91 GB replayed, 0 alerts on benign, 212 of 212 on planted"), ("plugins cannot open files", "./escape_suite.sh", "64 attempts, 64 trapped"),
        ("both back ends agree on every program of the corpus", "dune exec difftest -- corpus/", "11020 programs, 0 divergences"), ("inference stays near-linear in practice", "cabal bench --benchmark-options='-m prefix infer'", "size x10 -> time x10.8"), ("the allocator spills less than the old one", "dune exec spillcount -- corpus/", "spills 18211 (before: 26904)"), ("the formatter is a fixpoint", "just fmt-twice corpus/", "11020 files, second pass changed 0"),
        ("visits are counted alike in batch and in stream", "sbt 'it/runMain CompareVisits --days 14'", "14 days, 0 visits differ"), ("late events up to an hour are kept", "sbt 'it/runMain LateStorm'", "200000 late events, 200000 assigned"), ("boards update within three seconds of the feed", "node bench/board_latency.mjs --boards 400", "p99 2.1 s over 400 boards"), ("macros never leak another customer's name", "bun run fuzz:macros", "500000 expansions, 0 foreign names"),
    ),
    "de": (
        ("die Totzeit bleibt über 400 ns", "python rig/totzeit.py", "10000 Messungen, Minimum 431 ns"), ("Spielstände überstehen einen Stromausfall", "just stromausfall", "18422 Schnitte, alle lesbar"), ("Wecker klingeln auch nach einer Nacht pünktlich", "adb-lab run nacht.yaml", "240 Wecker, spätester +1,3 s"), ("die Gewichte konvergieren in jeder Schicht", "Rscript pruefung/gewichte.R", "512 von 512"),
    ),
    "fr": (
        ("les alarmes sonnent à l'heure après une nuit", "adb-lab run nuit.yaml", "240 alarmes, la plus tardive +1,3 s"), ("aucun greffon ne peut ouvrir de fichier", "./evasion.sh", "64 essais, 64 bloqués"), ("les deux moteurs donnent le même résultat", "dune exec difftest -- corpus/", "11020 programmes, 0 écart"),
    ),
    "es": (
        ("las partidas sobreviven a un corte de luz", "just corte", "18422 cortes, 18422 legibles"), ("ningún complemento puede abrir ficheros", "./fuga.sh", "64 intentos, 64 bloqueados"), ("el cuadre con el depositario es exacto", "just cuadre DIAS=250", "250 días, 0 diferencias"),
    ),
}  # fmt: skip

CLAIMED = {
    "en": (
        "Claim: <claim>. Test follows.", "What I want to show is that <claim>.", "I expect that <claim>; the following run is for that only.", "We promised that <claim>. Time to measure it.", "Is it really so that <claim>? I made an experiment for it.", "goal of this run: show that <claim>", "Thesis: <claim>. Measuring.", "The requirement states that <claim>, so I test precisely this.", "According to my calculation <claim>; let the rig judge.",
        "To verify that <claim>, I run a dedicated check.", "I am asserting that <claim>. Proof:", "Before anybody relies on it, let me prove that <claim>.",
    ),
    "de": ("Behauptung: <claim>. Der Versuch dazu läuft.", "Ich prüfe eigens, ob das stimmt: <claim>.", "Erwartung: <claim>. Dafür ist dieser Lauf."),
    "fr": ("Affirmation à tester : <claim>.", "Je veux montrer ceci : <claim>.", "Essai dédié pour vérifier ceci : <claim>."),
    "es": ("Hipótesis: <claim>. Lo mido.", "Quiero demostrar que <claim>.", "Prueba dedicada: <claim>."),
}  # fmt: skip

PROVEN = {
    "en": (
        "measured: <claim>", "Claim verified, <claim>.", "The experiment confirms that <claim>.", "So we now know by measurement that <claim>.", "Figures above are the proof that <claim>.", "Yes: <claim>, as the run shows.", "Validated: <claim>.", "Established by the run above: <claim>.", "There we have it in numbers, <claim>.", "This demonstrates that <claim>.", "Proof delivered: <claim>.", "Outcome of the trial: <claim>.", "Requirement met: <claim>.",
        "The output leaves no doubt that <claim>.", "With these numbers I can state that <claim>.",
    ),
    "de": ("Nachgewiesen: <claim>.", "Der Versuch bestätigt es: <claim>.", "Gemessen: <claim>."),
    "fr": ("Vérifié : <claim>.", "L'essai le confirme : <claim>.", "Mesuré : <claim>."),
    "es": ("Demostrado: <claim>.", "La medición lo confirma: <claim>.", "Verificado: <claim>."),
}  # fmt: skip
