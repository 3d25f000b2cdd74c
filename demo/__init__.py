"""The demo: real vLLM engines, router and traffic on one machine without a GPU."""
