# Both commands set up everything they need in .venv; uv is used if it is there.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo dev test spark lint wheel docs figures benchmarks papers clean

demo: $(VENV)/demo.stamp
	@$(BIN)/python examples/demo.py

# Everything that tests and lint need.
dev: $(VENV)/dev.stamp

test: $(VENV)/dev.stamp
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --cov --cov-report=term

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The wheel in an empty environment, outside .venv.
wheel:
	$(PYTHON) tools/wheel.py

docs: $(VENV)/docs.stamp
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

figures: $(VENV)/dev.stamp
	$(BIN)/python examples/figure.py

benchmarks: $(VENV)/dev.stamp
	$(BIN)/python benchmarks/speed.py

# Data: the folder PUEVAL_DATA, else OpenML. PUEVAL_JOBS processes at a time.
papers: $(VENV)/dev.stamp
	$(BIN)/python -m papers

$(VENV)/ready.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pueval needs Python 3.11 or newer; try make PYTHON=python3.12 …")'
ifdef UV
	@echo "Setting up $(VENV) with uv …"
	@uv venv --quiet --allow-existing --python $(PYTHON) $(VENV)
else
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV) || { echo "python3 cannot make virtual environments here; install the package python3-venv."; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
endif
	@touch $@

$(VENV)/demo.stamp: $(VENV)/ready.stamp pyproject.toml
	@echo "Installing pueval …"
ifdef UV
	@uv pip install --quiet --python $(BIN)/python --editable ".[cli]"
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[cli]"
endif
	@touch $@

$(VENV)/docs.stamp: $(VENV)/dev.stamp pyproject.toml
	@echo "Installing what the documentation needs …"
ifdef UV
	@uv pip install --quiet --python $(BIN)/python --editable . --group docs
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group docs
endif
	@touch $@

$(VENV)/dev.stamp: $(VENV)/ready.stamp pyproject.toml
	@echo "Installing pueval and what its tests need …"
ifdef UV
	@uv pip install --quiet --python $(BIN)/python --editable . --group dev
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
endif
	@touch $@

# Spark for its tests; it needs Java 17 or newer.
spark: $(VENV)/spark.stamp

$(VENV)/spark.stamp: $(VENV)/dev.stamp
	@echo "Installing Spark …"
ifdef UV
	@uv pip install --quiet --python $(BIN)/python --editable ".[spark]"
else
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[spark]"
endif
	@touch $@

clean:
	rm -rf $(VENV) docs/_build docs/gallery docs/reference/api .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
