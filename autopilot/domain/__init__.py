"""Values of the field and their laws. Nothing here knows a clock, a client, a file or a library of others."""
