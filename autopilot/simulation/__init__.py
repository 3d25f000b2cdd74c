"""A fleet made of values, with its own clock: behind `autopilot test`, the benchmarks and the back-test."""
