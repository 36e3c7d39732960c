"""The leaf switches: a learning switch in user space that needs no privilege and can misbehave."""
