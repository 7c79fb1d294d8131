"""What an agent states and takes back: claims, what holds, and the words for it.

Owns matter and wording; `<wrong>` and `<right>` are clauses without a capital and a full stop.
"""

from __future__ import annotations

__all__ = ["CLAIMS", "RETRACTIONS", "STATEMENTS"]

CLAIMS = {
    "en": (
        ("the cache in <mod> is keyed by user", "it is keyed by tenant and locale"), ("<func> is only called from the scheduler", "the webhook calls it too"),
        ("<field> is never null", "the old importer writes nulls into it"), ("deletes cascade from <mod>", "the foreign key is set to restrict"),
        ("the timeout counts in seconds", "it counts in milliseconds"), ("<src> is generated", "it is written by hand and only looks generated"),
        ("the lock is reentrant", "a second acquire from the same thread blocks"), ("the list comes sorted from the API", "the server gives no order at all"),
        ("<func> copies its argument", "it keeps a reference to the caller's list"), ("the retry lives in the client", "the gateway retries and the client does not"),
        ("dates are stored in UTC", "the column holds Berlin time"), ("the flag defaults to off", "it defaults to on outside of production"),
        ("the index covers this query", "the planner reads the whole table because of the cast"), ("two workers share one connection", "each worker opens its own pool"),
        ("the checksum covers the header", "it begins after the header"), ("the first byte is the length", "the first byte is the version and the length comes second"),
        ("rounding happens once at the end", "every line is rounded before the sum"), ("the token lives for a day", "it lives for an hour and is renewed silently"),
        ("the queue keeps the order", "order only holds within one partition"), ("<mod> has no state", "it holds a counter at module level"),
        ("unsigned arithmetic is safe here", "the subtraction wraps below zero"), ("the mock matches the real server", "the real server wraps the list in an object"),
        ("the migration can be rolled back", "it drops a column and cannot go back"), ("the hook runs before the commit", "it runs after the commit, so rollbacks are not seen"),
        ("only admins reach this route", "the guard is missing on the nested router"), ("<func> stops at the first match", "it walks the whole tree and keeps the last match"),
        ("the batch size is capped at a hundred", "the cap was lifted to a thousand last year"), ("the label is part of the metric", "high-cardinality labels are dropped at scrape time"),
        ("replicas restart one after the other", "max surge lets all of them go at once"), ("the seed makes training repeatable", "the data loader draws from another generator"),
        ("the split is done before scaling", "scaling sees the test rows as well"), ("the join is one to one", "customers with two addresses come twice"),
        ("the interpolation is linear", "the library uses cubic splines by default"), ("the barcode holds a check digit", "the short form comes without one"),
        ("members may borrow twelve books", "twelve is the limit for adults and children get six"), ("mails leave through the queue", "receipts are sent inline, in the request"),
        ("the socket is closed by the peer", "our own idle timer closes it"), ("heartbeats reset the timer", "only data frames reset it"),
        ("<func> is quadratic because of the sort", "the sort is cheap and the lookup inside the loop is quadratic"), ("the leak is in <mod>", "the allocations grow in the logging layer"),
        ("the spec demands a trailing slash", "the spec leaves it open and our router demands it"), ("Windows paths are normalised on entry", "they are compared as they come"),
    ),
    "de": (
        ("der Cache hängt am Benutzer", "er hängt am Mandanten"), ("<field> ist nie leer", "der alte Import lässt das Feld leer"), ("die Liste kommt sortiert vom Server", "der Server garantiert keine Reihenfolge"),
        ("der Timeout zählt in Sekunden", "er zählt in Millisekunden"), ("<func> wird nur vom Scheduler aufgerufen", "auch der Webhook ruft die Funktion auf"), ("gerundet wird am Ende", "jede Zeile wird einzeln gerundet"),
        ("die Migration ist umkehrbar", "sie löscht eine Spalte"),
    ),
    "fr": (
        ("le cache dépend de l'utilisateur", "il dépend du locataire"), ("<field> n'est jamais vide", "l'ancien import le laisse vide"), ("la liste arrive triée", "le serveur ne garantit aucun ordre"),
        ("le délai est en secondes", "il est en millisecondes"), ("l'arrondi se fait à la fin", "chaque ligne est arrondie"),
    ),
}  # fmt: skip

