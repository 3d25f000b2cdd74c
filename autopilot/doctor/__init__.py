"""Questions put to the live world before anything acts: each gives findings that say ok, warn or fail, and what to do."""
