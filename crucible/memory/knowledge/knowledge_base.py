"""`Knowledge.base`: the items as tables in Obsidian, to be reviewed there."""

from __future__ import annotations

KNOWLEDGE_BASE_NAME = "Knowledge.base"

_TABLES = """\
# Every item of knowledge. Set its status in the table (active or retired), tick what is verified, mend what is wrong.
filters:
  and:
    - 'file.inFolder("knowledge")'
formulas:
  helped: 'if(use_count > 0, (useful_count / use_count * 100).round().toString() + " %", "")'
properties:
  file.name:
    displayName: Item
  note.title:
    displayName: Title
  note.type:
    displayName: Type
  note.status:
    displayName: Status
  note.scope:
    displayName: Scope
  note.project:
    displayName: Project
  note.domain:
    displayName: Domain
  note.session:
    displayName: Session
  note.confidence:
    displayName: Confidence
  note.verified:
    displayName: Verified
  note.failed_checks:
    displayName: Did not hold
  note.use_count:
    displayName: Used
  note.useful_count:
    displayName: Helped
  note.updated:
    displayName: Updated
  formula.helped:
    displayName: Helped, of uses
views:
  - type: table
    name: Active
    filters:
      and:
        - 'status == "active"'
    groupBy:
      property: type
      direction: ASC
    order:
      - title
      - file.name
      - scope
      - project
      - verified
      - use_count
      - formula.helped
      - updated
      - status
    sort:
      - property: updated
        direction: DESC
  - type: table
    name: To verify
    filters:
      and:
        - 'status == "active"'
        - 'verified != true'
        - or:
            - 'date(updated) < now() - "{days}d"'
            - 'file.hasProperty("failed_checks")'
    order:
      - title
      - file.name
      - type
      - verified
      - failed_checks
      - session
      - updated
    sort:
      - property: updated
        direction: ASC
  - type: table
    name: Never helped
    filters:
      and:
        - 'status == "active"'
        - 'use_count > 0'
        - 'useful_count == 0'
    order:
      - title
      - file.name
      - type
      - use_count
      - last_used
      - status
    sort:
      - property: use_count
        direction: DESC
  - type: table
    name: Retired
    filters:
      and:
        - 'status == "retired"'
    order:
      - title
      - file.name
      - type
      - retired
      - retired_because
      - status
    sort:
      - property: retired
        direction: DESC
  - type: table
    name: By scope
    groupBy:
      property: scope
      direction: ASC
    order:
      - title
      - file.name
      - type
      - status
      - project
      - domain
      - confidence
    sort:
      - property: updated
        direction: DESC
"""


def knowledge_base(verify_after_days: int) -> str:
    """The file's text; what is older than so many days and was never verified stands in a table of its own."""
    return _TABLES.replace("{days}", str(verify_after_days))