STATEMENTS = {
    "en": ("<wrong>.", "As far as I can see, <wrong>.", "Note that <wrong>.", "I read it like this: <wrong>.", "Good to know: <wrong>.", "So <wrong>, which makes this easy.", "From the code it is clear that <wrong>.", "My reading: <wrong>.", "<wrong>, so nothing needs to change there."),
    "de": ("Soweit ich sehe, gilt hier: <wrong>.", "Gut: <wrong>.", "So lese ich es: <wrong>."),
    "fr": ("D'après le code, <wrong>.", "Je note : <wrong>.", "Bien : <wrong>."),
}  # fmt: skip
"""What it said first."""

RETRACTIONS = {
    "en": (
        "I said that <wrong>. That does not hold: <right>.", "I have to take something back: <right>. My earlier statement that <wrong> was mistaken.", "Looking closer, <right>. I had that the wrong way round.",
        "I misread this before. It is not so that <wrong>; <right>.", "My claim that <wrong> was premature, because <right>.", "Scratch what I wrote above about this: <right>.",
        "I was wrong to say that <wrong>. In truth <right>.", "Contrary to what I told you, <right>.", "That overturns my assumption. I believed <wrong>, whereas <right>.", "Apologies, I mixed this up: <right>, not what I stated.",
        "Earlier I assumed that <wrong>. The source says otherwise: <right>.", "I need to revise that: <right>. Please ignore what I said about it.", "Having read it properly now: <right>. So my remark that <wrong> is void.",
        "I stand corrected by the code: <right>.", "My mistake — <right>. I had written that <wrong>.", "What I said a moment ago is false. <right>.", "Oh. It turns out that <right>, so I spoke too soon when I said <wrong>.",
        "Let me put that straight: <right>. The sentence with '<wrong>' should not be relied on.", "I retract that <wrong>: <right>.", "On second reading, <right>; I drew the opposite conclusion before.",
        "I owe you a revision. Not '<wrong>', but: <right>.", "I must withdraw my conclusion from before, since <right>.", "That note of mine about '<wrong>' turned out untrue, for <right>.", "So much for my theory that <wrong>. The facts: <right>.",
        "I jumped to a conclusion there. <right>.", "Rereading <src>, I see that I got it backwards: <right>.", "My summary above contains a slip: I claimed <wrong>, and yet <right>.", "Forget that <wrong>; I had not looked at the callee. <right>.",
        "I take that back: <right>.", "It pains me to say it, but I told you nonsense: <right>.", "Not quite what I said: <right>.", "That was a false lead from me. I thought that <wrong>; <right>.",
        "Actually, <right>. I had said that <wrong>.", "Wait, that is not true: <right>.", "Correction: <right>, not that <wrong>.", "Correction to my earlier words: <right>.", "Wait. I claimed that <wrong>, but <right>.",
        "Actually I got this wrong before; <right>.", "I stated an error: it is not the case that <wrong>. Instead, <right>.", "Hold on, my previous explanation has a problem: <right>.", "Actually no: <right>. What I wrote about it was a guess.",
        "My earlier analysis failed to see that <right>.", "I wrongly told you that <wrong>. What I see now is that <right>.", "Revised view: <right>. The previous one (<wrong>) came from skimming.",
    ),
    "de": (
        "Ich muss mich berichtigen: <right>. Dass ich sagte, <wrong>, war falsch.", "Das stimmte nicht, was ich vorhin schrieb: <right>.", "Ich nehme meine Aussage zurück: <right>.", "Genauer hingesehen: <right>. Ich hatte das verwechselt.",
        "Entgegen meiner Behauptung von eben: <right>.", "Da lag ich daneben: <right>.", "Mein Irrtum: <right>.",
    ),
    "fr": (
        "Je dois rectifier : <right>. J'avais affirmé à tort que <wrong>.", "Ce que j'ai dit plus haut est inexact : <right>.", "Je retire mon affirmation : <right>.", "À la relecture, <right> ; je m'étais trompé.", "Erreur de ma part : <right>.",
    ),
}  # fmt: skip
"""What it said in the end."""
