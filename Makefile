# make demo, make test: all you need on a machine with Python 3.11+, pip and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SPARK := .venv-spark
NEURAL := .venv-neural
COVERAGE := .venv-coverage
DOCS := .venv-docs
# One more than cores: many tests wait for a program that they started.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
# The tests start many short programs; compiled once, each starts sooner.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test lint types boundaries unit journeys mutants mutants-generated test-long test-spark test-neural test-statistics coverage fuzz bench docs dist lock clean

setup: $(VENV)/.installed

$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.developed: $(VENV)/.installed requirements-dev.lock
	$(PIP) install --require-hashes -r requirements-dev.lock
	touch $@

demo: setup
	$(BIN)/python examples/births/demo.py

test: lint types boundaries unit

lint: $(VENV)/.developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.developed
	$(BIN)/mypy --num-workers auto

boundaries: $(VENV)/.developed
	$(BIN)/lint-imports

unit: $(VENV)/.developed
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

journeys: $(VENV)/.developed
	$(BIN)/pytest -n auto --dist worksteal -m "journey and not long" tests/journeys tests/hostile

# Mistakes made on purpose in scratch copies; each must be noticed by a test.
MUTANTS := PYTHONPATH=src:tests $(BIN)/python -m mutants

mutants: $(VENV)/.developed
	$(MUTANTS)

mutants-generated: $(VENV)/.developed
	$(MUTANTS) --generated 0

test-long: $(VENV)/.developed
	$(BIN)/pytest -m long

$(SPARK)/.installed: requirements-spark.lock pyproject.toml
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements-spark.lock
	$(SPARK)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation -e .
	touch $@

test-spark: $(SPARK)/.installed
	$(SPARK)/bin/pytest -m spark

# Opacus and torch say the same as our accounting and our gradients. Hashes would pin one build of torch, and builds
# differ by machine: these two are named by version alone, beside the locked rest. The program needs neither.
$(NEURAL)/.installed: requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(NEURAL)
	$(NEURAL)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements-dev.lock
	$(NEURAL)/bin/python -m pip --disable-pip-version-check --quiet install torch==2.13.0 opacus==1.6.0
	$(NEURAL)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation -e .
	touch $@

test-neural: $(NEURAL)/.installed
	$(NEURAL)/bin/pytest -m neural tests

# The labelled files, read by the programs that they are for (Debian: r-base-core r-cran-haven pspp).
test-statistics: $(VENV)/.developed
	$(BIN)/pytest -m statistics tests/documents

# Named by version alone, beside the locked rest: the program and its tests do not need it.
$(COVERAGE)/.installed: requirements-dev.lock pyproject.toml
	$(PYTHON) -m venv $(COVERAGE)
	$(COVERAGE)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements-dev.lock
	$(COVERAGE)/bin/python -m pip --disable-pip-version-check --quiet install coverage==7.17.3
	$(COVERAGE)/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation -e .
	touch $@

# Lines and branches of privacy/ that its own tests and the contracts reach; fails below 98 %.
coverage: $(COVERAGE)/.installed
	mkdir -p build
	$(COVERAGE)/bin/python -m coverage run -m pytest tests/privacy tests/contracts
	$(COVERAGE)/bin/python -m coverage report

# Needs atheris, which not every system and version of Python has: without it this says so, and runs nothing.
fuzz: $(VENV)/.developed
	$(BIN)/python tests/hostile/fuzz.py

bench: $(VENV)/.developed
	$(BIN)/python -m benchmarks

$(DOCS)/.installed: requirements-docs.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r requirements-docs.lock
	touch $@

# The documentation as a site in build/site, readable without a server or a network; a broken link fails.
docs: setup $(DOCS)/.installed
	rm -rf build/site
	mkdir -p build/site-extra
	$(BIN)/facsimile schema > build/site-extra/facsimile.schema.json
	$(DOCS)/bin/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env --doctree-dir build/doctrees docs build/site

# Wheel and sdist, the same bytes for the same commit.
dist: setup
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -c "from flit_core.buildapi import build_sdist, build_wheel; print(build_sdist('dist')); print(build_wheel('dist'))"

# Renew the pinned versions (needs uv: pip install uv). No download address enters a lock file.
LOCK := uv pip compile --quiet --generate-hashes --no-annotate --no-header --universal --no-emit-index-url pyproject.toml
lock:
	$(LOCK) --group build -o requirements.lock
	$(LOCK) --group build --extra postgres -c requirements.lock -o requirements-postgres.lock
	$(LOCK) --group build --extra cluster -c requirements.lock -o requirements-cluster.lock
	$(LOCK) --group build --group dev --extra postgres --extra cluster -c requirements.lock -o requirements-dev.lock
	$(LOCK) --group build --group dev --extra spark -c requirements.lock -o requirements-spark.lock
	$(subst pyproject.toml,,$(LOCK)) --group docs --python-version 3.11 -c requirements.lock -o requirements-docs.lock

clean:
	rm -rf $(VENV) $(SPARK) $(NEURAL) $(COVERAGE) $(DOCS) demo build dist
