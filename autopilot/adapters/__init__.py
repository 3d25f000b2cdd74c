"""The rim: everything that touches the world. Raises only the errors of `autopilot.ports`."""
