"""Cases that teach, from what sessions hold."""
