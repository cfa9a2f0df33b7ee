# One command each: `make demo` sets up and runs the main job, `make test` sets up and runs every check.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
export OMP_NUM_THREADS ?= 2

.PHONY: demo test check slow bench clean

demo: $(VENV)/.installed
	$(BIN)/python -m inctnp.fused  # compiles single rows, once
	$(BIN)/inctnp demo

test: $(VENV)/.installed check

check:
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --site-dir site
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2

slow: $(VENV)/.installed
	$(BIN)/pytest -q -m slow

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks.streaming

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build dist site
