"""Where work is done: on this machine, or spread over the workers of a Ray cluster."""
