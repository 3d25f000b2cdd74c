"""The daemon's HTTP doors: health, metrics and the read-only API."""
