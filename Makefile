# Everything works from a fresh clone: each target makes what it needs first.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Workers for the tests, which wait half of their time: twice as many as a small machine has cores.
JOBS   ?= 4
# How long `make soak` plays chaos.
MINUTES ?= 60

.DEFAULT_GOAL := help
.PHONY: help demo test lint types docs programs check conformance soak bench dist clean

help:  ## List the targets.
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*##/\t/'

$(VENV)/pip: 
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	  || { echo "Python 3.10 or newer is needed; this is `$(PYTHON) --version`. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing (on Debian: apt install python3-venv)."; rm -rf $(VENV); exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/installed: $(VENV)/pip pyproject.toml
	@echo "installing pytest-clawperator ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli,visual]'
	@# As pip does for a plain install: the simulator starts in half the time.
	@$(BIN)/python -m compileall -q pytest_clawperator
	@touch $@

$(VENV)/developed: $(VENV)/installed
	@echo "installing the tools for developing it ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]' --group dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target $(VENV)/others --group others
	@touch $@

demo: $(VENV)/installed  ## Show the product at its main job, and where to look.
	@$(BIN)/python -m pytest example_suite; status=$$?; \
	  suite=`ls -d example_suite/claw-results/*/ | tail -n 1`; \
	  echo; echo "The test that places an order once more, with a picture of each step ..."; \
	  $(BIN)/python -m pytest -q --no-header --claw-trace=on \
	    example_suite/test_05_forms.py::test_an_order_is_placed || status=1; \
	  order=`ls -d example_suite/claw-results/*/ | tail -n 1`; \
	  echo; echo "Open in a browser, every step of that test:"; \
	  echo "    `ls $$PWD/$${order}*/trace.html`"; \
	  echo "and all tests of the run:"; \
	  echo "    $$PWD/$${suite}index.html"; \
	  echo "What failures look like:"; \
	  echo "    $(BIN)/python -m pytest example_suite/failing"; exit $$status

test: $(VENV)/developed  ## Run all tests, with lint and types.
	@$(MAKE) --no-print-directory lint types check

lint: $(VENV)/developed  ## Check the style of the code.
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/python -m tests.page_tools

types: $(VENV)/developed  ## Check the types.
	@$(BIN)/mypy

docs: $(VENV)/developed  ## Build the pages; warnings are errors.
	@$(BIN)/python -m sphinx -W --keep-going -q -b html docs dist/docs
	@echo "dist/docs/index.html"

programs: $(VENV)/developed  ## Install what the tests use: Redis, Chromium, fonts.
	@$(BIN)/python -m tests.programs

check: programs  ## Run the tests alone; ARGS="tests/contracts -k alias" for some.
	@# Tests start hundreds of processes: none of them should compile anything again.
	@$(BIN)/python -m compileall -q pytest_clawperator
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(JOBS) $(ARGS)

conformance: $(VENV)/developed  ## Compare with the published program; CLAWPERATOR_VECTORS names the folder with its answers.
	@test -d "$$CLAWPERATOR_VECTORS" \
	  || { echo "CLAWPERATOR_VECTORS='$$CLAWPERATOR_VECTORS' is not a folder: set it to the one with the published program's answers."; exit 1; }
	@$(BIN)/python -m pytest -n $(JOBS) tests/conformance $(ARGS)

soak: programs  ## Run the long versions of the tests in a random order, then an hour of chaos.
	@CLAWPERATOR_SOAK=1 $(BIN)/python -m pytest -n $(JOBS) $(ARGS)
	@$(BIN)/python -m tests.acceptance.chaos --minutes $(MINUTES)

bench: $(VENV)/developed  ## Print what things cost, as ratios.
	@for name in house contracts simulator execution screen startup cli parallel frozen_device emulators service report test_files trace_page trace_cost; do $(BIN)/python -m benchmarks.$$name || exit 1; done

dist: $(VENV)/developed  ## Build wheel and sdist, and try both in an empty environment.
	@$(BIN)/python -m tests.distribution

clean:  ## Remove what the other targets made.
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
