# These do all the set-up: make run, make test, make docs.
PYTHON ?= python3
# Another interpreter has an environment of its own: PYTHON=python3.13 makes .venv-python3.13.
VENV ?= .venv$(addprefix -,$(filter-out python3,$(notdir $(PYTHON))))
# What the tests of neural models need; TORCH= leaves it out, and those tests are skipped by name.
TORCH ?= torch==2.13.0
BIN := $(VENV)/bin

# Tests of figures.  Sums come out in another order on another processor: these must hold on all of them.
NUMERIC_TESTS ?= $(addprefix tests/,_common campaign/engine/test_measurement.py \
	estimators/test_comparison.py features labels learners paper/figures session test_theory.py) \
	src/askone/estimators src/askone/learners
# Those that choose a processor themselves are the same there, and so are simulations of learners whose every bit is.
NUMERIC_LEAVES ?= $(patsubst %,'--deselect=tests/session/test_same_everywhere.py::test_questions_and_states_are_those_that_are_kept[%',haswell x86)
# What any x86-64 has; where this is the machine's own, or unknown, OpenBLAS goes on with its own.
CORETYPE ?= Prescott

# One worker more than cores: many tests wait for a browser or a clock.  Files go in the order of tests/conftest.py, so that those which
# take minutes do not come last, when the other workers have nothing left.
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: run test stress docs pictures test-numeric check lint bench bench-paper bench-untuned bench-data bench-people bench-privacy bench-rows bench-efficiency bench-server bench-crashes bench-drill bench-joining bench-large soak bench-trust strategies paper browser lock audit dist clean bench-thresholds types imports weaknesses compiled bench-rankings bench-bags bench-prices

run: $(VENV)/.installed
	$(BIN)/askone demo $(addprefix --port ,$(PORT))

test: $(VENV)/.tested check compiled
	$(PYTEST)

# No test depends on speed or order: the suite ten times (RUNS=2), files by lot, beside processes that are busy.
RUNS ?= 10
stress: $(VENV)/.tested compiled
	$(BIN)/python tests/stress.py --runs $(RUNS) --workers $(WORKERS) $(ARGUMENTS)

# Three workers would compile the same thing three times, and servers under test would be late.
compiled: $(VENV)/.tested
	$(BIN)/python -c "import conftest; from askone.cli.main import main; main(['compile'])"

test-numeric: $(VENV)/.tested
	OPENBLAS_CORETYPE=$(CORETYPE) NUMBA_CPU_NAME=generic $(PYTEST) -m "not seeded" $(NUMERIC_LEAVES) $(NUMERIC_TESTS)

# The documents as a site, in site/; a link that leads nowhere is an error.
docs: $(VENV)/.documented
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "open site/index.html"

# The pages as the tutorials show them.
pictures: $(VENV)/.tested
	$(BIN)/python docs/_site/pictures.py

check: lint types imports weaknesses

types: $(VENV)/.tested
	$(BIN)/mypy

imports: $(VENV)/.tested
	$(BIN)/lint-imports --no-cache

weaknesses: $(VENV)/.tested
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

bench-people: $(VENV)/.tested
	$(BIN)/python benchmarks/people.py $(ARGUMENTS)

bench-rows: $(VENV)/.tested
	$(BIN)/python benchmarks/rows.py $(ARGUMENTS)

bench-privacy: $(VENV)/.tested
	$(BIN)/python benchmarks/privacy.py $(ARGUMENTS)

bench-thresholds: $(VENV)/.tested
	$(BIN)/python benchmarks/thresholds.py $(ARGUMENTS)

bench-bags: $(VENV)/.tested
	$(BIN)/python benchmarks/bags.py $(ARGUMENTS)

bench-prices: $(VENV)/.tested
	$(BIN)/python benchmarks/prices.py $(ARGUMENTS)

bench-rankings: $(VENV)/.tested
	$(BIN)/python benchmarks/rankings.py $(ARGUMENTS)

bench-paper: $(VENV)/.installed
	$(BIN)/python benchmarks/paper.py $(ARGUMENTS)

bench-efficiency: $(VENV)/.tested
	$(BIN)/python benchmarks/efficiency.py $(ARGUMENTS)

bench-crashes: $(VENV)/.tested
	$(BIN)/python benchmarks/crashes.py $(ARGUMENTS)

soak: $(VENV)/.tested
	$(BIN)/python benchmarks/soak.py $(ARGUMENTS)

bench-joining: $(VENV)/.tested
	$(BIN)/python benchmarks/joining.py $(ARGUMENTS)

bench-drill: $(VENV)/.tested
	$(BIN)/python benchmarks/drill.py $(ARGUMENTS)

bench-large: $(VENV)/.tested
	$(BIN)/python benchmarks/large.py $(ARGUMENTS)

bench-trust: $(VENV)/.tested
	$(BIN)/python benchmarks/trust.py $(ARGUMENTS)

bench-server: $(VENV)/.tested
	$(BIN)/python benchmarks/server.py $(ARGUMENTS)

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "askone needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server]'
	touch $@

# All at once.  Modules are compiled when they are first imported: of most that tests need, few ever are.
$(VENV)/.tested: pyproject.toml | $(VENV)/.made
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --editable '.[server,postgres,dev]' $(TORCH)
	$(MAKE) --no-print-directory browser
	touch $(VENV)/.installed $@

$(VENV)/.documented: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[server,docs]'
	touch $@

# Tests of the pages need a Chromium: the system's, or Debian's package; without one they are skipped by name.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null \
	|| (apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null) \
	|| echo "no Chromium was found or could be installed: tests in a browser are skipped"

# What the server needs, to the bit: versions and hashes of everything below it, for every supported Python.
lock: $(VENV)/.release
	$(BIN)/uv pip compile pyproject.toml --extra server --extra postgres --universal --python-version 3.11 --upgrade \
		--generate-hashes --quiet --custom-compile-command "make lock" --output-file requirements/server.txt

# Known weaknesses of what is locked; it asks PyPI.
audit: $(VENV)/.release
	$(BIN)/pip-audit --requirement requirements/server.txt --disable-pip --no-deps --strict

# An sdist, the wheel that is made of it, and the list of what a server is made of (SBOM, CycloneDX).
dist: $(VENV)/.release
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/cyclonedx-py requirements requirements/server.txt --pyproject pyproject.toml --output-reproducible \
		--output-file dist/askone.cdx.json

$(VENV)/.release: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build cyclonedx-bom pip-audit uv
	touch $@

clean:
	rm -rf .numba .venv $(wildcard .venv-*) $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist site
