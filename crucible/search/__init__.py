"""Full-text search over the events of sessions and over knowledge items.

Owns the search index of a vault and the tables of a team's server, the syntax of questions, and the ranking.

- `Question`, `Answer`, `Hit`, `Event` and the protocol `Recall`, in `recall`
- `EmbeddedRecall` searches a vault in this process
- `TeamRecall` searches a team's PostgreSQL server, and `Pusher` fills it
- `read_question` parses the text of a question
- `events_of` splits a session into searchable events

    EmbeddedRecall(root, settings).ask(Question("retry policy kind:decision"), now)

Must not know the command line, agents, or how knowledge items are stored: it gets them as an `ItemCatalog`.
"""
