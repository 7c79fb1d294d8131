"""Extract learning cases from sessions, review them, and export them as training data or puzzles.

The package defines the types of case, the notes in `cases/`, and the formats of exported rows and puzzles. Main names:
`Gatherer`, `write_case_notes`, `select_cases`, `export_files` and `write_puzzles`.

    cases = Gatherer(vault, redact, CaseFilter()).gather(path).cases

The steps are gather (`case_gathering`), decide (`selection`) and act (`case_folder`, `export`, `puzzle_files`).
Sessions are read one at a time to limit memory. Analysis of sessions is in `analysis`.
"""
