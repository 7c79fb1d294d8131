"""What sessions of half 2 are about: languages, their test runners, domains and the names in them."""

from __future__ import annotations

from tests.cases.planted.stacks import Stack

__all__ = ["STACKS"]

STACKS = (
    Stack("py", "security", "sigil", "sigil/{mod}.py", "checks/{mod}_check.py", "tox -e py312", "py312: OK (4.1=setup[0.9]+cmd[3.2] seconds)\n  {m} passed",
          (("scanner", "match_rule", "severity"), ("keystore", "rotate", "fingerprint"), ("triage", "rank_finding", "score"))),
    Stack("py", "data science", "wetlands", "src/wetlands/{mod}.py", "tests/unit/{mod}_spec.py", "nox -s tests", "nox > Session tests was successful.",
          (("rasters", "clip_tile", "crs"), ("survey", "pivot_species", "site_code"), ("forecast", "fit_season", "horizon"))),
    Stack("cs", "games", "Skyforge", "Assets/Scripts/{mod}.cs", "Assets/Tests/{mod}Tests.cs", "dotnet test", "Passed!  - Failed: 0, Passed: {m}, Skipped: 0",
          (("Inventory", "StackItems", "slotCount"), ("Pathfinder", "NextNode", "heuristic"), ("SaveGame", "Serialize", "checksum"))),
    Stack("cpp", "games", "voxelite", "engine/{mod}.cc", "engine/{mod}_test.cc", "bazel test //engine/...", "Executed {m} out of {m} tests: {m} tests pass.",
          (("mesher", "EmitQuad", "lod"), ("netcode", "Reconcile", "tick"), ("audio", "MixVoices", "gain"))),
    Stack("zig", "embedded", "tidebuoy", "src/{mod}.zig", "src/{mod}_test.zig", "zig build test --summary all", "Build Summary: 5/5 steps succeeded; {m}/{m} tests passed",
          (("modem", "sendFrame", "seqno"), ("adc", "readChannel", "gain"))),
    Stack("fw", "embedded", "inverter", "core/{mod}.c", "test/test_{mod}.c", "ceedling test:all", "OVERALL TEST SUMMARY\nTESTED: {m}\nPASSED: {m}",
          (("pwm", "pwm_set_duty", "deadtime"), ("can_bus", "can_pack", "arbitration_id"), ("bms", "bms_estimate", "soc"))),
    Stack("dart", "mobile", "medalarm", "lib/{mod}.dart", "test/{mod}_test.dart", "flutter test", "00:07 +{m}: All tests passed!",
          (("dose_plan", "nextDose", "graceMinutes"), ("refill", "estimateRunout", "pillCount"), ("onboarding", "saveStep", "locale"))),
    Stack("js", "web", "timetable", "server/{mod}.mjs", "server/{mod}.spec.mjs", "node --test", "# tests {m}\n# pass {m}\n# cancelled 0",
          (("stops", "nearestStop", "platform"), ("disruptions", "mergeAlerts", "validUntil"), ("boards", "renderBoard", "delay"))),
    Stack("hs", "compilers", "quill", "src/Quill/{mod}.hs", "test/{mod}Spec.hs", "cabal test", "1 of 1 test suites (1 of 1 test cases) passed.",
          (("Infer", "unify", "kind"), ("Desugar", "flattenDo", "binder"))),
    Stack("ml", "compilers", "osprey", "lib/{mod}.ml", "test/test_{mod}.ml", "dune runtest", "Test Successful in 0.31s. {m} tests run.",
          (("regalloc", "spill_cost", "interval"), ("typing", "generalize", "level"))),
    Stack("scala", "data", "clickstream", "core/src/main/scala/{mod}.scala", "core/src/test/scala/{mod}Suite.scala", "sbt test", "[info] Passed: Total {m}, Failed 0, Errors 0, Passed {m}",
          (("Sessionizer", "splitVisits", "gapMinutes"), ("Attribution", "creditTouch", "weight"))),
    Stack("tf", "infra", "landing-zone", "modules/{mod}/main.tf", "modules/{mod}/main.tftest.hcl", "tofu test", "Success! {m} passed, 0 failed.",
          (("network", "peering", "cidr_block"), ("budget", "alarm", "threshold"), ("registry", "lifecycle", "retention_days"))),
    Stack("clj", "finance", "bullion", "src/bullion/{mod}.clj", "test/bullion/{mod}_test.clj", "clojure -M:test", "Ran {m} tests containing 301 assertions.\n0 failures, 0 errors.",
          (("margin", "call-amount", "haircut"), ("settlement", "net-legs", "value-date"))),
    Stack("r", "statistics", "cohortr", "R/{mod}.R", "tests/testthat/test-{mod}.R", "Rscript -e 'devtools::test()'", "[ FAIL 0 | WARN 0 | SKIP 1 | PASS {m} ]",
          (("survival", "km_curve", "censored"), ("weights", "rake_margins", "stratum"))),
    Stack("vue", "web", "helpdesk", "src/components/{mod}.vue", "src/components/__tests__/{mod}.spec.ts", "bun test", "{m} pass\n0 fail\nRan {m} tests across 14 files.",
          (("TicketList", "groupByQueue", "priority"), ("MacroEditor", "expandMacro", "placeholder"), ("SlaBadge", "minutesLeft", "breachAt"))),
    Stack("nix", "infra", "fleet", "hosts/{mod}.nix", "checks/{mod}.nix", "nix flake check", "all checks passed! ({m} derivations)",
          (("edge", "mkTunnel", "endpoint"), ("builder", "pinKernel", "cores"))),
)  # fmt: skip
