"""Running a workflow, step by step."""
