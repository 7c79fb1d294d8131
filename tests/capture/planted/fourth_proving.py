"""Ways of doing, evidence and failures in half 3; as in `words_patterns`, `words_evidence` and `words_failures`.

Half of the failures are those of half 2, as are the APIs and the calls of them (`third_patterns`).
"""

from __future__ import annotations

from tests.capture.planted import third_failures
from tests.capture.planted.words_failures import Failing

__all__ = ["CAUSES", "CLAIMED", "FAILURES", "GUESSES", "LONE", "PRACTICES", "PROOFS", "PROVEN", "WIRINGS", "WORDINGS"]  # fmt: skip

PRACTICES = {
    "en": (
        ("reserve first, charge later, and let the hold expire by itself", "ticket sales"), ("carry the unit in the type", "weights and lengths"), ("wire every limit switch normally closed", "moving machinery"), ("append an event and derive the status", "loans and returns"), ("snapshot the third party's page into a fixture before parsing it", "scrapers"),
        ("print one label and scan it back before the batch", "barcode printers"), ("normalise to NFC at the boundary", "names that people type"), ("hash the content into the file name", "images behind a proxy"), ("ship the inverse together with the operation", "editors with undo"), ("keep a two-line reproduction in the docstring", "numeric kernels"),
        ("give each worker its own temporary directory", "parallel suites"), ("freeze the input and vary a single knob", "tuning sessions"), ("number the messages and drop the ones already seen", "consumers on a lossy bus"), ("read back what was written and compare", "flash memory"), ("sample one record in a thousand with its full context", "high-volume logs"), ("put the budget into the test name", "latency checks"),
    ),
    "de": (("erst reservieren und später abbuchen", "Kartenverkäufe"), ("Geschriebenes zurücklesen und vergleichen", "Flash-Speicher"), ("die Einheit im Typ mitführen", "Gewichte und Längen"), ("jedem Arbeiter ein eigenes Verzeichnis geben", "parallele Läufe")),
    "fr": (("réserver d'abord et débiter ensuite", "les ventes de billets"), ("relire ce qui vient d'être écrit", "la mémoire flash"), ("porter l'unité dans le type", "les poids et longueurs"), ("donner un dossier à chaque processus", "les suites parallèles")),
}  # fmt: skip
WORDINGS = {
    "en": (
        "note-to-all <where>: <do>", "Little trick that pays off with <where>: <do>.", "The following practice is recommended for <where>: <do>.", "From here on, whenever we touch <where>, we <do>.", "Keep this one in your pocket: for <where>, <do>.", "standing rule | <where> | <do>", "It is established good practice with <where> to <do>.",
        "Honestly, every time I see <where> I'd do the same again: <do>.", "Guideline (<where>): <do>.", "What makes life easy with <where>: <do>.", "Transferable insight for <where>: <do>.", "One habit worth keeping for <where> is to <do>.", "If you ever deal with <where>, please <do>; it works each time.",
        "The pattern to follow for <where> is this: <do>.", "A sound strategy for <where>, here and elsewhere: <do>.", "We should make it a rule to <do> for <where>.", "Works for all <where>, not just this one: <do>.",
    ),
    "de": ("Merksatz für <where>: <do>.", "Ein Kniff, der sich für <where> immer lohnt: <do>.", "Empfohlene Vorgehensweise für <where>: <do>.", "Künftig für <where> stets: <do>."),
    "fr": ("À retenir pour <where> : <do>.", "Une astuce qui paie toujours avec <where> : <do>.", "Bonne pratique recommandée pour <where> : <do>.", "Désormais, pour <where>, toujours <do>."),
}  # fmt: skip
WIRINGS = (
    "",
    "",
    "talking to <api> from here",
    "Let's hook up <api>.",
    "The module for <api> is being added.",
    "<api>: request side.",
    "Here comes the bit that asks <api>.",
    "out -> <api>",
)

