"""Extract learning cases from sessions, review them, and export them as training data or puzzles.

Owns the types of case, the notes in `cases/`, and the formats of exported rows and puzzles.  Main names: `Gatherer`,
`write_case_notes`, `select_cases`, `export_files` and `write_puzzles`.

    cases = Gatherer(vault, redact, CaseFilter()).gather(path).cases

The steps are gather (`case_gathering`), decide (`selection`) and act (`case_folder`, `export`, `puzzle_files`).
Sessions are read one by one, so memory holds only a few.  Knows nothing of the command line, and judges no session:
that is `analysis`.
"""
