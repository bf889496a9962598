# Two commands do all the set-up: make run, make test.
PYTHON ?= python3
# Another interpreter has an environment of its own: PYTHON=python3.13 makes .venv-python3.13.
VENV ?= .venv$(addprefix -,$(filter-out python3,$(notdir $(PYTHON))))
# What the tests of neural models need; TORCH= leaves it out, and those tests are skipped by name.
TORCH ?= torch==2.13.0
BIN := $(VENV)/bin

# Tests of figures.  Sums come out in another order on another processor: these must hold on all of them.
NUMERIC_TESTS ?= $(addprefix tests/,_common campaign/engine/test_measurement.py campaign/test_forecast.py \
	estimators/test_comparison.py features labels learners paper/figures session test_theory.py) \
	src/askone/estimators src/askone/learners
# What any x86-64 has; where this is the machine's own, or unknown, OpenBLAS goes on with its own.
CORETYPE ?= Prescott

.PHONY: run test test-numeric check lint bench bench-paper bench-untuned bench-data bench-efficiency bench-server bench-crashes bench-drill soak bench-trust strategies paper browser clean

run: $(VENV)/.installed
	$(BIN)/askone demo $(addprefix --port ,$(PORT))

test: $(VENV)/.tested check
	$(BIN)/python -m pytest -n 2 --dist loadfile

test-numeric: $(VENV)/.tested
	OPENBLAS_CORETYPE=$(CORETYPE) NUMBA_CPU_NAME=generic $(BIN)/python -m pytest -n 2 --dist loadfile $(NUMERIC_TESTS)

check: lint
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/bandit -q -c pyproject.toml -r src

lint: $(VENV)/.tested
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

strategies: $(VENV)/.tested
	$(BIN)/askone strategies --out results

paper: $(VENV)/.tested
	$(BIN)/askone reproduce all

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/stream.py $(ARGUMENTS)

bench-untuned: $(VENV)/.tested
	$(BIN)/python benchmarks/untuned.py $(ARGUMENTS)

bench-data: $(VENV)/.tested
	$(BIN)/python benchmarks/data.py $(ARGUMENTS)

bench-paper: $(VENV)/.installed
	$(BIN)/python benchmarks/paper.py $(ARGUMENTS)

bench-efficiency: $(VENV)/.tested
	$(BIN)/python benchmarks/efficiency.py $(ARGUMENTS)

bench-crashes: $(VENV)/.tested
	$(BIN)/python benchmarks/crashes.py $(ARGUMENTS)

soak: $(VENV)/.tested
	$(BIN)/python benchmarks/soak.py $(ARGUMENTS)

bench-drill: $(VENV)/.tested
	$(BIN)/python benchmarks/drill.py $(ARGUMENTS)

bench-trust: $(VENV)/.tested
	$(BIN)/python benchmarks/trust.py $(ARGUMENTS)

bench-server: $(VENV)/.tested
	$(BIN)/python benchmarks/server.py $(ARGUMENTS)

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "askone needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server]'
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server,postgres,dev]' $(TORCH)
	$(MAKE) --no-print-directory browser
	touch $@

# Tests of the pages need a Chromium: the system's, or Debian's package; without one they are skipped by name.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null \
	|| (apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null) \
	|| echo "no Chromium was found or could be installed: tests in a browser are skipped"

clean:
	rm -rf .venv $(wildcard .venv-*) $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
