# The door to Evergrid. The work is in tools/ and in the commands below; needs Python, Java, make.

PYTHON ?=
ARGS ?=
UV ?= uv
export PYTHON

BIN := .venv/bin
COMPILE := $(UV) pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	--custom-compile-command "make lock"

.DEFAULT_GOAL := help
.PHONY: help setup runtime demo test check unit system format bench soak web engine reference screenshots lock clean

help: ## list these targets
	@echo "Evergrid: Kafka topics as live, joined tables"
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "ARGS are passed on: make demo ARGS=--help. PYTHON names an interpreter: PYTHON=python3.12"

setup: ## make .venv with everything that Evergrid needs (the others do it by themselves)
setup: PURPOSE := develop
runtime: PURPOSE := run
setup runtime:
	@for python in "$(PYTHON)" python3 python3.11 python3.12 python3.13; do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' >/dev/null 2>&1; then \
			exec "$$python" tools/setup.py $(PURPOSE); \
		fi; \
	done; \
	echo "Evergrid needs Python 3.11, 3.12 or 3.13, and none was found. Install one of them, or" \
		"name it: make demo PYTHON=/path/to/python3.11" >&2; \
	exit 1

demo: runtime ## see it live: a Kafka broker, sample events, the joined tables
	@$(BIN)/evergrid demo $(ARGS)

test: setup ## check and all tests, side by side: real Kafka, real Spark
	@$(BIN)/python tools/test.py $(ARGS)

check: setup ## format, lint, types, the walls between the rooms, what must not be in the tree
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_tree.py
	$(BIN)/python tools/config_reference.py --check
	$(BIN)/python tools/engine.py --check

unit: setup ## the tests outside tests/system
	$(BIN)/pytest tests --ignore tests/system -m "not soak" $(ARGS)

system: setup ## the tests of the whole, with Kafka and Spark
	$(BIN)/pytest tests/system -m "not soak" $(ARGS)

web: setup ## build the web page anew, into the Python package
	@$(BIN)/python tools/web.py $(ARGS)

engine: setup ## build the Java of the engine anew, into the Python package
	@$(BIN)/python tools/engine.py $(ARGS)

reference: setup ## write default.yaml and the tables of docs/configuration.md from the declared keys
	@$(BIN)/python tools/config_reference.py

screenshots: setup ## take the pictures of the page anew, for docs/web.md
	@$(BIN)/python -m tools.screenshots $(ARGS)

format: setup ## write the code as ruff and prettier want it
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python tools/web.py --run format

bench: setup ## measure the figures that the documentation gives
	$(BIN)/python -m bench $(ARGS)

soak: setup ## the tests that take hours, in parts of two at most (ARGS=--list)
	@$(BIN)/python -m tools.soak $(ARGS)

lock: ## write requirements/*.lock anew (ARGS=--upgrade for newer versions)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv: pip install uv" >&2; exit 1; }
	$(COMPILE) $(ARGS) --group build -o requirements/build.lock
	$(COMPILE) $(ARGS) pyproject.toml -o requirements/runtime.lock
	$(COMPILE) $(ARGS) pyproject.toml --extra demo-security -c requirements/runtime.lock \
		-o requirements/demo.lock
	$(COMPILE) $(ARGS) pyproject.toml --extra demo-security --group dev -c requirements/demo.lock \
		-o requirements/dev.lock

clean: ## remove .venv, caches and what the demo left (.evergrid/demo)
	rm -rf .venv .evergrid/demo build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache \
		web/node_modules web/build
	find src tests bench tools -name __pycache__ -prune -exec rm -rf {} +
