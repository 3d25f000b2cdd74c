"""The paced engine: a distribution of its own that lives in the demo folder and imports nothing of the product."""
