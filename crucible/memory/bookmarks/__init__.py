"""Where a session stood when it stopped, one line each: what picking it up again starts from."""
