"""What an operator writes: Fleet, Policy and GpuPool documents, from YAML to values."""
