"""What sessions are about: languages, their test runners, domains and the names in them."""

from __future__ import annotations

import random
from dataclasses import dataclass

__all__ = ["STACKS", "Names", "Stack"]


@dataclass(frozen=True)
class Stack:
    """`suite` is the command that checks everything, `ok` what it says when all is well; `{}` slots are `Names`."""

    key: str
    domain: str
    project: str
    source: str
    test: str
    suite: str
    ok: str
    names: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Names:
    """The names of one session: a module, a function, a field, files, small numbers."""

    mod: str
    func: str
    field: str
    src: str
    test: str
    n: int
    m: int

    @classmethod
    def draw(cls, rng: random.Random, stack: Stack) -> Names:
        """At random."""
        mod, func, name = rng.choice(stack.names)
        src, test = stack.source.format(mod=mod), stack.test.format(mod=mod)
        n = rng.randrange(12, 180)
        return cls(mod, func, name, src, test, n, n + rng.randrange(3, 40))

    def fill(self, text: str) -> str:
        """The text with its slots filled; other braces stay."""
        for slot in ("mod", "func", "field", "src", "test", "n", "m"):
            text = text.replace(f"<{slot}>", str(getattr(self, slot)))
        return text


STACKS = (
    Stack("py", "web", "shop", "shop/{mod}.py", "tests/test_{mod}.py", "pytest -q", "{m} passed in 3.18s",
          (("cart", "add_item", "quantity"), ("invoice", "render_pdf", "due_date"), ("coupons", "apply_code", "percent"), ("profile", "update_email", "email"))),
    Stack("py", "data", "etl", "etl/{mod}.py", "tests/test_{mod}.py", "python -m pytest tests", "{m} passed, 2 skipped in 8.40s",
          (("ingest", "parse_row", "timestamp"), ("dedupe", "merge_keys", "customer_id"), ("loader", "copy_batch", "batch_size"))),
    Stack("py", "machine learning", "ranker", "ranker/{mod}.py", "tests/{mod}_test.py", "python -m unittest discover", "Ran {m} tests in 2.114s\n\nOK",
          (("features", "encode_query", "embedding"), ("sampler", "draw_batch", "seed"), ("metrics", "ndcg", "cutoff"))),
    Stack("ts", "web", "dashboard", "src/{mod}.ts", "src/{mod}.test.ts", "npm test", "Tests:       {m} passed, {m} total",
          (("charts", "drawAxis", "ticks"), ("session", "refreshToken", "expiresAt"), ("filters", "parseQuery", "range"))),
    Stack("ts", "mobile", "courier-app", "app/{mod}.tsx", "app/__tests__/{mod}.test.tsx", "npx vitest run", "Test Files  9 passed (9)\n     Tests  {m} passed ({m})",
          (("TripList", "useTrips", "cursor"), ("MapView", "fitBounds", "zoom"), ("Login", "submit", "password"))),
    Stack("go", "infra", "gatekeeper", "internal/{mod}/{mod}.go", "internal/{mod}/{mod}_test.go", "go test ./...", "ok  \tgatekeeper/internal/proxy\t0.214s",
          (("proxy", "RoundTrip", "deadline"), ("lease", "Renew", "ttl"), ("audit", "Append", "offset"))),
    Stack("rust", "compilers", "kiln", "src/{mod}.rs", "tests/{mod}.rs", "cargo test", "test result: ok. {m} passed; 0 failed; 0 ignored",
          (("lexer", "next_token", "span"), ("resolver", "bind_scope", "depth"), ("codegen", "emit_block", "slot"))),
    Stack("java", "finance", "ledger", "src/main/java/ledger/{mod}.java", "src/test/java/ledger/{mod}Test.java", "mvn -q test", "Tests run: {m}, Failures: 0, Errors: 0, Skipped: 0",
          (("Posting", "balance", "currency"), ("Statement", "closeMonth", "period"), ("FxRates", "convert", "rate"))),
    Stack("c", "embedded", "sensor-hub", "src/{mod}.c", "tests/test_{mod}.c", "ctest --output-on-failure", "100% tests passed, 0 tests failed out of {m}",
          (("ring", "ring_push", "head"), ("uart", "uart_flush", "baud"), ("crc", "crc16_update", "poly"))),
    Stack("swift", "mobile", "Trails", "Sources/{mod}.swift", "Tests/{mod}Tests.swift", "swift test", "Executed {m} tests, with 0 failures (0 unexpected) in 0.9 seconds",
          (("RouteStore", "nearest", "radius"), ("Elevation", "smooth", "window"))),
    Stack("kotlin", "mobile", "pantry", "app/src/main/java/{mod}.kt", "app/src/test/java/{mod}Test.kt", "./gradlew test", "BUILD SUCCESSFUL in 24s",
          (("ShelfDao", "expiring", "bestBefore"), ("Scanner", "decode", "barcode"))),
    Stack("ruby", "web", "library", "app/models/{mod}.rb", "spec/models/{mod}_spec.rb", "bundle exec rspec", "{m} examples, 0 failures",
          (("loan", "overdue?", "returned_on"), ("member", "suspend!", "fee"))),
    Stack("sql", "data", "warehouse", "models/{mod}.sql", "tests/{mod}.yml", "dbt build", "Done. PASS={m} WARN=0 ERROR=0 SKIP=0 TOTAL={m}",
          (("orders_daily", "revenue", "order_id"), ("churn", "cohort", "signed_up_at"))),
    Stack("ops", "infra", "platform", "deploy/{mod}.yaml", "deploy/tests/{mod}.yaml", "make verify", "verify: all {m} manifests are valid",
          (("gateway", "replicas", "replicas"), ("ingress", "tls", "secretName"), ("worker", "autoscaling", "maxReplicas"))),
    Stack("php", "web", "tickets", "src/{mod}.php", "tests/{mod}Test.php", "vendor/bin/phpunit", "OK ({m} tests, 88 assertions)",
          (("Mailer", "queue", "recipient"), ("Seat", "reserve", "row"))),
    Stack("ex", "messaging", "relay", "lib/relay/{mod}.ex", "test/{mod}_test.exs", "mix test", "{m} tests, 0 failures",
          (("presence", "track", "topic"), ("inbox", "ack", "message_id"))),
)  # fmt: skip
