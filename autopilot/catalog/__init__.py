"""The catalogue: every signal's meaning, the queries that fetch it, and how an answer becomes a reading."""
