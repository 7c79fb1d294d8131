"""What an agent states and takes back in half 4; slots as in `words_corrections`."""

from __future__ import annotations

__all__ = ["CLAIMS", "RETRACTIONS", "STATEMENTS"]

CLAIMS = {
    "en": (
        ("<func> runs once for each request", "it runs once for each process and the result is memoised"), ("the config is reloaded on SIGHUP", "SIGHUP only rotates the logs and the config is read at boot"), ("<field> is measured in metres", "it is in feet, the unit is converted in the view"),
        ("the worker commits its offset after processing", "the offset is committed on a timer, processed or not"), ("both environments share one bucket", "staging has a bucket of its own under another account"), ("the tests hit a real database", "they run against an in-memory double"),
        ("the frontend validates <field>", "the frontend merely colours it red and submits anyway"), ("<mod> has been dead code since the rewrite", "a cron entry on the old host still imports it"), ("the regex is anchored", "it matches anywhere in the line"),
        ("the default encoding is UTF-8 everywhere", "on the Windows runner it is cp1252"), ("the API returns null for unknown keys", "unknown keys come back as an empty object"), ("the session store survives a restart", "it lives in process memory and is gone after one"),
        ("each thread gets a generator of its own", "all threads draw from one shared generator"), ("the view is materialised", "it is an ordinary view and runs the join every time"), ("the animation is driven by the physics step", "it is driven by the render loop"),
        ("the sensor reports degrees Celsius", "the sensor reports tenths of a kelvin"), ("alarms are dropped while the phone is in doze", "exact alarms get through doze and only the inexact ones wait"), ("the timetable feed contains cancelled trips", "cancelled trips come in a separate realtime feed"),
        ("footnotes are numbered per chapter", "numbering runs through the whole book"), ("<func> is tail recursive", "the cons after the call keeps every frame alive"), ("the filter is applied before the join", "the optimiser pushes it behind the outer join"),
        ("the module pins the provider", "the pin sits in the root and the module takes whatever comes"), ("the price feed is in dollars", "the feed quotes in the currency of the exchange"), ("censored patients are left out of the fit", "they are kept with their last follow-up"),
        ("closed tickets are archived nightly", "archiving was switched off in spring and closed tickets stay put"), ("the build is reproducible", "a timestamp is baked into the header"), ("the feature is behind a flag", "the flag is evaluated but its value is thrown away"),
        ("the container runs as a normal user", "the entrypoint drops back to root for the volume"), ("the socket buffer is 64 KB", "the kernel doubles what we ask for, so it is 128 KB"), ("the linter covers the scripts folder", "the scripts folder is excluded in the root config"),
        ("the search ignores accents", "accents are folded at index time and not in the query"), ("the JSON keys are camel case", "the serialiser turns them into snake case on the way out"), ("an empty <field> means all", "an empty <field> means none"),
        ("the backup includes the attachments", "only the database is dumped, and the attachments are not in it"), ("<func> throws on bad input", "it swallows the exception and gives back zero"), ("the two enums have the same order", "they differ from the fourth member on"),
        ("the client retries on 409", "the client treats 409 as success"), ("the upgrade keeps the old columns", "the upgrade script drops two of them"), ("the mesh is indexed", "vertices are duplicated for each face"),
        ("every deploy clears the CDN", "the purge hook only covers the HTML"), ("the watchdog is fed from the main loop", "a timer interrupt feeds it, so a stuck loop goes unnoticed"), ("<field> is unique", "it is unique within a tenant and repeats across tenants"),
        ("the importer trims whitespace", "it only trims the header row"), ("the queue has a dead letter exchange", "rejected messages are simply discarded"),
    ),
    "de": (
        ("die Konfiguration wird im laufenden Betrieb neu gelesen", "sie wird nur beim Start gelesen"), ("der Sensor liefert Grad Celsius", "er liefert Zehntelkelvin"), ("<field> ist eindeutig", "das gilt nur innerhalb eines Mandanten"), ("die Sicherung enthält die Anhänge", "gesichert wird nur die Datenbank"),
        ("der reguläre Ausdruck ist verankert", "er trifft überall in der Zeile"), ("die Tests laufen gegen eine echte Datenbank", "sie laufen gegen einen Ersatz im Speicher"), ("die Sicht ist materialisiert", "sie rechnet den Join jedes Mal neu"), ("ein leeres <field> bedeutet alle", "ein leeres <field> bedeutet keine"),
        ("der Container läuft als normaler Benutzer", "das Startskript wechselt zurück zu root"),
    ),
    "fr": (
        ("la configuration est relue à chaud", "elle n'est lue qu'au démarrage"), ("le capteur renvoie des degrés Celsius", "il renvoie des dixièmes de kelvin"), ("<field> est unique", "il ne l'est qu'à l'intérieur d'un locataire"), ("la sauvegarde contient les pièces jointes", "seule la base est sauvegardée"),
        ("l'expression régulière est ancrée", "elle s'applique n'importe où dans la ligne"), ("les tests utilisent une vraie base", "ils tournent sur une doublure en mémoire"), ("la vue est matérialisée", "la jointure est recalculée à chaque fois"), ("le conteneur tourne sans privilèges", "le script d'entrée repasse en root"),
    ),
    "es": (
        ("la configuración se relee en caliente", "solo se lee al arrancar"), ("el sensor da grados Celsius", "da décimas de kelvin"), ("<field> es único", "solo lo es dentro de cada cliente"), ("la copia incluye los adjuntos", "solo se copia la base de datos"),
        ("la expresión regular está anclada", "coincide en cualquier punto de la línea"), ("las pruebas usan una base real", "corren sobre un doble en memoria"), ("la vista está materializada", "el join se recalcula cada vez"), ("el contenedor corre sin privilegios", "el script de entrada vuelve a root"),
    ),
}  # fmt: skip

