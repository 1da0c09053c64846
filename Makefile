# Everything starts here. The first use of any target makes .venv and installs the pinned packages into it;
# after that the stamp file makes the check instant. Nothing outside this folder is touched.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests run in as many processes as there are cores, at most four: every worker compiles or loads the kernels.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); [ $$n -gt 4 ] && echo 4 || echo $$n)
PYTEST_ARGS ?=
HALF_OF_THEM := $(addprefix tests/kernels/test_oracle_,sweep.py nearest.py totals.py dwell.py netting.py) \
    tests/engine/test_example_triggers.py
QUIET_PIP := --quiet --disable-pip-version-check

.PHONY: help demo test lint format types contracts check bench constraints install clean

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: $(STAMP) ## a one-minute story in the terminal, ending in a table and a map
	@$(BIN)/vedette demo

test: $(VENV)/.kernels ## all tests, 300 random examples per property (100 for the whole engine)
	@VEDETTE_TEST_PROFILE=$${VEDETTE_TEST_PROFILE:-ci} $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(PYTEST_ARGS)

# Compiled code is kept beside the sources, and each kernel only looks at its own file: when any of them changes, all
# of it goes, because kernels inline each other. Two processes then compile about half of it each; else every worker,
# and each of Spark's, would begin with compiling all of it. What goes wrong here is told by the tests.
$(VENV)/.kernels: $(STAMP) $(wildcard src/vedette/*.py src/vedette/kernels/*.py src/vedette/kernels/*/*.py)
	@find src -name '*.nb[ci]' -delete
	@echo "Compiling the kernels (once, about two minutes on two cores)"
	@VEDETTE_TEST_PROFILE=quick $(BIN)/python -m pytest $(HALF_OF_THEM) >/dev/null 2>&1 & \
	$(BIN)/python -m tests.engine.seeded planar 2 >/dev/null 2>&1; wait
	@touch $@

lint: $(STAMP) ## ruff: rules and formatting
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(STAMP) ## let ruff mend what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(STAMP) ## mypy, strict
	@$(BIN)/mypy

contracts: $(STAMP) ## import contracts: dependencies point down
	@$(BIN)/lint-imports

check: lint types contracts test ## lint, types, contracts and tests

bench: $(STAMP) ## the range and kNN benchmark
	@$(BIN)/vedette bench range

install: $(STAMP) ## only make the environment

# One rule makes the environment. The interpreter is tried, not only looked up: a launcher for a version that is
# not installed is no Python. Set PYTHON=... to choose one.
$(STAMP): constraints.txt pyproject.toml
	@python=""; \
	for candidate in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
	    if "$$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' >/dev/null 2>&1; then \
	        python="$$candidate"; break; \
	    fi; \
	done; \
	if [ -z "$$python" ]; then \
	    echo "Vedette needs Python 3.11 to 3.14; found: $$(python3 --version 2>/dev/null || echo 'no python3 on the PATH')." >&2; \
	    echo "Install a newer Python, or name one: make PYTHON=/path/to/python3.11 ..." >&2; \
	    exit 1; \
	fi; \
	if [ -x $(BIN)/python ] && ! $(BIN)/python -m pip --version >/dev/null 2>&1; then rm -rf $(VENV); fi; \
	if [ ! -x $(BIN)/python ]; then \
	    echo "Making $(VENV) with $$("$$python" --version)"; \
	    "$$python" -m venv $(VENV) || { \
	        rm -rf $(VENV); \
	        echo "python3 -m venv failed: on Debian and Ubuntu install the package python3-venv." >&2; exit 1; }; \
	fi
	@echo "Installing the pinned packages into $(VENV) (once; more than 500 MB to fetch, 1.4 GB on disk: Spark is most of it)"
	@$(BIN)/python -m pip install $(QUIET_PIP) --require-hashes -r constraints.txt
	@$(BIN)/python -m pip install $(QUIET_PIP) --no-deps --no-build-isolation -e .
	@touch $@

constraints: $(STAMP) ## pin everything anew (slow; needs the network)
	@$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --all-extras --strip-extras --no-header \
	    --no-annotate --no-emit-options --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	    --output-file $(VENV)/pinned.txt pyproject.toml
	@{ grep '^#' constraints.txt; grep -v '^\(#\|$$\)' $(VENV)/pinned.txt; } > $(VENV)/constraints.txt
	@mv $(VENV)/constraints.txt constraints.txt

clean: ## remove the environment and every cache
	@rm -rf $(VENV) build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage
	@find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
