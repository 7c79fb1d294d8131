"""Clients' hooks: each appends one line to the spool, and a background process imports the sessions."""
