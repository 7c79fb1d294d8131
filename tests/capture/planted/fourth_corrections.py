"""What an agent states and takes back in half 3; `<wrong>` and `<right>` as in `words_corrections`."""

from __future__ import annotations

__all__ = ["CLAIMS", "RETRACTIONS", "STATEMENTS"]

CLAIMS = {
    "en": (
        ("the hall plan is loaded once at start", "it is loaded for every booking"), ("carriers send weights in grams", "they send ounces outside of Europe"), ("<func> ignores empty lines", "it treats an empty line as the end of the record"), ("loans expire at noon", "they expire at closing time of the branch"),
        ("the hoist brakes when power is lost", "it coasts until the second contactor drops"), ("labels are printed at 300 dpi", "this printer model does 203 dpi"), ("<field> is indexed", "the index covers another column of the same name"), ("avatars are resized in the browser", "the browser uploads the original and a worker resizes it"),
        ("<mod> logs to stderr", "it logs to syslog when started by the supervisor"), ("the trie holds lower-case words only", "proper nouns keep their capital"), ("tenants share a sequence", "each schema has its own sequence"), ("toggles are read at every request", "they are read at boot and kept until a restart"),
        ("the robot's map uses metres", "cells are measured in centimetres"), ("<func> returns a copy", "it hands out a view on the internal array"), ("the feed is sorted by departure", "it is sorted by line number and then by pier"), ("invoices can be reopened", "only drafts can be, a sent one needs a credit note"),
        ("humidity is relative", "the sensor reports grams per cubic metre"), ("undo covers layer renames", "renames bypass the operation log"),
    ),
    "de": (("die Gewichte kommen in Gramm", "sie kommen in Unzen"), ("<func> gibt eine Kopie zurück", "sie gibt eine Sicht auf das innere Feld heraus"), ("der Saalplan wird einmal geladen", "er wird bei jeder Buchung geladen"), ("die Karte rechnet in Metern", "sie rechnet in Zentimetern")),
    "fr": (("les poids sont en grammes", "ils sont en onces"), ("<func> renvoie une copie", "elle renvoie une vue du tableau interne"), ("le plan est chargé une seule fois", "il est chargé à chaque réservation"), ("la carte est en mètres", "elle est en centimètres")),
}  # fmt: skip
STATEMENTS = {
    "en": ("noted: <wrong>", "Cool, so <wrong>.", "Inspection indicates that <wrong>.", "If I read this right, <wrong>.", "Observation: <wrong>.", "Nice, that means <wrong>.", "So far it looks as if <wrong>.", "state: <wrong>"),
    "de": ("Beobachtung: <wrong>.", "Gut zu wissen, <wrong>.", "Stand: <wrong>."),
    "fr": ("Observation : <wrong>.", "Bon à savoir, <wrong>.", "État des lieux : <wrong>."),
}  # fmt: skip
RETRACTIONS = {
    "en": (
        "amend: <right>. (was logged as: <wrong>)", "Ugh, I misled you up there. <right>.", "The foregoing statement that <wrong> is withdrawn; <right>.", "Ha, nope, I misread that. <right>!", "Correction to my earlier entry: <right>.", "So I told you that <wrong>... turns out I was wrong, <right>.", "Contrary to what was reported above, <right>.", "scratch what I said earlier, <right>",
        "I need to walk that back: <right>.", "On second reading, my description was inaccurate. <right>.", "Remember me saying '<wrong>'? Not so, <right>.", "Apologies, I reported this incorrectly: <right>.", "my earlier line is void. <right>", "Hang on, that was a mix-up on my end. <right>.", "It turns out not to be the case that <wrong>. Rather, <right>.",
        "Actually no, I had that backwards: <right>.", "I have to revise an earlier finding of mine. <right>.", "Oh dear, I was off there: <right>.",
    ),
    "de": ("Berichtigung: <right>. (Vermerkt war: <wrong>)", "Ups, da habe ich mich verlesen, <right>.", "Die obige Angabe nehme ich zurück: <right>.", "Entgegen meiner früheren Aussage gilt: <right>."),
    "fr": ("Rectificatif : <right>. (J'avais noté : <wrong>)", "Oups, j'ai mal lu, <right>.", "Je retire ce que j'ai affirmé plus haut : <right>.", "Contrairement à ce que j'ai écrit, <right>."),
}  # fmt: skip
