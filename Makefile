# Every target sets up what it needs in .venv; uv is used if it is installed.
PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
SHELL := bash
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
UV := $(shell command -v uv 2>/dev/null)
# RESOLUTION=lowest-direct installs the oldest supported dependencies (needs uv).
RESOLUTION ?=
ifdef UV
INSTALL := uv pip install --quiet --python $(BIN)/python $(if $(RESOLUTION),--resolution $(RESOLUTION))
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist loadfile
# Pages show digits that depend on rounding errors: with an audit, each may change a draw. So all
# x86-64 processors use the same kernels of OpenBLAS in tests.
ifeq ($(shell uname -m 2>/dev/null),x86_64)
test test-all test-slow: export OPENBLAS_CORETYPE ?= Haswell
endif

.PHONY: demo dev test test-all test-slow spark torch lint wheel dist docs figures benchmarks papers clean

demo: $(VENV)/demo.stamp
	@$(BIN)/python examples/demo.py

# Everything that tests and lint need.
dev: $(VENV)/dev.stamp

# The quick suite, for every change: without simulations, browsers and distributed engines.
test: $(VENV)/dev.stamp
	$(PYTEST) -m "not thorough and not slow"

# Everything but the simulations that take many minutes, with coverage.
test-all: $(VENV)/dev.stamp
	$(PYTEST) --cov --cov-report=term

# Simulations of the statistical guarantees: many minutes.
test-slow: $(VENV)/dev.stamp
	$(PYTEST) -m slow

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Build the wheel and use it in an empty environment, outside .venv.
wheel:
	$(PYTHON) tools/wheel.py

# Source distribution and wheel in dist/, for a release.
dist: $(VENV)/ready.stamp
	$(INSTALL) build twine
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*

# Generated pages are removed first: those of renamed functions would be errors.
docs: $(VENV)/docs.stamp
	rm -rf docs/reference/api docs/gallery
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# All pictures in docs/images, but those of benchmarks and networks.
figures: $(VENV)/dev.stamp
	$(BIN)/python examples/figure.py
	$(BIN)/python -m tests.project.snippets $$(grep -l '\.savefig(' docs/howto/*.md)

benchmarks: $(VENV)/dev.stamp
	$(BIN)/python benchmarks/speed.py

# Data: the folder PUEVAL_DATA, else OpenML. PUEVAL_JOBS is the number of parallel processes.
papers: $(VENV)/dev.stamp
	$(BIN)/python -m papers

# Spark for its tests; it needs Java 17 or newer.
spark: $(VENV)/spark.stamp

# PyTorch, TorchMetrics, Lightning, JAX and experiment trackers, for the tests that need them.
# TORCH=torch installs the newest PyTorch.
TORCH ?= torch==2.13.0
torch: $(VENV)/torch.stamp

$(VENV)/ready.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pueval needs Python 3.11 or newer; try make PYTHON=python3.12 …")'
ifdef UV
	@echo "Setting up $(VENV) with uv …"
	@uv venv --quiet --allow-existing --python $(PYTHON) $(VENV)
else
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot create virtual environments. On Debian and Ubuntu, install python3-venv."; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
endif
	@touch $@

$(VENV)/demo.stamp: $(VENV)/ready.stamp pyproject.toml
	@echo "Installing pueval …"
	@$(INSTALL) --editable ".[cli]"
	@touch $@

$(VENV)/dev.stamp: $(VENV)/ready.stamp pyproject.toml
	@echo "Installing pueval and its test dependencies …"
	@$(INSTALL) --editable ".[all,dask,polars]" --group dev
	@touch $@

$(VENV)/docs.stamp: $(VENV)/dev.stamp pyproject.toml
	@echo "Installing the documentation's dependencies …"
	@$(INSTALL) --editable . --group docs
	@touch $@

$(VENV)/spark.stamp: $(VENV)/dev.stamp
	@echo "Installing Spark …"
	@$(INSTALL) --editable ".[spark]"
	@touch $@

$(VENV)/torch.stamp: $(VENV)/dev.stamp
	@echo "Installing PyTorch, JAX and experiment trackers …"
	@$(INSTALL) "$(TORCH)" --editable ".[torch]" --group torch --group jax --group trackers
	@touch $@

clean:
	rm -rf $(VENV) dist docs/_build docs/gallery docs/reference/api .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
