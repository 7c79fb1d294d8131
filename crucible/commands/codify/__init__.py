"""From sessions to a workflow."""
