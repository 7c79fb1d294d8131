"""`Cases.base`: the cases as tables in Obsidian, to be reviewed there."""

from __future__ import annotations

__all__ = ["CASES_BASE", "CASES_BASE_NAME"]

CASES_BASE_NAME = "Cases.base"

CASES_BASE = """\
# Every case that was extracted from sessions. Set its status in the table: proposed, accepted or rejected.
filters:
  and:
    - 'type == "case"'
    - 'file.inFolder("cases")'
properties:
  file.name:
    displayName: Case
  note.case_type:
    displayName: Type
  note.status:
    displayName: Status
  note.session:
    displayName: Session
  note.phase_name:
    displayName: Phase
  note.difficulty:
    displayName: Difficulty
  note.verified:
    displayName: Verified
  note.category:
    displayName: Why
  note.agent:
    displayName: Agent
  note.project:
    displayName: Project
  note.tokens:
    displayName: Tokens
views:
  - type: table
    name: To review
    filters:
      and:
        - 'status == "proposed"'
    order:
      - file.name
      - case_type
      - status
      - session
      - difficulty
      - verified
      - tokens
    sort:
      - property: started
        direction: DESC
  - type: table
    name: Accepted
    filters:
      and:
        - 'status == "accepted"'
    order:
      - file.name
      - case_type
      - status
      - session
      - tokens
    sort:
      - property: started
        direction: DESC
    summaries:
      note.tokens: Sum
  - type: table
    name: Rejected
    filters:
      and:
        - 'status == "rejected"'
    order:
      - file.name
      - case_type
      - status
      - session
    sort:
      - property: started
        direction: DESC
  - type: table
    name: By type
    groupBy:
      property: case_type
      direction: ASC
    order:
      - file.name
      - status
      - session
      - phase_name
      - category
      - agent
      - project
    sort:
      - property: started
        direction: DESC
"""
