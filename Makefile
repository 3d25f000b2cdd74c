# The two commands of the README are `make demo` and `make test`. Everything lives in .venv and .cache.
PYTHON ?= python3
SCENARIO ?= scale
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test install engines check unit-and-contract unit contract integration e2e bench clean

demo: install engines            ## the whole loop on this machine, with real vLLM and real Prometheus
	$(BIN)/python -m demo --scenario $(SCENARIO)

test: install engines check unit-and-contract integration e2e   ## everything that CI runs

install: $(VENV)/.installed      ## the daemon and the tools of its tests

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	timeout 600 $(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

engines:                         ## vLLM for the CPU, a router, Prometheus: progress is shown, a second run takes a second
	timeout 1500 $(PYTHON) -m demo.install

check:                           ## lint, format, types, import contracts
	timeout 120 $(BIN)/ruff check .
	timeout 60 $(BIN)/ruff format --check .
	timeout 400 $(BIN)/mypy
	timeout 120 $(BIN)/lint-imports

unit-and-contract:               ## side by side: one computes, the other mostly waits for servers
	$(MAKE) --jobs=2 --output-sync=target unit contract

unit:
	timeout 600 $(BIN)/python -m pytest tests/unit tests/replay

contract:
	timeout 600 $(BIN)/python -m pytest tests/contract

integration:
	timeout 600 $(BIN)/python -m pytest tests/integration

e2e:                             ## real vLLM, real Prometheus, a real router
	timeout 1200 $(BIN)/python -m pytest tests/e2e

bench: install                   ## what a tick costs with 1,000 fleets, and the scaling law beside its peers
	$(BIN)/python -m benchmarks.tick_cost
	$(BIN)/python -m benchmarks.proven_load

clean:
	rm -rf $(VENV) .cache .demo
