"""Agents' hooks: payloads in, nothing out, and the process that writes down what they point at."""