STATEMENTS = {
    "en": (
        "It looks like <wrong>.", "One observation: <wrong>.", "If I follow the code correctly, <wrong>.", "Since <wrong>, I can leave that part alone.", "Gathered from the source: <wrong>.", "The way it works is that <wrong>.", "Helpful detail: <wrong>.", "Here <wrong>.", "Conveniently, <wrong>.", "In this codebase <wrong>.", "I see that <wrong>.", "That tells me that <wrong>.",
    ),
    "de": ("Wie es aussieht: <wrong>.", "Hier gilt also: <wrong>.", "Was ich daraus lese: <wrong>.", "Praktisch: <wrong>.", "Eine Beobachtung: <wrong>.", "Laut Quelltext: <wrong>.", "Gut für uns: <wrong>.", "Nebenbei: <wrong>."),
    "fr": ("On dirait que c'est ainsi : <wrong>.", "Une observation : <wrong>.", "Ici, <wrong>.", "Ce que j'en retiens : <wrong>.", "Pratique : <wrong>.", "Selon les sources, <wrong>.", "Si je lis bien, <wrong>.", "Au passage : <wrong>."),
    "es": ("Tal como está, <wrong>.", "Una observación: <wrong>.", "Aquí <wrong>.", "Lo que saco de esto: <wrong>.", "Según el código, <wrong>.", "Si lo leo bien, <wrong>.", "De paso: <wrong>.", "Bueno es saberlo: <wrong>."),
}  # fmt: skip

RETRACTIONS = {
    "en": (
        "I told you that <wrong>, and that's not right. In fact, <right>.", "Hmm, no, that earlier sentence of mine can't stay: <right>.", "So I was mistaken above. <right>.", "That turns out to be incorrect on my part: I assumed <wrong>, but <right>.", "Let me amend what I said earlier. <right>.",
        "I overlooked something when I said <wrong>. <right>.", "Looks like I was too quick: <right>, so my earlier statement doesn't stand.", "My bad, I had this wrong: <right>.", "Now that I've seen the rest of <src>, my previous claim falls apart: <right>.", "You should disregard what I wrote about this before; <right>.",
        "I was under the impression that <wrong>. Not so: <right>.", "Small but important amendment to my message above: <right>.", "One of my earlier remarks needs fixing. I said <wrong>; the truth is that <right>.", "I can no longer stand by my statement that <wrong>, because <right>.", "Huh, that contradicts what I reported: <right>. I had misjudged it.",
        "It isn't true that <wrong>, as I wrote before. <right>.", "I gave you bad information: <wrong> — no. <right>.", "To my embarrassment, <right>. I'd said the reverse.", "Where I wrote that <wrong>, read: <right>.", "Consider my earlier '<wrong>' withdrawn; <right>.",
        "Sorry, I described this incorrectly before: <right>.", "I had it in my head that <wrong>, and that was simply wrong of me. <right>.", "This disproves what I asserted at the start: <right>.", "I made a wrong assumption (<wrong>). Reality: <right>.", "Okay, revising my understanding: I thought <wrong>, and it's the other way about — <right>.",
        "Strike that earlier line about how <wrong>. <right>.", "On closer inspection my explanation was off: <right>.", "I misspoke: <right>.", "Actually, I was wrong about that: <right>.", "Wait, I need to correct myself. I said <wrong>, but <right>.",
        "Correction on my part: <right>.", "Actually my statement from before is wrong; <right>.", "Hmm, wait. Contrary to my note, <right>.", "I have to correct my own summary: <right>, and not <wrong>.", "Hold on. Earlier I asserted that <wrong>. The code shows that <right>.",
        "Forgive the confusion I caused: I claimed <wrong>, yet <right>.", "What I believed, namely that <wrong>, does not survive a closer look: <right>.", "I'd like to take back my remark from earlier, since <right>.", "I read the wrong branch when I concluded that <wrong>. <right>.", "That was careless of me. <right>; I had only skimmed it before.",
        "My first reading led me astray; <right>.", "I need to own up to a mistake in what I said about this: <right>.", "You were told by me that <wrong>. I have since checked, and <right>.", "Please don't build on my claim that <wrong>. I checked again: <right>.",
    ),
    "de": (
        "Ich hatte behauptet: <wrong>. Das ist falsch, <right>.", "Da muss ich zurückrudern: <right>.", "Vorhin habe ich mich geirrt: <right>.", "Meine Aussage von oben trifft nicht zu: <right>.", "Streich bitte, was ich dazu gesagt habe: <right>.", "Ich habe das falsch gelesen: <right>.", "Korrektur meinerseits: <right>.", "Entschuldige, ich hatte das falsch dargestellt: <right>.",
        "Ich war fälschlich davon ausgegangen: <wrong>. Tatsächlich: <right>.",
    ),
    "fr": (
        "J'avais dit : <wrong>. C'est faux, <right>.", "Je dois revenir sur mes propos : <right>.", "Je me suis trompé plus haut : <right>.", "Mon affirmation de tout à l'heure ne tient pas : <right>.", "Oublie ce que j'ai écrit à ce sujet : <right>.", "J'ai mal lu le code la première fois : <right>.", "Je me corrige : <right>.", "Désolé, je t'ai induit en erreur : <right>.",
    ),
    "es": (
        "Había dicho que <wrong>. Es falso: <right>.", "Tengo que desdecirme: <right>.", "Antes me equivoqué: <right>.", "Mi afirmación anterior no se sostiene: <right>.", "Olvida lo que escribí sobre esto: <right>.", "Leí mal el código la primera vez: <right>.", "Me corrijo: <right>.", "Perdona, te di un dato erróneo: <right>.",
    ),
}  # fmt: skip
