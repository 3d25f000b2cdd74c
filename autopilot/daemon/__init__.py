"""The long-running process: orders the effects of a tick, and owns the threads."""