PROOFS = {
    "en": (
        ("no seat is sold twice under load", "./load/stampede --buyers 5000 --seats 80", "80 sold, 4920 turned away, 0 doubles"), ("the hoist stops within forty millimetres", "python rig/hoist_stop.py --runs 200", "200 stops, worst 33 mm"), ("scaling a recipe up and down gives the same amounts", "just roundtrip-recipes", "12000 recipes, 12000 identical"), ("lookups stay below a millisecond at ten million words", "./bench/trie --words 10000000", "p99 0.41 ms"),
        ("labels scan at arm's length", "python rig/scan_labels.py --count 500", "500 of 500 read, mean 0.2 s"), ("the ledger rebuilds every loan", "just replay-ledger YEARS=6", "381204 loans rebuilt, 0 differ"), ("invoice numbers have no gap after a crash", "./chaos/kill_during_issue.sh 300", "300 kills, 0 gaps, 0 repeats"), ("undo brings every drawing back bit by bit", "just undo-storm OPS=100000", "100000 operations undone, hashes equal"),
        ("octrees take a tenth of the memory", "./bench/map_memory --site depot7", "grid 812 MB, octree 61 MB"), ("the feed stays correct over a timetable change", "python qa/season_switch.py", "1904 departures compared, 0 wrong"), ("misspelt streets are found in the first five hits", "python eval/streets.py --typos 20000", "recall@5 0.982"), ("a tenant never sees another one's rows", "./probe/cross_tenant --pairs all", "9900 pairs probed, 0 rows leaked"),
        ("the card lasts for two years of readings", "python rig/wear.py --years 2", "wear 41 %, 0 bad blocks"), ("smoothing keeps the volume within one percent", "./bench/smooth --meshes all", "140 meshes, largest change 0.6 %"),
    ),
    "de": (("kein Platz wird doppelt verkauft", "just ansturm", "80 verkauft, 0 doppelt"), ("Etiketten sind aus Armlänge lesbar", "python rig/etiketten.py", "500 von 500 gelesen"), ("nach einem Absturz fehlt keine Rechnungsnummer", "./chaos/absturz.sh 300", "300 Abstürze, 0 Lücken")),
    "fr": (("aucune place n'est vendue deux fois", "just ruee", "80 vendues, 0 doublon"), ("les étiquettes se lisent à bout de bras", "python rig/etiquettes.py", "500 sur 500 lues"), ("aucun numéro ne manque après une panne", "./chaos/panne.sh 300", "300 pannes, 0 trou")),
}  # fmt: skip
CLAIMED = {
    "en": ("to show: <claim>", "I bet that <claim>. Let's find out!", "The present run is to establish whether <claim>.", "Hypothesis under test: <claim>.", "Time to put numbers behind it: <claim>.", "Can we promise that <claim>? Trying exactly that.", "Target: <claim>. Dedicated run next.", "I keep saying that <claim>, so here's the experiment.", "Acceptance criterion: <claim>. Checking this one alone."),
    "de": ("zu zeigen: <claim>", "Ich wette, <claim>. Mal messen.", "Dieser Lauf soll eines klären: <claim>."),
    "fr": ("à montrer : <claim>", "Je parie ceci : <claim>. Mesurons.", "Cet essai doit établir un point : <claim>."),
}  # fmt: skip
PROVEN = {
    "en": ("shown: <claim>", "Told you, <claim>! The numbers say so.", "It is thereby established that <claim>.", "The measurements support the claim: <claim>.", "And there's our proof that <claim>.", "Criterion satisfied: <claim>.", "result = confirmed (<claim>)", "So it's true, <claim>.", "The run bears it out: <claim>.", "Evidence obtained: <claim>."),
    "de": ("gezeigt: <claim>", "Die Zahlen belegen es: <claim>.", "Damit steht fest, <claim>."),
    "fr": ("montré : <claim>", "Les chiffres le prouvent : <claim>.", "C'est donc établi : <claim>."),
}  # fmt: skip

FAILURES = (
    *third_failures.FAILURES[::2],
    Failing("", "make halls HALL=<mod>", "hall <mod>: row <n> overlaps row <m>", "the importer counts rows from the stage and <func> counts them from the door", "hall <mod>: 31 rows"),
    Failing("", "scripts/import_loans.sh <mod>", "line <n>: invalid date '31.04.2026'", "the branch exports the due date before it is clamped to the month", "imported <m> loans"),
    Failing("", "./bin/label --template <mod>", "template <mod>: ^FD without ^FS", "<func> leaves the field open when <field> is empty", "label ok"),
    Failing("", "just trie words/<mod>.txt", "assertion: child count 257 at depth 1", "the list holds Windows line ends, and the carriage return becomes a letter", "trie: <m> nodes"),
    Failing("", "make map SITE=<mod>", "octree: depth limit reached at cell <n>", "the scan has a stray point at infinity that <func> should clip", "map: <m> leaves"),
    Failing("", "./bin/issue --dry-run <mod>", "counter moved from <n> to <m> without an invoice", "<func> draws the number ahead of the validation", "dry run: 0 numbers used"),
    Failing("", "python qa/streets.py <mod>", "KeyError: '<field>'", "the register renamed the column in its spring edition", "<m> streets matched"),
    Failing("", "jq .halls <mod>.ndjson", 'jq: error: Cannot index number with "halls"', "the first line is a bare counter, so only objects may be looked at", "31", "jq -c 'objects | .halls' <mod>.ndjson", 5),
    Failing("", "psql -f seed/<mod>.sql tenants", 'ERROR:  relation "<mod>" does not exist', "the tables live in a schema per tenant and the search path lacks it", "INSERT 0 31", "PGOPTIONS='-c search_path=tenant_a' psql -f seed/<mod>.sql tenants", 3),
    Failing("", "unzip feed_<mod>.zip -d feed", "End-of-central-directory signature not found.", "the operator now ships a tarball under the old name", "feed/stops.txt", "tar -xf feed_<mod>.zip -C feed", 9),
)  # fmt: skip
CAUSES = {
    "en": ("root cause -> <cause>", "Aha, I see it: <cause>.", "Analysis: <cause>.", "So that's it, <cause>.", "The failure is attributable to the following: <cause>.", "It's because <cause>.", "diag: <cause>", "Took me a moment, but <cause>.", "What went wrong: <cause>."),
    "de": ("Diagnose: <cause>.", "Ach so, <cause>.", "Die Ursache ist folgende: <cause>."),
    "fr": ("Diagnostic : <cause>.", "Ah d'accord, <cause>.", "La cause est la suivante : <cause>."),
}  # fmt: skip
GUESSES = {
    "en": ("attempt, low confidence", "Let me poke at it.", "Could be the order of the flags?", "A provisional change is made."),
    "de": ("Versuch ins Blaue.", "Vielleicht die Reihenfolge?"),
    "fr": ("Un essai au hasard.", "L'ordre, peut-être ?"),
}  # fmt: skip
LONE = (
    ("Guests were seated on top of each other in <mod>.", "the hold is taken in the same transaction as the sale"), ("Readers got reminders for books they had returned.", "the reminder job looks at the ledger and no longer at the cached status"), ("The hoist ran on for a second after <func> returned.", "the contactor is released before the ramp is computed"),
    ("Two invoices of <mod> carried one number.", "the counter row is locked while it is read"), ("Old avatars kept coming back after an upload.", "the address now contains the hash of the picture"), ("The map of <mod> had a hole above the loading dock.", "rays that end beyond the sensor's range only clear cells"),
)  # fmt: skip
