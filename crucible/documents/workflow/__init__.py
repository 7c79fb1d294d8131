"""Workflow notes: steps, data flow, execution markers, and the graph that connects the steps."""
