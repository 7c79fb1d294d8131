"""What an agent states and takes back in half 2; `<wrong>` and `<right>` as in `words_corrections`."""

from __future__ import annotations

__all__ = ["CLAIMS", "RETRACTIONS", "STATEMENTS"]

CLAIMS = {
    "en": (
        ("the physics step runs at a fixed sixty hertz", "its step follows the frame rate below thirty"), ("<func> is thread-safe", "it writes to a shared scratch buffer"), ("the watchdog is fed from the timer", "the idle task feeds it"),
        ("CAN identifiers are eleven bits wide on this bus", "this bus uses the extended twenty-nine bit form"), ("the ADC reference is 3.3 volts", "the reference is the internal 1.2 volts"), ("<mod> depends on the network stack", "it talks to a local socket only"),
        ("rasters are in WGS 84", "they come in the national grid"), ("the forecast uses the last three years", "only the last eleven months pass its filter"), ("species codes are unique", "two survey rounds reused the same codes"), ("censored patients are dropped", "they stay in the risk set until their last visit"),
        ("<field> is validated by the form", "the form sends it raw and the server trims it"), ("doses are stored in milligrams", "they are stored in micrograms"), ("the alarm fires even when the app was killed", "killing the app cancels its alarms on this vendor's phones"), ("the settlement date skips holidays", "it skips weekends and nothing more"),
        ("haircuts apply after netting", "they apply to every leg before netting"), ("the unifier does an occurs check", "the check was switched off for speed"), ("the optimiser keeps the order of side effects", "it hoists calls that are marked pure, and logging is marked pure"), ("spilled intervals are reloaded once", "they are reloaded at each use"),
        ("sessions are split at midnight", "they are split after thirty idle minutes"), ("the tunnel encrypts traffic between sites", "it only authenticates, the payload goes out in the clear"), ("the budget alarm covers all accounts", "accounts made after June are outside of it"), ("macros are expanded on the client", "the mail gateway expands them"),
        ("delays are measured at departure", "they are measured at arrival"), ("the rule engine stops after the first hit", "every rule runs and the highest severity is kept"), ("keys rotate every ninety days", "rotation was paused in autumn and never resumed"), ("items stack up to ninety-nine", "tools have a stack limit of one"),
    ),
    "de": (
        ("der Motor läuft mit festem Takt", "der Takt richtet sich nach der Bildrate"), ("die Dosis steht in Milligramm", "sie steht in Mikrogramm"), ("der Schlüssel wird vierteljährlich gewechselt", "der Wechsel ist seit dem Herbst ausgesetzt"), ("<func> ist nebenläufig sicher", "die Funktion teilt sich einen Puffer"),
        ("Verspätung zählt ab Abfahrt", "sie wird bei der Ankunft gemessen"),
    ),
    "fr": (
        ("la dose est en milligrammes", "elle est en microgrammes"), ("les séances sont coupées à minuit", "elles sont coupées après trente minutes d'inactivité"), ("<func> est sûre entre fils", "elle écrit dans un tampon partagé"), ("le retard se mesure au départ", "il se mesure à l'arrivée"),
    ),
    "es": (
        ("la dosis está en miligramos", "está en microgramos"), ("las claves rotan cada trimestre", "la rotación está parada desde otoño"), ("<func> es segura entre hilos", "escribe en un búfer compartido"), ("el retraso se mide a la salida", "se mide a la llegada"),
    ),
}  # fmt: skip

STATEMENTS = {
    "en": ("What I take from this: <wrong>.", "fyi <wrong>", "Seems that <wrong>.", "OK, understood now, <wrong>.", "This tells me that <wrong>.", "One thing to keep in mind below, <wrong>.", "By the look of it <wrong>, good."),
    "de": ("Daraus lese ich: <wrong>.", "Offenbar gilt: <wrong>.", "Zur Kenntnis: <wrong>."),
    "fr": ("J'en déduis que <wrong>.", "Apparemment, <wrong>.", "Je comprends que <wrong>."),
    "es": ("Por lo que veo, <wrong>.", "Entiendo que <wrong>.", "Parece que <wrong>."),
}  # fmt: skip

RETRACTIONS = {
    "en": (
        "I gave you wrong information a few steps ago. <right>.", "Retraction: the statement '<wrong>' does not stand. <right>.", "Hm, I must eat my words: <right>.", "Strike '<wrong>' from the notes please, that was me misreading; <right>.", "Previously I told that <wrong>. This was not true, sorry: <right>.",
        "my bad, <right>. ignore the earlier claim", "errata: <right> (I had said: <wrong>)", "I was mistaken before. It is not that <wrong>; <right>.", "New finding contradicts what I said above: <right>.", "Regarding my assertion that <wrong>: it is refuted by the source, for <right>.",
        "Sorry, I told you the wrong thing. <right>.", "Well, that makes my earlier statement false, since <right>.", "I had assumed that <wrong>, incorrectly. <right>.", "Let me correct myself: <right>.", "I'd like to amend my earlier remark. Not true that <wrong>. True is: <right>.", "Seems I was too quick with '<wrong>'. In fact <right>.",
        "Oops, I claimed the opposite earlier, but <right>.", "My previous message was incorrect on one point: <right>.", "Please disregard my note that <wrong>; having checked the definition, <right>.", "No, I got that wrong. <right>.", "What I believed about this was an error on my part: <right>.", "Actually I have to correct an earlier statement of mine, namely that <wrong>. <right>.",
        "wait, I was wrong above. <right>", "I must correct what I reported: <right>, and not '<wrong>'.", "It was incorrect of me to state that <wrong>. The code shows that <right>.",
    ),
    "de": (
        "Korrektur meinerseits: <right>. Vorhin schrieb ich noch: <wrong>.", "Ich habe mich geirrt, <right>.", "Was ich oben behauptet habe, ist falsch: <right>.", "Verzeihung, meine Angabe war verkehrt: <right>.", "Ich hatte angenommen: <wrong>. Tatsächlich gilt: <right>.",
    ),
    "fr": (
        "Je me suis trompé tout à l'heure : <right>.", "Correction de mes propos : <right>.", "J'avais dit que <wrong>, c'était faux : <right>.", "Au temps pour moi, <right>.",
    ),
    "es": (
        "Me equivoqué antes: <right>.", "Corrijo lo que dije: <right>.", "Dije que <wrong>, pero era falso: <right>.", "Error mío: <right>.",
    ),
}  # fmt: skip
