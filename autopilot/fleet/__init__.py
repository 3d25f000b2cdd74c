"""What a replica is: its engine's arguments for the vLLM version in use, and the key under which its learned values are kept."""
